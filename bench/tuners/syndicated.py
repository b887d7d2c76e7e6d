from typing import Any, Literal

import numpy as np

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner
from bench.tuners.exponential_weights import ExponentialWeights


@component
class Syndicated(Tuner):
    """Independent EXP3 layers, one per hyper-parameter, which all receive the same reward.

    Source: syndicated, algorithm 2.

    Parameters
    ----------
    horizon_unit
        Unit of T in beta: the tuner's ``asks``, or ``rounds`` as in the authors' code.
    """

    horizon_unit: Literal["asks", "rounds"] = "asks"

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        horizon = problem.horizon if self.horizon_unit == "asks" else problem.total_rounds
        self._layers = []
        for name in problem.space.names:
            values = [configuration[name] for configuration in problem.space.restrict([name]).product()]
            rng = seeds.child(name).generator("exp3")
            self._layers.append((name, values, ExponentialWeights(len(values), horizon, rng)))

    def _ask(self) -> Configuration:
        return {name: values[layer.draw()] for name, values, layer in self._layers}

    def _tell(self, reward: float, outcome: Any) -> None:
        for _, _, layer in self._layers:
            layer.learn(reward)

    def probabilities(self) -> dict[str, np.ndarray]:
        return {name: layer.probabilities for name, _, layer in self._layers}
