from pydantic import NonNegativeFloat, PositiveInt

from bench.component import component
from bench.tuners.base import Problem
from bench.tuners.thompson_zooming import ThompsonZooming


@component
class ZoomingTS(ThompsonZooming):
    """Thompson sampling on a continuum that is refined where rewards are high, restarted every ``epoch_length`` rounds.

    With tau0 the sub-Gaussian constant and n the pulls of a point: confidence radius sqrt(13 tau0^2 ln T / (2 n)),
    sampling deviation sqrt(52 pi tau0^2 ln T / n). Balls are Euclidean in the unit cube (assumed).
    Source: cdt, algorithm 1 and theorem 4.1; the ``code`` constants are those of the authors' simulations.

    Parameters
    ----------
    epoch_length
        Rounds between restarts; by default (T / pieces)^((z+2)/(z+3)), z the zooming dimension.
    pieces
        Number of stationary pieces assumed by the default length.
    zooming_dimension
        z in the default length; by default the number p of hyper-parameters, which it never exceeds (appendix C).
    constants
        ``theory`` as above; ``code``: radius sqrt(13/2 tau0^1.5 ln T / n), deviation sqrt(pi/2 tau0^2 ln T / n).
    """

    epoch_length: PositiveInt | None = None
    pieces: PositiveInt = 1
    zooming_dimension: NonNegativeFloat | None = None

    def _restart_every(self, problem: Problem) -> int:
        z = problem.space.dim if self.zooming_dimension is None else self.zooming_dimension
        return problem.asks(self.epoch_length or int((problem.total_rounds / self.pieces) ** ((z + 2) / (z + 3))))
