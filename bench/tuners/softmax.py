import numpy as np

from bench.jit import kernel

LARGEST_REWARD = 1e250
"""Rewards of a larger magnitude are clipped to this one, so that sums of scores cannot overflow."""


class Softmax:
    """Draws i with probability proportional to exp(scale score_i).

    The user of the class sets ``scores``; ``drawn_from`` has the probabilities of the latest draw; both of shape (n,).
    Only differences of scores matter. A candidate whose exponential would underflow (below exp(-700) of the largest)
    has the probability at that limit, about 1e-304. So no probability is zero, and draws, by multiples of 2^-53, are
    unaffected.
    """

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.scores = np.zeros(n)
        self.drawn_from = np.full(n, 1.0 / n)
        self._rng = rng

    def draw(self, scale: float) -> int:
        return int(_draw(self.scores, scale, 1.0 - self._rng.random(), self.drawn_from))

    def probabilities(self, scale: float) -> np.ndarray:
        chances = np.empty(len(self.scores))
        _draw(self.scores, scale, 1.0, chances)
        return chances


@kernel
def _draw(scores: np.ndarray, scale: float, uniform: float, probabilities: np.ndarray) -> int:
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
