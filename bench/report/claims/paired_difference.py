"""Claims that one method ends lower, higher or about as another."""

from typing import Literal

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from bench.report.claims.finding import Unmeasured
from bench.report.claims.judgement import MARGIN, Question
from bench.report.claims.quantities import Mean, Quantity, RatioOfMeans
from bench.report.claims.two_sided import Array, TwoSided
from bench.report.experiments import Experiments
from bench.report.labels import Selection


class PairedDifference(TwoSided):
    """The mean of left minus right, paired by repetition.

    Parameters
    ----------
    expect
        - ``less`` / ``greater``: below / above 0.
        - ``at_most`` / ``at_least``: "no worse". Without a margin as above, but a difference of exactly 0 holds.
          With a margin, a test of non-inferiority: ``at_most`` holds if the interval ends at or below +margin and
          fails if it lies above +margin; ``at_least`` mirrors it at -margin.
        - ``similar`` (needs a margin), a test of equivalence: holds if it is a tie within the margin, fails if the
          95 % interval lies outside on one side.
    margin
        A share of right's mean: 0.05 is 5 %. With a margin the estimate is the difference divided by right's mean, so
        that estimate, interval and margin can be compared as they stand.
    tie
        Without a margin: what share of right's mean is too small to matter; 0: nothing is.
    """

    kind: Literal["paired_difference"]
    expect: Literal["less", "greater", "at_most", "at_least", "similar"]
    margin: float | None = Field(default=None, gt=0)
    tie: float = Field(default=MARGIN, ge=0)

    @model_validator(mode="after")
    def _margin_fits(self) -> "PairedDifference":
        if self.expect == "similar" and self.margin is None:
            raise ValueError("expect: similar needs a margin, such as margin: 0.05")
        if self.expect in ("less", "greater") and self.margin is not None:
            raise ValueError(f"expect: {self.expect} takes no margin, only at_most, at_least and similar do")
        if self.margin is not None and "tie" in self.model_fields_set:
            raise ValueError("expected either 'margin' or 'tie'")
        return self

    def unit(self) -> str:
        """Return what is subtracted from what."""
        left, right = self.names()
        relative = f", as a share of {right}'s mean" if self.margin is not None else ""
        return f"mean paired difference of final {self.column}, {left} - {right}{relative}"

    def question(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> tuple[Question, str]:
        """Return what is asked of one case."""
        left, right, note = self.sides(data, case)
        relative = self.compared(left, right, _share)
        if self.margin is None:
            return Question(
                self.compared(left, right, _difference), self.unit(), self.expect, relative=relative, margin=self.tie
            ), note
        if not np.isfinite(relative.estimate):
            raise Unmeasured("the mean of right is 0, so that nothing can be a share of it")
        threshold = 0.0 if self.expect == "similar" else -self.margin if self.expect == "at_least" else self.margin
        margin = self.margin if self.expect == "similar" else None
        return Question(relative, self.unit(), self.expect, threshold, margin=margin), note


def _difference(left: Array, right: Array) -> Quantity:
    return Mean(left - right)


def _share(left: Array, right: Array) -> Quantity:
    return RatioOfMeans(left - right, right if right.mean() > 0 else -right)
