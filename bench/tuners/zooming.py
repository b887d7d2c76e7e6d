"""The zooming algorithm."""

from typing import Any, Literal

from pydantic import NonNegativeFloat, PositiveFloat

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.active_points import ActivePoints, ZoomingRule
from bench.tuners.base import Problem, Tuner
from bench.tuners.zooming_ts import zooming_constants


@component
class Zooming(Tuner):
    """Pull the active point with the largest mean + 2 r, for a stationary continuum: no removal, no restart.

    Parameters
    ----------
    constants
        The radius r is that of Zooming TS, with the same two sets of constants.
    noise_std
        Sub-Gaussian constant of the rewards; by default that of the task.
    radius_scale
        Factor on the confidence radius.

    Source: Kleinberg, Slivkins and Upfal 2019; cdt, appendix A.3.
    """

    constants: Literal["theory", "code"] = "theory"
    noise_std: NonNegativeFloat | None = None
    radius_scale: PositiveFloat = 1.0

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        tau0 = problem.noise_std if self.noise_std is None else self.noise_std
        radius = self.radius_scale * zooming_constants(self.constants, tau0, problem.horizon)[0]
        rule = ZoomingRule(radius, 2.0 * radius, randomised=False, removal=False, restart_every=problem.horizon + 1)
        self._points = ActivePoints(problem.space, rule, seeds)

    def _ask(self) -> Configuration:
        return self._points.ask()

    def _tell(self, reward: float, outcome: Any) -> None:
        self._points.tell(reward)
