"""UCB(delta): upper confidence bounds of a fixed confidence."""

import math
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from bench.arm_means import ArmMeans
from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner


@component
class UCBDelta(Tuner):
    """Try the candidate with the largest mean + sqrt(2 ln(1 / delta) / N), infinite for N = 0.

    N counts the decisions for the candidate; of equal upper bounds the first counts.

    Parameters
    ----------
    delta
        Chance with which an upper bound may be wrong, between 0 and 1; None: 1 / T^2, for which the regret has its
        logarithmic bound. A fixed delta has none: an arm that is underestimated may never be tried again.

    Source: Lattimore and Szepesvari 2020, section 7; habo, section 10.
    """

    delta: Annotated[float, Field(gt=0, lt=1)] | None = None

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._candidates = problem.space.product()
        self._arms = ArmMeans(len(self._candidates))
        log = 2.0 * math.log(problem.horizon) if self.delta is None else -math.log(self.delta)
        self._width = 2.0 * log
        self._chosen = 0

    def _ask(self) -> Configuration:
        self._chosen = self._arms.optimistic(self._width)
        return self._candidates[self._chosen]

    def _tell(self, reward: float, outcome: Any) -> None:
        self._arms.learn(self._chosen, reward)

    @property
    def upper_bounds(self) -> np.ndarray:
        """The upper bounds of the candidates, infinite for those not yet tried, shape (candidates,)."""
        return self._arms.upper_bounds(self._width)
