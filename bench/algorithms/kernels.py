"""Compiled arithmetic of several algorithms; every loop adds in the written order."""

import numpy as np

from bench.jit import Array, kernel

REFRESH_EVERY = 4096
"""Rounds after which an inverse is recomputed, so that rounding errors of its updates do not accumulate."""


@kernel
def dot(left: Array, right: Array) -> float:
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@kernel
def best_linear(contexts: Array, theta: Array) -> int:
    """Return argmax x'theta over the rows of ``contexts``, the first on a tie."""
    n_arms, dim = contexts.shape
    x = contexts.T
    scores = np.zeros(n_arms)
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
def best_sampled(contexts: Array, upper: Array, theta: Array, rate: float, normal: Array) -> int:
    """Return argmax x'theta' for theta' = theta + rate upper^-1 normal, the first on a tie.

    theta' replaces the content of ``normal``.
    """
    solve_upper(upper, normal)
    for i in range(theta.size):
        normal[i] = theta[i] + rate * normal[i]
    return best_linear(contexts, normal)


@kernel
def best_upper_bound(contexts: Array, inverse: Array, theta: Array, rate: float) -> int:
    """Return argmax x'theta + rate |x|_inverse over the rows of ``contexts``, the first on a tie.

    ``inverse`` is symmetric, so half of each quadratic form suffices. The inner loops run along the arms, which are
    contiguous in memory. They are therefore fast, although the terms of each sum are added in order.
    """
    n_arms, dim = contexts.shape
    x = contexts.T
    scores, half, row = np.zeros(n_arms), np.zeros(n_arms), np.empty(n_arms)
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
def best_upper_bound_per_arm(contexts: Array, inverses: Array, thetas: Array, rate: float) -> int:
    """Return argmax x_k'theta_k + rate |x_k|_inverse_k, the first on a tie.

    ``inverses`` has shape (arms, dim, dim), and ``thetas`` has shape (arms, dim).
    """
    n_arms, dim = contexts.shape
    x, row = np.empty(dim), np.empty(dim)
    best, largest = 0, -np.inf
    for k in range(n_arms):
        for i in range(dim):
            x[i] = contexts[k, i]
        half = 0.0
        if rate != 0.0:
            row[:] = 0.0
            for j in range(dim):  # along the rows, contiguous in memory; the inverse is symmetric
                for i in range(dim):
                    row[i] += x[j] * inverses[k, j, i]
            half = dot(x, row)
        score = dot(x, thetas[k]) + rate * np.sqrt(max(half, 0.0))
        if score > largest:
            best, largest = k, score
    return best


@kernel
def best_sampled_per_arm(contexts: Array, uppers: Array, thetas: Array, rate: float, normal: Array) -> int:
    """Return argmax x_k'theta_k + rate |U_k'^-1 x_k| z_k, the first on a tie, with z_k in ``normal``, shape (arms,)."""
    n_arms, dim = contexts.shape
    x = np.empty(dim)
    best, largest = 0, -np.inf
    for k in range(n_arms):
        for i in range(dim):
            x[i] = contexts[k, i]
        score = dot(x, thetas[k])
        solve_upper_transposed(uppers[k], x)
        score += rate * np.sqrt(dot(x, x)) * normal[k]
        if score > largest:
            best, largest = k, score
    return best


@kernel
def expected(contexts: Array, theta: Array, arm: int, logistic: bool) -> tuple[float, float]:
    """Return the expected reward of ``arm`` and the largest expected reward of all arms, given ``theta``."""
    largest = -np.inf
    for k in range(contexts.shape[0]):
        largest = max(largest, dot(contexts[k], theta))
    mean = dot(contexts[arm], theta)
    if logistic:
        return 1.0 / (1.0 + np.exp(-mean)), 1.0 / (1.0 + np.exp(-largest))
    return mean, largest


@kernel
def solve_upper(upper: Array, vector: Array) -> None:
    """Solve U x = vector in place; the lower triangle of ``upper``, shape (n, n), is not read."""
    for i in range(vector.size - 1, -1, -1):
        total = vector[i]
        for j in range(i + 1, vector.size):
            total -= upper[i, j] * vector[j]
        vector[i] = total / upper[i, i]


@kernel
def solve_upper_transposed(upper: Array, vector: Array) -> None:
    """Solve U' x = vector in place; the lower triangle of ``upper``, shape (n, n), is not read."""
    for i in range(vector.size):
        vector[i] /= upper[i, i]
        for j in range(i + 1, vector.size):
            vector[j] -= upper[i, j] * vector[i]


@kernel
def add_outer(x: Array, weight: float, matrix: Array) -> None:
    """Add weight x x' to both triangles of ``matrix``.

    Loops over a single triangle would not start at 0 and would take longer.
    """
    for i in range(x.size):
        scaled = weight * x[i]
        for j in range(x.size):
            matrix[i, j] += scaled * x[j]


@kernel
def add_to_inverse(x: Array, gram: Array, inverse: Array, gain: Array) -> float:
    """Add x x' to ``gram`` and update ``inverse``, the inverse of gram + ridge I, by the Sherman-Morrison formula.

    Writes inverse x / (1 + x' inverse x) with the old inverse into ``gain``, and returns x' inverse x.
    """
    dim = x.size
    gain[:] = 0.0
    for j in range(dim):
        for i in range(dim):
            gain[i] += inverse[j, i] * x[j]
    square = dot(x, gain)
    for i in range(dim):
        scaled = gain[i] / (1.0 + square)
        for j in range(dim):
            gram[i, j] += x[i] * x[j]
            inverse[i, j] -= scaled * gain[j]
    for i in range(dim):
        gain[i] /= 1.0 + square
    return square


@kernel
def ridge_inverse(gram: Array, moment: Array, ridge: float, inverse: Array, theta: Array) -> None:
    """Write (gram + ridge I)^-1 into ``inverse`` and its product with ``moment`` into ``theta``.

    The inverse is computed from a Cholesky factor.
    """
    dim = moment.size
    factor = gram.copy()
    for i in range(dim):
        factor[i, i] += ridge
    factor = np.linalg.cholesky(factor)
    lower = np.zeros((dim, dim))
    for j in range(dim):
        lower[j, j] = 1.0 / factor[j, j]
        for i in range(j + 1, dim):
            total = 0.0
            for k in range(j, i):
                total -= factor[i, k] * lower[k, j]
            lower[i, j] = total / factor[i, i]
    for i in range(dim):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, dim):
                total += lower[k, i] * lower[k, j]
            inverse[i, j] = total
            inverse[j, i] = total
    for i in range(dim):
        theta[i] = dot(inverse[i], moment)
