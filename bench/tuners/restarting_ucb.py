"""Upper confidence bounds with tests of the rewards for changes and a restart after a detection."""

import math
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from bench.arm_means import ArmMeans
from bench.component import component
from bench.jit import kernel
from bench.seeding import Seeds
from bench.tuners.base import CandidateTuner, Problem


@component
class MUCB(CandidateTuner):
    """Monitored UCB, which cycles through all candidates in a share gamma of the rounds and follows UCB1 in the others.

    With t' rounds since the last restart, candidate t' mod floor(K / gamma) is played if this index is below K, and
    otherwise the candidate with the largest mean + sqrt(2 ln t' / N). Once a candidate has w rewards, the sums of the
    two halves of its last w rewards are compared. If the sums differ by more than b, everything is forgotten. Source:
    Cao, Wen, Kveton and Xie 2019, algorithms 1 and 2. The value w = 800 is assumed: the paper derives w from the least
    relevant change, and Besson et al. 2022 take 200 and 800.

    Parameters
    ----------
    window
        w, an even number.
    threshold
        b; null: sqrt(w / 2 ln(2 K T^2)), for which false alarms are rare with rewards in [0, 1].
    changes
        Expected number of changes, for the default gamma; with 0, exploration is forced in the first K rounds only.
    gamma
        Share of forced exploration; null: sqrt(changes K (2 b + 3 sqrt(w)) / (2 T)), at most 1.
    """

    learns_history: ClassVar[bool] = True

    window: Annotated[PositiveInt, Field(multiple_of=2)] = 800
    threshold: PositiveFloat | None = None
    changes: NonNegativeFloat = 1.0
    gamma: Annotated[float, Field(gt=0, le=1)] | None = None

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        horizon, w = problem.horizon, self.window
        b = math.sqrt(w / 2 * math.log(2 * n * horizon**2)) if self.threshold is None else self.threshold
        tuned = math.sqrt(self.changes * n * (2.0 * b + 3.0 * math.sqrt(w)) / (2.0 * horizon))
        gamma = min(1.0, tuned) if self.gamma is None else self.gamma
        self._threshold = b
        self._period = math.floor(n / gamma) if gamma > 0 else n + horizon
        self._last = np.zeros((n, w))
        self._arms = ArmMeans(n)
        self.restarts = 0

    def _choose(self) -> int:
        place = self._arms.pulls % self._period
        return place if place < len(self._candidates) else self._arms.optimistic(self._arms.ucb1_width)

    def _tell(self, reward: float, outcome: Any) -> None:
        chosen, w = self._chosen, self.window
        n = int(self._arms.counts[chosen])
        self._arms.learn(chosen, reward)
        self._last[chosen, n % w] = reward
        if n + 1 >= w and _halves_differ(self._last[chosen], (n + 1) % w, self._threshold):
            self._arms = ArmMeans(len(self._candidates))
            self.restarts += 1


@kernel
def _halves_differ(last: np.ndarray, oldest: int, threshold: float) -> bool:
    w = last.size
    difference = 0.0
    for s in range(w):
        value = last[(oldest + s) % w]
        difference += -value if s < w // 2 else value
    return abs(difference) > threshold


@component
class GLRklUCB(CandidateTuner):
    """kl-UCB on the rewards since the last restart, with forced exploration and Bernoulli GLR tests.

    Let t' be the number of rounds since the last restart. Every floor(K / alpha) rounds each candidate is played once.
    In other rounds the candidate with the largest q such that N kl(mean, q) <= ln t' is played; with local restarts, t'
    in this bound is counted for each candidate. A change in the n rewards of the candidate just played is detected if s
    kl(m_1, m) + (n - s) kl(m_2, m) > ln(n sqrt(n) / delta) for some s, where m_1, m_2 and m are the means of the first
    s rewards, of the other rewards and of all rewards. Rewards are clipped to [0, 1]. Source: Besson, Kaufmann,
    Maillard and Seznec 2022, algorithm 1, with the paper's tuning of ``delta`` and ``alpha``. The threshold of the
    theory has further terms; the threshold used here is from the authors' experiments
    (EmilieKaufmann/PiecewiseStationaryBandits, 9047ec7). Their code tests when the rounds since the restart are 1
    modulo 10, and tries every fifth s (global) or tenth (local); one of their two scripts halves alpha.

    Parameters
    ----------
    restart
        Scope of a restart: after a change all candidates are forgotten (``global``), or only the candidate in which the
        change was detected (``local``).
    delta
        Probability of a false alarm; null: 1 / sqrt(T).
    alpha
        Share of forced exploration; null: sqrt(k K ln T / T) after k - 1 restarts, at most 1.
    every
        Rewards of a candidate between tests, and step between the values of s; 1 is the paper's algorithm.
    """

    label: ClassVar[str] = "GLR-klUCB"
    learns_history: ClassVar[bool] = True

    restart: Literal["global", "local"] = "global"
    delta: Annotated[float, Field(gt=0, lt=1)] | None = None
    alpha: Annotated[float, Field(gt=0, le=1)] | None = None
    every: PositiveInt = 10

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        self._horizon = problem.horizon
        self._delta = 1.0 / math.sqrt(max(self._horizon, 2)) if self.delta is None else self.delta
        self._sums = np.zeros((n, 64))
        """Prefix sums of the rewards of each candidate: column s holds the sum of the first s."""
        self._counts = np.zeros(n, dtype=np.int64)
        self._since = 0
        self._began = np.zeros(n, dtype=np.int64)
        """The value of ``_since`` at the last restart of each candidate."""
        self.restarts = 0

    @property
    def _share(self) -> float:
        n = len(self._candidates)
        tuned = math.sqrt((self.restarts + 1) * n * math.log(max(self._horizon, 2)) / self._horizon)
        return min(1.0, tuned) if self.alpha is None else self.alpha

    def _choose(self) -> int:
        n = len(self._candidates)
        place = self._since % max(n, math.floor(n / self._share))
        if place < n:
            return place
        logs = np.array([math.log(max(self._since - began, 1)) for began in self._began.tolist()])
        return int(_optimistic(self._sums, self._counts, logs))

    def _tell(self, reward: float, outcome: Any) -> None:
        chosen = self._chosen
        count = int(self._counts[chosen]) + 1
        if count == self._sums.shape[1]:
            self._sums = np.concatenate((self._sums, np.zeros_like(self._sums)), axis=1)
        self._sums[chosen, count] = self._sums[chosen, count - 1] + min(max(reward, 0.0), 1.0)
        self._counts[chosen] = count
        self._since += 1
        if count % self.every == 0:
            threshold = math.log(count * math.sqrt(count) / self._delta)
            if largest_ratio(self._sums[chosen, : count + 1], self.every) > threshold:
                self._forget()

    def _forget(self) -> None:
        self.restarts += 1
        if self.restart == "local":
            self._counts[self._chosen] = 0
            self._began[self._chosen] = self._since
        else:
            self._counts[:] = 0
            self._since = 0


@kernel
def divergence(p: float, q: float) -> float:
    """Return kl(p, q) of Bernoulli distributions, with q kept at a distance of 1e-15 from 0 and 1."""
    q = min(max(q, 1e-15), 1.0 - 1e-15)
    result = 0.0
    if p > 0.0:
        result += p * np.log(p / q)
    if p < 1.0:
        result += (1.0 - p) * np.log((1.0 - p) / (1.0 - q))
    return result


@kernel
def upper_bound(mean: float, limit: float) -> float:
    """Return the largest q in [mean, 1] with kl(mean, q) <= limit, by bisection."""
    low = mean
    high = 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        if divergence(mean, middle) <= limit:
            low = middle
        else:
            high = middle
    return low


@kernel
def largest_ratio(sums: np.ndarray, step: int) -> float:
    """Return the largest log generalised likelihood ratio over every ``step``-th s, computed from prefix sums."""
    n = sums.size - 1
    mean = min(max(sums[n] / n, 0.0), 1.0)
    largest = 0.0
    for s in range(step, n, step):
        first = min(max(sums[s] / s, 0.0), 1.0)
        second = min(max((sums[n] - sums[s]) / (n - s), 0.0), 1.0)
        largest = max(largest, s * divergence(first, mean) + (n - s) * divergence(second, mean))
    return largest


@kernel
def _optimistic(sums: np.ndarray, counts: np.ndarray, logs: np.ndarray) -> int:
    best = 0
    largest = -1.0
    for arm in range(counts.size):
        count = counts[arm]
        if count == 0:
            return arm
        mean = min(max(sums[arm, count] / count, 0.0), 1.0)
        # the bisection is needed only if the bound may be the largest
        if largest < 0.0 or divergence(mean, max(mean, largest)) <= logs[arm] / count or mean > largest:
            bound = upper_bound(mean, logs[arm] / count)
            if bound > largest:
                best, largest = arm, bound
    return best
