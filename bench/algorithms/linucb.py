import numpy as np

from bench.algorithms.contextual import BanditInfo
from bench.algorithms.kernels import REFRESH_EVERY, add_to_inverse, best_upper_bound, ridge_inverse
from bench.algorithms.linear import LinearAlgorithm
from bench.component import component
from bench.jit import Array, kernel
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
        self._updates = 0

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        self._set_ridge(configuration["ridge"])
        return int(best_upper_bound(contexts, self._inverse, self.theta_hat, configuration["exploration_rate"]))

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        _learn(contexts, arm, reward, self._gram, self._moment, self._inverse, self.theta_hat)
        self._count_update()

    def _count_update(self) -> None:
        self._updates += 1
        if self._updates % REFRESH_EVERY == 0 and self._ridge > 0:
            self._refresh()

    def _refresh(self) -> None:
        ridge_inverse(self._gram, self._moment, self._ridge, self._inverse, self.theta_hat)


@kernel
def _learn(contexts: Array, arm: int, reward: float, gram: Array, moment: Array, inverse: Array, theta: Array) -> None:
    x = contexts[arm].copy()
    gain = np.empty(x.size)
    add_to_inverse(x, gram, inverse, gain)
    residual = reward
    for i in range(x.size):
        residual -= x[i] * theta[i]
    for i in range(x.size):
        moment[i] += reward * x[i]
        theta[i] += residual * gain[i]
