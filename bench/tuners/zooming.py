from typing import Literal

from pydantic import NonNegativeFloat, PositiveFloat

from bench.component import component
from bench.tuners.active_points import ZoomingRule
from bench.tuners.base import Problem
from bench.tuners.thompson_zooming import FIRST_POINT, FirstPoint, zooming_constants
from bench.tuners.zooming_tuner import ZoomingTuner


@component
class Zooming(ZoomingTuner):
    """The zooming algorithm: pull the active point with the largest mean + 2 r; no removal, no restart.

    For a stationary continuum. Source: Kleinberg, Slivkins and Upfal 2019; cdt, appendix A.3.

    Parameters
    ----------
    constants
        The radius r is that of Zooming TS, with the same two sets of constants.
    noise_std
        Sub-Gaussian constant of the rewards; by default that of the task.
    radius_scale
        Factor on the confidence radius.
    first_point
        Where the first point lies, as for Zooming TS.
    """

    constants: Literal["theory", "code"] = "theory"
    noise_std: NonNegativeFloat | None = None
    radius_scale: PositiveFloat = 1.0
    first_point: FirstPoint = "middle"

    def _rule(self, problem: Problem) -> ZoomingRule:
        radius = self.radius_scale * zooming_constants(self.constants, self.noise_std, problem)[0]
        return ZoomingRule(
            radius,
            2.0 * radius,
            randomised=False,
            removal=False,
            restart_every=problem.horizon + 1,
            first=FIRST_POINT[self.first_point],
        )
