import math
from typing import Any

import numpy as np

from bench.component import component
from bench.space import HyperParameter
from bench.tuners.base import Problem
from bench.tuners.dynamic_mean_tuner import ArmChooser, DynamicMeanTuner
from bench.tuners.dynamic_means import DynamicMeans, floor_at_least_one


@component
class SD2ME(DynamicMeanTuner):
    """Static discretisation with dynamic mean estimator: argmax of mean + sqrt(ln W / n) over the arms rho, 2 rho, ...

    First pulls are in random order; the paper does not specify one. In very short runs, where rho would exceed 1, the
    only arm is the end of the interval (assumed: the formula gives none).
    Source: online_hpo, algorithm 1 and theorem 4.1.
    """

    def _memory(self, rounds: int) -> float:
        return float(6**0.25 * (rounds / self.changes) ** 0.75)

    def _chooser(self, parameter: HyperParameter, problem: Problem, rng: np.random.Generator) -> ArmChooser:
        memory = self._window(problem) if self.weights == "hard" else 1.0 / (1.0 - self._discount(problem))
        spacing = (6.0 / memory) ** (1.0 / 3.0)
        order = rng.permutation(floor_at_least_one(1.0 / spacing)) + 1
        values = [parameter.from_unit(min(1.0, spacing * k)) for k in order.tolist()]
        return EvenArms(values, self._means(problem, len(values)))


class EvenArms(ArmChooser):
    """Chooses among fixed values; those without a remembered pull come first, in the given order."""

    def __init__(self, values: list[Any], means: DynamicMeans) -> None:
        self._values = values
        self._means = means
        self._chosen = 0

    def choose(self) -> Any:
        means = self._means
        self._chosen = means.most_promising(math.log(max(1.0, means.total)), 1.0)
        return self._values[self._chosen]

    def learn(self, reward: float) -> None:
        self._means.learn(self._chosen, reward)
