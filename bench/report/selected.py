"""What is reported if, of more repetitions than asked for, only some are kept, chosen by one method's own result.

The rule, of n repetitions asked for: run int(1.6 n), sort them by one method's final value, and report of all methods
the n repetitions after the two lowest. It is that of run.py in the public code of cdt from 4711c87 (2023-01-25) until
2e998d5 (2023-03-17). Whether published numbers were made so is not known.
"""

from typing import NamedTuple

import numpy as np
from scipy import special

from bench.stats import Array

DROPPED = 2
"""How many of the lowest repetitions are left out."""
_REACH = 0.975


class Printed(NamedTuple):
    """What several sets of repetitions would print of each method, shape (sets, methods)."""

    mean: Array
    std: Array
    covers: Array
    """Whether mean -+ t std / sqrt(n) contains the true mean."""

    @property
    def lowest(self) -> Array:
        """Share of the sets in which each method has the lowest mean, shape (methods,)."""
        return np.asarray(np.bincount(self.mean.argmin(axis=1), minlength=self.mean.shape[1]) / len(self.mean))


def number_run(size: int) -> int:
    """Return how many repetitions are run where ``size`` are asked for."""
    return int(size * 1.6)


def kept(ranked_by: Array, size: int) -> np.ndarray:
    """Return the positions of the repetitions that are reported, shape (..., size), ``ranked_by`` shape (..., run)."""
    return np.argsort(ranked_by, axis=-1, kind="stable")[..., DROPPED : DROPPED + size]


def printed(sets: Array, size: int, ranked_by: int | None, true: Array) -> Printed:
    """Return what sets of repetitions print.

    Parameters
    ----------
    sets
        Final values, shape (sets, repetitions run, methods).
    size
        The number of repetitions asked for.
    ranked_by
        Position of the method by which repetitions are chosen; None: the first ``size`` are reported.
    true
        True mean of each method, shape (methods,).
    """
    own = sets[:, :size] if ranked_by is None else sets
    if ranked_by is not None:
        own = np.take_along_axis(sets, kept(sets[:, :, ranked_by], size)[:, :, None], axis=1)
    mean, std = own.mean(axis=1), own.std(axis=1, ddof=1)
    reach = float(special.stdtrit(size - 1, _REACH)) / np.sqrt(size) * std
    return Printed(mean, std, np.abs(mean - true) <= reach)


def resampled(values: Array, run: int, n_sets: int, rng: np.random.Generator) -> Array:
    """Return sets of repetitions drawn with replacement from ``values`` (repetitions, methods)."""
    return np.asarray(values[rng.integers(len(values), size=(n_sets, run))])


def normal(values: Array, run: int, n_sets: int, rng: np.random.Generator) -> Array:
    """Return sets of repetitions from the normal distribution with the means and covariances of ``values``."""
    covariance = np.atleast_2d(np.cov(values, rowvar=False))
    return rng.multivariate_normal(values.mean(axis=0), covariance, size=(n_sets, run), method="svd")


def normal_order_means(n: int) -> Array:
    """Return the expectations of the order statistics of ``n`` standard normal values, shape (n,), by quadrature."""
    z = np.linspace(-9.0, 9.0, 7_201)
    below, above = special.log_ndtr(z), special.log_ndtr(-z)
    rank = np.arange(1, n + 1)[:, None]
    log_density = (
        (rank - 1) * below + (n - rank) * above - z**2 / 2 - np.log(2 * np.pi) / 2 - special.betaln(rank, n - rank + 1)
    )
    return np.asarray((z * np.exp(log_density)).sum(axis=1) * (z[1] - z[0]))


def normal_shift(size: int) -> float:
    """Return by how many standard deviations the selection moves the expected mean of normal values it ranks.

    Those of another method move by this times its own standard deviation and its correlation with the ranked one.
    """
    return float(normal_order_means(number_run(size))[DROPPED : DROPPED + size].mean())
