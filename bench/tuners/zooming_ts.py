"""Zooming TS with Restarts."""

import math
from typing import Literal

from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from bench.component import component
from bench.tuners.active_points import ZoomingRule
from bench.tuners.base import Problem
from bench.tuners.zooming_tuner import ZoomingTuner


@component
class ZoomingTS(ZoomingTuner):
    """Thompson sampling on a continuum that is refined where rewards are good, restarted every ``epoch_length`` rounds.

    With tau0 the sub-Gaussian constant and n the pulls of a point: confidence radius sqrt(13 tau0^2 ln T / (2 n)),
    sampling deviation sqrt(52 pi tau0^2 ln T / n). Balls are Euclidean in the unit cube (assumed).

    Parameters
    ----------
    epoch_length
        Rounds between restarts; by default (T / pieces)^((p+2)/(p+3)) for p hyper-parameters.
    pieces
        Number of stationary pieces that the default length assumes.
    constants
        ``theory`` as above; ``code``: radius sqrt(13/2 tau0^1.5 ln T / n), deviation sqrt(pi/2 tau0^2 ln T / n).
    noise_std
        tau0; by default that of the task.
    radius_scale, ts_scale
        Factors on the radius and on the deviation.

    Source: cdt, algorithm 1 and theorem 4.1; the ``code`` constants are those of the authors' simulations.
    """

    epoch_length: PositiveInt | None = None
    pieces: PositiveInt = 1
    constants: Literal["theory", "code"] = "theory"
    noise_std: NonNegativeFloat | None = None
    radius_scale: PositiveFloat = 1.0
    ts_scale: NonNegativeFloat = 1.0

    def _rule(self, problem: Problem) -> ZoomingRule:
        p = problem.space.dim
        length = self.epoch_length or int((problem.total_rounds / self.pieces) ** ((p + 2) / (p + 3)))
        tau0 = problem.noise_std if self.noise_std is None else self.noise_std
        radius, spread = zooming_constants(self.constants, tau0, problem.horizon)
        return ZoomingRule(
            radius=self.radius_scale * radius,
            spread=self.ts_scale * spread,
            randomised=True,
            removal=True,
            restart_every=problem.asks(length),
        )


def zooming_constants(constants: str, tau0: float, horizon: int) -> tuple[float, float]:
    """Return confidence radius and sampling deviation of a point that was pulled once.

    ``theory``: sqrt(13 tau0^2 ln T / 2) and sqrt(52 pi tau0^2 ln T), recovered from the proofs of cdt; ``code``:
    sqrt(13/2 tau0^1.5 ln T) and sqrt(pi/2 tau0^2 ln T), as in the authors' simulations of switching functions.
    """
    log_t = math.log(max(horizon, 2))
    if constants == "theory":
        return math.sqrt(13 / 2 * tau0**2 * log_t), math.sqrt(52 * math.pi * tau0**2 * log_t)
    return math.sqrt(13 / 2 * tau0**1.5 * log_t), math.sqrt(math.pi / 2 * tau0**2 * log_t)
