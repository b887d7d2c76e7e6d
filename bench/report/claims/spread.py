"""Claims on which method varies more from repetition to repetition."""

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


class Spread(TwoSided):
    """Left's standard deviation over repetitions divided by right's, against 1; both resampled together.

    Of several experiments on a side the standard deviations are combined, not the values.

    Parameters
    ----------
    expect
        ``less``, ``greater``, ``at_most`` or ``at_least``.
    """

    kind: Literal["spread"]
    expect: Direction

    def unit(self) -> str:
        """Return which standard deviations are divided."""
        left, right = named(self.left, self.combine.left), named(self.right, self.combine.right)
        return f"ratio of standard deviations of final {self.column}, {left} / {right}, against 1"

    def measure(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> Finding:
        """Return the finding for one case."""
        left, right, note = self.sides(data, case)
        if len(left) < 2:
            raise Unmeasured("a standard deviation needs at least 2 repetitions")
        interval = bootstrap(self._ratio, left, right)
        if not np.isfinite(interval.estimate):
            raise Unmeasured("the standard deviation of right is 0")
        return directed(case_text(case), interval, self.unit(), self.expect, 1.0, note)

    def _ratio(self, left: Array, right: Array) -> Array:
        a = combined(left.std(axis=1, ddof=1), self.combine.left)
        b = combined(right.std(axis=1, ddof=1), self.combine.right)
        return a / b
