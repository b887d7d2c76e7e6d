import math
from typing import Annotated, Literal

from pydantic import Field

from bench.component import component
from bench.seeding import Seeds
from bench.tuners.base import Problem
from bench.tuners.upper_bound_tuner import UpperBoundTuner


@component
class UCBDelta(UpperBoundTuner):
    """Try the candidate with the largest upper bound, infinite until it was tried once; the first on a tie.

    The bound is mean + sqrt(2 ln(1 / delta) / N), where N counts the decisions for the candidate: rewards are
    1-sub-Gaussian. For rewards in [0, 1], Hoeffding's inequality gives mean + sqrt(ln(1 / delta) / (2 N)). Source:
    Lattimore and Szepesvari 2020, section 7; habo, section 10; ``hoeffding`` from the authors' code.

    Parameters
    ----------
    delta
        Probability with which a bound may fail; None: 1 / T^2, with logarithmic regret; no fixed delta guarantees it.
    width
        ``sub_gaussian``: that of the paper; ``hoeffding``: half of it, as in the authors' code.
    """

    delta: Annotated[float, Field(gt=0, lt=1)] | None = None
    width: Literal["sub_gaussian", "hoeffding"] = "sub_gaussian"

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        super()._begin(n, problem, seeds)
        self._log = 2.0 * math.log(problem.horizon) if self.delta is None else -math.log(self.delta)

    @property
    def _width(self) -> float:
        return (2.0 if self.width == "sub_gaussian" else 0.5) * self._log
