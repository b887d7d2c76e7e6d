"""Claims on how many times larger one mean, or median, is than another."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from bench.report.claims.finding import Unmeasured
from bench.report.claims.judgement import MARGIN, Direction, Question
from bench.report.claims.quantities import Quantity, RatioOfMeans, Resampled, Shifted
from bench.report.claims.two_sided import Array, TwoSided
from bench.report.experiments import Experiments
from bench.report.labels import Selection
from bench.stats import resampled


class Ratio(TwoSided):
    """Left's mean (or median) divided by right's, against a threshold.

    Parameters
    ----------
    expect
        ``less``, ``greater``, ``at_most`` or ``at_least``.
    threshold
        What the ratio is compared with, default 1.
    statistic
        ``mean`` (default) or ``median`` of each side over repetitions; ``paired_median``: the median of the ratios of
        single repetitions, for measurements in pairs.
    tie
        How far from 1, to both sides, the ratio is a tie; only where the threshold is 1.
    """

    kind: Literal["ratio"]
    expect: Direction
    threshold: float = 1.0
    statistic: Literal["mean", "median", "paired_median"] = "mean"
    tie: float = Field(default=MARGIN, ge=0)

    @model_validator(mode="after")
    def _tie_fits(self) -> "Ratio":
        if "tie" in self.model_fields_set and self.threshold != 1.0:
            raise ValueError("'tie' goes with the threshold 1 only")
        return self

    def unit(self) -> str:
        """Return what is divided, and the threshold."""
        left, right = self.names()
        if self.statistic == "paired_median":
            return f"median of paired ratios of final {self.column}, {left} / {right}, against {self.threshold:g}"
        return f"ratio of {self.statistic} final {self.column}, {left} / {right}, against {self.threshold:g}"

    def question(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> tuple[Question, str]:
        """Return what is asked of one case; one whose right side is not positive is left open."""
        left, right, note = self.sides(data, case)
        ratio = self.compared(left, right, _STATISTICS[self.statistic])
        if not np.isfinite(ratio.estimate):
            raise Unmeasured(f"the {self.statistic} of right is not positive: a ratio says nothing")
        unit, threshold = self.unit(), self.threshold
        if threshold != 1.0:
            return Question(ratio, unit, self.expect, threshold), note
        return Question(ratio, unit, self.expect, threshold, relative=Shifted(ratio, -1.0), margin=self.tie), note


def _median_of_ratios(left: Array, right: Array) -> Quantity:
    if not (right > 0).all():
        raise Unmeasured("right is not positive in every repetition: a ratio says nothing")
    logs = np.log(left / right) if (left > 0).all() else np.full(len(left), np.nan)

    def ratio(a: Array) -> Array:
        return np.asarray(np.exp(np.median(a, axis=1)))

    return Resampled(float(ratio(logs[None])[0]), resampled(ratio, logs), len(left))


def _of_medians(left: Array, right: Array) -> Quantity:
    def ratio(a: Array, b: Array) -> Array:
        below = np.median(b, axis=1)
        return np.median(a, axis=1) / np.where(below > 0, below, np.nan)

    return Resampled(float(ratio(left[None], right[None])[0]), resampled(ratio, left, right), len(left))


_STATISTICS: dict[str, Callable[[Array, Array], Quantity]] = {
    "mean": RatioOfMeans,
    "median": _of_medians,
    "paired_median": _median_of_ratios,
}
