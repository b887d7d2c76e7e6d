import math
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PositiveFloat

from bench.component import component
from bench.errors import ConfigError
from bench.jit import kernel
from bench.seeding import Seeds
from bench.tuners.base import Problem
from bench.tuners.candidate_tuner import CandidateTuner
from bench.tuners.exponential_weights import ExponentialWeights
from bench.tuners.softmax import LARGEST_REWARD, Softmax


@component
class EXP3(CandidateTuner):
    """Exponential weights: draw in proportion to the exponentials of estimated rewards, in one of two forms.

    *reward*: P_i proportional to exp(eta S_i), and after a reward X of A, S_i += 1 - 1[A = i] (1 - X) / P_i, without
    uniform exploration. *weight*: P_i = (1 - gamma) w_i / sum w + gamma / K and w_A *= exp(gamma X / (K P_A)).
    Estimates are unbiased; the bounds assume rewards in [0, 1]. Raises ConfigError if a setting of the other form is
    given.
    Source: habo, section 18; Lattimore and Szepesvari 2020, algorithm 9 (reward); Auer et al. 2002 (weight).

    Parameters
    ----------
    form
        ``reward`` or ``weight``.
    eta
        Learning rate of the reward form; None: sqrt(ln K / (t K)) in round t, with regret at most 2 sqrt(K T ln K).
    gamma
        Share of uniform draws of the weight form; None: min{1, sqrt(K ln K / ((e - 1) T))}.
    """

    form: Literal["reward", "weight"] = "reward"
    eta: PositiveFloat | None = None
    gamma: Annotated[float, Field(gt=0, le=1)] | None = None

    def __post_init__(self) -> None:
        name, value = ("gamma", self.gamma) if self.form == "reward" else ("eta", self.eta)
        if value is not None:
            raise ConfigError(
                f"EXP3.{name}: found {value} with form: {self.form}, expected null, as it belongs to the other form"
            )

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        rng = seeds.generator("exp3")
        self._weights = ExponentialWeights(n, problem.horizon, rng, beta=self.gamma)
        self._estimates = Softmax(n, rng)
        self._log_ratio = math.log(n) / n
        self._round = 1

    @property
    def _rate(self) -> float:
        return math.sqrt(self._log_ratio / self._round) if self.eta is None else self.eta

    def _choose(self) -> int:
        return self._weights.draw() if self.form == "weight" else self._estimates.draw(self._rate)

    def _tell(self, reward: float, outcome: Any) -> None:
        reward = min(max(reward, -LARGEST_REWARD), LARGEST_REWARD)
        if self.form == "weight":
            self._weights.learn(reward)
            return
        estimates = self._estimates
        _learn(estimates.scores, estimates.drawn_from, self._chosen, reward)
        self._round += 1

    def probabilities(self) -> dict[str, np.ndarray]:
        weight = self.form == "weight"
        return {"configuration": self._weights.probabilities if weight else self._estimates.probabilities(self._rate)}


@kernel
def _learn(estimates: np.ndarray, drawn_from: np.ndarray, chosen: int, reward: float) -> None:
    for i in range(estimates.size):
        estimates[i] += 1.0
    estimates[chosen] -= (1.0 - reward) / drawn_from[chosen]
