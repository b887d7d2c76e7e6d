from typing import Any

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner


@component
class Random(Tuner):
    """Draw every hyper-parameter uniformly, from its interval if it has one, else from its candidates."""

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._space = problem.space
        self._rng = seeds.generator("draw")

    def _ask(self) -> Configuration:
        return self._space.sample(self._rng)

    def _tell(self, reward: float, outcome: Any) -> None:
        pass
