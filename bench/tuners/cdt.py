import math

from pydantic import NonNegativeInt, PositiveInt

from bench.component import component
from bench.tuners.base import Problem
from bench.tuners.thompson_zooming import ThompsonZooming, log_horizon


def cdt_random_rounds(rounds: int, p: int) -> int:
    """Return T1 = floor(T^(2/(p+3))) random pulls for p hyper-parameters and T = ``rounds`` (cdt, theorem 4.2)."""
    return math.floor(rounds ** (2 / (p + 3)) + 1e-9)


def cdt_restart_every(problem: Problem, factor: int | None, restarts: bool = True) -> int:
    """Return T2 = k floor(T^((p+2)/(p+3))) rounds in asks; k = ``factor``, by default 3 for p = 1 and 2 otherwise.

    Without ``restarts`` it is longer than the run.
    """
    if not restarts:
        return problem.horizon + 1
    p = problem.space.dim
    k = factor or (3 if p == 1 else 2)
    return problem.asks(k * math.floor(problem.total_rounds ** ((p + 2) / (p + 3)) + 1e-9))


def code_constants(problem: Problem) -> tuple[float, float]:
    """Return confidence radius and deviation of a point pulled once in the authors' code, whatever the noise."""
    return math.sqrt(13 / 2 * log_horizon(problem)), math.sqrt(13)


@component
class CDT(ThompsonZooming):
    """Continuous dynamic tuning: T1 random pulls, then Zooming TS on the hyper-parameters, restarted every T2 rounds.

    Source: cdt, algorithm 2.

    Parameters
    ----------
    warm_up_rounds
        T1; by default floor(T^(2/(p+3))) for p hyper-parameters.
    epoch_factor
        k in T2 = k floor(T^((p+2)/(p+3))); by default 3 for p = 1 and 2 otherwise (inferred from cdt, tables 5 and 6).
    restarts
        Whether it restarts every T2 rounds.
    constants
        ``theory``: those of Zooming TS; ``code``: radius sqrt(13/2 ln T / n), deviation sqrt(13 / n) for any noise.
    """

    warm_up_rounds: NonNegativeInt | None = None
    epoch_factor: PositiveInt | None = None
    restarts: bool = True

    def random_rounds(self, problem: Problem) -> int:
        if self.warm_up_rounds is not None:
            return self.warm_up_rounds
        return cdt_random_rounds(problem.total_rounds, problem.space.dim)

    def _radius_and_spread(self, problem: Problem) -> tuple[float, float]:
        return code_constants(problem) if self.constants == "code" else super()._radius_and_spread(problem)

    def _restart_every(self, problem: Problem) -> int:
        return cdt_restart_every(problem, self.epoch_factor, self.restarts)
