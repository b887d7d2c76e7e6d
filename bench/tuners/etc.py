"""ETC: explore, then commit."""

from typing import Any

from pydantic import PositiveInt

from bench.arm_means import ArmMeans
from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner


@component
class ETC(Tuner):
    """Try the candidates in turn, the same number of times each, then stay with the one of the best mean.

    Of equal means the first counts. With a horizon below pulls_per_arm times candidates it never commits.

    Parameters
    ----------
    pulls_per_arm
        m, how often each candidate is tried.

    Source: habo, section 3.
    """

    pulls_per_arm: PositiveInt = 200

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._candidates = problem.space.product()
        self._arms = ArmMeans(len(self._candidates))
        self._trials = self.pulls_per_arm * len(self._candidates)
        self._chosen = 0

    def _ask(self) -> Configuration:
        return self._candidates[self._chosen]

    def _tell(self, reward: float, outcome: Any) -> None:
        arms = self._arms
        if arms.pulls < self._trials:
            arms.learn(self._chosen, reward)
            exploring = arms.pulls < self._trials
            self._chosen = arms.pulls % len(self._candidates) if exploring else arms.optimistic(0.0)
