from typing import Any, Literal

from pydantic import NonNegativeInt

from bench.component import component
from bench.seeding import Seeds
from bench.tuners.base import Problem
from bench.tuners.zooming_tuner import ZoomingTuner


@component
class CodeZooming(ZoomingTuner):
    """A number of random pulls, then zooming: what the versions of CDT in the authors' public code share.

    Parameters
    ----------
    warm_up_rounds
        Random pulls at the start; in the code 30 for LinUCB, LinTS, 90 for UCB-GLM, 80 for Laplace-TS, 0 for GLOC.
    learns
        What it learns of a decision's rewards: their ``mean``, or their ``sum`` as in the code for SGD-TS.
    """

    warm_up_rounds: NonNegativeInt = 30
    learns: Literal["mean", "sum"] = "mean"

    def random_rounds(self, problem: Problem) -> int:
        return self.warm_up_rounds

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        super()._start(problem, seeds)
        self._factor = problem.rounds_per_ask if self.learns == "sum" else 1

    def _tell(self, reward: float, outcome: Any) -> None:
        super()._tell(self._factor * reward, outcome)
