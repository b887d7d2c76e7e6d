import math
from typing import Literal

from pydantic import NonNegativeFloat, PositiveFloat

from bench.component import component
from bench.tuners.active_points import ZoomingRule
from bench.tuners.base import Problem
from bench.tuners.zooming_tuner import ZoomingTuner

FirstPoint = Literal["middle", "anywhere"]
FIRST_POINT: dict[FirstPoint, tuple[float, float]] = {"middle": (0.3, 0.7), "anywhere": (0.0, 1.0)}
"""The share of each axis from which the first point is drawn: as in the cdt authors' code for the tuning of algorithms
(``middle``), and for switching functions (``anywhere``)."""


@component
class ThompsonZooming(ZoomingTuner):
    """Thompson sampling on active points.

    Parameters
    ----------
    constants
        ``theory`` or ``code``: those of radius and deviation, as for Zooming TS.
    noise_std
        tau0, the sub-Gaussian constant of the rewards; by default that of the task.
    radius_scale, ts_scale
        Factors on the confidence radius and on the sampling deviation.
    removal
        Whether points that are surely worse than another are dropped; not so in the authors' switching simulations.
    first_point
        Where the first point lies: in the ``middle`` 40 % of each axis, or ``anywhere``.
    """

    constants: Literal["theory", "code"] = "theory"
    noise_std: NonNegativeFloat | None = None
    radius_scale: PositiveFloat = 1.0
    ts_scale: NonNegativeFloat = 1.0
    removal: bool = True
    first_point: FirstPoint = "middle"

    def _radius_and_spread(self, problem: Problem) -> tuple[float, float]:
        return zooming_constants(self.constants, self.noise_std, problem)

    def _restart_every(self, problem: Problem) -> int:
        return problem.horizon + 1

    def _rule(self, problem: Problem) -> ZoomingRule:
        radius, spread = self._radius_and_spread(problem)
        return ZoomingRule(
            self.radius_scale * radius,
            self.ts_scale * spread,
            randomised=True,
            removal=self.removal,
            restart_every=self._restart_every(problem),
            first=FIRST_POINT[self.first_point],
        )


def zooming_constants(constants: str, noise_std: float | None, problem: Problem) -> tuple[float, float]:
    """Return confidence radius and sampling deviation of a point that was pulled once.

    ``theory``: sqrt(13 tau0^2 ln T / 2) and sqrt(52 pi tau0^2 ln T), recovered from the proofs of cdt; ``code``:
    sqrt(13/2 tau0^1.5 ln T) and sqrt(pi/2 tau0^2 ln T), as in the authors' simulations of switching functions. tau0 is
    ``noise_std``, or the problem's if that is None; T counts asks.
    """
    tau0 = problem.noise_std if noise_std is None else noise_std
    log_t = log_horizon(problem)
    if constants == "theory":
        return math.sqrt(13 / 2 * tau0**2 * log_t), math.sqrt(52 * math.pi * tau0**2 * log_t)
    return math.sqrt(13 / 2 * tau0**1.5 * log_t), math.sqrt(math.pi / 2 * tau0**2 * log_t)


def log_horizon(problem: Problem) -> float:
    """Return ln T, T the number of asks, at least 2."""
    return math.log(max(problem.horizon, 2))
