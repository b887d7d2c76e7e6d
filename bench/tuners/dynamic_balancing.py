from typing import Any, ClassVar

import numpy as np

from bench.component import component
from bench.seeding import Seeds
from bench.tuners.base import Problem
from bench.tuners.regret_balancing import RegretBalancing


@component
class DynamicBalancing(RegretBalancing):
    """Model selection that balances assumed regret bounds, and suspends candidates that contradict their own bound.

    Each candidate has one entry for each coefficient d of a grid, as in `RegretBalancing`. After n rounds the regret of
    an entry is assumed to be at most R = d sqrt(n). The active entry with the least R is played, and on a tie the
    first. Let M be the number of entries, m the mean reward of an entry and e = c sqrt(ln(M max(1, ln n) / delta) / n).
    An entry is suspended if m + e + R / n is less than the largest m - e of all entries; an entry that was never played
    is active. The test is repeated in each round. With the task `copies` and ``learn: played`` the candidates are base
    algorithms; the entries of one candidate share a copy. Source: Cutkosky, Dann, Das, Gentile, Pacchiano and Purohit
    2021 (dynamic balancing), with v = 1 and b = 0. The bound R is assumed: the paper leaves the bound to the user, and
    we did not have its text.
    """

    label: ClassVar[str] = "Dynamic balancing"

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        super()._begin(n, problem, seeds)
        self._bounds = np.zeros(len(self._coefficients))

    def _tell(self, reward: float, outcome: Any) -> None:
        i = self._played
        self._counts[i] += 1
        self._sums[i] += reward
        self._bounds[i] = self._coefficients[i] * np.sqrt(self._counts[i])
        played = self._counts > 0
        n = self._counts[played]
        means = self._sums[played] / n
        logarithms = np.log(len(self._counts) * np.maximum(1.0, np.log(n)) / self.delta)
        errors = self.width * np.sqrt(logarithms / n)
        self._dropped[played] = means + errors + self._bounds[played] / n < (means - errors).max()
