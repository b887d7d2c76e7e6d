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
    """Draw from p' = (1 - 1/T) p + 1/(T M), and take a mirror descent step whose rates rise as probabilities fall.

    The loss of the drawn candidate is (1 - reward) / p', and the loss of every other candidate is 0. In the step, 1/p_i
    becomes 1/p_i + eta_i (loss_i - lambda), with lambda such that the probabilities sum to 1. If then 1/p'_i > rho_i,
    set rho_i = 2/p'_i and eta_i *= exp(1 / ln T). At the start p_i = 1/M and rho_i = 2 M. Rewards are clipped to [0,
    1].

    In the paper, M base algorithms each learn from their own importance-weighted rewards. Here the candidates share one
    algorithm, which learns from every round, so only the master remains. With the task `copies` and ``learn: played``
    each candidate is a base algorithm that learns from its own rounds, without weights. If the mean reward is a
    function of the features, a regression on one base's rounds has the same target without weights of 1/p', which would
    only add variance. Source: Agarwal, Luo, Neyshabur and Schapire 2017, algorithms 1 and 2.

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
    """Take a mirror descent step with the barrier sum ln(1/p_i) / eta_i in place, with lambda found by bisection.

    lambda lies between the least and the largest loss. Between these values the sum of the probabilities increases from
    at most 1, and either reaches 1 or diverges.
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
