import math
from typing import Any, ClassVar

import numpy as np
from pydantic import PositiveFloat

from bench.algorithms.contextual import BanditInfo
from bench.algorithms.linear import LinearAlgorithm, ridge_inverse
from bench.algorithms.scoring import best_upper_bound
from bench.component import component
from bench.errors import ConfigError
from bench.jit import kernel
from bench.seeding import Seeds
from bench.space import Configuration


@component
class DLinUCB(LinearAlgorithm):
    """LinUCB that discounts the past: a reward counts ``discount``^n after n further rounds.

    With V = ridge I + sum discount^n x x' and W the same with discount^(2n), theta_hat = V^-1 sum discount^n x y; pull
    argmax x'theta_hat + exploration_rate |x|_{V^-1 W V^-1}.
    Source: Russac, Vernade and Cappe 2019, algorithm 1. Their code (YRussac/WeightedLinearBandits, D_LinUCB_class.py at
    9cc1edf, 2019-11-14) takes V in place of the last W when it updates W.

    Parameters
    ----------
    variation
        Bound B of the sum of |theta_t - theta_t+1| that the theoretical discount assumes, 1 - (B / (d T))^(2/3).
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        **LinearAlgorithm.spaces,
        "discount": {"candidates": (0.9, 0.99, 0.999, 0.9999), "low": 0.9, "high": 0.9999},
    }

    variation: PositiveFloat = 1.0

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        super().start(info, seeds)
        self._squares = np.zeros((info.dim, info.dim))
        self._inverse = np.zeros((info.dim, info.dim))
        self._norm = np.zeros((info.dim, info.dim))
        self._work = np.empty((2, info.n_arms))
        self._discount = self.theory(1)["discount"]

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        configuration = configuration or {}
        dim, ridge = self._info.dim, configuration.get("ridge", self._default_ridge)
        usual = 1.0 - min(self.variation / (dim * self._info.rounds), 0.5) ** (2 / 3)
        discount = configuration.get("discount", usual)
        largest = 1.0 if self.feature_norm == "one" else self._info.feature_norm
        past = round_ - 2 + self.first_round
        weights = past if discount == 1.0 else (1.0 - discount ** (2 * past)) / (1.0 - discount**2)
        log_det = dim * math.log(1.0 + largest**2 * weights / (ridge * dim))
        sigma = self._info.sub_gaussian * self.sigma_factor
        width = sigma * math.sqrt(2.0 * math.log(1.0 / self.delta) + log_det)
        return {"exploration_rate": math.sqrt(ridge) * self.theta_norm + width, "discount": usual}

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        discount = configuration["discount"]
        if not 0 < discount <= 1:
            raise ConfigError(f"hyper-parameter 'discount': found {discount}, expected a number above 0, at most 1")
        self._discount = float(discount)
        self._set_ridge(configuration["ridge"])
        rate = configuration["exploration_rate"]
        return int(best_upper_bound(contexts, self._norm, self.theta_hat, rate, self._work, self._scores))

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        _learn(contexts, arm, reward, self._discount, self._gram, self._squares, self._moment)

    def _refresh(self) -> None:
        ridge_inverse(self._gram, self._moment, self._ridge, self._inverse, self.theta_hat)
        _sandwich(self._inverse, self._squares, self._ridge, self._norm)


@kernel
def _learn(
    contexts: np.ndarray,
    arm: int,
    reward: float,
    discount: float,
    gram: np.ndarray,
    squares: np.ndarray,
    moment: np.ndarray,
) -> None:
    dim = moment.size
    for i in range(dim):
        moment[i] = discount * moment[i] + reward * contexts[arm, i]
        for j in range(dim):
            product = contexts[arm, i] * contexts[arm, j]
            gram[i, j] = discount * gram[i, j] + product
            squares[i, j] = discount * discount * squares[i, j] + product


@kernel
def _sandwich(inverse: np.ndarray, squares: np.ndarray, ridge: float, norm: np.ndarray) -> None:
    """Write inverse (squares + ridge I) inverse into ``norm``; all are symmetric."""
    dim = len(inverse)
    row = np.empty(dim)
    for i in range(dim):
        for j in range(dim):
            row[j] = ridge * inverse[i, j]
        for k in range(dim):
            for j in range(dim):
                row[j] += inverse[i, k] * squares[k, j]
        for j in range(i + 1):
            total = 0.0
            for k in range(dim):
                total += row[k] * inverse[j, k]
            norm[i, j] = total
            norm[j, i] = total
