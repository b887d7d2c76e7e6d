from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from bench.component import component
from bench.tuners.active_points import ZoomingRule
from bench.tuners.base import Problem
from bench.tuners.cdt import cdt_restart_every, code_constants
from bench.tuners.code_zooming import CodeZooming


@component
class CDTCode(CodeZooming):
    """CDT as in the latest public code: zooming with the fixed index mean + sqrt(13 / n), no random draw, no removal.

    The coverage is checked exactly, in any dimension, whereas the authors' code looks at a few points only.
    Source: the public code of cdt, CDT_exp/algo/zooming_ts_tuning.py at commit d67bc02 (2023-03-22).

    Parameters
    ----------
    epoch_factor
        k in T2 = k floor(T^((p+2)/(p+3))) rounds between restarts; by default 3 for p = 1 and 2 otherwise.
    restarts
        Whether it restarts; the code does only with its option ``-H``.
    radius_scale, ts_scale
        Factors on the confidence radius sqrt(13/2 ln T / n) and on what the index adds to the mean.
    """

    epoch_factor: PositiveInt | None = None
    restarts: bool = True
    radius_scale: PositiveFloat = 1.0
    ts_scale: NonNegativeFloat = 1.0

    def _rule(self, problem: Problem) -> ZoomingRule:
        radius, spread = code_constants(problem)
        return ZoomingRule(
            self.radius_scale * radius,
            self.ts_scale * spread,
            randomised=False,
            removal=False,
            restart_every=cdt_restart_every(problem, self.epoch_factor, self.restarts),
        )
