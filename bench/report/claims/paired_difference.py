"""Claims that one method ends lower, higher or about as another."""

from typing import Literal

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from bench.report.claims.base import case_text
from bench.report.claims.finding import Finding, Unmeasured
from bench.report.claims.judgement import directed, judged
from bench.report.claims.two_sided import Array, TwoSided, combined, named
from bench.report.experiments import Experiments
from bench.report.labels import Selection
from bench.stats import bootstrap


class PairedDifference(TwoSided):
    """The mean of left minus right, paired by repetition.

    Parameters
    ----------
    expect
        - ``less`` / ``greater``: holds if the whole interval is below / above 0, fails if it is on the other side.
        - ``at_most`` / ``at_least``: "no worse". Without a margin as above, but a difference of exactly 0 holds.
          With a margin, a test of non-inferiority: ``at_most`` holds if the interval ends at or below +margin and
          fails if it lies above +margin; ``at_least`` mirrors it at -margin.
        - ``similar`` (needs a margin), a test of equivalence: holds if the interval lies within +-margin, fails if
          it lies outside on one side.
    margin
        A share of right's mean: 0.05 is 5 %. With a margin the estimate is the difference divided by right's mean
        (both resampled together), so that estimate, interval and margin can be compared as they stand.
    """

    kind: Literal["paired_difference"]
    expect: Literal["less", "greater", "at_most", "at_least", "similar"]
    margin: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _margin_fits(self) -> "PairedDifference":
        if self.expect == "similar" and self.margin is None:
            raise ValueError("expect: similar needs a margin, such as margin: 0.05")
        if self.expect in ("less", "greater") and self.margin is not None:
            raise ValueError(f"expect: {self.expect} takes no margin, only at_most, at_least and similar do")
        return self

    def unit(self) -> str:
        """Return what is subtracted from what."""
        left, right = named(self.left, self.combine.left), named(self.right, self.combine.right)
        relative = f", as a share of {right}'s mean" if self.margin is not None else ""
        return f"mean paired difference of final {self.column}, {left} - {right}{relative}"

    def measure(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> Finding:
        """Return the finding for one case."""
        left, right, note = self.sides(data, case)
        interval = bootstrap(self._difference, left, right)
        if not np.isfinite(interval.estimate):
            raise Unmeasured("the mean of right is 0, so that nothing can be a share of it")
        name, margin = case_text(case), self.margin or 0.0
        if self.expect == "similar":
            return judged(
                name,
                interval,
                self.unit(),
                holds=-margin <= interval.low and interval.high <= margin,
                fails=interval.low > margin or interval.high < -margin,
                agrees=abs(interval.estimate) <= margin,
                note=note,
            )
        threshold = -margin if self.expect == "at_least" else margin
        return directed(name, interval, self.unit(), self.expect, threshold, note)

    def _difference(self, left: Array, right: Array) -> Array:
        a = combined(left.mean(axis=1), self.combine.left)
        b = combined(right.mean(axis=1), self.combine.right)
        return a - b if self.margin is None else (a - b) / np.abs(b)
