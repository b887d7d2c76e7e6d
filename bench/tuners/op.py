from typing import Any, ClassVar, Literal

import numpy as np

from bench.component import component
from bench.seeding import Seeds
from bench.tuners.base import CandidateTuner, Problem


@component
class OP(CandidateTuner):
    """Beta-Bernoulli Thompson sampling over the candidates of one hyper-parameter, with Beta(1, 1) priors.

    A reward is clipped to [0, 1] and a Bernoulli draw with that probability counts as success or failure. Source:
    Bouneffouf and Claeys 2020 (OPLINUCB), as modified in syndicated, section 6; the clipping is from the authors' code.

    Parameters
    ----------
    reward
        The clipped reward of a decision: the ``mean`` over its rounds, or their ``sum`` as in the authors' code.
    """

    multiple: ClassVar[bool] = False
    learns_history: ClassVar[bool] = True

    reward: Literal["mean", "sum"] = "mean"

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        self._factor = problem.rounds_per_ask if self.reward == "sum" else 1
        self._rng = seeds.generator("posterior")
        self._success = np.ones(n)
        self._failure = np.ones(n)

    def _choose(self) -> int:
        return int(self._rng.beta(self._success, self._failure).argmax())

    def _tell(self, reward: float, outcome: Any) -> None:
        success = self._rng.random() < min(max(self._factor * reward, 0.0), 1.0)
        (self._success if success else self._failure)[self._chosen] += 1.0
