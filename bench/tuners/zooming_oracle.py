"""Zooming TS that knows when the environment changes."""

from typing import Literal

from pydantic import NonNegativeFloat, PositiveFloat

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.active_points import ZoomingRule
from bench.tuners.base import Problem
from bench.tuners.zooming_ts import zooming_constants
from bench.tuners.zooming_tuner import ZoomingTuner


@component
class ZoomingOracle(ZoomingTuner):
    """Zooming TS, restarted at the true change points, which the problem names.

    Parameters
    ----------
    constants
        As for Zooming TS.
    noise_std
        Sub-Gaussian constant of the rewards; by default that of the task.
    radius_scale, ts_scale
        Factors on the confidence radius and on the sampling deviation.

    Source: cdt, appendix A.3.
    """

    constants: Literal["theory", "code"] = "theory"
    noise_std: NonNegativeFloat | None = None
    radius_scale: PositiveFloat = 1.0
    ts_scale: NonNegativeFloat = 1.0

    def _rule(self, problem: Problem) -> ZoomingRule:
        tau0 = problem.noise_std if self.noise_std is None else self.noise_std
        radius, spread = zooming_constants(self.constants, tau0, problem.horizon)
        return ZoomingRule(
            self.radius_scale * radius,
            self.ts_scale * spread,
            randomised=True,
            removal=True,
            restart_every=problem.horizon + 1,
        )

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        super()._start(problem, seeds)
        self._restarts = {change // problem.rounds_per_ask for change in problem.change_points}
        self._n_asked = 0

    def _ask(self) -> Configuration:
        if self._n_asked in self._restarts:
            self._points.restart()
        self._n_asked += 1
        return self._points.ask()
