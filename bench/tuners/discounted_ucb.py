import math
from typing import Annotated, Any

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat

from bench.component import component
from bench.jit import kernel
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner


@component
class DiscountedUCB(Tuner):
    """Try each candidate once, then the one with the largest mean + 2 B sqrt(xi ln n / N).

    Means and counts N are discounted: what lies s rounds back counts gamma^s; n is the sum of all N. Of equal bounds
    the first counts.
    Source: Garivier and Moulines 2011, section 3 (D-UCB) and remarks on theorem 1 (default discount).

    Parameters
    ----------
    discount
        gamma; null: 1 - sqrt(changes / T) / (4 B).
    changes
        Expected number of changes, for the default discount; with 0, nothing is forgotten.
    xi
        Width of the bounds; the theory wants it above 1/2.
    bound
        B, rewards lie in [0, B].
    """

    discount: Annotated[float, Field(gt=0, lt=1)] | None = None
    changes: NonNegativeFloat = 1.0
    xi: NonNegativeFloat = 0.6
    bound: PositiveFloat = 1.0

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._candidates = problem.space.product()
        self._sums = np.zeros(len(self._candidates))
        self._counts = np.zeros(len(self._candidates))
        slow = 1.0 - math.sqrt(min(self.changes / problem.horizon, 1.0)) / (4.0 * self.bound)
        self._discount = max(slow, 0.5) if self.discount is None else self.discount
        self._chosen = 0

    def _ask(self) -> Configuration:
        self._chosen = int(_optimistic(self._sums, self._counts, 4.0 * self.bound**2 * self.xi))
        return self._candidates[self._chosen]

    def _tell(self, reward: float, outcome: Any) -> None:
        _learn(self._sums, self._counts, self._discount, self._chosen, reward)


@kernel
def _optimistic(sums: np.ndarray, counts: np.ndarray, scale: float) -> int:
    total = 0.0
    for arm in range(counts.size):
        if counts[arm] == 0.0:
            return arm
        total += counts[arm]
    width = scale * max(np.log(total), 0.0)
    best = 0
    largest = -np.inf
    for arm in range(counts.size):
        bound = sums[arm] / counts[arm] + np.sqrt(width / counts[arm])
        if bound > largest:
            best, largest = arm, bound
    return best


@kernel
def _learn(sums: np.ndarray, counts: np.ndarray, discount: float, chosen: int, reward: float) -> None:
    for arm in range(counts.size):
        # a candidate is not forgotten altogether, or its mean would be 0 / 0
        if counts[arm] > 1e-200:
            sums[arm] *= discount
            counts[arm] *= discount
    sums[chosen] += reward
    counts[chosen] += 1.0
