"""Estimates with intervals for any error and any number of repetitions.

Every class has ``estimate``, ``n`` (repetitions) and ``ends``, so that a verdict, its p-value and the required
repetitions are computed in the same way for all kinds of claims.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bench.critical import Rule, fixed
from bench.stats import Array, Interval, spread


class Quantity(ABC):
    """An estimate with intervals."""

    estimate: float
    n: int

    @abstractmethod
    def ends(self, error: float, rule: Rule, n: float) -> tuple[float, float]:
        """Return the ends low and high for ``n`` similar repetitions; each end errs with probability ``error``.

        The ends are NaN if they are undefined.
        """

    def interval(self, error: float, rule: Rule) -> Interval:
        """Return the estimate, low and high for the current repetitions; low and high are NaN for fewer than two."""
        low, high = self.ends(error, rule, self.n) if self.n > 1 else (math.nan, math.nan)
        return Interval(self.estimate, low, high, self.n)


class Mean(Quantity):
    """The mean of one number per repetition, shape (n,), or of the linearisation of an estimate.

    With ``exponential``, the numbers are logarithms, and the estimate and the ends are exponentiated.
    """

    def __init__(self, values: Array, *, exponential: bool = False) -> None:
        self.n = len(values)
        # Deviations from the first repetition, so that equal values give an interval of width exactly 0.
        deviations = values - values[0]
        self._mean = float(values[0] + deviations.mean())
        self._deviation = float(spread(deviations, axis=0)) if self.n > 1 else math.nan
        self._skewness = skewness(deviations)
        self._exponential = exponential
        self.estimate = self._scale(self._mean)

    def ends(self, error: float, rule: Rule, n: float) -> tuple[float, float]:
        down, up = (
            rule(n, error, towards) * self._deviation / math.sqrt(n) if self._deviation else 0.0
            for towards in (-self._skewness, self._skewness)
        )
        return self._scale(self._mean - down), self._scale(self._mean + up)

    def _scale(self, number: float) -> float:
        if not self._exponential:
            return number
        return math.exp(number) if number < 700 else math.inf


class RatioOfMeans(Quantity):
    """The mean of ``top`` divided by the mean of ``bottom``, both of shape (n,), by Fieller's theorem.

    The interval holds every ratio r for which Student's test cannot distinguish the mean of top - r bottom from 0. The
    interval is (-inf, inf) if the mean of bottom cannot be distinguished from 0. The estimate is NaN unless the mean of
    bottom is positive.
    """

    def __init__(self, top: Array, bottom: Array) -> None:
        self.n = len(top)
        mean = float(bottom.mean())
        self.estimate = float(top.mean()) / mean if mean > 0 else math.nan
        rest = (top - self.estimate * bottom) / mean if mean > 0 else np.full(self.n, math.nan)
        rest = rest - rest.mean()
        self._skewness = skewness(rest)
        deviations = (bottom - bottom[0]) / mean if mean > 0 else rest
        deviations = deviations - deviations.mean()
        degrees = max(self.n - 1, 1)
        self._rest, self._both, self._bottom = (
            float(product.sum()) / degrees for product in (rest**2, rest * deviations, deviations**2)
        )

    def ends(self, error: float, rule: Rule, n: float) -> tuple[float, float]:
        if math.isnan(self.estimate):
            return math.nan, math.nan
        low, high = (self._end(rule(n, error, sign * self._skewness) ** 2 / n, sign) for sign in (-1.0, 1.0))
        return low, high

    def _end(self, share: float, sign: float) -> float:
        bottom, both, rest = (share * number for number in (self._bottom, self._both, self._rest))
        if not bottom < 1:
            return sign * math.inf
        root = math.sqrt(max(both**2 + (1.0 - bottom) * rest, 0.0))
        return self.estimate + (-both + sign * root) / (1.0 - bottom)


class Resampled(Quantity):
    """A statistic without a formula for its interval, such as a ratio of medians, with a percentile bootstrap.

    For another number of repetitions the interval is scaled around the estimate in proportion to standard errors.
    """

    def __init__(self, estimate: float, values: Array, n: int) -> None:
        self.estimate, self.n, self._values = estimate, n, values

    def ends(self, error: float, rule: Rule, n: float) -> tuple[float, float]:
        """Return quantiles of the resamples, widened by the ratio of the rule's reach to the normal quantile."""
        if not len(self._values):
            return math.nan, math.nan
        low, high = map(float, np.quantile(self._values, (error, 1.0 - error)))
        wider = rule(n, error) / fixed(math.inf, error) * math.sqrt(self.n / n)
        return self.estimate + wider * (low - self.estimate), self.estimate + wider * (high - self.estimate)


class Extreme(Quantity):
    """The lowest or highest of several quantities, which may be nested, such as the lowest of several highest.

    The highest quantity lies below a limit if all quantities lie below the limit, each judged at the full error. It
    lies above the limit if any quantity lies above, each judged at its share of the error (Bonferroni). For the lowest
    quantity the rules are reversed. ``outer`` and ``inner`` are ``min`` or ``max``; ``outer`` is taken over the rows of
    ``parts``, and ``inner`` within a row.
    """

    def __init__(self, parts: Sequence[Sequence[Quantity]], outer: str, inner: str) -> None:
        self._parts = parts
        self._outer, self._inner = (np.max if how == "max" else np.min for how in (outer, inner))
        sizes = {outer: len(parts)}
        sizes[inner] = sizes.get(inner, 1) * len(parts[0])
        self._shares = sizes.get("max", 1), sizes.get("min", 1)
        self.n = parts[0][0].n
        self.estimate = self._of([[part.estimate for part in row] for row in parts])

    def ends(self, error: float, rule: Rule, n: float) -> tuple[float, float]:
        low, high = (
            self._of([[part.ends(error / share, rule, n)[end] for part in row] for row in self._parts])
            for end, share in enumerate(self._shares)
        )
        return low, high

    def _of(self, table: list[list[float]]) -> float:
        return float(self._outer([self._inner(row) for row in table]))


class BestValue(Quantity):
    """The grid value with the lowest (or, with ``highest``, the highest) mean, and all values that may be the best.

    A value may be the best if one-sided Student's tests of paired differences do not find the mean of any other value
    to be better. Each test has its share of the error (multiple comparisons with the best, by Bonferroni), so the set
    of values that may be the best contains the best value with the given probability. The interval ranges from the
    smallest to the largest value of this set. ``grid`` is increasing and has shape (k,); ``values`` has shape (n, k).
    """

    def __init__(self, grid: Array, values: Array, best: str = "lowest") -> None:
        self.n = len(values)
        self._grid = grid
        signed = values if best == "lowest" else -values
        differences = signed[:, :, None] - signed[:, None, :]  # repetition, value, its competitor
        self._means = differences.mean(axis=0)
        self._deviations = spread(differences, axis=0) if self.n > 1 else np.full_like(self._means, math.nan)
        self.estimate = float(grid[signed.mean(axis=0).argmin()])

    def ends(self, error: float, rule: Rule, n: float) -> tuple[float, float]:
        """Return the smallest and the largest value that may be the best; both ends together err with 2 ``error``."""
        chosen = self._grid[self.candidates(2.0 * error, rule, n)]
        return float(chosen[0]), float(chosen[-1])

    def candidates(self, error: float, rule: Rule, n: float) -> npt.NDArray[np.bool_]:
        reach = rule(n, error / max(len(self._grid) - 1, 1)) / math.sqrt(n)
        may = (self._means <= reach * self._deviations).all(axis=1)
        return may | (self._grid == self.estimate)


class Difference(Quantity):
    """One quantity minus another, each with half of the error."""

    def __init__(self, left: Quantity, right: Quantity) -> None:
        self.n, self._left, self._right = left.n, left, right
        self.estimate = left.estimate - right.estimate

    def ends(self, error: float, rule: Rule, n: float) -> tuple[float, float]:
        left, right = (side.ends(error / 2.0, rule, n) for side in (self._left, self._right))
        return left[0] - right[1], left[1] - right[0]


class BandSlope(Quantity):
    """A weighted sum of the logarithms of a curve's means, computed from the curve's means and deviations only.

    The interval is the range over all curves within the pointwise band, which is wider than necessary.
    """

    def __init__(self, weights: Array, mean: Array, deviation: Array, n: int) -> None:
        self.n = n
        self._weights, self._mean, self._deviation = weights, mean, deviation
        self.estimate = float(np.log(mean) @ weights)

    def ends(self, error: float, rule: Rule, n: float) -> tuple[float, float]:
        """Return the smallest and the largest sum, or NaN if the band reaches below 0, where there is no logarithm."""
        reach = rule(n, error) * self._deviation / math.sqrt(n)
        low, high = self._mean - reach, self._mean + reach
        if not (low > 0).all():
            return math.nan, math.nan
        rises = self._weights > 0
        flattest = np.where(rises, np.log(low), np.log(high)) @ self._weights
        return float(flattest), float(np.where(rises, np.log(high), np.log(low)) @ self._weights)


class Shifted(Quantity):
    """A quantity plus a constant."""

    def __init__(self, quantity: Quantity, constant: float) -> None:
        self.n, self._quantity, self._constant = quantity.n, quantity, constant
        self.estimate = quantity.estimate + constant

    def ends(self, error: float, rule: Rule, n: float) -> tuple[float, float]:
        low, high = self._quantity.ends(error, rule, n)
        return low + self._constant, high + self._constant


class Unseen(Quantity):
    """A mean whose interval allows for rare unseen repetitions, lower by ``below`` or higher by ``above``.

    With probability 1 - e an event with rate ln(1 / e) / n or more has happened in n repetitions (the rule of three,
    for e = .05); at that rate, events that move a repetition by ``above`` move the mean by ln(1 / e) above / n.
    """

    def __init__(self, quantity: Quantity, below: float, above: float) -> None:
        self.n, self.estimate = quantity.n, quantity.estimate
        self._quantity, self._below, self._above = quantity, below, above

    def ends(self, error: float, rule: Rule, n: float) -> tuple[float, float]:
        low, high = self._quantity.ends(error, rule, n)
        rate = -math.log(error) / n
        return low - rate * self._below, high + rate * self._above


def skewness(deviations: Array) -> float:
    """Return the skewness of values that are given as deviations from any number, or 0 if the values are equal."""
    centred = deviations - deviations.mean()
    variance = float(np.mean(centred**2))
    return float(np.mean(centred**3)) / variance**1.5 if variance**1.5 > 0 else 0.0
