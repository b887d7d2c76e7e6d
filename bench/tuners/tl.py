from typing import Any, ClassVar, Literal

import numpy as np

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import CandidateTuner, Problem, Tuner
from bench.tuners.exponential_weights import Drawn, ExponentialWeights


@component
class TLCombined(CandidateTuner):
    """One EXP3 layer over the product of the candidate sets.

    Source: syndicated, section 5 (the naive strategy) and section 6.

    Parameters
    ----------
    horizon_unit
        Unit of T in beta: the tuner's ``asks``, or ``rounds`` as in the authors' code.
    """

    label: ClassVar[str] = "TL-Combined"
    remembers: ClassVar[tuple[str, ...] | None] = ("_chosen", "_drawn")

    horizon_unit: Literal["asks", "rounds"] = "asks"

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        horizon = problem.horizon if self.horizon_unit == "asks" else problem.total_rounds
        self._layer = ExponentialWeights(n, horizon, seeds.generator("exp3"))

    def _choose(self) -> int:
        self._drawn = self._layer.draw()
        return self._drawn[0]

    def _tell(self, reward: float, outcome: Any) -> None:
        self._layer.learn(self._drawn, reward)

    def probabilities(self) -> dict[str, np.ndarray]:
        return {"configuration": self._layer.probabilities}


@component
class TL(TLCombined):
    """TL-Combined on a single hyper-parameter, the two-layer tuner. Source: syndicated, algorithm 1."""

    multiple: ClassVar[bool] = False


@component
class Syndicated(Tuner):
    """Independent EXP3 layers, one per hyper-parameter, which all receive the same reward.

    Source: syndicated, algorithm 2.

    Parameters
    ----------
    horizon_unit
        Unit of T in beta: the tuner's ``asks``, or ``rounds`` as in the authors' code.
    """

    searches: ClassVar[tuple[str, ...]] = ("candidates",)
    remembers: ClassVar[tuple[str, ...] | None] = ("_drawn",)

    horizon_unit: Literal["asks", "rounds"] = "asks"

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        horizon = problem.horizon if self.horizon_unit == "asks" else problem.total_rounds
        self._layers = []
        for name in problem.space.names:
            values = [configuration[name] for configuration in problem.space.restrict([name]).product()]
            rng = seeds.child(name).generator("exp3")
            self._layers.append((name, values, ExponentialWeights(len(values), horizon, rng)))
        self._configuration: Configuration = {}
        self._drawn: list[Drawn] = [(0, 1.0)] * len(self._layers)

    def _ask(self) -> Configuration:
        for place, (name, values, layer) in enumerate(self._layers):
            self._drawn[place] = drawn = layer.draw()
            self._configuration[name] = values[drawn[0]]
        return self._configuration

    def _tell(self, reward: float, outcome: Any) -> None:
        drawn = self._drawn
        for place, (_, _, layer) in enumerate(self._layers):
            layer.learn(drawn[place], reward)

    def probabilities(self) -> dict[str, np.ndarray]:
        return {name: layer.probabilities for name, _, layer in self._layers}
