import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt

from bench.component import component
from bench.jit import kernel
from bench.tuners.base import Problem
from bench.tuners.finite_gp import FiniteGP, logarithmic

Share = Annotated[float, Field(ge=0, lt=1)]

_SHARES = (0.001, 0.0, 0.0001, 0.01, 0.1)
"""Values of eps among which the likeliest is chosen; the first on a tie."""

SIGNALS = (3.0, 0.3, 30.0)
"""Variances of the function among which the likeliest is chosen, as in `bench.tuners.changepoint_gp.ChangepointGP`."""


class KalmanFilter:
    """The posterior of f_t on points, where f_1 = g_1 and f_{t+1} = sqrt(1 - eps) f_t + sqrt(eps) g_{t+1}.

    The g_t are independent and normal, with mean 0 and covariance ``prior``, shape (points, points), in units of the
    noise variance. The posterior of f_{t+1} given t rewards is exact: it equals the posterior given all rewards with
    the covariance prior(x, x') (1 - eps)^(|t - t'| / 2). A mean common to all points is estimated by generalised least
    squares. A reward costs O(points^2). Source: Kalman 1960; Rasmussen and Williams 2006, section 2.7 (the mean).
    """

    def __init__(self, prior: np.ndarray, eps: float) -> None:
        self.prior = prior
        self.eps = eps
        self.reset()

    def reset(self) -> None:
        n = len(self.prior)
        self._of_rewards = np.zeros(n)
        self._of_ones = np.zeros(n)
        self._covariance = self.prior.copy()
        self._sums = np.zeros(4)
        self.n_rewards = 0

    @property
    def level(self) -> float:
        """The estimate of the mean, 0 before the first reward."""
        _, product, square, _ = self._sums.tolist()
        return product / square if square else 0.0

    @property
    def squared_errors(self) -> float:
        """The sum of the squared forecast errors given the level, each divided by its variance."""
        total, product, *_ = self._sums.tolist()
        return max(total - self.level * product, 0.0)

    def log_likelihood(self, noise_variance: float | None) -> float:
        """Return the restricted log likelihood of the rewards with unknown level, up to a constant.

        If ``noise_variance`` is None, the likelihood is maximised over the noise variance, and it is 0 until two
        rewards differ. Source: Rasmussen and Williams 2006, section 2.7.
        """
        errors, n = self.squared_errors, self.n_rewards - 1
        if n < 1 or not errors:
            return 0.0
        *_, square, logarithms = self._sums.tolist()
        fit = n * math.log(errors / n) if noise_variance is None else errors / noise_variance
        return -0.5 * (logarithms + math.log(square) + fit)

    def posterior(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the means (in rewards) and, given the level, the variances (in units of the noise variance)."""
        mean = self.level + (self._of_rewards - self.level * self._of_ones)
        return mean, np.maximum(np.diag(self._covariance), 0.0)

    def observe(self, index: int, reward: float) -> None:
        # Rewards and ones separately, because the level changes with each reward.
        kalman_step(self._of_rewards, self._of_ones, self._covariance, self.prior, self._sums, index, reward, self.eps)
        self.n_rewards += 1


@kernel
def kalman_step(
    of_rewards: np.ndarray,
    of_ones: np.ndarray,
    covariance: np.ndarray,
    prior: np.ndarray,
    sums: np.ndarray,
    index: int,
    reward: float,
    eps: float,
) -> None:
    n = of_rewards.size
    column = covariance[index].copy()
    variance = column[index] + 1.0
    error = reward - of_rewards[index]
    error_of_one = 1.0 - of_ones[index]
    sums[0] += error * error / variance
    sums[1] += error * error_of_one / variance
    sums[2] += error_of_one * error_of_one / variance
    sums[3] += np.log(variance)
    kept = np.sqrt(1.0 - eps)
    for i in range(n):
        gain = column[i] / variance
        of_rewards[i] = kept * (of_rewards[i] + gain * error)
        of_ones[i] = kept * (of_ones[i] + gain * error_of_one)
        for j in range(n):
            covariance[i, j] = (1.0 - eps) * (covariance[i, j] - gain * column[j]) + eps * prior[i, j]


def likeliest(filters: Sequence[KalmanFilter], chosen: int, reward: float, noise: float | None) -> int:
    """Let each filter learn a reward, and return the index of the likeliest filter.

    ``noise`` is the standard deviation of the noise, if known.
    """
    for each in filters:
        each.observe(chosen, reward)
    if len(filters) == 1:
        return 0
    return int(np.argmax([each.log_likelihood(None if noise is None else noise**2) for each in filters]))


@component
class ForgettingGP(FiniteGP):
    """GP-UCB that plays the point with the largest mean + sqrt(beta_t) deviation of a filter that forgets.

    beta_t = 0.8 ln(4 t). The papers' process has a mean of 0 and a known scale. In this class the mean of the process
    is estimated by generalised least squares, and its variance is ``signal`` times the noise variance. Source:
    Bogunovic, Scarlett and Cevher 2016; the constants of beta_t are assumed, see `bench.tuners.finite_gp.logarithmic`.

    Parameters
    ----------
    eps
        Share of the function that is new in each round.
    signal
        Variance of the function around its mean, in units of the noise variance.
    noise
        Standard deviation of the noise, in the width of the bounds: ``told`` by the problem, or ``estimated`` from the
        forecast errors, each divided by its variance in units of the noise variance (restricted maximum likelihood).
    """

    eps: Share = 0.001
    signal: PositiveFloat = 3.0
    noise: Literal["told", "estimated"] = "told"

    def _begin(self, correlations: np.ndarray, problem: Problem) -> None:
        self._errors = 0.0
        self._n_errors = 0

    def _bounds(self) -> np.ndarray:
        mean, variance = self._filter.posterior()
        return mean + logarithmic(self._n_told + 1) * self.noise_std * np.sqrt(variance)

    @property
    @abstractmethod
    def _filter(self) -> KalmanFilter: ...

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise, as told or, once two rewards differ, as estimated with ``estimated``."""
        errors = self._errors + self._filter.squared_errors
        if self.noise == "told" or not errors:
            return self._noise
        return math.sqrt(errors / (self._n_errors + self._filter.n_rewards - 1))


@component
class TVGPUCB(ForgettingGP):
    """GP-UCB for a drifting function, which plays the point with the largest mean + sqrt(beta_t) deviation of f_t.

    The function is f_{t+1} = sqrt(1 - eps) f_t + sqrt(eps) g_{t+1}, with independent Gaussian processes g, so that
    older rewards count less. The posterior of f_t given all rewards is computed exactly by a Kalman filter. See
    `ForgettingGP` for beta_t and the scale. Source: Bogunovic, Scarlett and Cevher 2016 (TV-GP-UCB).

    Parameters
    ----------
    eps
        Share of the function that is new in each round, known in the paper; ``estimated``: the likeliest of 0, 0.0001,
        0.001, 0.01 and 0.1 by the restricted likelihood of the rewards so far (ours).
    signal
        Variance of the function around its mean, in units of the noise variance; ``estimated``: the likeliest of 0.3, 3
        and 30.
    """

    label: ClassVar[str] = "TV-GP-UCB"

    eps: Share | Literal["estimated"] = 0.001  # type: ignore[assignment]
    signal: PositiveFloat | Literal["estimated"] = 3.0  # type: ignore[assignment]

    def _begin(self, correlations: np.ndarray, problem: Problem) -> None:
        super()._begin(correlations, problem)
        shares = _SHARES if self.eps == "estimated" else (self.eps,)
        signals = SIGNALS if self.signal == "estimated" else (self.signal,)
        self._filters = [KalmanFilter(signal * correlations, share) for signal in signals for share in shares]
        self._likeliest = 0

    def _learn(self, chosen: int, reward: float) -> None:
        self._likeliest = likeliest(self._filters, chosen, reward, self._noise if self.noise == "told" else None)

    @property
    def _filter(self) -> KalmanFilter:
        return self._filters[self._likeliest]


@component
class RGPUCB(ForgettingGP):
    """GP-UCB that forgets everything at regular intervals, which is `TVGPUCB` without drift inside a block of rounds.

    beta_t and the estimate of the noise continue across blocks; the mean of the process is estimated anew. Each block
    begins with the same point, drawn at the start. See `ForgettingGP` for beta_t and the scale. Source: Bogunovic,
    Scarlett and Cevher 2016 (R-GP-UCB). The length of blocks is assumed.

    Parameters
    ----------
    block
        Rounds between resets; null: min{T, 12 eps^(-1/4)}, rounded up.
    """

    label: ClassVar[str] = "R-GP-UCB"

    block: PositiveInt | None = None

    def _begin(self, correlations: np.ndarray, problem: Problem) -> None:
        super()._begin(correlations, problem)
        self._of_block = KalmanFilter(self.signal * correlations, 0.0)
        tuned = problem.horizon if self.eps == 0.0 else min(problem.horizon, math.ceil(12.0 * self.eps**-0.25))
        self._block = tuned if self.block is None else self.block

    @property
    def _filter(self) -> KalmanFilter:
        return self._of_block

    def _bounds(self) -> np.ndarray:
        if self._filter.n_rewards:
            return super()._bounds()
        return np.eye(len(self._configurations))[self._first]

    def _learn(self, chosen: int, reward: float) -> None:
        self._filter.observe(chosen, reward)
        if self._filter.n_rewards >= self._block:
            self._errors += self._filter.squared_errors
            self._n_errors += self._filter.n_rewards - 1
            self._filter.reset()
