"""Means of past rewards that follow a changing environment: old rewards are dropped at once, or little by little."""

import math
from abc import ABC, abstractmethod

import numpy as np

from bench.kernel import kernel

_SMALLEST_SCALE = 1e-30  # small, so that arms are seldom rescaled; large enough for rewards of any usual size


class DynamicMeans(ABC):
    """Weighted numbers of pulls and sums of rewards of the arms 0, 1, ...; more arms may come.

    A round touches one or two arms, however many there are.

    Parameters
    ----------
    n_arms
        Number of arms at the start.

    Attributes
    ----------
    total
        W_t, the sum of the weights of all past rounds.
    stats
        Shape (capacity, 2), the first ``n_arms`` rows in use: pulls and sum of rewards, still to be multiplied with
        ``scale`` to be n_t(a) and R_t(a).

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
        """Return the arm with the largest R / n + ``factor`` sqrt(``log_term`` / n), the first of several.

        An arm whose pulls weigh nothing has an infinite index.
        """
        return _most_promising(self.stats, self.n_arms, self.scale, log_term, factor)


class WindowedMeans(DynamicMeans):
    """Hard-drop: the rewards of the last ``window`` rounds weigh 1, older ones nothing.

    Whenever the window has been renewed, the sums are added up afresh: rounding errors, such as a huge reward leaves
    behind in a sum when it is subtracted, don't last.
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
    """Soft-drop: a reward weighs ``discount`` times less with each round that passes.

    All arms decay together, in one common factor. Before that becomes too small it is multiplied into them.
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


def whole(ratio: float) -> int:
    """Return floor(``ratio``), at least 1, not misled by rounding just below a whole number."""
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
    """Let the oldest pull out of the window, at ``place``, and the new one in."""
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
