"""HABO: one bandit chooses which hyper-parameter to change, another one to which of its values."""

import math
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from bench.component import component
from bench.kernel import kernel
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner

_LOWEST = -700.0
"""Log weights sink no deeper below the largest: every probability stays positive, however bad the rewards."""

_LARGEST = 1e300
"""A step of a log weight is no longer than this: a chance near 0 may be what it is divided by."""


@component
class HABO(Tuner):
    """Change one hyper-parameter in each round, drawn by EXP3 over hyper-parameters and EXP3 over its values.

    The run begins with the task's incumbent where it has one, else with every hyper-parameter at its usual value. The
    super-arm I (a hyper-parameter) is drawn from P = (1 - gamma) w / sum w + gamma / k, the sub-arm J (one of its n
    values) from Q = w_I / sum w_I. With the reward R, w_IJ *= exp(gamma R / Q) and w_I *= exp(gamma R / P). A negative
    reward, such as an R2 below 0, is taken as it stands: it lowers the two weights. Weights are kept as logarithms.

    The defaults are the algorithm as stated. Its authors' code has the first three flags set, and in the comparison
    with Bayesian optimisation the fourth, too.

    Parameters
    ----------
    gamma
        Exploration, and the length of a step.
    divide_exponents
        Whether the exponents are divided by the number of arms, k for super-arms and n for sub-arms.
    mix_values
        Whether Q, too, is mixed with the uniform distribution: (1 - gamma) w_I / sum w_I + gamma / n.
    keep_if_better
        Whether a changed value is only kept if its reward beats the best so far, the incumbent's at the start; if not,
        every change is kept.
    uniform_hyper_parameter
        Whether the super-arm is drawn uniformly; its weights then play no part.

    Source: habo, algorithm 2; the flags from the authors' code.
    """

    gamma: Annotated[float, Field(gt=0.0, le=1.0)] = 0.1
    divide_exponents: bool = False
    mix_values: bool = False
    keep_if_better: bool = False
    uniform_hyper_parameter: bool = False

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._names = problem.space.names
        self._values = [[c[name] for c in problem.space.restrict([name]).product()] for name in self._names]
        usual = {parameter.name: parameter.usual for parameter in problem.space.parameters}
        incumbent, self._best = problem.incumbent or ({}, -math.inf)
        self._current = {name: incumbent.get(name, usual[name]) for name in self._names}
        self._super_weights = np.zeros(len(self._names))
        self._sub_weights = [np.zeros(len(values)) for values in self._values]
        self._rng = seeds.generator("draw")

    def _ask(self) -> Configuration:
        self._p = self._super_probabilities()
        self._super = _draw(self._p, self._rng.random())
        self._q = self._sub_probabilities(self._super)
        self._sub = _draw(self._q, self._rng.random())
        return self._current | {self._names[self._super]: self._values[self._super][self._sub]}

    def _tell(self, reward: float, outcome: Any) -> None:
        i, j = self._super, self._sub
        if not self.keep_if_better or reward > self._best:
            self._best = max(reward, self._best)
            self._current = self._current | {self._names[i]: self._values[i][j]}
        self._learn(self._super_weights, i, self._p, reward)
        self._learn(self._sub_weights[i], j, self._q, reward)

    def probabilities(self) -> dict[str, np.ndarray]:
        """Return P as ``hyper_parameter``, and Q of every hyper-parameter by its name."""
        values = {name: self._sub_probabilities(i) for i, name in enumerate(self._names)}
        return {"hyper_parameter": self._super_probabilities(), **values}

    def _super_probabilities(self) -> np.ndarray:
        return _mixed(self._super_weights, 1.0 if self.uniform_hyper_parameter else self.gamma)

    def _sub_probabilities(self, i: int) -> np.ndarray:
        return _mixed(self._sub_weights[i], self.gamma if self.mix_values else 0.0)

    def _learn(self, log_weights: np.ndarray, chosen: int, probabilities: np.ndarray, reward: float) -> None:
        gamma = self.gamma / len(log_weights) if self.divide_exponents else self.gamma
        _learn(log_weights, chosen, gamma * reward / float(probabilities[chosen]))


@kernel
def _mixed(log_weights: np.ndarray, gamma: float) -> np.ndarray:
    """Return (1 - gamma) w / sum w + gamma / n; the largest log weight is 0."""
    weights = np.exp(log_weights)
    return (1.0 - gamma) * (weights / weights.sum()) + gamma / log_weights.size


@kernel
def _draw(probabilities: np.ndarray, uniform: float) -> int:
    """Invert the distribution function at ``uniform``."""
    cumulated = 0.0
    for j in range(probabilities.size):
        cumulated += probabilities[j]
        if uniform < cumulated:
            return j
    return int(probabilities.argmax())


@kernel
def _learn(log_weights: np.ndarray, chosen: int, step: float) -> None:
    """Add ``step`` to one log weight and move all so that the largest is 0."""
    log_weights[chosen] += min(max(step, -_LARGEST), _LARGEST)
    largest = log_weights.max()
    for j in range(log_weights.size):
        log_weights[j] = max(log_weights[j] - largest, _LOWEST)
