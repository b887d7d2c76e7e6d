"""Upper confidence bounds that forget old rewards by a window or by discounting."""

import math
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from bench.component import component
from bench.jit import kernel
from bench.seeding import Seeds
from bench.tuners.base import CandidateTuner, Problem
from bench.tuners.dynamic_means import HUGE
from bench.tuners.exponential_weights import ExponentialWeights


class SlidingWindow:
    """The rewards of ``n_arms`` arms in the last ``length`` rounds; the length is written tau."""

    def __init__(self, n_arms: int, length: int) -> None:
        self._arms = np.zeros(length, dtype=np.int64)
        self._rewards = np.zeros(length)
        self._sums = np.zeros(n_arms)
        self._counts = np.zeros(n_arms)
        self._round = 0

    def learn(self, arm: int, reward: float) -> None:
        _slide(self._arms, self._rewards, self._sums, self._counts, self._round, arm, reward)
        self._round += 1

    def optimistic(self, scale: float) -> int:
        """Return the first arm with the largest mean + sqrt(scale ln(min(t, tau)) / N), which is infinite for N = 0."""
        log = np.log(min(max(self._round, 1), len(self._arms)))
        return int(_optimistic(self._sums, self._counts, scale * log))


@component
class ForgettingUCB(CandidateTuner):
    """UCB that forgets rewards.

    Parameters
    ----------
    changes
        Expected number of changes, for the default memory; with 0, rewards are kept forever.
    xi
        Width of the bounds; the theory requires more than 1/2.
    bound
        B; rewards lie in [0, B].
    """

    changes: NonNegativeFloat = 1.0
    xi: NonNegativeFloat = 0.6
    bound: PositiveFloat = 1.0


@component
class SlidingWindowUCB(ForgettingUCB):
    """Play the candidate with the largest mean + B sqrt(xi ln(min(t, tau)) / N) over the last tau rounds.

    A candidate without plays in the window comes first, and the first of equal upper bounds is taken. Source: Garivier
    and Moulines 2011, section 4 (SW-UCB); the default window is from their remarks on theorem 2.

    Parameters
    ----------
    window
        tau; null: 2 B sqrt(T ln T / changes), rounded up.
    """

    learns_history: ClassVar[bool] = True

    window: PositiveInt | None = None

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        horizon = problem.horizon
        length = horizon if self.window is None else self.window
        if self.window is None and self.changes > 0:
            length = math.ceil(2.0 * self.bound * math.sqrt(horizon * math.log(max(horizon, 2)) / self.changes))
        self._window = SlidingWindow(n, min(max(length, 1), horizon))

    def _choose(self) -> int:
        return self._window.optimistic(self.bound**2 * self.xi)

    def _tell(self, reward: float, outcome: Any) -> None:
        self._window.learn(self._chosen, reward)


@component
class BanditOverBandit(CandidateTuner):
    """Play each block of H rounds by a new sliding-window UCB, whose window is chosen by EXP3.

    Windows are floor(H^(j/D)) for j = 0, ..., D with D = ceil(ln H). EXP3 is rewarded with 1/2 + the block's sum of
    rewards / (2 H + 4 R sqrt(H ln(T / sqrt(H)))). Source: Cheung, Simchi-Levi and Zhu 2019, algorithm 2. Their base
    algorithm is linear of dimension d; here the base algorithm is that of Garivier and Moulines 2011. The paper's H,
    floor(d sqrt(T)), balances the regret of EXP3, sqrt(H T), with the regret of the base algorithm in blocks of H
    rounds, d T / sqrt(H); for K arms the latter is T sqrt(K / H).

    Parameters
    ----------
    block
        H; null: floor(sqrt(K T)) for K candidates, at most T.
    xi, bound
        As in sliding-window UCB.
    noise_std
        R, the sub-Gaussian constant of the noise; null: the task's.
    """

    label: ClassVar[str] = "Bandit over bandit"
    remembers: ClassVar[tuple[str, ...] | None] = ("_chosen", "_block")

    block: PositiveInt | None = None
    xi: NonNegativeFloat = 0.6
    bound: PositiveFloat = 1.0
    noise_std: NonNegativeFloat | None = None

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        horizon = problem.horizon
        length = min(math.isqrt(n * horizon) if self.block is None else self.block, horizon)
        steps = max(1, math.ceil(math.log(length)))
        self._length = length
        self.windows = [max(1, math.floor(length ** (j / steps) + 1e-9)) for j in range(steps + 1)]
        noise = problem.noise_std if self.noise_std is None else self.noise_std
        spread = math.sqrt(length * max(0.0, math.log(horizon / math.sqrt(length))))
        self._scale = 2.0 * length + 4.0 * noise * spread
        self._master = ExponentialWeights(len(self.windows), math.ceil(horizon / length), seeds.generator("window"))
        self._blocks = 0
        self._begin_block()

    def _begin_block(self) -> None:
        self._blocks += 1
        self._left = self._length
        self._total = 0.0
        self._base: SlidingWindow | None = None

    def _choose(self) -> int:
        if self._base is None:
            self._drawn = self._master.draw()
            self._base = SlidingWindow(len(self._candidates), self.windows[self._drawn[0]])
        self._block = self._blocks
        return self._base.optimistic(self.bound**2 * self.xi)

    def _tell(self, reward: float, outcome: Any) -> None:
        if self._base is None or self._block != self._blocks:
            return  # a late reward from an earlier block
        self._base.learn(self._chosen, reward)
        self._total += reward / self._scale
        self._left -= 1
        if self._left == 0:
            self._master.learn(self._drawn, 0.5 + self._total)
            self._begin_block()


@component
class DiscountedUCB(ForgettingUCB):
    """Try each candidate once, then the candidate with the largest mean + 2 B sqrt(xi ln n / N).

    Means and counts N are discounted: a reward of s rounds ago has weight gamma^s, and n is the sum of all N. The first
    of equal bounds is taken. Source: Garivier and Moulines 2011, section 3 (D-UCB) and remarks on theorem 1 (default
    discount).

    Parameters
    ----------
    discount
        gamma; null: 1 - sqrt(changes / T) / (4 B).
    """

    learns_history: ClassVar[bool] = True

    discount: Annotated[float, Field(gt=0, lt=1)] | None = None

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        self._sums = np.zeros(n)
        self._counts = np.zeros(n)
        slow = 1.0 - math.sqrt(min(self.changes / problem.horizon, 1.0)) / (4.0 * self.bound)
        self._discount = max(slow, 0.5) if self.discount is None else self.discount

    def _choose(self) -> int:
        return int(_optimistic_of_all(self._sums, self._counts, 4.0 * self.bound**2 * self.xi))

    def _tell(self, reward: float, outcome: Any) -> None:
        _discount(self._sums, self._counts, self._discount, self._chosen, reward)


@kernel
def _slide(
    arms: np.ndarray, rewards: np.ndarray, sums: np.ndarray, counts: np.ndarray, round_: int, arm: int, reward: float
) -> None:
    length = arms.size
    place = round_ % length
    is_huge = abs(rewards[place]) > HUGE
    if round_ >= length:
        old = arms[place]
        counts[old] -= 1.0
        sums[old] -= rewards[place]
        if counts[old] == 0.0:
            sums[old] = 0.0
    arms[place] = arm
    rewards[place] = reward
    counts[arm] += 1.0
    sums[arm] += reward
    # Recomputed once per window, so that rounding errors do not accumulate, and after a reward that had hidden others
    if place == length - 1 or is_huge:
        sums[:] = 0.0
        for s in range(length):
            sums[arms[s]] += rewards[s]


@kernel
def _discount(sums: np.ndarray, counts: np.ndarray, discount: float, chosen: int, reward: float) -> None:
    for arm in range(counts.size):
        # a candidate keeps a little weight, or its mean would be 0 / 0
        if counts[arm] > 1e-200:
            sums[arm] *= discount
            counts[arm] *= discount
    sums[chosen] += reward
    counts[chosen] += 1.0


@kernel
def _optimistic(sums: np.ndarray, counts: np.ndarray, width: float) -> int:
    best = 0
    largest = -np.inf
    for arm in range(counts.size):
        if counts[arm] == 0.0:
            return arm
        bound = sums[arm] / counts[arm] + np.sqrt(width / counts[arm])
        if bound > largest:
            best, largest = arm, bound
    return best


@kernel
def _optimistic_of_all(sums: np.ndarray, counts: np.ndarray, scale: float) -> int:
    total = 0.0
    for arm in range(counts.size):
        total += counts[arm]
    return _optimistic(sums, counts, scale * max(np.log(total), 0.0))
