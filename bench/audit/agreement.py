"""Functions for the agreement of our numbers, and of deliberately false numbers, with printed numbers."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from bench.stats import LEVEL, Array, Interval

PanelNames = npt.NDArray[np.generic]

FACTORS = (0.8, 0.9, 1.1, 1.25)
"""Factors by which the printed numbers are multiplied to make false ones."""
DRAWS, SEED = 200, 2026
_UNKNOWN = math.nan, math.nan


class Intervals(NamedTuple):
    """A confidence interval of the true value, and a prediction interval of the estimate from further repetitions."""

    low: float
    high: float
    further_low: float
    further_high: float


class Placebo(NamedTuple):
    """Counts of the numbers within our intervals: printed numbers, swapped (draws,) and scaled (4,) false numbers."""

    within: int
    swapped: npt.NDArray[np.int64]
    scaled: npt.NDArray[np.int64]

    @property
    def reaches(self) -> bool:
        """Whether the count of printed numbers exceeds 95 % of the swapped counts and all scaled counts."""
        return bool(np.mean(self.swapped < self.within) > LEVEL and (self.scaled < self.within).all())


class Order(NamedTuple):
    """The share of decided pairs that are in the printed order, with its interval."""

    agree: int
    decided: int
    share: Interval


def of_mean(mean: float, std: float, n: int, further: int) -> Intervals:
    """Return the intervals of a mean of normal values.

    The intervals are mean +- t std sqrt(1/n) and mean +- t std sqrt(1/n + 1/further), where ``std`` has the divisor n -
    1. The mean of ``further`` repetitions falls into the second interval with probability 95 %.
    """
    if n < 2 or not math.isfinite(std):
        return Intervals(*_UNKNOWN, *_UNKNOWN)
    reach = float(special.stdtrit(n - 1, (1 + LEVEL) / 2)) * std
    near, far = reach * math.sqrt(1 / n), reach * math.sqrt(1 / n + 1 / further)
    return Intervals(mean - near, mean + near, mean - far, mean + far)


def of_std(std: float, n: int, further: int) -> Intervals:
    """Return the intervals of a normal standard deviation, by chi-square and, for further repetitions, by F."""
    if n < 2 or not math.isfinite(std):
        return Intervals(*_UNKNOWN, *_UNKNOWN)
    tails = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    near = (std * math.sqrt((n - 1) / float(special.chdtri(n - 1, tail))) for tail in tails)
    far = (std * math.sqrt(float(special.fdtri(further - 1, n - 1, tail))) for tail in tails)
    return Intervals(*near, *(far if further > 1 else _UNKNOWN))


def rounding(value: float) -> float:
    """Return half a unit of the last digit of a printed number."""
    return 0.5 * 10.0 ** -len(repr(float(value)).partition(".")[2]) * (1 + 1e-9)


def placebo(published: Array, half_units: Array, low: Array, high: Array, panels: PanelNames) -> Placebo:
    """Count the printed numbers and the false numbers that our intervals contain.

    ``published``, ``half_units``, half a unit of each last digit, and ``panels`` have shape (numbers,). The numbers
    within a panel are swapped, and all orders are equally likely. The ends ``low`` and ``high`` of the prediction
    intervals have shape (numbers, readings) and are NaN if missing; a number counts if any interval contains it.
    """

    def count(values: Array, units: Array) -> int:
        values, units = values[:, None], units[:, None]
        return int(((low - units <= values) & (values <= high + units)).any(axis=1).sum())

    swapped = [count(published[places], half_units[places]) for places in _orders(tuple(panels.tolist()))]
    scaled = [count(scale * published, scale * half_units) for scale in FACTORS]
    return Placebo(count(published, half_units), np.array(swapped), np.array(scaled))


@lru_cache(maxsize=64)
def _orders(panels: tuple[str, ...]) -> list[npt.NDArray[np.int64]]:
    """Return the `DRAWS` permutations of numbers within their panels, the same for every reading."""
    rng, names = np.random.default_rng(SEED), np.array(panels)
    members = [np.flatnonzero(names == panel) for panel in np.unique(names)]
    orders = []
    for _ in range(DRAWS):
        places = np.arange(len(panels))
        for same in members:
            places[same] = rng.permutation(same)
        orders.append(places)
    return orders


def level(published: Array, ours: Array, low: Array, high: Array) -> Interval:
    """Return the geometric mean over panels of ours / printed, with the interval due to repetitions.

    The half widths of the prediction intervals, as shares of our numbers, are averaged. This is conservative for any
    dependence between the panels, which share contexts and seeds. The interval is for these panels, not for a
    population of panels. All arguments have shape (panels,): printed and our numbers above 0, and the prediction
    intervals of one printed number.
    """
    middle = float(np.mean(np.log(ours / published)))
    reach = float(np.mean((high - low) / 2 / ours))
    return Interval(math.exp(middle), math.exp(middle - reach), math.exp(middle + reach), len(ours))


def order(published: Array, ours: Array, std: Array, n: Array, panels: PanelNames) -> Order:
    """Return the share of decided pairs of methods that are in the printed order, with its interval.

    A pair is decided if Welch's test separates our means at 5 %. The interval is that of Clopper and Pearson with one
    draw for each panel that decides a pair, because pairs of a panel are dependent. All arguments have shape
    (numbers,): printed means, our means with standard deviations and numbers of repetitions, and panels.
    """
    left, right = np.triu_indices(len(published), 1)
    same = (panels[left] == panels[right]) & (published[left] != published[right])
    left, right = left[same], right[same]
    parts = std**2 / n
    error = np.sqrt(parts[left] + parts[right])
    freedom = error**4 / (parts[left] ** 2 / (n[left] - 1) + parts[right] ** 2 / (n[right] - 1))
    difference = ours[left] - ours[right]
    is_decided = np.abs(difference) > special.stdtrit(freedom, (1 + LEVEL) / 2) * error
    agrees = (np.sign(difference) == np.sign(published[left] - published[right]))[is_decided]
    draws = len(np.unique(panels[left][is_decided]))
    return Order(int(agrees.sum()), len(agrees), _share(agrees, draws))


def _share(agrees: npt.NDArray[np.bool_], draws: int) -> Interval:
    if not len(agrees):
        return Interval(math.nan, math.nan, math.nan, 0)
    share, tail = float(agrees.mean()), (1 - LEVEL) / 2
    wins, losses = share * draws, (1 - share) * draws
    low = float(special.betaincinv(wins, losses + 1, tail)) if wins else 0.0
    high = float(special.betaincinv(wins + 1, losses, 1 - tail)) if losses else 1.0
    return Interval(share, low, high, draws)
