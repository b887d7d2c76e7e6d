import math
import sys

import numpy as np

from bench.jit import kernel

_LARGEST_STEP = 1e300
"""Limit on the change of a log weight, which is divided by a possibly tiny probability."""


Drawn = tuple[int, float]
"""A number and the probability with which it was drawn."""


class ExponentialWeights:
    """EXP3 with p_j = beta/n + (1-beta) w_j / sum w; the reward Y of the chosen i multiplies w_i by exp(rate Y/p_i).

    By default beta = min{1, sqrt(n ln n / ((e-1) T))}, where T is the ``horizon``, and rate = beta/n. The largest log
    weight is 0, so the weights cannot overflow; the limit ``lowest`` keeps all probabilities positive even if beta is
    0. Source: Auer et al. 2002; syndicated, algorithm 1.
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

    def draw(self) -> Drawn:
        chosen = int(_draw_by_weight(self.log_weights, self.beta, self._rng.random(), self._drawn_from))
        return chosen, float(self._drawn_from[chosen])

    @property
    def probabilities(self) -> np.ndarray:
        """The probabilities of the candidates in the next draw, shape (n,)."""
        weights = np.exp(self.log_weights)
        return self.beta / len(weights) + (1.0 - self.beta) * weights / weights.sum()

    def learn(self, drawn: Drawn, reward: float) -> None:
        chosen, chance = drawn
        step = self._rate * reward / chance
        _learn(self.log_weights, chosen, min(max(step, -_LARGEST_STEP), _LARGEST_STEP), self._lowest)


@kernel
def _draw_by_weight(log_weights: np.ndarray, beta: float, uniform: float, probabilities: np.ndarray) -> int:
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


class Softmax:
    """Draws i with probability proportional to exp(scale score_i).

    The caller sets ``scores``, and ``drawn_from`` has the probabilities of the latest draw; both have shape (n,). Only
    the differences of the scores matter. A candidate whose exponential would underflow (below exp(-700) of the largest)
    has the probability at that limit, about 1e-304. No probability is therefore zero. The draws, which are multiples of
    2^-53, are unaffected.
    """

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.scores = np.zeros(n)
        self.drawn_from = np.full(n, 1.0 / n)
        self._rng = rng

    def draw(self, scale: float) -> int:
        return int(_draw_by_score(self.scores, scale, 1.0 - self._rng.random(), self.drawn_from))

    def probabilities(self, scale: float) -> np.ndarray:
        chances = np.empty(len(self.scores))
        _draw_by_score(self.scores, scale, 1.0, chances)
        return chances


@kernel
def _draw_by_score(scores: np.ndarray, scale: float, uniform: float, probabilities: np.ndarray) -> int:
    n = scores.size
    largest = scores[0]
    for i in range(n):
        largest = max(largest, scores[i])
    total = 0.0
    for i in range(n):
        probabilities[i] = np.exp(max(scale * (scores[i] - largest), -700.0))
        total += probabilities[i]
    # The sums below end at exactly total, so one of them always reaches the threshold.
    threshold = uniform * total
    cumulated = 0.0
    chosen = -1
    for i in range(n):
        cumulated += probabilities[i]
        if chosen < 0 and cumulated >= threshold:
            chosen = i
        probabilities[i] /= total
    return chosen


def draw(chances: np.ndarray, rng: np.random.Generator) -> int:
    """Draw an index i with probability ``chances[i]``."""
    return min(int(np.searchsorted(np.cumsum(chances), rng.random(), side="right")), len(chances) - 1)
