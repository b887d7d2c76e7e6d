import numpy as np

from bench.arithmetic import exp, inner_product
from bench.errors import TaskError
from bench.jit import Array, kernel

TOLERANCE = 1e-4
"""Largest change of a coefficient in a pass, relative to the largest coefficient, at which the passes end."""


def fit_logistic(
    features: np.ndarray, rewards: np.ndarray, c: float, l1_ratio: float, max_iter: int, random_state: int
) -> tuple[np.ndarray, float]:
    """Return the coefficients, shape (d,), and the intercept of a logistic regression with an elastic net, by SAGA.

    The coefficients w and the intercept b minimise c sum_i ln(1 + exp(-(2 r_i - 1)(x_i'w + b))) + ``l1_ratio`` |w|_1 +
    (1 - ``l1_ratio``) |w|^2 / 2 for ``features`` x_i, shape (n, d), and ``rewards`` r_i, 0 or 1, shape (n,). The step
    size, the order of the rows, the first values and the last pass are the same as in scikit-learn's
    ``LogisticRegression(solver="saga")``. The result is therefore the same up to rounding, but here it does not depend
    on the processor. There are at most ``max_iter`` passes, converged or not. Raises TaskError if a coefficient is not
    finite. Source: Defazio, Bach and Lacoste-Julien 2014.
    """
    seed = np.random.RandomState(random_state).randint(1, np.iinfo(np.int32).max)
    features = np.ascontiguousarray(features, dtype=np.float64)
    coefficients = np.zeros(features.shape[1])
    intercept = _saga(features, rewards, coefficients, c, l1_ratio, max_iter, seed)
    if not (np.isfinite(coefficients).all() and np.isfinite(intercept)):
        raise TaskError(
            "logistic regression: found coefficients that are not finite, expected features of a moderate size"
        )
    return coefficients, intercept


@kernel
def _saga(x: Array, rewards: Array, w: Array, c: float, l1_ratio: float, max_iter: int, seed: int) -> float:
    """Write the coefficients into ``w``, which holds zeros, and return the intercept."""
    n, dim = x.shape
    ridge, lasso = (1.0 - l1_ratio) / c / n, l1_ratio / c / n
    largest = 0.0
    for i in range(n):
        square = 0.0
        for j in range(dim):
            square += x[i, j] * x[i, j]
        largest = max(largest, square)
    lipschitz = 0.25 * (largest + 1.0) + ridge
    step = 1.0 / (2.0 * lipschitz + min(2.0 * n * ridge, lipschitz))
    shrink, threshold = 1.0 - step * ridge, step * lasso

    residuals = np.zeros(n)  # the latest of each row, whose terms add up to the gradient
    is_seen = np.zeros(n, dtype=np.bool_)
    gradient, before = np.zeros(dim), np.zeros(dim)
    gradient_of_intercept = intercept = 0.0
    seen = 0
    state = np.uint32(seed)
    for _ in range(max_iter):
        for _ in range(n):
            state ^= np.uint32(state << np.uint32(13))
            state ^= np.uint32(state >> np.uint32(17))
            state ^= np.uint32(state << np.uint32(5))
            i = np.int64(state & np.uint32(0x7FFFFFFF)) % n
            if not is_seen[i]:
                is_seen[i] = True
                seen += 1
            row = x[i]
            value = intercept + inner_product(row, w)
            residual = 1.0 / (1.0 + exp(-value)) - rewards[i]
            change = residual - residuals[i]
            residuals[i] = residual
            of_change, of_mean = step * (1.0 - 1.0 / seen) * change, step / seen
            for j in range(dim):
                gradient[j] += change * row[j]
                moved = shrink * w[j] - of_change * row[j] - of_mean * gradient[j]
                w[j] = max(moved - threshold, 0.0) - max(-moved - threshold, 0.0)
            gradient_of_intercept += change
            intercept -= of_change + of_mean * gradient_of_intercept
        largest = largest_change = 0.0
        for j in range(dim):
            largest = max(largest, abs(w[j]))
            largest_change = max(largest_change, abs(w[j] - before[j]))
            before[j] = w[j]
        if largest_change <= TOLERANCE * largest:
            break
    return intercept
