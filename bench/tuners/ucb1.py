"""UCB1: optimism in the face of uncertainty, for rewards in [0, 1]."""

from typing import Any

import numpy as np

from bench.arm_means import ArmMeans
from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner


@component
class UCB1(Tuner):
    """Try each candidate once, then the one with the largest mean + sqrt(2 ln t / N).

    t counts all decisions so far and N those for the candidate; of equal upper bounds the first counts.

    Source: Auer, Cesa-Bianchi and Fischer 2002; habo, section 8.
    """

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._candidates = problem.space.product()
        self._arms = ArmMeans(len(self._candidates))
        self._chosen = 0

    def _ask(self) -> Configuration:
        self._chosen = self._arms.optimistic(self._arms.ucb1_width)
        return self._candidates[self._chosen]

    def _tell(self, reward: float, outcome: Any) -> None:
        self._arms.learn(self._chosen, reward)

    @property
    def upper_bounds(self) -> np.ndarray:
        """The upper bounds of the candidates, infinite for those not yet tried, shape (candidates,)."""
        return self._arms.upper_bounds(self._arms.ucb1_width)
