"""Continuous dynamic tuning, as stated in the cdt paper and as in two versions of its authors' public code."""

import math
from typing import Any, ClassVar, Literal

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from bench.component import component
from bench.seeding import Seeds
from bench.tuners.active_points import ZoomingRule
from bench.tuners.base import Problem
from bench.tuners.zooming import ThompsonZooming, ZoomingTuner, log_horizon


def cdt_restart_every(problem: Problem, factor: int | None, restarts: bool = True) -> int:
    """Return T2 = k floor(T^((p+2)/(p+3))) rounds, converted to asks.

    k is ``factor``, by default 3 for p = 1 and 2 otherwise. If ``restarts`` is false, the result is longer than the
    run.
    """
    p = problem.space.dim
    k = factor or (3 if p == 1 else 2)
    length = problem.asks(k * math.floor(problem.total_rounds ** ((p + 2) / (p + 3)) + 1e-9))
    return length if restarts else problem.horizon + 1


def code_constants(problem: Problem) -> tuple[float, float]:
    """Return the confidence radius and the deviation of a point pulled once in the authors' code.

    Neither depends on the noise.
    """
    return math.sqrt(13 / 2 * log_horizon(problem)), math.sqrt(13)


@component
class CDT(ThompsonZooming):
    """Continuous dynamic tuning: T1 random pulls, then Zooming TS on the hyper-parameters, restarted every T2 rounds.

    Source: cdt, algorithm 2.

    Parameters
    ----------
    warm_up_rounds
        T1; by default floor(T^(2/(p+3))) for p hyper-parameters (theorem 4.2).
    epoch_factor
        k in T2 = k floor(T^((p+2)/(p+3))); by default 3 for p = 1 and 2 otherwise (inferred from cdt, tables 5 and 6).
    restarts
        Whether Zooming TS is restarted every T2 rounds.
    constants
        ``theory``: the constants of Zooming TS; ``code``: radius sqrt(13/2 ln T / n), deviation sqrt(13 / n) for any
        noise.
    """

    warm_up_rounds: NonNegativeInt | None = None
    epoch_factor: PositiveInt | None = None
    restarts: bool = True

    def random_rounds(self, problem: Problem) -> int:
        tuned = math.floor(problem.total_rounds ** (2 / (problem.space.dim + 3)) + 1e-9)
        return tuned if self.warm_up_rounds is None else self.warm_up_rounds

    def _radius_and_spread(self, problem: Problem) -> tuple[float, float]:
        return code_constants(problem) if self.constants == "code" else super()._radius_and_spread(problem)

    def _restart_every(self, problem: Problem) -> int:
        return cdt_restart_every(problem, self.epoch_factor, self.restarts)


@component
class CodeZooming(ZoomingTuner):
    """The common part of the versions of CDT in the authors' public code: random pulls, then zooming.

    The coverage is checked exactly, in any dimension; the authors' code checks a few points only.

    Parameters
    ----------
    warm_up_rounds
        Number of random pulls at the start. The authors' code has 30 for LinUCB and LinTS, 90 for UCB-GLM, 80 for
        Laplace-TS and 0 for GLOC.
    learns
        The reward of a decision: the ``mean`` over its rounds, or their ``sum`` as in the code for SGD-TS.
    """

    warm_up_rounds: NonNegativeInt = 30
    learns: Literal["mean", "sum"] = "mean"

    def random_rounds(self, problem: Problem) -> int:
        return self.warm_up_rounds

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        super()._start(problem, seeds)
        self._factor = problem.rounds_per_ask if self.learns == "sum" else 1

    def _tell(self, reward: float, outcome: Any) -> None:
        super()._tell(self._factor * reward, outcome)


@component
class CDTCode(CodeZooming):
    """CDT as in the latest public code: zooming with the fixed index mean + sqrt(13 / n), no random draw, no removal.

    Source: the public code of cdt, CDT_exp/algo/zooming_ts_tuning.py at commit d67bc02 (2023-03-22).

    Parameters
    ----------
    epoch_factor
        k in T2 = k floor(T^((p+2)/(p+3))) rounds between restarts; by default 3 for p = 1 and 2 otherwise.
    restarts
        Whether the tuner restarts; the authors' code does so only with the option ``-H``.
    radius_scale, ts_scale
        Factors on the confidence radius sqrt(13/2 ln T / n) and on the bonus added to the mean.
    """

    label: ClassVar[str] = "CDT (code)"

    epoch_factor: PositiveInt | None = None
    restarts: bool = True
    radius_scale: PositiveFloat = 1.0
    ts_scale: NonNegativeFloat = 1.0

    def _rule(self, problem: Problem) -> ZoomingRule:
        radius, spread = code_constants(problem)
        restart_every = cdt_restart_every(problem, self.epoch_factor, self.restarts)
        return ZoomingRule(self.radius_scale * radius, self.ts_scale * spread, restart_every)


@component
class CDTFirstUpload(CodeZooming):
    """Zooming with an index drawn from N(mean, sqrt(13 / n)), whose second argument is the variance; no restart.

    The confidence radius is sqrt(13/2 ln T / n), and no point is removed. For each algorithm the authors' code has a
    function that maps [0, 1] to values; the key ``power`` of a hyper-parameter replaces this function. Source: the
    public code of cdt, Figure2/algo/zooming_ts_tuning.py at commit 4711c87 (2023-01-25), its first upload.
    """

    def _rule(self, problem: Problem) -> ZoomingRule:
        return ZoomingRule(*code_constants(problem), problem.horizon + 1, spread_is_variance=True)
