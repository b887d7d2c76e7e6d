import math
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, PositiveFloat

from bench.algorithms.base import positive
from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm, rate
from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration


@component
class LinearAlgorithm(ContextualAlgorithm):
    """Ridge regression V = ridge I + sum x x', theta_hat = V^-1 sum x y, and a way to explore.

    In theory the exploration rate is that of syndicated, equation 3 (Abbasi-Yadkori et al. 2011), for the ridge in play
    and t rounds: sigma sqrt(d ln((1 + t L^2 / ridge) / delta)) + sqrt(ridge) S.

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
        "exploration_rate": rate(0.0, 0.01, 0.1, 1.0, 10.0),
        "ridge": {"candidates": (0.01, 0.1, 1.0), "low": 0.01, "high": 1.0, "log": True, "default": 1.0},
    }

    delta: Annotated[float, Field(gt=0, lt=1)] = 0.1
    theta_norm: PositiveFloat = 1.0
    feature_norm: Literal["one", "largest"] = "one"
    sigma_factor: PositiveFloat = 1.0
    first_round: Literal[0, 1] = 1

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        self._info = info
        self._sigma = info.sub_gaussian * self.sigma_factor
        self._largest_norm = 1.0 if self.feature_norm == "one" else info.feature_norm
        self._default_ridge: float = self.hyper_parameters.defaults["ridge"]
        self._gram = np.zeros((info.dim, info.dim))
        self._moment = np.zeros(info.dim)
        self.theta_hat = np.zeros(info.dim)
        self._ridge = math.nan  # no factor or inverse yet

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        return {"exploration_rate": self._radius(round_ - 1 + self.first_round, configuration or {})}

    def _radius(self, t: int, configuration: Configuration) -> float:
        ridge = configuration.get("ridge", self._default_ridge)
        log = math.log((1.0 + t * self._largest_norm**2 / ridge) / self.delta)
        return self._sigma * math.sqrt(self._info.dim * log) + self.theta_norm * math.sqrt(ridge)

    @property
    def estimate(self) -> np.ndarray:
        return self.theta_hat

    def _set_ridge(self, ridge: float) -> None:
        if ridge != self._ridge:
            self._ridge = positive("ridge", ridge)
            self._refresh()

    def _refresh(self) -> None:
        """Recompute from the Gram matrix and the moments what is otherwise updated in each round."""
