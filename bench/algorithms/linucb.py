import numpy as np

from bench.algorithms.kernels import best_upper_bound, best_upper_bound_per_arm
from bench.algorithms.linear import LinearAlgorithm, RidgeInverse
from bench.component import component
from bench.space import Configuration


@component
class LinUCB(RidgeInverse, LinearAlgorithm):
    """Pull argmax x'theta_hat + exploration_rate |x|_{V^-1}.

    Source: Abbasi-Yadkori et al. 2011; Li et al. 2010; syndicated, section 3.
    """

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        self._set_ridge(configuration["ridge"])
        best = best_upper_bound_per_arm if self._shared else best_upper_bound
        return int(best(contexts, self._inverse, self.theta_hat, configuration["exploration_rate"]))
