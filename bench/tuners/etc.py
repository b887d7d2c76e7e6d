from typing import Any

from pydantic import PositiveInt

from bench.arm_means import ArmMeans
from bench.component import component
from bench.seeding import Seeds
from bench.tuners.base import Problem
from bench.tuners.candidate_tuner import CandidateTuner


@component
class ETC(CandidateTuner):
    """Explore, then commit: try the candidates in turn, then commit to the best mean, the first on a tie.

    With a horizon below pulls_per_arm times the number of candidates it never commits. Source: habo, section 3.

    Parameters
    ----------
    pulls_per_arm
        m, the number of times that each candidate is tried.
    """

    pulls_per_arm: PositiveInt = 200

    def _begin(self, n: int, problem: Problem, seeds: Seeds) -> None:
        self._arms = ArmMeans(n)
        self._trials = self.pulls_per_arm * n
        self._best = 0

    def _choose(self) -> int:
        pulls = self._arms.pulls
        return pulls % len(self._candidates) if pulls < self._trials else self._best

    def _tell(self, reward: float, outcome: Any) -> None:
        arms = self._arms
        if arms.pulls < self._trials:
            arms.learn(self._chosen, reward)
            if arms.pulls == self._trials:
                self._best = arms.optimistic(0.0)
