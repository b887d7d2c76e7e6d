import math
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem
from bench.tuners.event_triggered_gp import RestartingGP


@component
class DALGPUCB(RestartingGP):
    """Detection augmented learning with GP-UCB: forced rounds test for changes, and a change restarts the learner.

    With t' rounds since the last restart, every ceil(N / alpha) rounds each of the N points of a covering set is played
    once; the other rounds follow GP-UCB. A change is detected if, among the n rewards that a point earned in forced
    rounds, for some s: s (n - s) / n (m_1 - m_2)^2 / (2 noise^2) > ln(n sqrt(n) / delta), where m_1 and m_2 are the
    means of the first s and of the other rewards (generalised likelihood ratio for normal rewards). After a detection,
    rewards and tests are forgotten. See `RestartingGP` for the bounds and the scale.

    Source: Gerogiannis, Huang, Bose and Veeravalli 2026 (DAL, ICML; arXiv 2501.19401v5); we had the abstract, the
    introduction and public reviews, but not the listing or the code. These texts name a stationary learner, forced
    rounds on a finite covering set, a detector of the likelihood ratio kind and a restart of the learner.

    Assumed: threshold, ``delta`` and ``alpha`` from Besson, Kaufmann, Maillard and Seznec 2022 (see
    `bench.tuners.restarting_ucb.GLRklUCB`); the covering set; that tests use the rewards of forced rounds only, and
    GP-UCB all rewards; and that the tests restart too.

    Parameters
    ----------
    delta
        Probability of a false alarm; null: 1 / sqrt(T).
    alpha
        Share of forced rounds; null: sqrt(k N ln T / T) after k - 1 restarts, at most 1.
    covered
        Least correlation of each point with a point of the covering set, to which points are added in order.
    """

    label: ClassVar[str] = "DAL, GP-UCB"
    remembers: ClassVar[tuple[str, ...] | None] = ("_chosen", "_place")

    delta: Annotated[float, Field(gt=0, lt=1)] | None = None
    alpha: Annotated[float, Field(gt=0, le=1)] | None = None
    covered: Annotated[float, Field(gt=0, le=1)] = 0.9

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._place = -1
        super()._start(problem, seeds)

    def _begin(self, correlations: np.ndarray, problem: Problem) -> None:
        super()._begin(correlations, problem)
        self._horizon = max(problem.horizon, 2)
        self._delta = 1.0 / math.sqrt(self._horizon) if self.delta is None else self.delta
        self._cover: list[int] = []
        for point in range(len(correlations)):
            if all(correlations[point, other] < self.covered for other in self._cover):
                self._cover.append(point)
        self._sums = np.zeros((len(self._cover), 64))
        """Prefix sums of the forced rewards of each point of the covering set: column s holds the sum of the first
        s."""
        self._counts = np.zeros(len(self._cover), dtype=np.int64)

    @property
    def _period(self) -> int:
        n = len(self._cover)
        tuned = math.sqrt((self.restarts + 1) * n * math.log(self._horizon) / self._horizon)
        return math.ceil(n / (min(1.0, tuned) if self.alpha is None else self.alpha))

    def _ask(self) -> Configuration:
        place = self._since % self._period
        if place >= len(self._cover):
            self._place = -1
            return super()._ask()
        self._place, self._chosen = place, self._cover[place]
        return self._configurations[self._chosen]

    def _as_asked(self, configuration: Configuration) -> None:
        super()._as_asked(configuration)
        self._place = -1

    def _learn(self, chosen: int, reward: float) -> None:
        super()._learn(chosen, reward)
        if self._place < 0:
            return
        count = int(self._counts[self._place]) + 1
        if count == self._sums.shape[1]:
            self._sums = np.concatenate((self._sums, np.zeros_like(self._sums)), axis=1)
        self._sums[self._place, count] = self._sums[self._place, count - 1] + reward
        self._counts[self._place] = count
        threshold = math.log(count * math.sqrt(count) / self._delta)
        if largest_difference(self._sums[self._place, : count + 1]) > 2.0 * self.noise_std**2 * threshold:
            self._restart()
            self._counts[:] = 0


def largest_difference(sums: np.ndarray) -> float:
    """Return the largest s (n - s) / n (m_1 - m_2)^2 over s, or 0 for n = 1, from prefix sums, shape (n + 1,)."""
    n = sums.size - 1
    if n < 2:
        return 0.0
    s = np.arange(1, n)
    differences = sums[s] / s - (sums[n] - sums[s]) / (n - s)
    return float((s * (n - s) / n * differences**2).max())
