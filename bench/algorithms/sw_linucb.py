import math
from typing import Any, ClassVar

import numpy as np
from pydantic import PositiveFloat

from bench.algorithms.confidence import confidence_radius
from bench.algorithms.contextual import BanditInfo
from bench.algorithms.linear import REFRESH_EVERY, LinearAlgorithm, ridge_inverse
from bench.algorithms.scoring import best_upper_bound
from bench.component import component
from bench.errors import ConfigError
from bench.jit import kernel
from bench.seeding import Seeds
from bench.space import Configuration


@component
class SWLinUCB(LinearAlgorithm):
    """LinUCB on the last ``window`` rewards alone: pull argmax x'theta_hat + exploration_rate |x|_{V^-1}.

    V and theta_hat are those of ridge regression on these rewards. A window that grows from one round to the next takes
    older rewards in again.
    Source: Cheung, Simchi-Levi and Zhu 2019, algorithm 1.

    Parameters
    ----------
    variation
        Bound B of the sum of |theta_t - theta_t+1| that the theoretical window assumes, (d T / B)^(2/3).
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        **LinearAlgorithm.spaces,
        "window": {"candidates": (100, 300, 1000, 3000), "low": 50, "high": 5000, "log": True, "integer": True},
    }

    variation: PositiveFloat = 1.0

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        super().start(info, seeds)
        self._features = np.empty((info.rounds, info.dim))
        self._rewards = np.empty(info.rounds)
        self._first = self._count = 0
        self._inverse = np.zeros((info.dim, info.dim))
        self._work = np.empty((2, info.n_arms))
        self._window = self.theory(1)["window"]

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        configuration = configuration or {}
        rounds = self._info.rounds
        usual = min(rounds, math.ceil((self._info.dim * rounds / self.variation) ** (2 / 3)))
        rate = confidence_radius(
            configuration.get("window", usual),
            sub_gaussian=self._info.sub_gaussian * self.sigma_factor,
            dim=self._info.dim,
            ridge=configuration.get("ridge", self._default_ridge),
            delta=self.delta,
            feature_norm=1.0 if self.feature_norm == "one" else self._info.feature_norm,
            theta_norm=self.theta_norm,
        )
        return {"exploration_rate": rate, "window": usual}

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        window = configuration["window"]
        if window != int(window) or window < 1:
            raise ConfigError(f"hyper-parameter 'window': found {window}, expected a positive whole number")
        self._window = int(window)
        self._slide()
        self._set_ridge(configuration["ridge"])
        rate = configuration["exploration_rate"]
        return int(best_upper_bound(contexts, self._inverse, self.theta_hat, rate, self._work, self._scores))

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        if self._count == len(self._rewards):  # a log may be longer than expected
            self._features = np.concatenate([self._features, np.empty_like(self._features)])
            self._rewards = np.concatenate([self._rewards, np.empty_like(self._rewards)])
        self._features[self._count] = contexts[arm]
        self._rewards[self._count] = reward
        self._add(self._count, self._count + 1, 1.0)
        self._count += 1
        self._slide()
        if self._count % REFRESH_EVERY == 0:  # so that rounding errors of sums and differences cannot accumulate
            self._gram[:] = 0.0
            self._moment[:] = 0.0
            self._add(self._first, self._count, 1.0)

    def _slide(self) -> None:
        """Take out what lies before the window, or take in again what lies within it now."""
        first = max(0, self._count - self._window)
        self._add(self._first, first, -1.0)
        self._add(first, self._first, 1.0)
        self._first = first

    def _add(self, start: int, end: int, sign: float) -> None:
        if start < end:
            _add_rewards(self._features[start:end], self._rewards[start:end], sign, self._gram, self._moment)

    def _refresh(self) -> None:
        ridge_inverse(self._gram, self._moment, self._ridge, self._inverse, self.theta_hat)


@kernel
def _add_rewards(features: np.ndarray, rewards: np.ndarray, sign: float, gram: np.ndarray, moment: np.ndarray) -> None:
    n, dim = features.shape
    for t in range(n):
        for i in range(dim):
            moment[i] += sign * rewards[t] * features[t, i]
            for j in range(dim):
                gram[i, j] += sign * features[t, i] * features[t, j]
