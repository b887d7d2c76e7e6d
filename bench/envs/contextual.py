from abc import abstractmethod
from dataclasses import field
from typing import Any, ClassVar, Literal

import numpy as np

from bench.component import component
from bench.envs.base import Environment
from bench.jit import kernel

Link = Literal["linear", "logistic"]


@component
class ContextualEnvironment(Environment):
    """An environment that shows arms with features in each round and pays a noisy reward for the pulled arm.

    ``start`` sets ``dim`` (features per arm), ``n_arms`` (the largest number of arms in a round), ``sub_gaussian``
    (constant of the reward noise) and ``feature_norm`` (an upper bound of the features' Euclidean norms). For a log
    that ends, ``start`` may also set ``expected_rounds``, the horizon of schedules, and ``traced_rounds``, over which
    the rows of a trace are spread if the horizon is longer. ``observe`` sets ``means`` (expected rewards of the round's
    arms), their maximum ``best_mean`` and their average ``average_mean``, the expected reward of a uniformly random
    arm. A replayed log has no means.
    """

    sums: ClassVar[tuple[str, ...]] = ("reward", "regret", "random_regret")
    """The reward and the entries of ``values`` that a run sums."""

    rejects: ClassVar[bool] = False
    """Whether ``pull`` may return None, as a log does for an event with another arm's reward, which is then not a
    round.

    Runs then differ in their numbers of rounds, so sums over rounds are not comparable.
    """

    compared: ClassVar[str] = "regret"
    """The column by which runs are compared by default."""

    @property
    def shared_context(self) -> bool:
        """Whether arms have no features of their own, so that all rows of a round's contexts are equal."""
        return False

    dim: int = field(init=False, repr=False)
    n_arms: int = field(init=False, repr=False)
    sub_gaussian: float = field(init=False, repr=False)
    feature_norm: float = field(init=False, repr=False)
    means: np.ndarray = field(init=False, repr=False)
    best_mean: float = field(init=False, repr=False)
    average_mean: float = field(init=False, repr=False)
    expected_rounds: int | None = field(init=False, repr=False, default=None)
    traced_rounds: int | None = field(init=False, repr=False, default=None)

    @property
    def link(self) -> Link:
        """The link from x'theta to the expected reward: ``linear`` or ``logistic`` (rewards are then 0 or 1)."""
        return "linear"

    @abstractmethod
    def observe(self) -> np.ndarray | None:
        """Begin the next round and return its contexts, shape (arms, dim), or None if no rounds are left.

        The array is contiguous along the axis of arms, and is reused in the next call.
        """

    @abstractmethod
    def pull(self, arm: int) -> float | None:
        """Play ``arm`` in the current round and return its reward, or None if the round is rejected."""

    def values(self, arm: int) -> dict[str, Any]:
        """Return further values of the round in which ``arm`` was played, for the trace."""
        best = self.best_mean
        return {"regret": best - self.means.item(arm), "random_regret": best - self.average_mean}


class RewardNoise:
    """Noise with one draw per round, the same for every arm, so that comparisons are paired.

    Draws are made in blocks.
    """

    _BLOCK = 1024

    def __init__(self, link: Link, std: float, rng: np.random.Generator) -> None:
        self._logistic = link == "logistic"
        self._std = std
        self._rng = rng
        self._block: list[float] = []

    def reward(self, mean: float) -> float:
        """Return a draw from Bernoulli(mean) for the logistic link, or from N(mean, std^2) for the linear link."""
        if not self._block:
            draw = self._rng.random if self._logistic else self._rng.standard_normal
            self._block = draw(self._BLOCK)[::-1].tolist()
        noise = self._block.pop()
        return float(noise < mean) if self._logistic else mean + self._std * noise


@kernel
def linear_means(contexts: np.ndarray, theta: np.ndarray, means: np.ndarray) -> None:
    """Write x'theta of every arm into ``means``.

    ``contexts`` has shape (arms, dim) and is contiguous along the axis of arms.
    """
    n_arms, dim = contexts.shape
    means[:n_arms] = 0.0
    for i in range(dim):
        weight = theta[i]
        for k in range(n_arms):
            means[k] += contexts[k, i] * weight


@kernel
def transform_means(means: np.ndarray, scale: float, shift: float, logistic: bool) -> tuple[float, float]:
    """Map linear values to expected rewards in place, and return the largest and the average expected reward."""
    best = -np.inf
    total = 0.0
    for k in range(means.size):
        mean = scale * means[k] + shift
        if logistic:
            mean = 1.0 / (1.0 + np.exp(-mean))
        means[k] = mean
        total += mean
        if mean > best:
            best = mean
    return best, total / means.size
