"""Parzen estimators of the tree-structured Parzen estimator: mixtures of truncated normal and of categorical densities.

The equations are from Optuna 5's ``TPESampler``, in compiled arithmetic that is the same on every processor.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bench.arithmetic import exp, log
from bench.jit import Array, kernel

_RECENT = 25
"""Number of latest observations with full weight; weights of older ones fall linearly."""
_FINEST = 100.0
"""The smallest width is the range divided by the number of densities plus 1, or at most by this number."""
_PER_ROOT_2_PI = 1.0 / math.sqrt(2.0 * math.pi)
_IN_TAIL = 3.0
_TERMS = 60
"""Terms of the continued fraction from ``_IN_TAIL`` on, where 30 are exact to rounding."""


class Dimensions(NamedTuple):
    """The limits of d coordinates, as arrays of shape (d,).

    ``low`` and ``high`` are the lowest and the highest coordinate. ``half`` is half the width of a whole number, and 0
    for other numbers. ``is_log`` states whether the coordinate is a number's logarithm. ``categories`` is the number of
    categories, and 0 for numbers.
    """

    low: Array
    high: Array
    half: Array
    is_log: Array
    categories: Array

    @classmethod
    def of(cls, limits: Sequence[tuple[float, float, float, bool, int]]) -> "Dimensions":
        return cls(*map(np.array, zip(*limits, strict=True)))

    def only(self, places: Sequence[int]) -> "Dimensions":
        return Dimensions(*(array[list(places)] for array in self))


class Parzen:
    """A mixture of products of densities, one for each observation and one, the prior, over the whole range.

    ``observations`` are coordinates, oldest first, shape (n, d). The density of a number is normal, truncated to the
    limits, and its width is the larger gap to the neighbouring observations. Equal values are neighbours in the order
    of observation. The density of a whole number is the mass of its interval.
    """

    def __init__(self, observations: Array, dimensions: Dimensions) -> None:
        n, d = observations.shape
        prior = np.where(dimensions.categories > 0, -1.0, (dimensions.low + dimensions.high) / 2)
        self._dimensions = dimensions
        self._centres = np.vstack([observations, prior])
        self._widths = np.ones((n + 1, d))
        for place in np.flatnonzero(dimensions.categories == 0):
            span = dimensions.low[place], dimensions.high[place]
            self._widths[:, place] = [*_widths(observations[:, place], *span), span[1] - span[0]]
        older = n - _RECENT
        ramp = np.linspace(1.0 / n, 1.0, older) if older > 0 else np.empty(0)
        weights = np.concatenate([ramp, np.ones(n + 1 - ramp.size)])
        self._weights = weights / weights.cumsum()[-1]

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Return ``n`` points, shape (n, d)."""
        sums = self._weights.cumsum()
        which = np.searchsorted(sums / sums[-1], rng.random(n), side="right")
        categories = self._dimensions.categories
        numbers = np.flatnonzero(categories == 0)
        points = np.empty((n, categories.size))
        for place in np.flatnonzero(categories):
            points[:, place] = _categories(
                self._centres[which, place], len(self._weights), categories[place], rng.random(n)
            )
        for place, quantiles in zip(numbers, rng.random((numbers.size, n)), strict=True):
            own: Any = [array[place] for array in self._dimensions[:4]]
            points[:, place] = _numbers(self._centres[which, place], self._widths[which, place], quantiles, *own)
        return points

    def density(self, points: Array) -> Array:
        """Return the density, shape (m,), at points of shape (m, d), in units of the uniform density."""
        factors = np.ones((len(points), len(self._weights)))
        for place, n_categories in enumerate(self._dimensions.categories):
            at, centres, widths = points[:, place], self._centres[:, place], self._widths[:, place]
            if n_categories:
                hits = (at[:, None] == centres) + 1.0 / centres.size
                factors *= hits / ((centres >= 0) + n_categories / centres.size)
                continue
            own: Any = [array[place] for array in self._dimensions[:4]]
            if self._dimensions.half[place]:  # few of them differ
                at, of_point = np.unique(at, return_inverse=True)
                kinds, of_density = np.unique(centres + 1j * widths, return_inverse=True)
                factors *= _masses(at, kinds.real, kinds.imag, *own)[of_point][:, of_density]
            else:
                factors *= _peaks(at, centres, widths, *own[:2])
        return np.asarray(_sums(factors, self._weights))


def _widths(values: Array, low: float, high: float) -> Array:
    """Return for each value the larger gap to its two neighbours; the limits are neighbours only of a single value."""
    n = values.size
    order = np.argsort(values, kind="stable")
    gaps = np.diff(np.concatenate(([low], values[order], [high])))
    widths = np.maximum(gaps[:-1], gaps[1:])
    if n > 1:
        widths[0], widths[-1] = gaps[1], gaps[-2]
    found = np.empty(n)
    found[order] = np.clip(widths, (high - low) / min(_FINEST, n + 2.0), high - low)
    return found


def _categories(centres: Array, n_densities: int, n_categories: int, quantiles: Array) -> Array:
    """Return the category at each quantile of the density around each centre; a centre of -1 stands for the prior."""
    chances = np.full((centres.size, n_categories), 1.0 / n_densities)
    chances[np.arange(centres.size), centres.astype(int)] += np.where(centres < 0, 0.0, 1.0)
    sums = chances.cumsum(axis=1)
    return np.asarray((sums[:, :-1] < (quantiles * sums[:, -1])[:, None]).sum(axis=1), dtype=float)


@kernel
def _numbers(
    centres: Array, widths: Array, quantiles: Array, low: float, high: float, half: float, is_log: bool
) -> Array:
    """Return the number at each quantile of the truncated normal density around each centre, whole if ``half`` > 0."""
    out = np.empty(centres.size)
    for i in range(centres.size):
        a, b = (low - centres[i]) / widths[i], (high - centres[i]) / widths[i]
        mass, share = _mass(a, b), quantiles[i]
        below, above = _tail(a) + share * mass, _tail(-b) + (1.0 - share) * mass
        point = centres[i] + widths[i] * (_quantile(below) if below < above else -_quantile(above))
        point = min(max(point, low), high)
        if half > 0.0:
            number = np.rint(exp(point) if is_log else point)
            first, last = (exp(low) + half, exp(high) - half) if is_log else (low + half, high - half)
            number = min(max(number, np.rint(first)), np.rint(last))
            point = log(number) if is_log else number
        out[i] = point
    return out


@kernel
def _peaks(points: Array, centres: Array, widths: Array, low: float, high: float) -> Array:
    """Return truncated normal densities times the range, shape (points, densities)."""
    n = centres.size
    scales = np.empty(n)
    for k in range(n):
        mass = _mass((low - centres[k]) / widths[k], (high - centres[k]) / widths[k])
        scales[k] = _PER_ROOT_2_PI * (high - low) / (widths[k] * mass)
    out = np.empty((points.size, n))
    for i in range(points.size):
        for k in range(n):
            u = (points[i] - centres[k]) / widths[k]
            out[i, k] = -0.5 * u * u
    flat = out.reshape(out.size)
    for i in range(flat.size):
        flat[i] = exp(flat[i])
    for i in range(points.size):
        for k in range(n):
            out[i, k] *= scales[k]
    return out


@kernel
def _masses(points: Array, centres: Array, widths: Array, low: float, high: float, half: float, is_log: bool) -> Array:
    """Return truncated normal masses of whole numbers, shape (points, densities)."""
    out = np.empty((points.size, centres.size))
    whole = np.empty(centres.size)
    for k in range(centres.size):
        whole[k] = _mass((low - centres[k]) / widths[k], (high - centres[k]) / widths[k])
    for i in range(points.size):
        number = np.rint(exp(points[i])) if is_log else points[i]
        left, right = (log(number - half), log(number + half)) if is_log else (number - half, number + half)
        for k in range(centres.size):
            out[i, k] = _mass((left - centres[k]) / widths[k], (right - centres[k]) / widths[k]) / whole[k]
    return out


@kernel
def _sums(factors: Array, weights: Array) -> Array:
    """Return the weighted sum of each row, with the terms added in order."""
    out = np.zeros(factors.shape[0])
    for i in range(out.size):
        for k in range(weights.size):
            out[i] += weights[k] * factors[i, k]
    return out


@kernel
def _mass(a: float, b: float) -> float:
    """Return the standard normal mass of [a, b]."""
    return _tail(-a) - _tail(-b) if a > 0.0 else _tail(b) - _tail(a)


@kernel
def _tail(x: float) -> float:
    """Return the standard normal mass below ``x``.

    The mass is computed by a series around 0, and by Laplace's continued fraction in the tails.
    """
    t = abs(x)
    peak = _PER_ROOT_2_PI * exp(-0.5 * t * t)
    if t < _IN_TAIL:
        term = total = t
        odd = 1.0
        while term > 1e-17 * total:
            odd += 2.0
            term *= t * t / odd
            total += term
        below = 0.5 - peak * total
    else:
        fraction = t
        for k in range(_TERMS, 0, -1):
            fraction = t + k / fraction
        below = peak / fraction
    return below if x <= 0.0 else 1.0 - below


@kernel
def _quantile(mass: float) -> float:
    """Return the point with the standard normal mass ``mass`` <= 1/2 below it, by Newton's method from 0.

    The mass is convex below 0, so the iterates decrease to the solution.
    """
    x = 0.0
    for _ in range(1000):
        step = (_tail(x) - mass) / (_PER_ROOT_2_PI * exp(-0.5 * x * x))
        if not step > 1e-15 * abs(x):
            break
        x -= step
    return x
