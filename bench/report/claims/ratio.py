"""Claims on the ratio of means, medians or standard deviations."""

from collections.abc import Callable
from typing import ClassVar, Literal

import numpy as np
from pydantic import model_validator

from bench.report.claims.base import Case
from bench.report.claims.comparisons import Tie, TwoSided
from bench.report.claims.judgement import MARGIN, Direction, Question, Unmeasured
from bench.report.claims.quantities import Mean, Quantity, RatioOfMeans, Resampled, Shifted
from bench.stats import Array, resampled, spread

LEAST_FOR_SPREAD = 20
"""Repetitions for a verdict: with fewer, intervals of standard deviations cover less than they say."""


class Ratio(TwoSided):
    """A claim that compares left's mean (or median) divided by right's with a threshold.

    ``statistic`` is ``mean`` or ``median`` of each side, or ``paired_median``, the median of the ratios of single
    repetitions, for measurements in pairs. With the threshold 1, a ratio within ``tie`` of 1 is a tie.
    """

    kind: Literal["ratio"]
    expect: Direction
    threshold: float = 1.0
    statistic: Literal["mean", "median", "paired_median"] = "mean"
    tie: Tie = MARGIN

    @model_validator(mode="after")
    def _tie_fits(self) -> "Ratio":
        if "tie" in self.model_fields_set and self.threshold != 1.0:
            raise ValueError("'tie' goes with the threshold 1 only")
        return self

    def unit(self) -> str:
        what = f"ratio of {self.statistic}" if self.statistic != "paired_median" else "median of paired ratios of"
        return f"{what} final {self.column}, {self.names(' / ')}, against {self.threshold:g}"

    def question(self, case: Case) -> Question:
        left, right = self.values(case)
        ratio = self.compared(left, right, _STATISTICS[self.statistic])
        if not np.isfinite(ratio.estimate):
            raise Unmeasured(f"the {self.statistic} of right is not positive: a ratio has no meaning")
        if self.threshold != 1.0:
            return Question(ratio, self.expect, self.threshold)
        return Question(ratio, self.expect, 1.0, Shifted(ratio, -1.0), self.tie)


def _median_of_ratios(left: Array, right: Array) -> Quantity:
    if not (right > 0).all():
        raise Unmeasured("right is not positive in every repetition: a ratio has no meaning")
    logs = np.log(left / right) if (left > 0).all() else np.full(len(left), np.nan)
    return _resampled(lambda a: np.exp(np.median(a, axis=1)), logs)


def _of_medians(left: Array, right: Array) -> Quantity:
    def ratio(a: Array, b: Array) -> Array:
        below = np.median(b, axis=1)
        return np.median(a, axis=1) / np.where(below > 0, below, np.nan)

    return _resampled(ratio, left, right)


def _resampled(statistic: Callable[..., Array], *sides: Array) -> Quantity:
    estimate = float(statistic(*(values[None] for values in sides))[0])
    return Resampled(estimate, resampled(statistic, *sides), len(sides[0]))


_STATISTICS: dict[str, Callable[[Array, Array], Quantity]] = {
    "mean": RatioOfMeans,
    "median": _of_medians,
    "paired_median": _median_of_ratios,
}


class Spread(TwoSided):
    """A claim that compares left's standard deviation over repetitions divided by right's with 1.

    The logarithm of the ratio is jackknifed, and its pseudo-values are judged by Student's test. Source: Miller,
    Jackknifing variances, Annals of Mathematical Statistics 39 (1968). For several experiments on a side the standard
    deviations are combined, not the values. A ratio within ``tie`` of 1 is a tie.
    """

    threshold: ClassVar[float] = 1.0

    kind: Literal["spread"]
    expect: Direction
    tie: Tie = MARGIN

    def unit(self) -> str:
        return f"ratio of standard deviations of final {self.column}, {self.names(' / ')}, against 1"

    def question(self, case: Case) -> Question:
        left, right = self.values(case)
        if len(left) < 3:
            raise Unmeasured("an interval of a standard deviation needs at least 3 repetitions")
        if not (spread(left, axis=-2) > 0).all() or not (spread(right, axis=-2) > 0).all():
            raise Unmeasured("a standard deviation is 0: a ratio has no meaning")
        ratio = self.compared(left, right, _of_deviations, average=False)
        return Question(ratio, self.expect, 1.0, Shifted(ratio, -1.0), self.tie, LEAST_FOR_SPREAD)


def _logarithm(left: Array, right: Array) -> Array:
    return np.asarray(np.log(spread(left, axis=-2).mean(axis=-1) / spread(right, axis=-2).mean(axis=-1)))


def _of_deviations(left: Array, right: Array) -> Quantity:
    """Return the ratio of the sides' mean standard deviations; each side has shape (n, experiments)."""
    n, whole = len(left), float(_logarithm(left, right))
    parts, rest = [], np.arange(n - 1)
    for left_out in np.array_split(np.arange(n), n // 100 + 1):  # all at once would take memory of order n^2
        others = rest + (rest >= left_out[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            parts.append(_logarithm(left[others], right[others]))
    without = np.concatenate(parts)
    if not np.isfinite(without).all():  # all but one repetition agree
        raise Unmeasured("without one repetition a standard deviation is 0: it rests on that repetition alone")
    return Mean(whole + (n - 1) * (without.mean() - without), exponential=True)
