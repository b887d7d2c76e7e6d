"""Claims on which method varies more from repetition to repetition."""

from typing import Literal

import numpy as np
import pandas as pd
from pydantic import Field

from bench.report.claims.finding import Unmeasured
from bench.report.claims.judgement import MARGIN, Direction, Question
from bench.report.claims.quantities import Mean, Quantity, Shifted
from bench.report.claims.two_sided import Array, TwoSided
from bench.report.experiments import Experiments
from bench.report.labels import Selection

LEAST = 20
"""Repetitions for a verdict: with fewer, intervals of standard deviations cover less than they say."""


class Spread(TwoSided):
    """Left's standard deviation over repetitions divided by right's, against 1.

    The logarithm of the ratio is jackknifed, its pseudo-values judged by Student's test: Miller, Jackknifing variances,
    Annals of Mathematical Statistics 39 (1968). Of several experiments on a side the standard deviations are combined,
    not the values.

    Parameters
    ----------
    expect
        ``less``, ``greater``, ``at_most`` or ``at_least``.
    tie
        How far from 1, to both sides, the ratio is a tie.
    """

    kind: Literal["spread"]
    expect: Direction
    tie: float = Field(default=MARGIN, ge=0)

    def unit(self) -> str:
        """Return which standard deviations are divided."""
        left, right = self.names()
        return f"ratio of standard deviations of final {self.column}, {left} / {right}, against 1"

    def question(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> tuple[Question, str]:
        """Return what is asked of one case."""
        left, right, note = self.sides(data, case)
        if len(left) < 3:
            raise Unmeasured("an interval of a standard deviation needs at least 3 repetitions")
        if not (_deviations(left) > 0).all() or not (_deviations(right) > 0).all():
            raise Unmeasured("a standard deviation is 0: a ratio says nothing")
        ratio = self.compared(left, right, _ratio, average=False)
        relative = Shifted(ratio, -1.0)
        return Question(ratio, self.unit(), self.expect, 1.0, relative, self.tie, LEAST), note


def _deviations(values: Array) -> Array:
    return np.asarray(values.std(axis=0, ddof=1))


def _logarithm(left: Array, right: Array) -> float:
    return float(np.log(_deviations(left).mean() / _deviations(right).mean()))


def _ratio(left: Array, right: Array) -> Quantity:
    """Return the ratio of the mean standard deviations of (n, experiments) each."""
    n, whole = len(left), _logarithm(left, right)
    with np.errstate(divide="ignore", invalid="ignore"):
        without = np.array([_logarithm(np.delete(left, i, axis=0), np.delete(right, i, axis=0)) for i in range(n)])
    if not np.isfinite(without).all():  # all but one repetition agree
        raise Unmeasured("without one repetition a standard deviation is 0: it rests on that repetition alone")
    return Mean(whole + (n - 1) * (without.mean() - without), exponential=True)
