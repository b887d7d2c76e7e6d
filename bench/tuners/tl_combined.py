from typing import Any, Literal

import numpy as np

from bench.component import component
from bench.seeding import Seeds
from bench.tuners.base import Problem
from bench.tuners.candidate_tuner import CandidateTuner
from bench.tuners.exponential_weights import ExponentialWeights


@component
class TLCombined(CandidateTuner):
    """One EXP3 layer over the product of the candidate sets.

    Source: syndicated, section 5 (the naive strategy) and section 6.

    Parameters
    ----------
    horizon_unit
        Unit of T in beta: the tuner's ``asks``, or ``rounds`` as in the authors' code.
    """

    horizon_unit: Literal["asks", "rounds"] = "asks"

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        horizon = problem.horizon if self.horizon_unit == "asks" else problem.total_rounds
        self._layer = ExponentialWeights(n, horizon, seeds.generator("exp3"))

    def _choose(self) -> int:
        return self._layer.draw()

    def _tell(self, reward: float, outcome: Any) -> None:
        self._layer.learn(reward)

    def probabilities(self) -> dict[str, np.ndarray]:
        return {"configuration": self._layer.probabilities}
