import math
from typing import Annotated, Any

import numpy as np
from pydantic import Field, NonNegativeFloat

from bench.component import component
from bench.jit import kernel
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner


@component
class EXP3S(Tuner):
    """EXP3 in which every candidate gets a share of all weight each round, to follow a change.

    p_i = (1 - gamma) w_i / sum w + gamma / K; after the reward X of the candidate A, w_A *= exp(gamma X / (K p_A)), and
    e alpha / K times the sum of all weights before that is added to each. Weights are kept with the sum 1.
    Source: Auer, Cesa-Bianchi, Freund and Schapire 2002, section 8 and corollary 8.2.

    Parameters
    ----------
    changes
        Expected number of changes; S, the hardness of a sequence of candidates, is one more.
    gamma
        Share of uniform draws; null: min{1, sqrt(K (S ln(K T) + e) / ((e - 1) T))}.
    alpha
        Share that is given to all; null: 1 / T.
    """

    changes: NonNegativeFloat = 1.0
    gamma: Annotated[float, Field(gt=0, le=1)] | None = None
    alpha: Annotated[float, Field(gt=0, le=1)] | None = None

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._candidates = problem.space.product()
        n, horizon = len(self._candidates), problem.horizon
        hardness = self.changes + 1.0
        tuned = math.sqrt(n * (hardness * math.log(n * horizon) + math.e) / ((math.e - 1.0) * horizon))
        self._gamma = min(1.0, tuned) if self.gamma is None else self.gamma
        self._alpha = 1.0 / horizon if self.alpha is None else self.alpha
        self._weights = np.full(n, 1.0 / n)
        self._rng = seeds.generator("exp3")
        self._chosen = 0

    def _ask(self) -> Configuration:
        chances = np.cumsum(self._chances)
        self._chosen = min(int(np.searchsorted(chances, self._rng.random(), side="right")), len(chances) - 1)
        return self._candidates[self._chosen]

    @property
    def _chances(self) -> np.ndarray:
        return (1.0 - self._gamma) * self._weights + self._gamma / len(self._weights)

    def _tell(self, reward: float, outcome: Any) -> None:
        _learn(self._weights, self._gamma, self._alpha, self._chosen, reward)

    def probabilities(self) -> dict[str, np.ndarray]:
        return {"configuration": self._chances}


@kernel
def _learn(weights: np.ndarray, gamma: float, alpha: float, chosen: int, reward: float) -> None:
    n = weights.size
    chance = (1.0 - gamma) * weights[chosen] + gamma / n
    weights[chosen] *= np.exp(min(max(gamma * reward / (n * chance), -700.0), 700.0))
    total = 0.0
    for i in range(n):
        weights[i] += np.e * alpha / n
        total += weights[i]
    for i in range(n):
        weights[i] /= total
