import math
from typing import Any, ClassVar, Literal

import numpy as np

from bench.component import component
from bench.jit import kernel
from bench.seeding import Seeds
from bench.tuners.base import CandidateTuner, Problem
from bench.tuners.exponential_weights import draw


@component
class TsallisINF(CandidateTuner):
    """Follow the regularised leader, with the Tsallis entropy of order 1/2.

    The probabilities are p_i = 4 / (eta_t (L_i - x))^2, with x such that they sum to 1. L_i are sums of estimated
    losses, where the loss is 1 - reward and rewards are clipped to [0, 1]. The regret has the optimal order in both
    adversarial and stochastic environments, without knowledge of the kind or the horizon. With *importance*, the
    estimate is loss / p_i for the drawn candidate and 0 for the others, and eta_t = 2 / sqrt(t). With
    *reduced_variance*, the estimate is (loss - b_i) / p_i + b_i for the drawn candidate and b_i for the others, with
    b_i = 1/2 if p_i >= eta_t^2 and 0 otherwise, and eta_t = 4 / sqrt(t). With the task `copies` and ``learn: played``,
    the tuner is a master over algorithms that learn from their own rounds. Source: Zimmert and Seldin 2021, arXiv
    1807.07623v6: algorithm 1; (IW) and (RV) of section 3; theorem 1 for the rate of (RV), as stated by a public
    formalisation in Lean. The rate of (IW) minimises the bounds of its lemmas 11 and 12.

    Parameters
    ----------
    estimate
        ``importance`` or ``reduced_variance``.
    """

    label: ClassVar[str] = "Tsallis-INF"
    remembers: ClassVar[tuple[str, ...] | None] = ("_chosen", "_chances", "_rate")

    estimate: Literal["importance", "reduced_variance"] = "reduced_variance"

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        self._losses = np.zeros(n)
        self._n_told = 0
        self._rng = seeds.generator("tsallis_inf")

    @property
    def _next_rate(self) -> float:
        return (2.0 if self.estimate == "importance" else 4.0) / math.sqrt(self._n_told + 1)

    def _choose(self) -> int:
        self._rate = self._next_rate
        self._chances = chances(self._losses, self._rate)
        return draw(self._chances, self._rng)

    def _tell(self, reward: float, outcome: Any) -> None:
        loss = 1.0 - min(max(reward, 0.0), 1.0)
        chosen = self._chosen
        if self.estimate == "importance":
            self._losses[chosen] += loss / self._chances[chosen]
        else:
            centers = 0.5 * (self._chances >= self._rate**2)
            self._losses += centers
            self._losses[chosen] += (loss - centers[chosen]) / self._chances[chosen]
        self._n_told += 1

    def probabilities(self) -> dict[str, np.ndarray]:
        return {"configuration": chances(self._losses, self._next_rate)}


@kernel
def chances(losses: np.ndarray, rate: float) -> np.ndarray:
    """Return p_i = 4 / (rate (losses_i - x))^2, with x such that the p_i sum to 1.

    Newton's method starts at the x for which the largest p_i is 1. The sum is a convex, increasing function of x and is
    at least 1 at the start, so the iterates decrease to the solution. The iteration ends once rounding stops the
    decrease.
    """
    n = losses.size
    found = np.empty(n)
    least = losses.min()
    x = -2.0 / rate  # relative to the least loss
    for _ in range(100):
        total = 0.0
        slope = 0.0
        for i in range(n):
            root = 2.0 / (rate * (losses[i] - least - x))
            found[i] = root * root
            total += found[i]
            slope += rate * root * found[i]
        step = (total - 1.0) / slope
        if step <= 0.0 or x - step == x:
            break
        x -= step
    for i in range(n):
        found[i] /= total
    return found
