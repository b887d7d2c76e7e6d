"""The reach of an interval to either side of its estimate, in standard errors.

`fixed`, for a number of repetitions chosen beforehand, is Student's quantile. `Sequential`, for repeated looks while
repetitions are added up to a number chosen beforehand, is a group-sequential bound, which spends the error over the
looks.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np
import numpy.typing as npt


class Rule(Protocol):
    """A function that returns the reach of an interval to one side, in standard errors.

    Its arguments are the number of repetitions, a one-sided error and the skewness of the repetitions.

    The ``skewness`` is positive if the long tail of the repetitions is on that side.
    """

    def __call__(self, n: float, error: float, skewness: float = 0.0, /) -> float: ...


Array = npt.NDArray[np.float64]

STEP = 20
"""Repetitions before the first look at the verdicts, and between two looks."""
_POINTS = 161
"""Points of the numerical integration at a look, an odd number."""
_QUANTILES = np.linspace(0.5, 8.0, 41)
"""Normal quantiles of the errors for which bounds are computed; bounds between them are interpolated."""


def fixed(n: float, error: float, _skewness: float = 0.0) -> float:
    """Return the quantile of Student's t with n - 1 degrees of freedom that is exceeded with probability ``error``."""
    from scipy import special  # slow to import

    return -float(special.stdtrit(n - 1.0, error))


def pocock(share: Array) -> Array:
    """Return the share of the error that is spent once the given ``share`` of the repetitions has been run.

    The spent share is ln(1 + (e - 1) t), from Lan and DeMets, Discrete sequential boundaries for clinical trials,
    Biometrika 70 (1983). The bounds are almost the same at all looks, like the bounds of Pocock (1977).
    """
    return np.log1p((math.e - 1.0) * np.minimum(share, 1.0))


def looks_up_to(most: int) -> tuple[int, ...]:
    """Return the numbers of repetitions at which verdicts are computed: the multiples of `STEP`, and ``most``."""
    return (*range(STEP, most, STEP), most)


def bounds(shares: Sequence[float], errors: Array, spending: Callable[[Array], Array] = pocock) -> Array:
    """Return the normal bounds c that |Z| exceeds at any look with probability ``errors``, shape (looks, errors).

    ``shares`` are increasing shares of the largest number of repetitions, and ``errors`` are two-sided. Each look uses
    up the part of the error between two values of the spending function. The density of Z sqrt(share) among the runs
    within all earlier bounds is integrated numerically. Source: Armitage, McPherson and Rowe, Repeated significance
    tests on accumulating data, Journal of the Royal Statistical Society A 132 (1969).
    """
    from scipy import special  # slow to import

    spent = np.diff(spending(np.asarray(shares, dtype=np.float64)), prepend=0.0)
    weights = np.where(np.arange(_POINTS) % 2, 4.0, 2.0)  # Simpson's rule
    weights[[0, -1]] = 1.0
    found = [-special.ndtri(spent[0] * errors / 2.0)]
    grid = density = np.empty(0)
    for look in range(1, len(shares)):
        edge = found[-1] * math.sqrt(shares[look - 1])
        points = np.linspace(-edge, edge, _POINTS, axis=-1)  # (errors, points)
        if look == 1:
            inside = _normal(points, math.sqrt(shares[0]))
        else:
            deviation = math.sqrt(shares[look - 1] - shares[look - 2])
            inside = np.stack(
                [_normal(p[:, None] - g, deviation) @ d for p, g, d in zip(points, grid, density, strict=True)]
            )
        density = inside * weights * (2.0 * edge / (_POINTS - 1) / 3.0)[:, None]
        grid, deviation = points, math.sqrt(shares[look] - shares[look - 1])
        low, high = np.zeros(len(errors)), np.full(len(errors), 40.0)
        for _ in range(60):
            middle = (low + high) / 2.0
            end = (middle * math.sqrt(shares[look]))[:, None]
            crossing = (density * special.ndtr((grid - end) / deviation)).sum(axis=-1)
            is_wide = crossing < spent[look] * errors / 2.0
            low, high = np.where(is_wide, low, middle), np.where(is_wide, middle, high)
        found.append((low + high) / 2.0)
    return np.array(found)


def _normal(x: Array, deviation: float) -> Array:
    return np.asarray(np.exp(-0.5 * (x / deviation) ** 2) / (deviation * math.sqrt(2.0 * math.pi)))


@cache
def _tabled(most: int) -> Array:
    """Return the bounds at each look for the errors of `_QUANTILES`, shape (looks, errors)."""
    from scipy import special  # slow to import

    return bounds([n / most for n in looks_up_to(most)], 2.0 * special.ndtr(-_QUANTILES))


@dataclass(frozen=True)
class Sequential:
    """The rule for looks after every `STEP` repetitions up to ``most``, with the `bounds` as Student's quantiles.

    If the repetitions are normal, the probability that the interval of any look misses the true value on one side is at
    most the given error. If the repetitions are skewed, the bound is wider on the side of the long tail (see `skewed`).
    A number of repetitions between two looks counts as the later look, and a number above ``most`` as the last look.
    """

    most: int

    def __call__(self, n: float, error: float, skewness: float = 0.0, /) -> float:
        from scipy import special  # slow to import

        place = bisect_left(looks_up_to(self.most), min(n, self.most))
        quantile = -float(special.ndtri(error))
        bound = float(np.interp(quantile, _QUANTILES, _tabled(self.most)[place]))
        return skewed(fixed(n, float(special.ndtr(-bound - max(quantile - _QUANTILES[-1], 0.0)))), skewness, n)


def skewed(reach: float, skewness: float, n: float) -> float:
    """Return the larger of ``reach`` and its transformation for skewed data, for the side of a long tail.

    For a studentised mean T and a = skewness / (3 sqrt(n)), the quantity ((1 + a T)^3 - 1) / (3 a) + a / 2 is nearly
    normal. Source: Hall, On the removal of skewness by transformation, Journal of the Royal Statistical Society B 54
    (1992).
    """
    a = skewness / (3.0 * math.sqrt(n))
    return reach if a < 1e-9 else max(reach, (1.0 - math.cbrt(1.0 - 3.0 * a * (reach + a / 2.0))) / a)


def rule(most: int | None) -> Rule:
    """Return the rule for a fixed number of repetitions (None), or for looks at up to ``most`` repetitions."""
    return fixed if most is None else Sequential(most)
