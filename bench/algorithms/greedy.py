"""Algorithms that pull the greedy arm of a ridge regression most of the time."""

import math
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from bench.algorithms.base import positive
from bench.algorithms.contextual import BanditInfo
from bench.algorithms.linear import RidgeInverse, RidgeRegression
from bench.component import component
from bench.errors import ConfigError
from bench.jit import Array, kernel
from bench.seeding import Seeds
from bench.space import Configuration


@component
class EpsilonGreedy(RidgeInverse):
    """Pull argmax x'theta_hat, and with probability min(1, epsilon / t^decay) in round t an arm drawn uniformly.

    With decay 0 the probability is constant. Ties are broken at random. The theoretical values have the best order for
    independent rewards without assumptions on gaps: decay 1/3 and epsilon (K ln(t + 1))^(1/3) with K arms; if epsilon
    is tuned and decay is not, decay has its default, 0. Source: Slivkins 2019, section 1.2 (without contexts); Bietti
    et al. 2021 (with features).
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        "epsilon": {"candidates": (0.0, 0.01, 0.05, 0.1, 0.3), "low": 0.0, "high": 0.5, "log": False, "default": 0.1},
        "decay": {"candidates": (0.0, 1 / 3, 0.5, 1.0), "low": 0.0, "high": 1.0, "log": False, "default": 0.0},
        **RidgeRegression.spaces,
    }

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        super().start(info, seeds)
        self._rng = seeds.generator("explore")
        self._draws = np.empty(2)
        self._scores = np.empty(info.n_arms)

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        if (configuration or {}).keys() & {"epsilon", "decay"}:
            return {}
        return {"epsilon": (self._info.n_arms * math.log(round_ + 1)) ** (1 / 3), "decay": 1 / 3}

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        self._set_ridge(configuration["ridge"])
        epsilon, decay = configuration["epsilon"], configuration["decay"]
        if not (epsilon >= 0 and decay >= 0):
            raise ConfigError(f"hyper-parameters 'epsilon', 'decay': found {epsilon}, {decay}, expected at least 0")
        self._rng.random(out=self._draws)
        explores, which = self._draws.tolist()
        if explores * (self._updates + 1) ** decay < epsilon:
            return int(which * len(contexts))
        scores = self._scores[: len(contexts)]
        score(contexts, self.theta_hat, scores)
        return int(_largest(scores, which))


@component
class SquareCB(RidgeInverse):
    """Pull an arm with probability 1 / (K + gamma (largest - prediction)), otherwise the arm with the best prediction.

    Predictions are x'theta_hat of K arms; a large gamma gives a greedy choice, and 0 a uniform choice. The theoretical
    gamma for rewards in [0, 1] and T rounds is sqrt(K T / (R + ln(2 / delta))) with R = D ln(1 + T / D), the order of
    the excess squared loss of ridge regression with D coefficients in all. Source: Foster and Rakhlin 2020, algorithm 1
    and theorem 1.

    Parameters
    ----------
    delta
        Probability with which the theoretical bound may fail.
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        "gamma": {"candidates": (1.0, 10.0, 100.0, 1000.0), "low": 1.0, "high": 1000.0, "log": True, "default": 10.0},
        **RidgeRegression.spaces,
    }

    delta: Annotated[float, Field(gt=0, lt=1)] = 0.1

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        super().start(info, seeds)
        self._rng = seeds.generator("explore")
        self._scores = np.empty(info.n_arms)

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        rounds, n_arms = self._info.rounds, self._info.n_arms
        coefficients = self.theta_hat.size
        loss = coefficients * math.log1p(rounds / coefficients) + math.log(2 / self.delta)
        return {"gamma": math.sqrt(n_arms * rounds / loss)}

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        self._set_ridge(configuration["ridge"])
        gamma = positive("gamma", configuration["gamma"])
        scores = self._scores[: len(contexts)]
        score(contexts, self.theta_hat, scores)
        return int(_draw_by_gap(scores, gamma, self._rng.random()))


@kernel
def _score(contexts: Array, thetas: Array, scores: Array) -> None:
    n_arms, dim = contexts.shape
    for k in range(n_arms):
        theta = thetas[k % thetas.shape[0]]
        total = 0.0
        for i in range(dim):
            total += contexts[k, i] * theta[i]
        scores[k] = total


def score(contexts: np.ndarray, theta: np.ndarray, scores: np.ndarray) -> None:
    """Write x'theta of every arm into ``scores``; ``theta`` has shape (dim,) or (arms, dim)."""
    _score(contexts, np.atleast_2d(theta), scores)


@kernel
def _largest(scores: Array, which: float) -> int:
    """Return the index of the largest score; on a tie, ``which``, uniform in [0, 1), selects the index."""
    count, largest = 0, -np.inf
    for k in range(scores.size):
        if scores[k] > largest:
            count, largest = 1, scores[k]
        elif scores[k] == largest:
            count += 1
    left = int(which * count)
    for k in range(scores.size):
        if scores[k] == largest:
            if left == 0:
                return k
            left -= 1
    return 0


@kernel
def _draw_by_gap(scores: Array, gamma: float, uniform: float) -> int:
    """Draw an arm from SquareCB's probabilities by the number ``uniform`` in [0, 1)."""
    n_arms = scores.size
    best = 0
    for k in range(n_arms):
        if scores[k] > scores[best]:
            best = k
    total = 0.0
    for k in range(n_arms):
        if k != best:
            total += 1.0 / (n_arms + gamma * (scores[best] - scores[k]))
            if uniform < total:
                return k
    return best
