import math
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import PositiveFloat, PositiveInt

from bench.algorithms.base import positive
from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm, rate
from bench.algorithms.kernels import best_linear, dot
from bench.algorithms.logistic_regression import LogisticRegression
from bench.component import component
from bench.jit import Array, kernel
from bench.seeding import Seeds
from bench.space import Configuration, Space

_LEARNING_RATE = 1.0
"""The theoretical value depends on unknown constants; cdt uses 1 instead."""


@component
class SGDTS(ContextualAlgorithm):
    """Thompson sampling around the estimate of stochastic gradient descent, with one draw of theta for each epoch.

    An epoch has tau = epoch_factor * max(floor(ln T), dim) rounds. The first tau rounds are pulled at random and give
    theta_hat, the maximum-likelihood estimate, from which theta_tilde starts. Before epoch j = 1, 2, ..., theta_tilde
    moves by -learning_rate / j times the sum of the last epoch's gradients at theta_tilde, and then to the nearest
    point within ``radius`` of theta_hat. theta_bar is the mean of theta_tilde over the epochs, and theta ~ N(theta_bar,
    s^2 I). In the epoch, argmax x'theta is pulled. For j = 1 the last epoch consists of the random pulls, whose
    gradients sum to zero at their maximum-likelihood estimate.

    An epoch has the hyper-parameters of its first round, also for the step and the draw before it. With the covariance
    ``two``, s^2 = (2 exploration_rate_1^2 + 2 exploration_rate_2^2) / j (syndicated), with ``one``, s^2 = 2
    exploration_rate^2 / j (cdt). learning_rate is tuned in both. The theoretical values are learning_rate = 1,
    exploration_rate_1 = sigma sqrt(dim/2 ln(1 + 2 j tau / dim) + 2 ln T), exploration_rate_2 = tau / learning_rate
    sqrt(1 + ln j), and exploration_rate the root of the sum of their squares.

    The maximum-likelihood estimate is infinite if a plane through the origin separates the rewards of the random pulls,
    which is certain with at most as many pulls as features, and common with up to twice as many. Assumed: a penalty/2
    |theta|^2 is added, small enough to be negligible otherwise.

    Source: Ding, Hsieh and Sharpnack 2021, algorithm 1; syndicated, appendix A.4; cdt, section 5.

    Parameters
    ----------
    epoch_factor
        Length of an epoch in units of max(floor(ln T), dim): 10 in syndicated, 1 in its code, 6 in cdt.
    covariance
        Number of exploration rates: ``two``, as in the original, or ``one``.
    radius
        Largest distance of theta_tilde from theta_hat.
    penalty
        Ridge penalty of theta_hat.
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        "exploration_rate": rate(0.1, 1.0, 2.0, 3.0, 4.0, 5.0),
        "learning_rate": rate(0.01, 0.1, 1.0, 10.0),
        "exploration_rate_1": rate(0.0, 0.01, 0.1, 1.0, 10.0),
        "exploration_rate_2": rate(0.0, 0.01, 0.1, 1.0, 10.0),
    }
    links: ClassVar[tuple[str, ...]] = ("logistic",)

    epoch_factor: PositiveInt = 10
    covariance: Literal["one", "two"] = "two"
    radius: PositiveFloat = 2.0
    penalty: PositiveFloat = 1e-6

    @property
    def hyper_parameters(self) -> Space:
        names = list(self.spaces)
        return super().hyper_parameters.restrict(names[:2] if self.covariance == "one" else names[1:])

    @property
    def random_rounds(self) -> int:
        return self._tau

    @property
    def rounds_per_decision(self) -> int:
        return self._tau

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        """Return the theoretical values for the epoch of ``round_``.

        The second exploration rate depends on the current learning rate.
        """
        learning_rate = positive("learning_rate", (configuration or {}).get("learning_rate", _LEARNING_RATE))
        info, tau = self._info, self._tau
        epoch = max(1, 1 + (round_ - 1 - max(self._random_pulls, tau)) // tau)
        first = info.sub_gaussian * math.sqrt(
            info.dim / 2 * math.log(1 + 2 * epoch * tau / info.dim) + 2 * math.log(info.rounds)
        )
        second = tau / learning_rate * math.sqrt(1 + math.log(epoch))
        if self.covariance == "one":
            return {"exploration_rate": math.hypot(first, second), "learning_rate": _LEARNING_RATE}
        return {"learning_rate": _LEARNING_RATE, "exploration_rate_1": first, "exploration_rate_2": second}

    @property
    def estimate(self) -> np.ndarray:
        return self.theta_bar

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        self._info = info
        self._tau = self.epoch_factor * max(math.floor(math.log(info.rounds)), info.dim)
        self._rng = seeds.generator("posterior")
        self._random_pulls = 0
        self._likelihood: LogisticRegression | None = LogisticRegression(info.dim)
        self._epoch = 0
        self._left = 0
        self._gradient = np.zeros(info.dim)
        self.theta_hat = np.zeros(info.dim)
        self.theta_tilde = np.zeros(info.dim)
        self.theta_bar = np.zeros(info.dim)
        self.theta = np.zeros(info.dim)

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        if self._left == 0:
            self._begin_epoch(configuration)
        return int(best_linear(contexts, self.theta))

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        if self._likelihood is not None:
            self._likelihood.add(contexts[arm], reward)
            self._random_pulls += 1
            return
        _add_gradient(contexts, arm, reward, self.theta_tilde, self._gradient)
        self._left -= 1

    def _begin_epoch(self, configuration: Configuration) -> None:
        learning_rate = positive("learning_rate", configuration.get("learning_rate"))
        if self._likelihood is not None:
            self._likelihood.fit(self.penalty)
            self.theta_hat[:] = self._likelihood.theta
            self.theta_tilde[:] = self.theta_hat
            self._likelihood = None
        self._epoch += 1
        self._left = self._tau
        away = self.theta_tilde - learning_rate / self._epoch * self._gradient - self.theta_hat
        distance = math.sqrt(float(away @ away))
        self.theta_tilde[:] = self.theta_hat + away * min(1.0, self.radius / distance if distance else 1.0)
        self.theta_bar += (self.theta_tilde - self.theta_bar) / self._epoch
        self._gradient[:] = 0.0
        if self.covariance == "one":
            square = configuration["exploration_rate"] ** 2
        else:
            square = configuration["exploration_rate_1"] ** 2 + configuration["exploration_rate_2"] ** 2
        deviation = math.sqrt(2.0 * square / self._epoch)
        self.theta[:] = self.theta_bar + deviation * self._rng.standard_normal(self.theta.size)


@kernel
def _add_gradient(contexts: Array, arm: int, reward: float, theta: Array, gradient: Array) -> None:
    value = dot(contexts[arm], theta)
    small = np.exp(-abs(value))
    residual = (1.0 if value >= 0.0 else small) / (1.0 + small) - reward
    for i in range(theta.size):
        gradient[i] += residual * contexts[arm, i]
