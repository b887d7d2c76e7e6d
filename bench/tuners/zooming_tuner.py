from abc import abstractmethod
from typing import Any

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.active_points import ActivePoints, ZoomingRule
from bench.tuners.base import Problem, Tuner


@component
class ZoomingTuner(Tuner):
    """Proposes active points; a subclass defines the sizes of their balls and their ranking."""

    @abstractmethod
    def _rule(self, problem: Problem) -> ZoomingRule:
        """Return radius, spread and restarts for ``problem``."""

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._points = ActivePoints(problem.space, self._rule(problem), seeds)

    def _ask(self) -> Configuration:
        return self._points.ask()

    def _tell(self, reward: float, outcome: Any) -> None:
        self._points.tell(reward)
