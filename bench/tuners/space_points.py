import math
from typing import Any

import numpy as np

from bench.space import Configuration, HyperParameter, Space

MAX_POINTS = 128
"""Largest number of points; a round of :class:`~bench.tuners.changepoint_gp.ChangepointGP` costs its square."""

_OUTSIDE = 0.5
"""Largest distance of a candidate outside the interval, in units of its length; farther ones are moved there."""

_ENOUGH = 3
"""Number of candidates on an interval that suffices if there are other hyper-parameters."""


def points(
    space: Space, n_even: int, length: float, rng: np.random.Generator
) -> tuple[list[Configuration], np.ndarray]:
    """Return points of ``space`` and their Matern 3/2 correlations, shape (points, points).

    A single hyper-parameter has its candidates and ``n_even`` >= 2 even steps of its interval, on the interval's scale;
    a step within half a step of a candidate is left out. Several hyper-parameters have the product of their candidates;
    a hyper-parameter with fewer than three candidates also has even steps of its interval. If there are more than 128
    combinations, 128 combinations that are spread evenly over each hyper-parameter are drawn (a Latin hypercube).

    Excluded configurations are not points, and configurations that differ only in values without effect (``when``)
    share one point.

    The correlation is the product over the hyper-parameters of (1 + s) exp(-s) with s = sqrt(3) distance / length,
    where distances are in units of the interval. Values without a position on an interval are uncorrelated with other
    values.
    """
    several = max(_ENOUGH, round(64 ** (1.0 / space.dim)))
    axes = [_axis(parameter, n_even if space.dim == 1 else several, space.dim > 1) for parameter in space.parameters]
    places = _combinations([len(values) for values, _ in axes], rng)
    configurations = [
        {name: values[i] for name, (values, _), i in zip(space.names, axes, place, strict=True)} for place in places
    ]
    if not space.is_plain:
        kept = space.distinct(configurations)
        places, configurations = places[kept], [space.settled(configurations[place]) for place in kept]
    correlations = np.ones((len(places), len(places)))
    for d, (_, units) in enumerate(axes):
        own = np.equal.outer(places[:, d], places[:, d]).astype(float)
        distance = math.sqrt(3.0) * np.abs(np.subtract.outer(units, units))[np.ix_(places[:, d], places[:, d])] / length
        related = (1.0 + distance) * np.exp(-distance)
        correlations *= np.where(np.isnan(distance), own, related)
    return configurations, correlations


def _axis(parameter: HyperParameter, n_even: int, several: bool) -> tuple[list[Any], np.ndarray]:
    """Return the values of a hyper-parameter and their positions on its interval, or NaN for values such as strings."""
    if parameter.low is None:
        return list(parameter.candidates), np.full(len(parameter.candidates), np.nan)
    units = {value: _unit(parameter, value) for value in parameter.candidates}
    placed = [unit for unit in units.values() if not math.isnan(unit)]
    if not several or len(placed) < _ENOUGH:
        for unit in np.linspace(0.0, 1.0, n_even).tolist():
            value = parameter.from_unit(unit)
            if value not in units and all(abs(unit - other) > 0.5 / (n_even - 1) for other in placed):
                units[value] = unit
    values = sorted(units, key=lambda value: (math.isnan(units[value]), units[value]))
    return values, np.array([units[value] for value in values])


def distance(space: Space, one: Configuration, other: Configuration) -> float:
    """Return the sum of squared distances, in units of the intervals; values without a position have the distance 1."""
    total = 0.0
    if not space.is_plain:
        one, other = space.settled(one), space.settled(other)
    for parameter in space.parameters:
        a, b = one[parameter.name], other[parameter.name]
        apart = abs(_unit(parameter, a) - _unit(parameter, b))
        total += float(a != b) if math.isnan(apart) else apart**2
    return total


def _unit(parameter: HyperParameter, value: Any) -> float:
    """Return the position of ``value`` on the interval, in units of its length, or NaN if it is not a finite number."""
    low, high = parameter.low, parameter.high
    if low is None or high is None or isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    if not math.isfinite(value):
        return math.nan
    if not parameter.log:
        unit = (value - low) / (high - low)
        unit = math.copysign(abs(unit) ** (1.0 / parameter.power), unit)
    else:
        unit = math.log(value / low) / math.log(high / low) if value > 0 else -math.inf
    return min(max(unit, -_OUTSIDE), 1.0 + _OUTSIDE)


def _combinations(sizes: list[int], rng: np.random.Generator) -> np.ndarray:
    """Return combinations of indices below ``sizes``, shape (combinations, axes); all combinations if there are few."""
    if math.prod(sizes) <= MAX_POINTS:
        return np.stack(np.meshgrid(*(np.arange(size) for size in sizes), indexing="ij"), axis=-1).reshape(
            -1, len(sizes)
        )
    strata = np.stack([rng.permutation(MAX_POINTS) for _ in sizes], axis=1)
    return np.unique(strata * np.array(sizes) // MAX_POINTS, axis=0)
