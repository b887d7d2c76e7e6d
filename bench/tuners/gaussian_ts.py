import math
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from bench.arm_means import ArmMeans
from bench.component import component
from bench.seeding import Seeds
from bench.tuners.base import CandidateTuner, Problem
from bench.tuners.recommendation import Draws, refuse_untried


@component
class GaussianTS(CandidateTuner):
    """Draw every candidate's mean from the posterior of an unknown mean and variance, and play the largest draw.

    The prior density of mean and standard deviation is proportional to sigma^(-1 - 2 prior) (of mean and variance:
    sigma^(-2 - 2 prior)). After n rewards with mean m and sum of squared deviations S, the drawn mean is m + sqrt(S /
    (n f)) t, where t has Student's distribution with f = n + 2 prior - 1 degrees of freedom. Each candidate is first
    played max(2, 3 - floor(2 prior)) times. Source: Honda and Takemura 2014 (Optimality of Thompson sampling for
    Gaussian bandits depends on priors).

    Parameters
    ----------
    prior
        The paper's alpha. Regret is asymptotically optimal below 0, but not at 0 (reference prior), 1/2 (Jeffreys) or
        above.
    """

    label: ClassVar[str] = "Gaussian TS"
    learns_history: ClassVar[bool] = True

    prior: Annotated[float, Field(ge=-10, le=10)] = -0.5

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        self._rng = seeds.generator("posterior")
        self._arms = ArmMeans(n)
        self._squares = np.zeros(n)
        self._trials = max(2, 3 - math.floor(2 * self.prior))
        self._turn = 0
        self._tried = False

    def _choose(self) -> int:
        arms = self._arms
        if not self._tried:
            self._tried = bool(arms.counts.min() >= self._trials)
        if not self._tried:  # in turn, by asks: rewards may come late
            self._turn += 1
            return (self._turn - 1) % len(self._candidates)
        freedom = arms.counts + 2.0 * self.prior - 1.0
        deviations = np.sqrt(self._squares / (arms.counts * freedom))
        return int((arms.means + deviations * self._rng.standard_t(freedom)).argmax())

    def _belief(self, n: int, rng: np.random.Generator) -> Draws:
        arms = self._arms
        refuse_untried(type(self).__name__, int((arms.counts < self._trials).sum()), len(arms.counts))
        freedom = arms.counts + 2.0 * self.prior - 1.0
        deviations = np.sqrt(self._squares / (arms.counts * freedom))
        return self._candidates, arms.means + deviations * rng.standard_t(freedom, (n, len(freedom)))

    def _tell(self, reward: float, outcome: Any) -> None:
        before = reward - self._arms.means[self._chosen]
        self._arms.learn(self._chosen, reward)
        self._squares[self._chosen] += before * (reward - self._arms.means[self._chosen])
