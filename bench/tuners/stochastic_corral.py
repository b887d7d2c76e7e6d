import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from bench.component import component
from bench.seeding import Seeds
from bench.tuners.base import Problem
from bench.tuners.corral import Corral


@component
class StochasticCorral(Corral):
    """CORRAL in steps of two asks, which proposes the drawn candidate twice and uses the second reward for both asks.

    The loss of a step is 2 (1 - reward) of its second ask, and T is the number of steps; otherwise the tuner equals
    `Corral`. With the task `smoothed_copies` a base plays and learns in the first decision of a step, and plays one of
    its past policies in the second, so that the master learns the mean over the base's past. Bases may then be any
    algorithms, whereas bases of CORRAL must tolerate rewards with importance weights. Source: Pacchiano, Phan,
    Abbasi-Yadkori, Rao, Zimmert, Lattimore and Szepesvari 2020 (stochastic CORRAL); the double loss follows
    T3p/hidden-features at 122bdc2 (cpp/adversarial_master.h), because we did not have the paper's text. The first
    learning rate is assumed: theirs depends on the regret of the best base.

    Parameters
    ----------
    eta
        First learning rate; null: sqrt(M / T), M the number of candidates.
    """

    label: ClassVar[str] = "Stochastic CORRAL"
    remembers: ClassVar[tuple[str, ...] | None] = ("_chosen", "_chance", "_is_second")

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        super()._begin(n, replace(problem, horizon=math.ceil(problem.horizon / 2)), seeds)
        self._rates *= 2.0  # a step of mirror descent only uses the product of rate and loss
        self._is_second = True

    def _choose(self) -> int:
        self._is_second = not self._is_second
        return self._chosen if self._is_second else super()._choose()

    def _tell(self, reward: float, outcome: Any) -> None:
        if self._is_second:
            super()._tell(reward, outcome)

    def probabilities(self) -> dict[str, np.ndarray]:
        if self._is_second:
            return super().probabilities()
        return {"configuration": np.eye(len(self._chances))[self._chosen]}
