"""UCB(delta): upper confidence bounds with a fixed confidence level."""

import math
from typing import Annotated

from pydantic import Field

from bench.component import component
from bench.seeding import Seeds
from bench.tuners.base import Problem
from bench.tuners.upper_bound_tuner import UpperBoundTuner


@component
class UCBDelta(UpperBoundTuner):
    """Try the candidate with the largest mean + sqrt(2 ln(1 / delta) / N), infinite for N = 0; the first on a tie.

    N counts the decisions for the candidate.

    Parameters
    ----------
    delta
        Probability with which an upper bound may fail, between 0 and 1; None: 1 / T^2, for which the regret has its
        logarithmic bound. A fixed delta has no such bound: an underestimated arm may never be tried again.

    Source: Lattimore and Szepesvari 2020, section 7; habo, section 10.
    """

    delta: Annotated[float, Field(gt=0, lt=1)] | None = None

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        super()._begin(n, problem, seeds)
        self._log = 2.0 * math.log(problem.horizon) if self.delta is None else -math.log(self.delta)

    @property
    def _width(self) -> float:
        return 2.0 * self._log
