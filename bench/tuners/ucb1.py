from bench.component import component
from bench.tuners.upper_bound_tuner import UpperBoundTuner


@component
class UCB1(UpperBoundTuner):
    """Try each candidate once, then the one with the largest mean + sqrt(2 ln t / N), the first on a tie.

    t counts all decisions, N those for the candidate; rewards lie in [0, 1]. Source: Auer et al. 2002; habo, section 8.
    """

    @property
    def _width(self) -> float:
        return self._arms.ucb1_width
