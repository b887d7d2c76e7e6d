import math
import sys

import numpy as np

from bench.jit import kernel

_LARGEST_STEP = 1e300
"""Limit of a change of a log weight, which is divided by a possibly tiny probability."""


class ExponentialWeights:
    """EXP3: p_j = beta/n + (1-beta) w_j / sum w, and after the reward Y of the chosen i, w_i *= exp(rate Y/p_i).

    By default beta = min{1, sqrt(n ln n / ((e-1) T))}, T the ``horizon``, and rate = beta/n. Log weights have their
    maximum at 0, so they cannot overflow; the limit ``lowest`` keeps all probabilities positive even if beta is 0.
    Source: Auer et al. 2002; syndicated, algorithm 1.
    """

    def __init__(
        self,
        n: int,
        horizon: int,
        rng: np.random.Generator,
        *,
        beta: float | None = None,
        rate: float | None = None,
        lowest: float = -sys.float_info.max,
    ) -> None:
        self.beta = min(1.0, math.sqrt(n * math.log(n) / ((math.e - 1.0) * horizon))) if beta is None else beta
        self._rate = self.beta / n if rate is None else rate
        self._lowest = lowest
        self.log_weights = np.zeros(n)
        self._drawn_from = np.full(n, 1.0 / n)
        self._rng = rng
        self._chosen = 0

    def draw(self) -> int:
        self._chosen = int(_draw(self.log_weights, self.beta, self._rng.random(), self._drawn_from))
        return self._chosen

    @property
    def probabilities(self) -> np.ndarray:
        """The probabilities of the candidates in the next draw, shape (n,)."""
        weights = np.exp(self.log_weights)
        return self.beta / len(weights) + (1.0 - self.beta) * weights / weights.sum()

    def learn(self, reward: float) -> None:
        step = self._rate * reward / float(self._drawn_from[self._chosen])
        _learn(self.log_weights, self._chosen, min(max(step, -_LARGEST_STEP), _LARGEST_STEP), self._lowest)


@kernel
def _draw(log_weights: np.ndarray, beta: float, uniform: float, probabilities: np.ndarray) -> int:
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
def _learn(log_weights: np.ndarray, chosen: int, step: float, lowest: float) -> None:
    log_weights[chosen] += step
    largest = log_weights.max()
    for j in range(log_weights.size):
        log_weights[j] = max(log_weights[j] - largest, lowest)
