"""Means of past rewards in a changing environment: old rewards are dropped (hard) or discounted (soft)."""

import math
from abc import ABC, abstractmethod

import numpy as np

from bench.jit import kernel

_SMALLEST_SCALE = 1e-30  # small, so that arms are rarely rescaled, but large enough for rewards of any usual size


class DynamicMeans(ABC):
    """Weighted numbers of pulls and sums of rewards of the arms 0, 1, ...; arms can be added.

    A round updates one or two arms, whatever their number.

    Parameters
    ----------
    n_arms
        Number of arms at the start.

    Attributes
    ----------
    total
        W_t, the sum of the weights of all past rounds.
    stats
        Shape (capacity, 2), the first ``n_arms`` rows in use: pulls and sum of rewards, to be multiplied by
        ``scale`` to give n_t(a) and R_t(a).

    Source: online_hpo, equations 3 to 5 and remark 4.1.
    """

    def __init__(self, n_arms: int = 0) -> None:
        self.n_arms = n_arms
        self.stats = np.zeros((max(16, n_arms), 2))
        self.scale = 1.0
        self.total = 0.0

    def add_arm(self) -> None:
        """Add an arm that has not been pulled."""
        if self.n_arms == len(self.stats):
            self.stats = np.concatenate([self.stats, np.zeros_like(self.stats)])
        self.n_arms += 1

    @abstractmethod
    def learn(self, arm: int, reward: float) -> None:
        """End a round: ``arm`` was pulled and earned ``reward``."""

    def most_promising(self, log_term: float, factor: float) -> int:
        """Return the arm with the largest R / n + ``factor`` sqrt(``log_term`` / n), the first on a tie.

        An arm whose pulls have no weight has an infinite index.
        """
        return _most_promising(self.stats, self.n_arms, self.scale, log_term, factor)


class WindowedMeans(DynamicMeans):
    """Hard drop: the rewards of the last ``window`` rounds have weight 1, older ones 0.

    Once per window the sums are recomputed, so that rounding errors, such as those left when a huge reward is
    subtracted, do not persist.
    """

    def __init__(self, window: int, n_arms: int = 0) -> None:
        super().__init__(n_arms)
        self._arms = np.full(window, -1)
        self._rewards = np.zeros(window)
        self._place = 0

    def learn(self, arm: int, reward: float) -> None:
        window = len(self._arms)
        _slide(self.stats, self._arms, self._rewards, self._place, arm, reward)
        self._place = (self._place + 1) % window
        self.total = min(self.total + 1.0, float(window))


class DiscountedMeans(DynamicMeans):
    """Soft drop: the weight of a reward is multiplied by ``discount`` in each round.

    All arms share one decay factor; before it becomes too small, it is multiplied into their sums.
    """

    def __init__(self, discount: float, n_arms: int = 0) -> None:
        super().__init__(n_arms)
        self._discount = discount

    def learn(self, arm: int, reward: float) -> None:
        scale = self.scale * self._discount
        if scale < _SMALLEST_SCALE:
            self.stats *= scale
            scale = 1.0
        self.scale = scale
        self.stats[arm, 0] += 1.0 / scale
        self.stats[arm, 1] += reward / scale
        self.total = self._discount * self.total + 1.0


def floor_at_least_one(ratio: float) -> int:
    """Return floor(``ratio``), at least 1, tolerating rounding just below a whole number."""
    return max(1, math.floor(ratio * (1.0 + 1e-12)))


@kernel
def _most_promising(stats: np.ndarray, n_arms: int, scale: float, log_term: float, factor: float) -> int:
    best = 0
    best_index = -np.inf
    for k in range(n_arms):
        pulls = stats[k, 0] * scale
        if pulls <= 0.0:
            return k
        index = stats[k, 1] / stats[k, 0] + factor * np.sqrt(log_term / pulls)
        if index > best_index:
            best = k
            best_index = index
    return best


@kernel
def _slide(stats: np.ndarray, arms: np.ndarray, rewards: np.ndarray, place: int, arm: int, reward: float) -> None:
    """Replace the oldest pull of the window, at ``place``, by the new one."""
    oldest = arms[place]
    if oldest >= 0:
        stats[oldest, 0] -= 1.0
        stats[oldest, 1] -= rewards[place]
    arms[place] = arm
    rewards[place] = reward
    stats[arm, 0] += 1.0
    stats[arm, 1] += reward
    if place == arms.size - 1:
        stats[:, 1] = 0.0
        for i in range(arms.size):
            stats[arms[i], 1] += rewards[i]
