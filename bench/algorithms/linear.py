import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, PositiveFloat

from bench.algorithms.base import positive
from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm, rate
from bench.algorithms.kernels import REFRESH_EVERY, add_to_inverse, ridge_inverse
from bench.component import component
from bench.jit import Array, kernel
from bench.seeding import Seeds
from bench.space import Configuration


@component
class RidgeRegression(ContextualAlgorithm):
    """Ridge regression with V = ridge I + sum x x' and theta_hat = V^-1 sum x y.

    If all arms share one context, each arm has its own V and theta_hat, from the rounds in which the arm was pulled.
    There is a d x d matrix for each arm in place of one matrix for arms times d features (Li et al. 2010, LinUCB with
    disjoint models).
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        "ridge": {"candidates": (0.01, 0.1, 1.0), "low": 0.01, "high": 1.0, "log": True, "default": 1.0}
    }

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        self._info = info
        self._shared = info.shared_context
        self._default_ridge: float = self.hyper_parameters.defaults["ridge"]
        arms = (info.n_arms,) if self._shared else ()
        self._parts: Sequence[Any] = range(info.n_arms) if self._shared else (...,)
        self._gram = np.zeros((*arms, info.dim, info.dim))
        self._moment = np.zeros((*arms, info.dim))
        self.theta_hat = np.zeros((*arms, info.dim))
        self._ridge = math.nan  # no factor or inverse yet

    @property
    def estimate(self) -> np.ndarray:
        return self.theta_hat

    def _set_ridge(self, ridge: float) -> None:
        if ridge != self._ridge:
            self._ridge = positive("ridge", ridge)
            self._refresh()

    def _refresh(self) -> None:
        """Recompute the quantities that are updated in each round from the Gram matrix and the moments."""


@component
class RidgeInverse(RidgeRegression):
    """Ridge regression that keeps V^-1 and adds a round by the Sherman-Morrison formula."""

    per_arm: ClassVar[bool] = True

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        super().start(info, seeds)
        self._inverse = np.zeros_like(self._gram)
        self._updates = 0

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        gram, moment, inverse, theta = self._gram, self._moment, self._inverse, self.theta_hat
        if self._shared:
            gram, moment, inverse, theta = gram[arm], moment[arm], inverse[arm], theta[arm]
        learn(contexts, arm, reward, gram, moment, inverse, theta)
        self._count_update()

    def _count_update(self) -> None:
        self._updates += 1
        if self._updates % REFRESH_EVERY == 0 and self._ridge > 0:
            self._refresh()

    def _refresh(self) -> None:
        for at in self._parts:
            ridge_inverse(self._gram[at], self._moment[at], self._ridge, self._inverse[at], self.theta_hat[at])


@component
class LinearAlgorithm(RidgeRegression):
    """Ridge regression with an exploration rate.

    For the current ridge and t rounds the theoretical exploration rate is sigma sqrt(d ln((1 + t L^2 / ridge) / delta))
    + sqrt(ridge) S, from syndicated, equation 3 (Abbasi-Yadkori et al. 2011). With coefficients for each arm, delta is
    divided by the number of arms, so that all confidence sets hold together.

    Parameters
    ----------
    delta
        Probability with which the theoretical confidence set may fail.
    theta_norm
        Bound S that theory assumes for the norm of theta.
    feature_norm
        Bound L of the features' norms in the theory: 1 (``one``), or the largest in the environment (``largest``).
    sigma_factor
        Factor on the noise constant in the theoretical exploration rate.
    first_round
        Number of the first round in the theoretical exploration rate: 1 as stated, 0 as in the authors' code.
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        "exploration_rate": rate(0.0, 0.01, 0.1, 1.0, 10.0),
        **RidgeRegression.spaces,
    }

    delta: Annotated[float, Field(gt=0, lt=1)] = 0.1
    theta_norm: PositiveFloat = 1.0
    feature_norm: Literal["one", "largest"] = "one"
    sigma_factor: PositiveFloat = 1.0
    first_round: Literal[0, 1] = 1

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        super().start(info, seeds)
        self._sigma = info.sub_gaussian * self.sigma_factor
        self._largest_norm = 1.0 if self.feature_norm == "one" else info.feature_norm
        self._failure = self.delta / info.n_arms if self._shared else self.delta

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        return {"exploration_rate": self._radius(round_ - 1 + self.first_round, configuration or {})}

    def _radius(self, t: int, configuration: Configuration) -> float:
        ridge = configuration.get("ridge", self._default_ridge)
        log = math.log((1.0 + t * self._largest_norm**2 / ridge) / self._failure)
        return self._sigma * math.sqrt(self._info.dim * log) + self.theta_norm * math.sqrt(ridge)


@kernel
def learn(contexts: Array, arm: int, reward: float, gram: Array, moment: Array, inverse: Array, theta: Array) -> None:
    """Add the reward of an arm to the sums, the inverse and the estimate."""
    x = contexts[arm].copy()
    gain = np.empty(x.size)
    add_to_inverse(x, gram, inverse, gain)
    residual = reward
    for i in range(x.size):
        residual -= x[i] * theta[i]
    for i in range(x.size):
        moment[i] += reward * x[i]
        theta[i] += residual * gain[i]
