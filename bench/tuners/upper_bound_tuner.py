from abc import abstractmethod
from typing import Any

import numpy as np

from bench.arm_means import ArmMeans
from bench.component import component
from bench.seeding import Seeds
from bench.tuners.base import Problem
from bench.tuners.candidate_tuner import CandidateTuner


@component
class UpperBoundTuner(CandidateTuner):
    """Choose the candidate with the largest upper bound, mean + sqrt(width / N), the first on a tie.

    N counts the decisions for the candidate; the bound is infinite for N = 0.
    """

    @property
    @abstractmethod
    def _width(self) -> float:
        """The width of the upper bounds for the next decision."""

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        self._arms = ArmMeans(n)

    def _choose(self) -> int:
        return self._arms.optimistic(self._width)

    def _tell(self, reward: float, outcome: Any) -> None:
        self._arms.learn(self._chosen, reward)

    @property
    def upper_bounds(self) -> np.ndarray:
        """The upper bounds of the candidates, infinite for those not yet tried, shape (candidates,)."""
        return self._arms.upper_bounds(self._width)
