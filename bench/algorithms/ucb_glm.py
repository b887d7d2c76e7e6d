import math
from typing import ClassVar, Literal

import numpy as np
from pydantic import NonNegativeInt, PositiveFloat

from bench.algorithms.base import positive
from bench.algorithms.contextual import BanditInfo
from bench.algorithms.kernels import ridge_inverse
from bench.algorithms.linucb import LinUCB
from bench.algorithms.logistic_regression import LogisticRegression
from bench.component import component
from bench.jit import Array, kernel
from bench.seeding import Seeds
from bench.space import Configuration


@component
class UCBGLM(LinUCB):
    """Pull argmax x'theta_hat + exploration_rate |x|_{V^-1}, with the logistic maximum-likelihood estimate theta_hat.

    In every round after the random pulls, theta_hat and V = ridge I + sum x x' are exact for all data so far and the
    current ridge. The estimate is penalised, so that it always exists with ``penalty: lambda``. The unpenalised
    estimate of Li et al. 2017 does not exist while a hyperplane separates the labels, which may happen after random
    pulls. Source: Li et al. 2017, algorithm 1; syndicated, section 6; cdt, section 5.

    Parameters
    ----------
    random_pulls
        Number of random pulls before the first decision.
    flip_second_label
        Whether the second reward, for the estimate, is made the opposite of the first when both are equal.
    penalty
        ``lambda``: the estimate minimises the sum of logistic losses + ridge/2 |theta|^2. ``code``: the penalty is 1/(2
        ridge) |theta|^2, as in scikit-learn with C = ridge, so that a larger ridge shrinks less.
    theory_form
        Theoretical exploration rate. ``glm``: sigma/kappa sqrt(d/2 ln(1 + 2T/d) + ln(1/delta)) for the horizon T.
        ``equation_3``: the rate of linear bandits, which changes with the round.
    kappa
        Lower bound that theory assumes for the link's derivative, with ``glm``.
    """

    links: ClassVar[tuple[str, ...]] = ("logistic",)
    per_arm: ClassVar[bool] = False

    random_pulls: NonNegativeInt = 30
    flip_second_label: bool = False
    penalty: Literal["lambda", "code"] = "lambda"
    theory_form: Literal["glm", "equation_3"] = "glm"
    kappa: PositiveFloat = 0.196

    @property
    def random_rounds(self) -> int:
        return self.random_pulls

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        if self.theory_form == "equation_3":
            return super().theory(round_, configuration)
        dim, horizon = self._info.dim, self._info.rounds
        width = math.sqrt(dim / 2 * math.log(1 + 2 * horizon / dim) + math.log(1 / self.delta))
        return {"exploration_rate": self._sigma / self.kappa * width}

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        super().start(info, seeds)
        self._regression = LogisticRegression(info.dim)
        self.theta_hat = self._regression.theta
        self._first_reward = 0.0

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        ridge = positive("ridge", configuration["ridge"])
        self._regression.fit(ridge if self.penalty == "lambda" else 1.0 / ridge)
        return super().choose(contexts, configuration)

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        count = self._regression.count
        if count == 0:
            self._first_reward = reward
        elif count == 1 and self.flip_second_label and reward == self._first_reward:
            reward = 1.0 - reward
        features = contexts[arm]
        self._regression.add(features, reward)
        _learn(features, self._gram, self._inverse)
        self._count_update()

    def _refresh(self) -> None:
        ridge_inverse(self._gram, self._moment, self._ridge, self._inverse, np.empty_like(self._moment))


@kernel
def _learn(features: Array, gram: Array, inverse: Array) -> None:
    dim = features.size
    x = features.copy()
    product = np.zeros(dim)
    for j in range(dim):
        for i in range(dim):
            product[i] += inverse[j, i] * x[j]
    spread = 1.0
    for i in range(dim):
        spread += x[i] * product[i]
    for i in range(dim):
        for j in range(dim):
            gram[i, j] += x[i] * x[j]
            inverse[i, j] -= product[i] * product[j] / spread
