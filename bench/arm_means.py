import math

import numpy as np

from bench.jit import kernel


class ArmMeans:
    """Counts and mean rewards of ``n_arms`` arms, and the arm with the largest upper confidence bound.

    ``counts`` and ``means`` have shape (n_arms,). ``pulls``, written t, is the sum of ``counts``.
    """

    def __init__(self, n_arms: int) -> None:
        self.counts = np.zeros(n_arms)
        self.means = np.zeros(n_arms)
        self.pulls = 0

    def learn(self, arm: int, reward: float) -> None:
        self.pulls += 1
        _learn(self.means, self.counts, arm, reward)

    @property
    def ucb1_width(self) -> float:
        """The width 2 ln t of UCB1's upper bounds. Source: habo, section 8 (Auer et al. 2002)."""
        return 2.0 * math.log(max(self.pulls, 1))

    def optimistic(self, width: float) -> int:
        """Return the first arm with the largest upper bound mean + sqrt(width / count).

        The bound of an arm without pulls is infinite.
        """
        return int(_optimistic(self.means, self.counts, width))

    def upper_bounds(self, width: float) -> np.ndarray:
        bounds = np.full(len(self.means), np.inf)
        known = self.counts > 0
        bounds[known] = self.means[known] + np.sqrt(width / self.counts[known])
        return bounds


@kernel
def _learn(means: np.ndarray, counts: np.ndarray, arm: int, reward: float) -> None:
    counts[arm] += 1.0
    # A running mean cannot overflow; a sum of rewards could.
    means[arm] += reward / counts[arm] - means[arm] / counts[arm]


@kernel
def _optimistic(means: np.ndarray, counts: np.ndarray, width: float) -> int:
    best = 0
    largest = -np.inf
    for arm in range(means.size):
        if counts[arm] == 0.0:
            return arm
        bound = means[arm] + np.sqrt(width / counts[arm])
        if bound > largest:
            largest = bound
            best = arm
    return best
