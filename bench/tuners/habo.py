import math
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner
from bench.tuners.exponential_weights import ExponentialWeights

_LOWEST = -700.0
"""Lower limit of the log weights: every probability stays positive under any rewards."""


@component
class HABO(Tuner):
    """Change one hyper-parameter in each round, drawn by EXP3 over hyper-parameters and EXP3 over its values.

    The run begins with the task's incumbent, or, if there is none, with every hyper-parameter at its usual value. The
    super-arm I (a hyper-parameter) is drawn from P = (1 - gamma) w / sum w + gamma / k, the sub-arm J (one of its n
    values) from Q = w_I / sum w_I. With the reward R, w_IJ *= exp(gamma R / Q) and w_I *= exp(gamma R / P). A negative
    reward, such as an R2 below 0, is used unchanged, and lowers the two weights.

    The defaults are the algorithm as stated. The authors' code has the first three flags set and, in the comparison
    with Bayesian optimisation, also the fourth. Source: habo, algorithm 2; the flags from the authors' code.

    Parameters
    ----------
    gamma
        Exploration and step size.
    divide_exponents
        Whether the exponents are divided by the number of arms, k for super-arms and n for sub-arms.
    mix_values
        Whether Q is also mixed with the uniform distribution: (1 - gamma) w_I / sum w_I + gamma / n.
    keep_if_better
        Whether a change is kept only if its reward exceeds the best so far, initially the incumbent's.
    uniform_hyper_parameter
        Whether the super-arm is drawn uniformly; the weights of super-arms are then ignored.
    """

    searches: ClassVar[tuple[str, ...]] = ("candidates",)
    remembers: ClassVar[tuple[str, ...] | None] = ("_super", "_sub")

    gamma: Annotated[float, Field(gt=0.0, le=1.0)] = 0.1
    divide_exponents: bool = False
    mix_values: bool = False
    keep_if_better: bool = False
    uniform_hyper_parameter: bool = False

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._names = problem.space.names
        self._values = [[c[name] for c in problem.space.restrict([name]).product()] for name in self._names]
        incumbent, self._best = problem.incumbent or ({}, -math.inf)
        defaults = problem.space.defaults
        self._current = {name: incumbent.get(name, defaults[name]) for name in self._names}
        rng = seeds.generator("draw")
        self._super_layer = self._layer(len(self._names), rng, 1.0 if self.uniform_hyper_parameter else self.gamma)
        beta = self.gamma if self.mix_values else 0.0
        self._sub_layers = [self._layer(len(values), rng, beta) for values in self._values]

    def _layer(self, n: int, rng: np.random.Generator, beta: float) -> ExponentialWeights:
        rate = self.gamma / n if self.divide_exponents else self.gamma
        return ExponentialWeights(n, 1, rng, beta=beta, rate=rate, lowest=_LOWEST)

    def _ask(self) -> Configuration:
        self._super = self._super_layer.draw()
        i = self._super[0]
        self._sub = self._sub_layers[i].draw()
        return self._current | {self._names[i]: self._values[i][self._sub[0]]}

    def _tell(self, reward: float, outcome: Any) -> None:
        i, j = self._super[0], self._sub[0]
        if not self.keep_if_better or reward > self._best:
            self._best = max(reward, self._best)
            self._current = self._current | {self._names[i]: self._values[i][j]}
        self._super_layer.learn(self._super, reward)
        self._sub_layers[i].learn(self._sub, reward)

    def probabilities(self) -> dict[str, np.ndarray]:
        """Return P as ``hyper_parameter``, and Q of every hyper-parameter by its name."""
        values = {name: layer.probabilities for name, layer in zip(self._names, self._sub_layers, strict=True)}
        return {"hyper_parameter": self._super_layer.probabilities, **values}
