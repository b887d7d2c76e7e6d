import math
from typing import Any, ClassVar

import numpy as np
from pydantic import PositiveFloat

from bench.component import component
from bench.jit import kernel
from bench.seeding import Seeds
from bench.tuners.base import CandidateTuner, Problem
from bench.tuners.exponential_weights import draw


@component
class Corral(CandidateTuner):
    """Draw from p' = (1 - 1/T) p + 1/(T M); then one step of mirror descent, whose rates rise where chances fall.

    The loss of the candidate drawn is (1 - reward) / p', of the others 0. The step: 1/p_i becomes 1/p_i + eta_i (loss_i
    - lambda), with lambda such that the chances sum to 1. Where then 1/p'_i > rho_i: rho_i = 2/p'_i and eta_i *= exp(1
    / ln T). Start: p_i = 1/M, rho_i = 2 M. Rewards are clipped to [0, 1].

    The M base algorithms of the paper each learn from their own importance-weighted rewards. Here they are candidates
    that share one algorithm, which learns from every round, so only the master is left. With the task `copies` and
    ``learn: played`` each is a base that learns from its own rounds; the weights are still missing. Where the mean
    reward is a function of the features, a regression on one base's rounds aims at the same function without them, and
    weights of 1/p' would only add variance.
    Source: Agarwal, Luo, Neyshabur and Schapire 2017, algorithms 1 and 2.

    Parameters
    ----------
    eta
        First learning rate; null: sqrt(M / T).
    """

    label: ClassVar[str] = "CORRAL"
    remembers: ClassVar[tuple[str, ...] | None] = ("_chosen", "_chance")

    eta: PositiveFloat | None = None

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        horizon = max(problem.horizon, 3)
        self._mixed = 1.0 / horizon
        self._growth = math.exp(1.0 / math.log(horizon))
        self._chances = np.full(n, 1.0 / n)
        self._drawn_from = np.full(n, 1.0 / n)
        self._rates = np.full(n, math.sqrt(n / horizon) if self.eta is None else self.eta)
        self._limits = np.full(n, 2.0 * n)
        self._rng = seeds.generator("corral")

    def _choose(self) -> int:
        chosen = draw(self._drawn_from, self._rng)
        self._chance = self._drawn_from[chosen]
        return chosen

    def _tell(self, reward: float, outcome: Any) -> None:
        loss = 1.0 - min(max(reward, 0.0), 1.0)
        if loss > 0.0:
            losses = np.zeros(len(self._chances))
            losses[self._chosen] = loss / self._chance
            descend(self._chances, self._rates, losses)
        self._drawn_from = (1.0 - self._mixed) * self._chances + self._mixed / len(self._chances)
        fallen = 1.0 / self._drawn_from > self._limits
        self._limits[fallen] = 2.0 / self._drawn_from[fallen]
        self._rates[fallen] *= self._growth

    def probabilities(self) -> dict[str, np.ndarray]:
        return {"configuration": self._drawn_from}


@kernel
def descend(chances: np.ndarray, rates: np.ndarray, losses: np.ndarray) -> None:
    """Take a step of mirror descent with the barrier sum ln(1/p_i) / eta_i, in place; lambda is found by bisection.

    lambda lies between the least and the largest loss, where the sum of the chances increases from at most 1 to at
    least 1 or beyond a pole.
    """
    low = losses.min()
    high = losses.max()
    for _ in range(100):
        middle = 0.5 * (low + high)
        total = 0.0
        for i in range(chances.size):
            inverse = 1.0 / chances[i] + rates[i] * (losses[i] - middle)
            if inverse <= 1.0:
                total = np.inf
                break
            total += 1.0 / inverse
        if total > 1.0:
            high = middle
        else:
            low = middle
    total = 0.0
    for i in range(chances.size):
        chances[i] = 1.0 / (1.0 / chances[i] + rates[i] * (losses[i] - low))
        total += chances[i]
    for i in range(chances.size):
        chances[i] /= total
