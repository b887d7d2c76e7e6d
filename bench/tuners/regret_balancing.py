import math
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, PositiveFloat

from bench.component import component
from bench.rewards import LARGEST
from bench.seeding import Seeds
from bench.tuners.base import CandidateTuner, Problem


@component
class RegretBalancing(CandidateTuner):
    """Model selection that plays the entry with the least assumed regret bound, and drops entries with a wrong bound.

    Each candidate has one entry for each coefficient d of a grid, d_min 2^k for k = 0, ..., floor(ln T) - 1. After n
    rounds the regret of an entry is assumed to be at most R = d sqrt(n ln(n / delta)), and R = d before its first
    round. The remaining entry with the least R is played, and on a tie the first. Let m be the mean reward of an entry
    and e = c sqrt(ln((n + 1) / delta) / n). The entry is dropped once m + e + R / n is less than the largest m - e of
    all entries; the last entry stays. With the task `copies` and ``learn: played`` the candidates are base algorithms;
    the entries of one candidate share a copy. Source: Abbasi-Yadkori, Pacchiano and Phan 2020; Pacchiano, Dann, Gentile
    and Bartlett 2020 (elimination). The grid, the bounds and the defaults are from pacchiano/modelselection at 233f26a.
    In that code each coefficient has a separate copy, and the sums in the test are divided by sqrt(n), but R is not.

    Parameters
    ----------
    least
        d_min, in units of the reward.
    delta
        Probability with which the bounds may fail.
    width
        c, in units of the reward.
    """

    label: ClassVar[str] = "Regret balancing"
    remembers: ClassVar[tuple[str, ...] | None] = ("_chosen", "_played")

    least: PositiveFloat = 1.0
    delta: Annotated[float, Field(gt=0, lt=1)] = 0.01
    width: PositiveFloat = 1.0

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        coefficients = self.least * 2.0 ** np.arange(max(1, int(math.log(problem.horizon))))
        self._coefficients = np.tile(coefficients, n)
        self._bounds = self._coefficients.copy()
        self._dropped = np.zeros(len(self._bounds), dtype=bool)
        self._counts, self._sums = np.zeros((2, len(self._bounds)))
        self._least_reward = np.full(len(self._bounds), -LARGEST)
        self._played = 0

    def _choose(self) -> int:
        left = np.flatnonzero(~self._dropped)
        self._played = int(left[np.argmin(self._bounds[left])])
        return self._played * len(self._candidates) // len(self._bounds)

    def _tell(self, reward: float, outcome: Any) -> None:
        i = self._played
        self._counts[i] += 1
        self._sums[i] += reward
        n, mean = float(self._counts[i]), float(self._sums[i] / self._counts[i])
        self._bounds[i] = self._coefficients[i] * math.sqrt(n * math.log(n / self.delta))
        error = self.width * math.sqrt(math.log((n + 1) / self.delta) / n)
        self._least_reward[i] = mean - error
        is_refuted = mean + error + self._bounds[i] / n < self._least_reward.max()
        self._dropped[i] = is_refuted and np.count_nonzero(~self._dropped) > 1
