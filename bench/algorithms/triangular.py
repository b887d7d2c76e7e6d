import numpy as np

from bench.jit import kernel


@kernel
def solve_upper(upper: np.ndarray, vector: np.ndarray) -> None:
    """Solve U x = vector; ``upper``: shape (n, n), its lower triangle is not read."""
    for i in range(vector.size - 1, -1, -1):
        total = vector[i]
        for j in range(i + 1, vector.size):
            total -= upper[i, j] * vector[j]
        vector[i] = total / upper[i, i]


@kernel
def solve_upper_transposed(upper: np.ndarray, vector: np.ndarray) -> None:
    """Solve U' x = vector; ``upper``: shape (n, n), its lower triangle is not read."""
    for i in range(vector.size):
        vector[i] /= upper[i, i]
        for j in range(i + 1, vector.size):
            vector[j] -= upper[i, j] * vector[i]
