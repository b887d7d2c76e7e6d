"""Claims on how many times larger one mean, or median, is than another."""

from typing import Literal

import numpy as np
import pandas as pd

from bench.report.claims.base import case_text
from bench.report.claims.finding import Finding, Unmeasured
from bench.report.claims.judgement import Direction, directed
from bench.report.claims.two_sided import Array, TwoSided, combined, named
from bench.report.experiments import Experiments
from bench.report.labels import Selection
from bench.stats import bootstrap


class Ratio(TwoSided):
    """Left's mean (or median) divided by right's, against a threshold; both resampled together.

    Parameters
    ----------
    expect
        ``less``, ``greater``, ``at_most`` or ``at_least``.
    threshold
        What the ratio is compared with, default 1.
    statistic
        ``mean`` (default) or ``median`` over repetitions.
    """

    kind: Literal["ratio"]
    expect: Direction
    threshold: float = 1.0
    statistic: Literal["mean", "median"] = "mean"

    def unit(self) -> str:
        """Return what is divided, and the threshold."""
        left, right = named(self.left, self.combine.left), named(self.right, self.combine.right)
        return f"ratio of {self.statistic} final {self.column}, {left} / {right}, against {self.threshold:g}"

    def measure(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> Finding:
        """Return the finding for one case; one whose right side is not positive is left open."""
        left, right, note = self.sides(data, case)
        interval = bootstrap(self._ratio, left, right)
        if not np.isfinite(interval.estimate):
            raise Unmeasured(f"the {self.statistic} of right is not positive: a ratio says nothing")
        return directed(case_text(case), interval, self.unit(), self.expect, self.threshold, note)

    def _ratio(self, left: Array, right: Array) -> Array:
        middle = np.median if self.statistic == "median" else np.mean
        a = combined(middle(left, axis=1), self.combine.left)
        b = combined(middle(right, axis=1), self.combine.right)
        return a / np.where(b > 0, b, np.nan)
