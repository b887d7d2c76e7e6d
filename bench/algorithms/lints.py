from typing import ClassVar

import numpy as np

from bench.algorithms.contextual import BanditInfo
from bench.algorithms.kernels import best_sampled, best_sampled_per_arm, solve_upper, solve_upper_transposed
from bench.algorithms.linear import LinearAlgorithm
from bench.component import component
from bench.jit import Array, kernel
from bench.seeding import Seeds
from bench.space import Configuration


@component
class LinTS(LinearAlgorithm):
    """Linear Thompson sampling: draw theta ~ N(theta_hat, exploration_rate^2 V^-1) and pull argmax x'theta.

    The Cholesky factor L of V = L L' is updated each round, and theta = theta_hat + exploration_rate L'^-1 z with z ~
    N(0, I). With coefficients for each arm, x'theta of each arm is drawn instead, independently and with the same
    distribution, as x'theta_hat + exploration_rate |L^-1 x| z with z ~ N(0, 1). Source: Agrawal and Goyal 2013; Abeille
    and Lazaric 2017; syndicated, section 3.
    """

    per_arm: ClassVar[bool] = True

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        super().start(info, seeds)
        self._upper = np.zeros_like(self._gram)
        self._rng = seeds.generator("posterior")
        self._normal = np.empty(info.n_arms if self._shared else info.dim)

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        self._set_ridge(configuration["ridge"])
        self._rng.standard_normal(out=self._normal)
        rate = configuration["exploration_rate"]
        best = best_sampled_per_arm if self._shared else best_sampled
        return int(best(contexts, self._upper, self.theta_hat, rate, self._normal))

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        gram, moment, upper, theta = self._gram, self._moment, self._upper, self.theta_hat
        if self._shared:
            gram, moment, upper, theta = gram[arm], moment[arm], upper[arm], theta[arm]
        _learn(contexts, arm, reward, gram, moment, upper, theta, self._ridge > 0)

    def _refresh(self) -> None:
        for at in self._parts:
            _factorise(self._gram[at], self._moment[at], self._ridge, self._upper[at], self.theta_hat[at])


@kernel
def _solve_estimate(upper: Array, moment: Array, theta: Array) -> None:
    for i in range(moment.size):
        theta[i] = moment[i]
    solve_upper_transposed(upper, theta)
    solve_upper(upper, theta)


@kernel
def _learn(
    contexts: Array, arm: int, reward: float, gram: Array, moment: Array, upper: Array, theta: Array, factorised: bool
) -> None:
    """Add one observation; the factor is updated by Givens rotations, which are backward stable over many rounds."""
    dim = moment.size
    x = contexts[arm].copy()
    for i in range(dim):
        moment[i] += reward * x[i]
        for j in range(dim):
            gram[i, j] += x[i] * x[j]
    if not factorised:
        return
    for i in range(dim):
        radius = np.sqrt(upper[i, i] ** 2 + x[i] ** 2)
        cosine = radius / upper[i, i]
        sine = x[i] / upper[i, i]
        upper[i, i] = radius
        for j in range(i + 1, dim):
            upper[i, j] = (upper[i, j] + sine * x[j]) / cosine
            x[j] = cosine * x[j] - sine * upper[i, j]
    _solve_estimate(upper, moment, theta)


@kernel
def _factorise(gram: Array, moment: Array, ridge: float, upper: Array, theta: Array) -> None:
    system = gram.copy()
    for i in range(moment.size):
        system[i, i] += ridge
    lower = np.linalg.cholesky(system)
    for i in range(moment.size):
        for j in range(moment.size):
            upper[i, j] = lower[j, i]
    _solve_estimate(upper, moment, theta)
