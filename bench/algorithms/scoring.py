import numpy as np

from bench.jit import kernel


@kernel
def best_linear(contexts: np.ndarray, theta: np.ndarray, scores: np.ndarray) -> int:
    """Return argmax x'theta over the rows of ``contexts``, the first on a tie; ``scores``: shape (>= arms,)."""
    n_arms, dim = contexts.shape
    x = contexts.T
    for k in range(n_arms):
        scores[k] = 0.0
    for i in range(dim):
        weight = theta[i]
        for k in range(n_arms):
            scores[k] += weight * x[i, k]
    best = 0
    for k in range(n_arms):
        if scores[k] > scores[best]:
            best = k
    return best


@kernel
def best_upper_bound(
    contexts: np.ndarray, inverse: np.ndarray, theta: np.ndarray, rate: float, work: np.ndarray, scores: np.ndarray
) -> int:
    """Return argmax x'theta + rate |x|_inverse over the rows of ``contexts``, the first on a tie.

    ``inverse`` is symmetric, so half of each quadratic form suffices. The inner loops run along the arms, contiguous in
    memory: fast without splitting sums. ``work``: shape (2, >= arms).
    """
    n_arms, dim = contexts.shape
    x = contexts.T
    half = work[0]
    row = work[1]
    for k in range(n_arms):
        half[k] = 0.0
        scores[k] = 0.0
    for i in range(dim):
        weight = theta[i]
        diagonal = 0.5 * inverse[i, i]
        for k in range(n_arms):
            scores[k] += weight * x[i, k]
            row[k] = diagonal * x[i, k]
        for j in range(i):
            entry = inverse[i, j]
            for k in range(n_arms):
                row[k] += entry * x[j, k]
        for k in range(n_arms):
            half[k] += row[k] * x[i, k]
    best = 0
    for k in range(n_arms):
        scores[k] += rate * np.sqrt(max(2.0 * half[k], 0.0))
        if scores[k] > scores[best]:
            best = k
    return best


@kernel
def expected(contexts: np.ndarray, theta: np.ndarray, arm: int, logistic: bool) -> tuple[float, float]:
    """Return the expected reward of ``arm`` and the largest of all arms, given ``theta``."""
    n_arms, dim = contexts.shape
    own = 0.0
    largest = -np.inf
    for k in range(n_arms):
        value = 0.0
        for i in range(dim):
            value += contexts[k, i] * theta[i]
        if k == arm:
            own = value
        largest = max(largest, value)
    if logistic:
        own = 1.0 / (1.0 + np.exp(-own))
        largest = 1.0 / (1.0 + np.exp(-largest))
    return own, largest
