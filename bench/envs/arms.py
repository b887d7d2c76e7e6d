import math
from abc import abstractmethod
from dataclasses import field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, NonNegativeFloat

from bench.arithmetic import total
from bench.arm_means import ArmMeans
from bench.component import component
from bench.envs.direct import DirectEnvironment
from bench.errors import ConfigError
from bench.jit import kernel
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter, Space

_BLOCK = 1024
"""Rounds whose rewards are drawn at once."""


@component
class Arms(DirectEnvironment):
    """K arms, the values 0 to K - 1 of ``arm``, whose rewards are all revealed in every round.

    Rewards are drawn before the arm is chosen, in blocks of rounds for speed.
    """

    full_information: ClassVar[bool] = True

    _arms: dict[int, int] = field(init=False, repr=False)
    _block: np.ndarray = field(init=False, repr=False)
    _row: int = field(init=False, repr=False)

    @property
    @abstractmethod
    def n_arms(self) -> int:
        """Number of arms, K."""

    @property
    def space(self) -> Space:
        return Space((HyperParameter("arm", candidates=tuple(range(self.n_arms))),))

    def start(self, rounds: int, seeds: Seeds) -> None:
        self._arms = {arm: arm for arm in range(self.n_arms)}
        self._block = np.empty((0, self.n_arms))
        self._row = 0

    def play(self, configuration: Configuration) -> float:
        """Play a round and return its reward. Raises ConfigError if the arm does not exist."""
        try:
            arm = self._arms[configuration["arm"]]
        except (KeyError, TypeError):
            raise ConfigError(
                f"env: found the configuration {configuration}, expected an arm from 0 to {self.n_arms - 1}"
            ) from None
        if self._row == len(self._block):
            self._block, self._row = self._next_block(), 0
        self.rewards = rewards = self._block[self._row]
        self._row += 1
        reward: float = rewards.item(arm)
        self._played(arm, reward)
        return reward

    @abstractmethod
    def _next_block(self) -> np.ndarray:
        """Return the rewards of the next rounds, shape (rounds, K)."""

    @abstractmethod
    def _played(self, arm: int, reward: float) -> None:
        """Record the played arm and its reward, and set ``mean``, ``best_mean`` and ``average_mean`` of the round."""


@component
class StochasticArms(Arms):
    """Arms with independent rewards around ``means``, which are the same in every run with the same seed."""

    means: list[float] = field(default_factory=list)

    @property
    def n_arms(self) -> int:
        return len(self.means)

    def start(self, rounds: int, seeds: Seeds) -> None:
        super().start(rounds, seeds)
        self._rng = seeds.generator("rewards")
        self.best_mean = max(self.means)
        self.average_mean = total(self.means) / len(self.means)

    def _played(self, arm: int, reward: float) -> None:
        self.mean = self.means[arm]


@component
class GaussianArms(StochasticArms):
    """Arms with rewards N(mean, variance), independent between arms and rounds.

    Source: the experiment of habo with five arms; the numbers are from the authors' code.

    Parameters
    ----------
    means
        Expected reward of each arm.
    variance
        Variance of the rewards, the same for all arms.
    """

    means: Annotated[list[float], Field(min_length=2)] = field(default_factory=lambda: [0.1, 0.2, 0.3, 0.25, 0.15])
    variance: NonNegativeFloat = 0.1

    def start(self, rounds: int, seeds: Seeds) -> None:
        super().start(rounds, seeds)
        self.sub_gaussian = math.sqrt(self.variance)

    def _next_block(self) -> np.ndarray:
        return np.asarray(self.means) + self.sub_gaussian * self._rng.standard_normal((_BLOCK, self.n_arms))


@component
class BernoulliArms(StochasticArms):
    """Arms with rewards 1 with probability mean and 0 otherwise, independent between arms and rounds.

    Parameters
    ----------
    means
        Expected reward of each arm, between 0 and 1.
    """

    means: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=2)] = field(
        default_factory=lambda: [0.1, 0.2, 0.3, 0.25, 0.15]
    )

    def start(self, rounds: int, seeds: Seeds) -> None:
        super().start(rounds, seeds)
        self.sub_gaussian = 0.5

    def _next_block(self) -> np.ndarray:
        return (self._rng.random((_BLOCK, self.n_arms)) < self.means).astype(float)


@component
class AdversarialArms(Arms):
    """Arms with rewards in [0, 1] chosen by an adversary.

    Regret is against the best arm in hindsight up to the round. The adversary *oblivious* fixes the rewards in advance.
    In the first half of the run, a decoy pays 1 with probability 3/4 and every other arm with probability 1/2. In the
    second half, another arm, which is the best of the whole run, pays 1 with probability 9/10 and every other arm with
    probability 1/10. The two arms and the rewards are drawn from the seed. The adversary *adaptive* observes arms and
    rewards, computes UCB1's next arm, and lets this arm pay 0 and all other arms 1. UCB1 therefore earns 0, whereas
    even a fixed arm earns (K - 1) / K per round; a randomised learner is unpredictable.

    The trace columns besides ``reward`` are ``regret`` and, for the oblivious adversary, ``random_regret``, the regret
    of uniform draws on the same rewards, computed without play. They are not summed, because the best arm changes.
    Source: the adaptive adversary gives every deterministic learner linear regret (Lattimore and Szepesvari 2020,
    section 11.1); habo, section 13, names neither adversary.

    Parameters
    ----------
    arms
        Number of arms, K.
    adversary
        ``oblivious`` or ``adaptive``.
    """

    sums: ClassVar[tuple[str, ...]] = ("reward",)

    arms: Annotated[int, Field(ge=2)] = 5
    adversary: Literal["oblivious", "adaptive"] = "oblivious"

    @property
    def n_arms(self) -> int:
        return self.arms

    def start(self, rounds: int, seeds: Seeds) -> None:
        super().start(rounds, seeds)
        self.sub_gaussian = 0.5
        self._rng = seeds.generator("rewards")
        decoy, best = seeds.generator("arms").permutation(self.arms)[:2]
        self._halves = np.full((2, self.arms), [[0.5], [0.1]])
        self._halves[0, decoy], self._halves[1, best] = 0.75, 0.9
        self._expected = [(half.tolist(), float(half.max()), float(half.mean())) for half in self._halves]
        self._change = rounds // 2
        self._played_rounds = 0
        self._seen = ArmMeans(self.arms)
        self._totals = np.zeros(self.arms)
        self._own = 0.0

    def _next_block(self) -> np.ndarray:
        if self.adversary == "adaptive":
            rewards = np.ones((1, self.arms))
            rewards[0, self._seen.optimistic(self._seen.ucb1_width)] = 0.0
            return rewards
        rounds = np.arange(self._played_rounds, self._played_rounds + _BLOCK)
        means = self._halves[(rounds >= self._change).astype(int)]
        return (self._rng.random(means.shape) < means).astype(float)

    def _played(self, arm: int, reward: float) -> None:
        rewards = self._block[self._row - 1]
        _add(self._totals, rewards)
        self._own += reward
        if self.adversary == "adaptive":
            self._seen.learn(arm, reward)
            self.mean, self.best_mean, self.average_mean = reward, 1.0, (self.arms - 1) / self.arms
        else:
            means, self.best_mean, self.average_mean = self._expected[self._played_rounds >= self._change]
            self.mean = means[arm]
        self._played_rounds += 1

    def values(self) -> dict[str, Any]:
        best, average = _best_and_average(self._totals)
        values = {"regret": best - self._own}
        if self.adversary == "oblivious":
            values["random_regret"] = best - average
        return values


@kernel
def _add(totals: np.ndarray, rewards: np.ndarray) -> None:
    for arm in range(totals.size):
        totals[arm] += rewards[arm]


@kernel
def _best_and_average(totals: np.ndarray) -> tuple[float, float]:
    best = totals[0]
    total = 0.0
    for arm in range(totals.size):
        best = max(best, totals[arm])
        total += totals[arm]
    return best, total / totals.size
