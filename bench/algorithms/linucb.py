"""LinUCB."""

import numpy as np

from bench.algorithms.base import BanditInfo
from bench.algorithms.linear import LinearAlgorithm, ridge_inverse
from bench.component import component
from bench.kernel import kernel
from bench.seeding import Seeds
from bench.space import Configuration

_REFRESH = 4096
"""Rounds after which the inverse is computed afresh, so that rounding errors of its updates cannot add up."""


@component
class LinUCB(LinearAlgorithm):
    """Pull argmax x'theta_hat + exploration_rate |x|_{V^-1}.

    Source: Abbasi-Yadkori et al. 2011; Li et al. 2010; syndicated, section 3.
    """

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        super().start(info, seeds)
        self._inverse = np.zeros((info.dim, info.dim))
        self._work = np.empty((2, info.n_arms))
        self._updates = 0

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        if configuration["ridge"] != self._ridge:
            self._set_ridge(configuration["ridge"])
        rate = configuration["exploration_rate"]
        return int(best_upper_bound(contexts, self._inverse, self.theta_hat, rate, self._work, self._scores))

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        _learn(contexts, arm, reward, self._gram, self._moment, self._inverse, self.theta_hat)
        self._updates += 1
        if self._updates % _REFRESH == 0 and self._ridge > 0:
            self._refresh()

    def _refresh(self) -> None:
        ridge_inverse(self._gram, self._moment, self._ridge, self._inverse, self.theta_hat)


@kernel
def best_upper_bound(
    contexts: np.ndarray, inverse: np.ndarray, theta: np.ndarray, rate: float, work: np.ndarray, scores: np.ndarray
) -> int:
    """Return argmax x'theta + rate |x|_inverse over the rows of ``contexts``, the first of equals.

    ``inverse`` is symmetric, so half of each quadratic form suffices. The inner loops run along the arms, where the
    memory is contiguous and no sum is split: fast without reassociation. ``work``: shape (2, >= arms).
    """
    n_arms, dim = contexts.shape
    x = contexts.T
    half = work[0]
    row = work[1]
    for k in range(n_arms):
        half[k] = 0.0
        scores[k] = 0.0
    for i in range(dim):
        weight = theta[i]
        diagonal = 0.5 * inverse[i, i]
        for k in range(n_arms):
            scores[k] += weight * x[i, k]
            row[k] = diagonal * x[i, k]
        for j in range(i):
            entry = inverse[i, j]
            for k in range(n_arms):
                row[k] += entry * x[j, k]
        for k in range(n_arms):
            half[k] += row[k] * x[i, k]
    best = 0
    for k in range(n_arms):
        scores[k] += rate * np.sqrt(max(2.0 * half[k], 0.0))
        if scores[k] > scores[best]:
            best = k
    return best


@kernel
def _learn(
    contexts: np.ndarray,
    arm: int,
    reward: float,
    gram: np.ndarray,
    moment: np.ndarray,
    inverse: np.ndarray,
    theta: np.ndarray,
) -> None:
    """Add one observation: gram and moment exactly, the inverse by Sherman and Morrison's formula."""
    dim = moment.size
    x = contexts[arm].copy()
    product = np.zeros(dim)
    for j in range(dim):
        for i in range(dim):
            product[i] += inverse[j, i] * x[j]
    spread = 1.0
    residual = reward
    for i in range(dim):
        spread += x[i] * product[i]
        residual -= x[i] * theta[i]
    for i in range(dim):
        moment[i] += reward * x[i]
        theta[i] += residual * product[i] / spread
        for j in range(dim):
            gram[i, j] += x[i] * x[j]
            inverse[i, j] -= product[i] * product[j] / spread
