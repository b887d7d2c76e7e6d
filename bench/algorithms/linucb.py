import numpy as np

from bench.algorithms.contextual import BanditInfo
from bench.algorithms.linear import REFRESH_EVERY, LinearAlgorithm, add_to_inverse, ridge_inverse
from bench.algorithms.scoring import best_upper_bound
from bench.component import component
from bench.jit import kernel
from bench.seeding import Seeds
from bench.space import Configuration


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
        if self._updates % REFRESH_EVERY == 0 and self._ridge > 0:
            self._refresh()

    def _refresh(self) -> None:
        ridge_inverse(self._gram, self._moment, self._ridge, self._inverse, self.theta_hat)


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
    x = contexts[arm].copy()
    gain = np.empty(x.size)
    add_to_inverse(x, gram, inverse, gain)
    residual = reward
    for i in range(x.size):
        residual -= x[i] * theta[i]
    for i in range(x.size):
        moment[i] += reward * x[i]
        theta[i] += residual * gain[i]
