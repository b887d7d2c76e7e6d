import numpy as np

from bench.jit import kernel

_LARGEST = 1e250
"""Rewards beyond it, of either sign, count as this one, so that sums cannot overflow."""


class SlidingWindow:
    """What the rewards of ``n_arms`` arms have been in the last ``length`` rounds, tau."""

    def __init__(self, n_arms: int, length: int) -> None:
        self._arms = np.zeros(length, dtype=np.int64)
        self._rewards = np.zeros(length)
        self._sums = np.zeros(n_arms)
        self._counts = np.zeros(n_arms)
        self._round = 0

    def learn(self, arm: int, reward: float) -> None:
        reward = min(max(reward, -_LARGEST), _LARGEST)
        _learn(self._arms, self._rewards, self._sums, self._counts, self._round, arm, reward)
        self._round += 1

    def optimistic(self, scale: float) -> int:
        """Return the first arm with the largest mean + sqrt(scale ln(min(t, tau)) / N); infinite for N = 0."""
        log = np.log(min(max(self._round, 1), len(self._arms)))
        return int(_optimistic(self._sums, self._counts, scale * log))


@kernel
def _learn(
    arms: np.ndarray, rewards: np.ndarray, sums: np.ndarray, counts: np.ndarray, round_: int, arm: int, reward: float
) -> None:
    length = arms.size
    place = round_ % length
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
    if place == length - 1:  # afresh once per window, so that rounding errors cannot add up
        sums[:] = 0.0
        for s in range(length):
            sums[arms[s]] += rewards[s]


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
