import math
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from bench.envs.logged import LoggedData

Estimator = Literal["ips", "snips", "dr"]
Bound = Literal["t_test", "hoeffding", "bernstein"]
BOUNDS: tuple[Bound, ...] = get_args(Bound)


def estimator_terms(
    estimator: Estimator, data: LoggedData, policy: np.ndarray, predictions: np.ndarray | None = None
) -> np.ndarray:
    """Return the terms, shape (n,), whose mean is an estimate of a policy's value.

    - ``ips``: w r with w = pi(a|x) / pi0(a|x), the inverse propensity score;
    - ``snips``: V + w (r - V) / mean(w) with V = sum(w r) / sum(w), self-normalised; the terms are those of its linear
      expansion, which has the estimator's variance. V is 0 if the policy gives every logged action probability 0;
    - ``dr``: sum_a pi(a|x) mu(x, a) + w (r - mu(x, a)), doubly robust.

    ``policy`` holds the probabilities of all actions, and ``predictions``, needed for ``dr`` only, hold mu(x, a); both
    have shape (n, n_actions). Source: opl_hpo, section 2.1 and appendix B; Dudik et al. 2014; Swaminathan and Joachims
    2015.
    """
    rows = np.arange(len(data))
    weights = policy[rows, data.actions] / data.propensities
    if estimator == "dr":
        assert predictions is not None
        residuals = data.rewards - predictions[rows, data.actions]
        return np.asarray((policy * predictions).sum(axis=1) + weights * residuals)
    if estimator == "snips":
        scale = weights.mean()
        if scale == 0:
            return np.zeros(len(data))
        value = (weights * data.rewards).mean() / scale
        return np.asarray(value + weights * (data.rewards - value) / scale)
    return np.asarray(weights * data.rewards)


def lower_bound(bound: Bound, terms: np.ndarray, largest_weight: float, delta: float) -> float:
    """Return a lower confidence bound of the policy's value, which fails with probability at most ``delta``.

    Let V be the mean of the n > 1 ``terms`` and Var = mean((term - V)^2). The bounds are:

    - ``t_test``: V - t_{1 - delta, n - 1} sqrt(Var / (n - 1));
    - ``hoeffding``: V - w_max sqrt(2 ln(2 / delta) / n);
    - ``bernstein``: V - sqrt(2 ln(2 / delta) Var / (n - 1)) - 7 w_max ln(2 / delta) / (3 (n - 1)).

    w_max is the largest pi(a|x) / pi0(a|x). The last two assume terms in [0, w_max], which IPS satisfies for rewards in
    [0, 1]. Source: opl_hpo, equation 11 and appendix E; Thomas et al. 2015; Maurer and Pontil 2009.
    """
    n = terms.size
    mean, variance = float(terms.mean()), float(terms.var())
    if bound == "t_test":
        return mean - _t_quantile(1 - delta, n - 1) * math.sqrt(variance / (n - 1))
    log = math.log(2 / delta)
    if bound == "hoeffding":
        return mean - largest_weight * math.sqrt(2 * log / n)
    return mean - math.sqrt(2 * log * variance / (n - 1)) - 7 * largest_weight * log / (3 * (n - 1))


def paired_sign(first: np.ndarray, second: np.ndarray, delta: float) -> int:
    """Return 1 if the first policy is significantly better than the second, -1 if it is worse, else 0.

    The test is a two-sided t-test at level ``delta`` on terms of the same rows. The result is 0 if all terms are
    identical. Source: opl_hpo, equation 13.
    """
    difference = first - second
    n = difference.size
    mean = float(difference.mean())
    margin = _t_quantile(1 - delta / 2, n - 1) * math.sqrt(float(difference.var()) / (n - 1))
    if mean == 0 or abs(mean) < margin:
        return 0
    return 1 if mean > 0 else -1


@lru_cache
def _t_quantile(probability: float, degrees: int) -> float:
    from scipy.stats import t  # slow to import

    return float(t.ppf(probability, degrees))
