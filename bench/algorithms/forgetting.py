import math
from typing import Any, ClassVar

import numpy as np
from pydantic import PositiveFloat

from bench.algorithms.contextual import BanditInfo
from bench.algorithms.kernels import REFRESH_EVERY, add_outer, dot
from bench.algorithms.linear import LinearAlgorithm
from bench.algorithms.linucb import LinUCB
from bench.component import component
from bench.errors import SpaceError
from bench.jit import Array, kernel
from bench.seeding import Seeds
from bench.space import Configuration


@component
class ForgettingLinUCB(LinUCB):
    """LinUCB that recomputes its estimate from its sums in every round.

    Parameters
    ----------
    variation
        Bound B that theory assumes for the sum of |theta_t - theta_t+1|.
    """

    per_arm: ClassVar[bool] = False

    variation: PositiveFloat = 1.0

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        self._ridge = math.nan
        return super().choose(contexts, configuration)


@component
class DLinUCB(ForgettingLinUCB):
    """LinUCB that discounts past rewards: a reward has weight ``discount``^n after n further rounds.

    Let V = ridge I + sum discount^n x x', let W be the same matrix with discount^(2n), and let theta_hat = V^-1 sum
    discount^n x y. The arm pulled is argmax x'theta_hat + exploration_rate |x|_{V^-1 W V^-1}. The theoretical discount
    is 1 - (B / (d T))^(2/3). Source: Russac, Vernade and Cappe 2019, algorithm 1. Their code
    (YRussac/WeightedLinearBandits, D_LinUCB_class.py at 9cc1edf, 2019-11-14) takes V in place of the previous W in the
    update of W.
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        **LinearAlgorithm.spaces,
        "discount": {"candidates": (0.9, 0.99, 0.999, 0.9999), "low": 0.9, "high": 0.9999},
    }

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        super().start(info, seeds)
        self._squares = np.zeros((info.dim, info.dim))
        self._discount = self.theory(1)["discount"]

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        configuration = configuration or {}
        dim, ridge = self._info.dim, configuration.get("ridge", self._default_ridge)
        usual = 1.0 - min(self.variation / (dim * self._info.rounds), 0.5) ** (2 / 3)
        discount = configuration.get("discount", usual)
        past = round_ - 2 + self.first_round
        weights = past if discount == 1.0 else (1.0 - discount ** (2 * past)) / (1.0 - discount**2)
        log_det = dim * math.log(1.0 + self._largest_norm**2 * weights / (ridge * dim))
        width = self._sigma * math.sqrt(2.0 * math.log(1.0 / self.delta) + log_det)
        return {"exploration_rate": math.sqrt(ridge) * self.theta_norm + width, "discount": usual}

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        discount = configuration["discount"]
        if not 0 < discount <= 1:
            raise SpaceError(f"found {discount}, expected a number above 0, at most 1", "discount")
        self._discount = float(discount)
        return super().choose(contexts, configuration)

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        _discount_and_add(contexts, arm, reward, self._discount, self._gram, self._squares, self._moment)

    def _refresh(self) -> None:
        super()._refresh()
        _sandwich(self._inverse, self._squares, self._ridge)


@component
class SWLinUCB(ForgettingLinUCB):
    """LinUCB on the last ``window`` rewards, which pulls argmax x'theta_hat + exploration_rate |x|_{V^-1}.

    V and theta_hat are computed by ridge regression on these rewards. A window that grows from one round to the next
    includes older rewards again. The theoretical window is (d T / B)^(2/3). Source: Cheung, Simchi-Levi and Zhu 2019,
    algorithm 1.
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        **LinearAlgorithm.spaces,
        "window": {"candidates": (100, 300, 1000, 3000), "low": 50, "high": 5000, "log": True, "integer": True},
    }

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        super().start(info, seeds)
        self._features = np.empty((info.rounds, info.dim))
        self._rewards = np.empty(info.rounds)
        self._first = self._count = 0
        self._window = self.theory(1)["window"]

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        configuration, rounds = configuration or {}, self._info.rounds
        usual = min(rounds, math.ceil((self._info.dim * rounds / self.variation) ** (2 / 3)))
        return {"exploration_rate": self._radius(configuration.get("window", usual), configuration), "window": usual}

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        window = configuration["window"]
        if window != int(window) or window < 1:
            raise SpaceError(f"found {window}, expected a positive whole number", "window")
        self._window = int(window)
        self._slide()
        return super().choose(contexts, configuration)

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        if self._count == len(self._rewards):  # a log may be longer than expected
            self._features = np.concatenate([self._features, np.empty_like(self._features)])
            self._rewards = np.concatenate([self._rewards, np.empty_like(self._rewards)])
        self._features[self._count] = contexts[arm]
        self._rewards[self._count] = reward
        self._add(self._count, self._count + 1, 1.0)
        self._count += 1
        self._slide()
        if self._count % REFRESH_EVERY == 0:  # so that rounding errors of sums and differences do not accumulate
            self._gram[:] = 0.0
            self._moment[:] = 0.0
            self._add(self._first, self._count, 1.0)

    def _slide(self) -> None:
        """Remove rounds before the window from the sums, and add rounds that a longer window includes again."""
        first = max(0, self._count - self._window)
        self._add(self._first, first, -1.0)
        self._add(first, self._first, 1.0)
        self._first = first

    def _add(self, start: int, end: int, sign: float) -> None:
        if start < end:
            _add_rewards(self._features[start:end], self._rewards[start:end], sign, self._gram, self._moment)


@kernel
def _discount_and_add(
    contexts: Array, arm: int, reward: float, discount: float, gram: Array, squares: Array, moment: Array
) -> None:
    for i in range(moment.size):
        moment[i] = discount * moment[i] + reward * contexts[arm, i]
        for j in range(moment.size):
            product = contexts[arm, i] * contexts[arm, j]
            gram[i, j] = discount * gram[i, j] + product
            squares[i, j] = discount * discount * squares[i, j] + product


@kernel
def _sandwich(inverse: Array, squares: Array, ridge: float) -> None:
    """Replace ``inverse`` by inverse (squares + ridge I) inverse; all are symmetric."""
    dim = len(inverse)
    left = inverse.copy()
    row = np.empty(dim)
    for i in range(dim):
        for j in range(dim):
            row[j] = ridge * left[i, j]
        for k in range(dim):
            for j in range(dim):
                row[j] += left[i, k] * squares[k, j]
        for j in range(i + 1):
            inverse[i, j] = inverse[j, i] = dot(row, left[j])


@kernel
def _add_rewards(features: Array, rewards: Array, sign: float, gram: Array, moment: Array) -> None:
    for t in range(rewards.size):
        for i in range(moment.size):
            moment[i] += sign * rewards[t] * features[t, i]
        add_outer(features[t], sign, gram)
