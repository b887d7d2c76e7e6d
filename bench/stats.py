"""Means, intervals and paired comparisons over repetitions.

The intervals of means are Student's. Their coverage, measured on results of this suite, is in docs/verdicts.md. All
functions raise BenchError if a value is NaN or infinite.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench.critical import fixed
from bench.errors import BenchError

MIN_REPETITIONS = 5
"""With fewer, the interval does not reach its nominal coverage."""

LEVEL = 0.95
N_RESAMPLES = 10_000
SEED = 0
MEAN_INTERVAL = "95 % interval of the mean (Student's t)"
"""Name of the intervals of `mean_interval` and `mean_band` in legends and notes."""

Array = npt.NDArray[np.float64]
# Numbers in memory at once while resampling; the result does not depend on it.
_BLOCK = 4_000_000


class Interval(NamedTuple):
    """An estimate and its interval; ``low`` and ``high`` are NaN if the interval is undefined."""

    estimate: float
    low: float
    high: float
    n: int


def mean(values: npt.ArrayLike) -> float:
    """Return the mean of ``values``, shape (n,), computed as in `mean_interval`; NaN for n = 0."""
    column = _finite(values)
    return float(_centred(column[:, None])[0][0]) if len(column) else float("nan")


def mean_interval(values: npt.ArrayLike) -> Interval:
    """Return the mean of ``values``, shape (n,), with Student's interval.

    The mean is NaN for n = 0, and the interval is (NaN, NaN) for n < 2.
    """
    column = _finite(values)
    if column.ndim != 1:
        raise BenchError(f"mean_interval takes one number per repetition, got an array of shape {column.shape}")
    mean, low, high = mean_band(column[:, None])
    return Interval(float(mean[0]), float(low[0]), float(high[0]), len(column))


def mean_band(values: npt.ArrayLike) -> tuple[Array, Array, Array]:
    """Return the mean and the pointwise interval, as low and high, of n curves, shape (n, rounds), in every round.

    All three arrays have shape (rounds,). The mean is NaN for n = 0, and low and high are NaN for n < 2.
    """
    curves = _finite(values)
    if curves.ndim != 2:
        raise BenchError(f"mean_band takes an array (repetitions, rounds), got one of shape {curves.shape}")
    n, rounds = curves.shape
    undefined = np.full(rounds, np.nan)
    if n == 0:
        return undefined, undefined.copy(), undefined.copy()
    mean, deviations = _centred(curves)
    if n < 2:
        return mean, undefined, undefined.copy()
    reach = fixed(n, (1.0 - LEVEL) / 2.0) * spread(deviations, axis=1) / np.sqrt(n)
    return mean, mean - reach, mean + reach


def _centred(curves: Array) -> tuple[Array, Array]:
    """Return the mean of every column, and the deviations from the first row, shape (rounds, n).

    Because deviations are taken from a row, the interval of equal repetitions is exactly 0 wide.
    """
    deviations = np.ascontiguousarray((curves - curves[0]).T)
    return curves[0] + deviations.mean(axis=1), deviations


def standard_deviation(values: npt.ArrayLike) -> float:
    """Return the sample standard deviation (divisor n - 1), NaN for n < 2."""
    numbers = _finite(values)
    return float(spread(numbers, axis=0)) if len(numbers) > 1 else float("nan")


def spread(values: Array, axis: int) -> Array:
    """Return sample standard deviations along an axis, scaled so that squares neither overflow nor underflow."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0 or 1e-100 < largest < 1e100:
        return np.asarray(values.std(axis=axis, ddof=1))
    exponent = math.frexp(largest)[1]
    return np.asarray(np.ldexp(np.ldexp(values, -exponent).std(axis=axis, ddof=1), exponent))


def resampled(
    statistic: Callable[..., Any], *arrays: npt.ArrayLike, n_resamples: int = N_RESAMPLES, seed: int = SEED
) -> Array:
    """Return the finite values of a statistic in bootstrap resamples of the repetitions.

    ``statistic`` is called with m resamples of every array at a time, each of shape (m, n, ...), and returns shape
    (m,). A resample takes the same repetitions, along the first axis, from all arrays, which keeps them paired. The
    seed is fixed, so the result is reproducible. Raises BenchError if there are no arrays or their lengths differ.
    """
    data = [_finite(array) for array in arrays]
    lengths = {len(array) for array in data}
    if len(lengths) != 1 or 0 in lengths:
        found = ", ".join(str(len(array)) for array in data) or "none"
        raise BenchError(f"resampling needs arrays with the same repetitions, at least one; got lengths: {found}")
    n = len(data[0])
    rng = np.random.default_rng(seed)
    step = max(1, _BLOCK // sum(array.size for array in data))
    parts = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for start in range(0, n_resamples, step):
            rows = rng.integers(0, n, size=(min(step, n_resamples - start), n), dtype=np.intp)
            parts.append(statistic(*(array[rows] for array in data)))
    values = np.concatenate(parts)
    return values[np.isfinite(values)]


def holm(p_values: Sequence[float], error: float = 0.05) -> list[bool]:
    """Return for each test whether it is significant after Holm's correction (Scandinavian J. Statistics 6, 1979).

    The probability of any false positive is at most ``error``. NaN stands for a case without a test.
    """
    p = np.asarray(p_values, dtype=np.float64)
    tested = np.flatnonzero(np.isfinite(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    passed = [p[place] <= error / (len(order) - rank) for rank, place in enumerate(order)]
    count = passed.index(False) if False in passed else len(passed)
    kept = set(order[:count].tolist())
    return [place in kept for place in range(len(p))]


def _finite(values: npt.ArrayLike) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(array))[0].tolist()
        raise BenchError(f"statistics need finite numbers, found {array[tuple(place)]} at position {place}")
    return array
