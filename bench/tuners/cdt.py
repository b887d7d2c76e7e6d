"""CDT: continuous dynamic tuning."""

import math
from typing import Literal

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from bench.component import component
from bench.tuners.active_points import ZoomingRule
from bench.tuners.base import Problem
from bench.tuners.zooming_ts import zooming_constants
from bench.tuners.zooming_tuner import ZoomingTuner


def cdt_random_rounds(rounds: int, p: int) -> int:
    """Return T1 = floor(T^(2/(p+3))) random pulls for p hyper-parameters and T = ``rounds`` (cdt, theorem 4.2)."""
    return math.floor(rounds ** (2 / (p + 3)) + 1e-9)


def epoch_length(rounds: int, p: int, factor: int | None) -> int:
    """Return T2 = k floor(T^((p+2)/(p+3))) rounds between restarts; k by default 3 for p = 1 and 2 otherwise."""
    return (factor or (3 if p == 1 else 2)) * math.floor(rounds ** ((p + 2) / (p + 3)) + 1e-9)


@component
class CDT(ZoomingTuner):
    """T1 random pulls, then Zooming TS on the hyper-parameters, restarted every T2 rounds.

    Parameters
    ----------
    warm_up_rounds
        T1; by default floor(T^(2/(p+3))) for p hyper-parameters.
    epoch_factor
        k in T2 = k floor(T^((p+2)/(p+3))); by default 3 for p = 1 and 2 otherwise (inferred from cdt, tables 5 and 6).
    constants
        ``theory``: those of Zooming TS; ``code``: radius sqrt(13/2 ln T / n) and deviation sqrt(13 / n), whatever the
        noise.
    noise_std
        Sub-Gaussian constant of the reward; by default that of the task.
    radius_scale, ts_scale
        Factors on the confidence radius and on the sampling deviation.

    Source: cdt, algorithm 2.
    """

    warm_up_rounds: NonNegativeInt | None = None
    epoch_factor: PositiveInt | None = None
    constants: Literal["theory", "code"] = "theory"
    noise_std: NonNegativeFloat | None = None
    radius_scale: PositiveFloat = 1.0
    ts_scale: NonNegativeFloat = 1.0

    def random_rounds(self, problem: Problem) -> int:
        if self.warm_up_rounds is not None:
            return self.warm_up_rounds
        return cdt_random_rounds(problem.total_rounds, problem.space.dim)

    def _rule(self, problem: Problem) -> ZoomingRule:
        tau0 = problem.noise_std if self.noise_std is None else self.noise_std
        if self.constants == "theory":
            radius, spread = zooming_constants("theory", tau0, problem.horizon)
        else:
            radius, spread = math.sqrt(13 / 2 * math.log(max(problem.horizon, 2))), math.sqrt(13)
        return ZoomingRule(
            radius=self.radius_scale * radius,
            spread=self.ts_scale * spread,
            randomised=True,
            removal=True,
            restart_every=problem.asks(epoch_length(problem.total_rounds, problem.space.dim, self.epoch_factor)),
        )
