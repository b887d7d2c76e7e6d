from typing import ClassVar

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem
from bench.tuners.thompson_zooming import ThompsonZooming


@component
class ZoomingOracle(ThompsonZooming):
    """Zooming TS, restarted at the true change points, which the problem provides. Source: cdt, appendix A.3."""

    needs: ClassVar[tuple[str, ...]] = ("change_points",)

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        super()._start(problem, seeds)
        self._restarts = {change // problem.rounds_per_ask for change in problem.change_points}
        self._n_asked = 0

    def _ask(self) -> Configuration:
        if self._n_asked in self._restarts:
            self._points.restart()
        self._n_asked += 1
        return super()._ask()
