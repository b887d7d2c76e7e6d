"""The reach of an interval to either side of its estimate, in standard errors.

`fixed` is for a number of repetitions chosen beforehand: Student's quantile. `sequential` is for repeated looks while
repetitions are added: an asymptotic confidence sequence, which contains the truth at all looks jointly with the given
probability.
"""

import math
from collections.abc import Callable

Rule = Callable[[float, float], float]
"""Number of repetitions and one-sided error -> standard errors to that side."""

EXPECTED_LOOK = 200
"""Number of repetitions for which the confidence sequence is optimised."""

_LOG = -2.0 * math.log(0.05)
_RHO2 = (_LOG + math.log(_LOG) + 1.0) / EXPECTED_LOOK


def fixed(n: float, error: float) -> float:
    """Return Student's quantile with n - 1 degrees of freedom, exceeded with probability ``error``."""
    from scipy import special  # slow to import

    return -float(special.stdtrit(n - 1.0, error))


def sequential(n: float, error: float) -> float:
    """Return the reach of an asymptotic confidence sequence after ``n`` repetitions.

    The reach is sqrt(2 (n rho^2 + 1) / (n rho^2) log(sqrt(n rho^2 + 1) / alpha)) standard errors, alpha = 2 ``error``:
    Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Time-uniform central limit theory and asymptotic confidence
    sequences, Annals of Statistics 52 (2024), theorem 2.2. rho follows from their equation for the sequence that is
    tightest at `EXPECTED_LOOK`. Their theorem is for large n: here Student's quantile replaces the normal quantile,
    because the variances of small samples are estimates.
    """
    from scipy import special  # slow to import

    m = n * _RHO2
    normal = math.sqrt(2.0 * (m + 1.0) / m * math.log(math.sqrt(m + 1.0) / (2.0 * error)))
    # The logarithm, because the probability itself underflows.
    tail = special.ndtr(-normal)
    return -float(special.stdtrit(n - 1.0, tail)) if tail > 1e-300 else math.inf


def rule(*, is_sequential: bool) -> Rule:
    return sequential if is_sequential else fixed
