from bench.component import component
from bench.tuners.active_points import ZoomingRule
from bench.tuners.base import Problem
from bench.tuners.cdt import code_constants
from bench.tuners.code_zooming import CodeZooming


@component
class CDTFirstUpload(CodeZooming):
    """Zooming with an index drawn from N(mean, sqrt(13 / n)), whose second argument is the variance; no restart.

    Confidence radius sqrt(13/2 ln T / n), no removal. The coverage is checked exactly, in any dimension, whereas the
    authors' code looks at a few points only. That code maps [0, 1] to values by a function for each algorithm: see the
    key ``power`` of a hyper-parameter.
    Source: the public code of cdt, Figure2/algo/zooming_ts_tuning.py at commit 4711c87 (2023-01-25), its first upload.
    """

    def _rule(self, problem: Problem) -> ZoomingRule:
        radius, spread = code_constants(problem)
        return ZoomingRule(
            radius,
            spread,
            randomised=True,
            removal=False,
            restart_every=problem.horizon + 1,
            spread_is_variance=True,
        )
