import math


def confidence_radius(
    t: int, *, sub_gaussian: float, dim: int, ridge: float, delta: float, feature_norm: float, theta_norm: float
) -> float:
    """Return sigma sqrt(d ln((1 + t L^2 / lambda) / delta)) + sqrt(lambda) S at round ``t``: the rate of theory.

    Source: Abbasi-Yadkori et al. 2011; syndicated, equation 3.
    """
    return sub_gaussian * math.sqrt(dim * math.log((1.0 + t * feature_norm**2 / ridge) / delta)) + theta_norm * (
        math.sqrt(ridge)
    )
