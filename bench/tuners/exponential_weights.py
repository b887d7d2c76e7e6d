"""EXP3 over the numbers 0 .. n-1: the layer that TL, TL-Combined and Syndicated are made of."""

import math

import numpy as np

from bench.kernel import kernel


class ExponentialWeights:
    """EXP3 with the exploration of the syndicated paper.

    beta = min{1, sqrt(n ln n / ((e-1) T))}, p_j = beta/n + (1-beta) w_j / sum w, and after the reward Y of the chosen
    i: w_i *= exp(beta/n Y/p_i). Weights are kept as logarithms, their maximum at 0, so they cannot overflow.

    Parameters
    ----------
    n
        Number of candidates.
    horizon
        Number of decisions, T.
    rng
        Source of the draws.

    Source: Auer et al. 2002; syndicated, algorithm 1.
    """

    def __init__(self, n: int, horizon: int, rng: np.random.Generator) -> None:
        self.beta = min(1.0, math.sqrt(n * math.log(n) / ((math.e - 1.0) * horizon)))
        self.log_weights = np.zeros(n)
        self._drawn_from = np.full(n, 1.0 / n)
        self._rng = rng
        self._chosen = 0

    def draw(self) -> int:
        """Choose a candidate."""
        self._chosen = int(_draw(self.log_weights, self.beta, self._rng.random(), self._drawn_from))
        return self._chosen

    @property
    def probabilities(self) -> np.ndarray:
        """The chances of the candidates in the next draw, shape (n,)."""
        weights = np.exp(self.log_weights)
        return self.beta / len(weights) + (1.0 - self.beta) * weights / weights.sum()

    def learn(self, reward: float) -> None:
        """Reward the candidate that was drawn last."""
        _learn(self.log_weights, self.beta, self._drawn_from, self._chosen, reward)


@kernel
def _draw(log_weights: np.ndarray, beta: float, uniform: float, probabilities: np.ndarray) -> int:
    """Compute the probabilities and invert their distribution function at ``uniform``."""
    n = log_weights.size
    total = 0.0
    for j in range(n):
        probabilities[j] = np.exp(log_weights[j])
        total += probabilities[j]
    cumulated = 0.0
    chosen = -1
    for j in range(n):
        probabilities[j] = beta / n + (1.0 - beta) * probabilities[j] / total
        cumulated += probabilities[j]
        if chosen < 0 and uniform < cumulated:
            chosen = j
    return chosen if chosen >= 0 else n - 1


@kernel
def _learn(log_weights: np.ndarray, beta: float, probabilities: np.ndarray, chosen: int, reward: float) -> None:
    n = log_weights.size
    log_weights[chosen] += beta / n * reward / probabilities[chosen]
    largest = log_weights[0]
    for j in range(n):
        largest = max(largest, log_weights[j])
    for j in range(n):
        log_weights[j] -= largest
