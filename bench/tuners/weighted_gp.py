import math
from abc import abstractmethod
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from bench.component import component
from bench.tuners.base import Problem
from bench.tuners.finite_gp import FiniteGP

_NUGGET = 1e-10
"""Added to the variance of each point, so that covariances of close points have a Cholesky decomposition."""


class WeightedRegression:
    """Gaussian process regression on points with weighted rewards, in units of the noise.

    Let N and M be diagonal matrices with the sums of the weights and of their squares by point, K = L L' the prior,
    shape (points, points), and V = K^-1 + N. The mean is level + V^-1 (sums - N level), and the deviations are the
    roots of the diagonal of V^-1 (K^-1 + M) V^-1. The level is estimated by generalised least squares. Source: Russac,
    Vernade and Cappe 2019 (D-LinUCB), in the space of functions on the points.
    """

    def __init__(self, prior: np.ndarray) -> None:
        self._root = np.linalg.cholesky(prior + _NUGGET * np.eye(len(prior)))

    def posterior(
        self, weights: np.ndarray, squares: np.ndarray, sums: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Return means, in units of the reward, deviations, in units of the noise, and the information gained.

        ``weights``, ``squares`` and ``sums``, shape (points,), are sums of the weights, of their squares, and of the
        weighted rewards. The information is half of ln det(1 + L' M L), in nats.
        """
        one = np.eye(len(weights))
        inner = self._root @ np.linalg.inv(one + (self._root.T * weights) @ self._root)
        covariance = inner @ self._root.T
        of_squares = one + (self._root.T * squares) @ self._root
        level = (sums.sum() - weights @ covariance @ sums) / (weights.sum() - weights @ covariance @ weights)
        mean = level + covariance @ (sums - level * weights)
        variance = np.einsum("ij,ij->i", inner @ of_squares, inner)
        return mean, np.sqrt(np.maximum(variance, 0.0)), 0.5 * float(np.linalg.slogdet(of_squares)[1])


@component
class WeightedRegressionUCB(FiniteGP):
    """GP-UCB with bounds for a fixed function of bounded norm, in which a subclass sets the weights of rewards.

    The point with the largest mean + (B + sqrt(2 (gamma + ln(1 / delta)))) deviation is played, where gamma is the
    information gained so far. The regularisation is lambda = 1 + 2 / T, as if the function's prior variance were 1 /
    lambda times the noise variance. The mean is estimated; the papers assume that it is 0.

    Parameters
    ----------
    norm
        B, the bound of the function's norm, in units of the standard deviation of the noise; the papers assume it is
        known.
    delta
        Probability with which the bounds may fail.
    variation
        P, the total change of the function's norm in a run, which determines the memory of rewards.
    """

    norm: NonNegativeFloat = 1.0
    delta: Annotated[float, Field(gt=0, lt=1)] = 0.1
    variation: PositiveFloat = 1.0

    def _begin(self, correlations: np.ndarray, problem: Problem) -> None:
        n = len(correlations)
        self._regression = WeightedRegression(correlations / (1.0 + 2.0 / problem.horizon))
        self._weights, self._squares, self._sums = np.zeros((3, n))
        evenly = np.full(n, problem.horizon / n)
        *_, gained = self._regression.posterior(evenly, evenly, evenly)
        memory = max(gained, 1.0) ** 0.25 * math.sqrt(problem.horizon / self.variation)
        self._remember(min(max(math.ceil(memory), 2), problem.horizon))

    def _bounds(self) -> np.ndarray:
        mean, deviation, gained = self._regression.posterior(self._weights, self._squares, self._sums)
        width = self.norm + math.sqrt(2.0 * (gained + math.log(1.0 / self.delta)))
        return mean + width * self._noise * deviation

    @abstractmethod
    def _remember(self, memory: int) -> None:
        """Prepare a memory of ``memory`` rounds, unless a setting overrides this length."""


@component
class SlidingWindowGPUCB(WeightedRegressionUCB):
    """GP-UCB with the rewards of the latest rounds only.

    See `WeightedRegressionUCB` for the width of the bounds and the settings. Source: Zhou and Shroff 2021, SW-GP-UCB;
    width: Chowdhury and Gopalan 2017.

    Parameters
    ----------
    window
        Number of latest rounds; null: gamma_T^(1/4) sqrt(T / P), where gamma_T is the information in T rewards spread
        evenly over the points.
    """

    label: ClassVar[str] = "Sliding-window GP-UCB"

    window: PositiveInt | None = None

    def _remember(self, memory: int) -> None:
        self._window = memory if self.window is None else self.window
        self._places = np.zeros(self._window, dtype=int)
        self._rewards = np.zeros(self._window)

    def _learn(self, chosen: int, reward: float) -> None:
        slot = (self._n_told - 1) % self._window
        self._places[slot], self._rewards[slot] = chosen, reward
        places, n = self._places[: self._n_told], len(self._weights)
        self._weights = self._squares = np.asarray(np.bincount(places, minlength=n), dtype=np.float64)
        self._sums = np.asarray(np.bincount(places, self._rewards[: self._n_told], minlength=n), dtype=np.float64)


@component
class WeightedGPUCB(WeightedRegressionUCB):
    """GP-UCB with reward weights that fall by a factor each round.

    See `WeightedRegressionUCB` for the width of the bounds and the settings. Source: Deng, Zhou, Kim, Tewari, Gupta and
    Shroff 2022, WGP-UCB; on finitely many points it needs no approximation of the kernel.

    Parameters
    ----------
    discount
        Factor per round; null: 1 - gamma_T^(-1/4) sqrt(P / T), where gamma_T is the information in T rewards spread
        evenly over the points.
    """

    label: ClassVar[str] = "Weighted GP-UCB"

    discount: Annotated[float, Field(gt=0, le=1)] | None = None

    def _remember(self, memory: int) -> None:
        self._discount = 1.0 - 1.0 / memory if self.discount is None else self.discount

    def _learn(self, chosen: int, reward: float) -> None:
        self._weights *= self._discount
        self._squares *= self._discount**2
        self._sums *= self._discount
        self._weights[chosen] += 1.0
        self._squares[chosen] += 1.0
        self._sums[chosen] += reward
