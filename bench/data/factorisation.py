import math
from dataclasses import dataclass

import numpy as np

from bench.errors import ConfigError
from bench.jit import kernel

SWEEPS = 100
"""Sweeps over users and items: a fixed number, so that the result does not depend on rounding in a stopping rule."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """A sparse table of ratings, with one entry per rated (user, item).

    ``user`` and ``item`` count from 0, int32, ``rating`` is float64, all of shape (n_ratings,).
    """

    user: np.ndarray
    item: np.ndarray
    rating: np.ndarray
    n_users: int
    n_items: int

    def __len__(self) -> int:
        return len(self.rating)

    def select(self, chosen: np.ndarray) -> "Ratings":
        """Return the ratings at the positions ``chosen``, or where the mask ``chosen`` is true."""
        return Ratings(self.user[chosen], self.item[chosen], self.rating[chosen], self.n_users, self.n_items)


@dataclass(frozen=True, eq=False)
class Factors:
    """A low-rank factorisation of a table of ratings: ``users @ items.T`` approximates it.

    ``users``, shape (n_users, rank), and ``items``, shape (n_items, rank), are zero where there are no ratings.
    ``fingerprint`` names the data: the sha256 of the file, ``surrogate``, or empty.
    """

    users: np.ndarray
    items: np.ndarray
    fingerprint: str = ""


def factorise(
    ratings: Ratings, rank: int, regularisation: float, sweeps: int = SWEEPS, *, rng: np.random.Generator
) -> Factors:
    """Minimise the squared error on the observed ratings plus a penalty weighted by the numbers of ratings.

    The objective is ``sum (r_ij - w_i.h_j)^2 + reg sum_i n_i |w_i|^2 + reg sum_j m_j |h_j|^2``, where the first sum is
    over the observed ratings, n_i is the number of ratings of user i and m_j that of item j (weighted lambda
    regularisation; Zhou et al. 2008, "Large-scale parallel collaborative filtering for the Netflix prize"). Each of the
    ``sweeps`` sweeps solves for all users, then for all items, exactly, so the objective never rises. The items start
    from random factors. Raises ConfigError if a setting is out of range, or ``regularisation`` is too small to solve
    the equations.
    """
    if rank < 1:
        raise ConfigError(f"rank: found {rank}, expected at least 1")
    if sweeps < 1:
        raise ConfigError(f"sweeps: found {sweeps}, expected at least 1")
    if not (regularisation > 0 and math.isfinite(regularisation)):
        raise ConfigError(f"regularisation: found {regularisation}, expected a finite number larger than 0")
    by_user = _grouped(ratings.user, ratings.item, ratings.rating, ratings.n_users)
    by_item = _grouped(ratings.item, ratings.user, ratings.rating, ratings.n_items)
    users = np.zeros((ratings.n_users, rank))
    items = rng.standard_normal((ratings.n_items, rank)) / math.sqrt(rank)
    for _ in range(sweeps):
        _solve_rows(*by_user, items, regularisation, users)
        _solve_rows(*by_item, users, regularisation, items)
    if not (np.isfinite(users).all() and np.isfinite(items).all()):
        raise ConfigError(f"regularisation: found {regularisation}, expected one large enough to solve the equations")
    return Factors(users, items)


def _grouped(
    row: np.ndarray, column: np.ndarray, rating: np.ndarray, n_rows: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort the ratings by row, so that the entries of row i are at ``starts[i]`` up to ``starts[i + 1]``."""
    order = np.argsort(row, kind="stable")
    starts = np.zeros(n_rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=n_rows), out=starts[1:])
    return starts, column[order].astype(np.int64), rating[order].astype(np.float64)


# The arithmetic is explicit because the results of BLAS depend on the processor and the number of threads.


@kernel
def _solve_rows(
    starts: np.ndarray,
    columns: np.ndarray,
    ratings: np.ndarray,
    fixed: np.ndarray,
    regularisation: float,
    solved: np.ndarray,
) -> None:
    rank = fixed.shape[1]
    gram = np.empty((rank, rank))
    x = np.empty(rank)
    for row in range(len(starts) - 1):
        count = starts[row + 1] - starts[row]
        gram[:] = 0.0
        x[:] = 0.0
        if count == 0:
            solved[row] = x
            continue
        for entry in range(starts[row], starts[row + 1]):
            other = fixed[columns[entry]]
            for i in range(rank):
                x[i] += ratings[entry] * other[i]
                for j in range(i + 1):
                    gram[i, j] += other[i] * other[j]
        for i in range(rank):
            gram[i, i] += regularisation * count
        # Cholesky factor in the lower triangle, then one solve with it and one with its transpose
        for i in range(rank):
            for j in range(i + 1):
                value = gram[i, j]
                for k in range(j):
                    value -= gram[i, k] * gram[j, k]
                gram[i, j] = math.sqrt(value) if i == j else value / gram[j, j]
            for k in range(i):
                x[i] -= gram[i, k] * x[k]
            x[i] /= gram[i, i]
        for i in range(rank - 1, -1, -1):
            for k in range(i + 1, rank):
                x[i] -= gram[k, i] * x[k]
            x[i] /= gram[i, i]
        solved[row] = x
