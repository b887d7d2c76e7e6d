import math
from abc import ABC, abstractmethod

import numpy as np

from bench.jit import kernel

_SMALLEST_SCALE = 1e-30  # small, so that arms are rarely rescaled, but large enough for rewards of any usual size

HUGE = 1e8
"""Size of a reward that hides the last digits of others in its sum, so that the sum is formed anew once it has left."""


class DynamicMeans(ABC):
    """Weighted numbers of pulls and sums of rewards of arms in a changing environment.

    Arms can be added. ``total`` is W_t, the sum of the weights of all past rounds. ``stats``, shape (arms, 2), holds
    pulls and sums of rewards, which multiplied by ``scale`` are n_t(a) and R_t(a). A round updates one or two arms.
    Source: online_hpo, equations 3 to 5 and remark 4.1.
    """

    def __init__(self, n_arms: int = 0) -> None:
        self.stats = np.zeros((n_arms, 2))
        self.scale = 1.0
        self.total = 0.0

    def add_arm(self) -> None:
        self.stats = np.concatenate([self.stats, np.zeros((1, 2))])

    @abstractmethod
    def learn(self, arm: int, reward: float) -> None:
        """End a round in which ``arm`` was pulled and earned ``reward``."""

    def most_promising(self, log_term: float, factor: float) -> int:
        """Return the first arm with the largest R / n + ``factor`` sqrt(``log_term`` / n).

        The value of an arm with n = 0 is infinite.
        """
        return _most_promising(self.stats, self.scale, log_term, factor)


class WindowedMeans(DynamicMeans):
    """Hard drop: the rewards of the last ``window`` rounds have weight 1, and older rewards have weight 0.

    The sums are recomputed once per window, so that rounding errors, such as those of huge rewards, do not persist.
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

    All arms share one decay factor, which is multiplied into their sums before it becomes too small.
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
    """Return floor(``ratio``), but at least 1.

    A ratio that rounding has put just below a whole number counts as this number.
    """
    return max(1, math.floor(ratio * (1.0 + 1e-12)))


@kernel
def _most_promising(stats: np.ndarray, scale: float, log_term: float, factor: float) -> int:
    best = 0
    best_index = -np.inf
    for k in range(len(stats)):
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
    oldest, is_huge = arms[place], abs(rewards[place]) > HUGE
    if oldest >= 0:
        stats[oldest, 0] -= 1.0
        stats[oldest, 1] -= rewards[place]
    arms[place] = arm
    rewards[place] = reward
    stats[arm, 0] += 1.0
    stats[arm, 1] += reward
    if place == arms.size - 1 or is_huge:
        stats[:, 1] = 0.0
        for i in range(arms.size):
            stats[arms[i], 1] += rewards[i]
