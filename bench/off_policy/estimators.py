from typing import Literal

import numpy as np

from bench.envs.logged import LoggedData

Estimator = Literal["ips", "snips", "dr"]


def importance_weights(data: LoggedData, policy: np.ndarray) -> np.ndarray:
    """Return pi(a|x) / pi0(a|x) of the actions taken, shape (n,); ``policy``: probabilities of all, (n, n_actions)."""
    return policy[np.arange(len(data)), data.actions] / data.propensities


def estimator_terms(
    estimator: Estimator, data: LoggedData, policy: np.ndarray, predictions: np.ndarray | None = None
) -> np.ndarray:
    """Return each row's term, shape (n,), of an estimate of a policy's value, which is the mean of the terms.

    - ``ips``: w r with w = pi(a|x) / pi0(a|x), the inverse propensity score;
    - ``snips``: V + w (r - V) / mean(w) with V = sum(w r) / sum(w), self-normalised; the rows are those of its linear
      expansion, whose variance is the estimator's. V is 0 if no action taken has any weight;
    - ``dr``: sum_a pi(a|x) mu(x, a) + w (r - mu(x, a)), doubly robust.

    ``policy`` holds the probabilities of all actions and ``predictions`` mu(x, a), for ``dr`` only: shape (n,
    n_actions).
    Source: opl_hpo, section 2.1 and appendix B; Dudik et al. 2014; Swaminathan and Joachims 2015.
    """
    weights = importance_weights(data, policy)
    if estimator == "dr":
        assert predictions is not None
        taken = predictions[np.arange(len(data)), data.actions]
        return (policy * predictions).sum(axis=1) + weights * (data.rewards - taken)
    if estimator == "snips":
        scale = weights.mean()
        if scale == 0:
            return np.zeros(len(data))
        value = (weights * data.rewards).mean() / scale
        return value + weights * (data.rewards - value) / scale
    return weights * data.rewards
