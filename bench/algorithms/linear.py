import math
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, PositiveFloat

from bench.algorithms.base import positive
from bench.algorithms.confidence import confidence_radius
from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm
from bench.component import component
from bench.jit import kernel
from bench.seeding import Seeds
from bench.space import Configuration

REFRESH_EVERY = 4096
"""Rounds after which an inverse is recomputed, so that rounding errors of its updates cannot accumulate."""


@component
class LinearAlgorithm(ContextualAlgorithm):
    """Ridge regression V = ridge I + sum x x', theta_hat = V^-1 sum x y, and a way to explore.

    In theory the exploration rate is that of syndicated, equation 3, for the ridge in play.

    Parameters
    ----------
    delta
        Probability with which the theoretical confidence set may fail.
    theta_norm
        Bound S of the norm of theta that theory assumes.
    feature_norm
        Bound L of the features' norms that theory uses: 1 (``one``), or the largest that occurs (``largest``).
    sigma_factor
        Factor on the noise constant in the theoretical exploration rate.
    first_round
        What the theoretical exploration rate counts the first round as: 1 as stated, 0 as in the authors' code.
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        "exploration_rate": {
            "candidates": (0.0, 0.01, 0.1, 1.0, 10.0),
            "low": 0.1,
            "high": 5.0,
            "log": False,
            "default": 1.0,
        },
        "ridge": {"candidates": (0.01, 0.1, 1.0), "low": 0.01, "high": 1.0, "log": True, "default": 1.0},
    }

    delta: Annotated[float, Field(gt=0, lt=1)] = 0.1
    theta_norm: PositiveFloat = 1.0
    feature_norm: Literal["one", "largest"] = "one"
    sigma_factor: PositiveFloat = 1.0
    first_round: Literal[0, 1] = 1

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        self._info = info
        self._default_ridge: float = self.hyper_parameters.defaults["ridge"]
        self._gram = np.zeros((info.dim, info.dim))
        self._moment = np.zeros(info.dim)
        self.theta_hat = np.zeros(info.dim)
        self._ridge = math.nan  # no factor or inverse yet
        self._scores = np.empty(info.n_arms)

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        return {
            "exploration_rate": confidence_radius(
                round_ - 1 + self.first_round,
                sub_gaussian=self._info.sub_gaussian * self.sigma_factor,
                dim=self._info.dim,
                ridge=(configuration or {}).get("ridge", self._default_ridge),
                delta=self.delta,
                feature_norm=1.0 if self.feature_norm == "one" else self._info.feature_norm,
                theta_norm=self.theta_norm,
            )
        }

    @property
    def estimate(self) -> np.ndarray:
        return self.theta_hat

    def _set_ridge(self, ridge: float) -> None:
        self._ridge = positive("ridge", ridge)
        self._refresh()

    def _refresh(self) -> None:
        """Recompute from the Gram matrix and the moments what is otherwise updated in each round."""


@kernel
def add_to_inverse(x: np.ndarray, gram: np.ndarray, inverse: np.ndarray, gain: np.ndarray) -> float:
    """Add x x' to ``gram`` and to what ``inverse`` is the inverse of, by Sherman and Morrison's formula.

    Writes inverse x / (1 + x' inverse x) of the old inverse into ``gain``; returns x' inverse x.
    """
    dim = x.size
    gain[:] = 0.0
    for j in range(dim):
        for i in range(dim):
            gain[i] += inverse[j, i] * x[j]
    square = 0.0
    for i in range(dim):
        square += x[i] * gain[i]
    for i in range(dim):
        scaled = gain[i] / (1.0 + square)
        for j in range(dim):
            gram[i, j] += x[i] * x[j]
            inverse[i, j] -= scaled * gain[j]
    for i in range(dim):
        gain[i] /= 1.0 + square
    return square


@kernel
def ridge_inverse(gram: np.ndarray, moment: np.ndarray, ridge: float, inverse: np.ndarray, theta: np.ndarray) -> None:
    """Write (gram + ridge I)^-1 into ``inverse`` and its product with ``moment`` into ``theta``, by Cholesky."""
    dim = moment.size
    factor = gram.copy()
    for i in range(dim):
        factor[i, i] += ridge
    factor = np.linalg.cholesky(factor)
    lower = np.zeros((dim, dim))
    for j in range(dim):
        lower[j, j] = 1.0 / factor[j, j]
        for i in range(j + 1, dim):
            total = 0.0
            for k in range(j, i):
                total -= factor[i, k] * lower[k, j]
            lower[i, j] = total / factor[i, i]
    for i in range(dim):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, dim):
                total += lower[k, i] * lower[k, j]
            inverse[i, j] = total
            inverse[j, i] = total
    for i in range(dim):
        total = 0.0
        for j in range(dim):
            total += inverse[i, j] * moment[j]
        theta[i] = total
