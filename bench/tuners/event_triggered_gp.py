import math
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, PositiveFloat

from bench.component import component
from bench.tuners.base import Problem
from bench.tuners.finite_gp import FiniteGP, logarithmic
from bench.tuners.time_varying_gp import SIGNALS, KalmanFilter, likeliest


class BlockFilter(KalmanFilter):
    """Posterior of a function that stays as it is until `restart`, and the likelihood of all rewards, block by block.

    The functions of two blocks are independent draws from the prior.
    """

    def __init__(self, prior: np.ndarray) -> None:
        self._past: tuple[float, int, float] = (0.0, 0, 0.0)
        super().__init__(prior, 0.0)

    def restart(self) -> None:
        """Forget the function, and keep the errors of its forecasts."""
        self._past = self._of_all
        self.reset()

    @property
    def _of_all(self) -> tuple[float, int, float]:
        """Squared errors, their number, and the logarithms of their variances, the level of each block unknown."""
        total, n, logarithms = self._past
        if not self.n_rewards:
            return self._past
        *_, square, of_block = self._sums.tolist()
        return total + self.squared_errors, n + self.n_rewards - 1, logarithms + of_block + math.log(square)

    @property
    def errors(self) -> tuple[float, int]:
        """Sum of the squared errors of the forecasts of all blocks, each over its variance, and their number."""
        return self._of_all[:2]

    def log_likelihood(self, noise_variance: float | None) -> float:
        """Return the restricted log likelihood of all blocks, as `KalmanFilter.log_likelihood` that of one."""
        total, n, logarithms = self._of_all
        if n < 1 or not total:
            return 0.0
        return -0.5 * (logarithms + (n * math.log(total / n) if noise_variance is None else total / noise_variance))

    def forecast(self, index: int) -> tuple[float, float]:
        """Return mean and variance of a point, after a reward; the variance, in units of the noise's, has the level's.

        Source: Rasmussen and Williams 2006, section 2.7.
        """
        mean = self.level + float(self._of_rewards[index] - self.level * self._of_ones[index])
        of_level = (1.0 - float(self._of_ones[index])) ** 2 / float(self._sums[2])
        return mean, max(float(self._covariance[index, index]), 0.0) + of_level


@component
class RestartingGP(FiniteGP):
    """GP-UCB that forgets everything when a subclass says so: the largest mean + sqrt(beta_t) deviation is played.

    beta_t = 0.8 ln(4 t), t counting the rounds since the last restart. The mean of the process is estimated anew after
    a restart, noise and scale from all rewards. The papers take mean, scale and noise to be known.
    Source of beta_t: Bogunovic, Scarlett and Cevher 2016, see `bench.tuners.finite_gp.logarithmic`.

    Parameters
    ----------
    signal
        Variance of the function around its mean, in units of the noise variance; ``estimated``: the likeliest of 0.3, 3
        and 30 by the restricted likelihood of the rewards so far (ours).
    noise
        Standard deviation of the noise: ``told`` by the problem, or ``estimated`` from the errors of the forecasts,
        each over its variance in units of the noise's (restricted maximum likelihood).
    """

    signal: PositiveFloat | Literal["estimated"] = 3.0
    noise: Literal["told", "estimated"] = "told"

    def _begin(self, correlations: np.ndarray, problem: Problem) -> None:
        signals = SIGNALS if self.signal == "estimated" else (self.signal,)
        self._filters = [BlockFilter(signal * correlations) for signal in signals]
        self._likeliest = 0
        self.restarts = 0

    @property
    def _filter(self) -> BlockFilter:
        return self._filters[self._likeliest]

    @property
    def noise_std(self) -> float:
        """The standard deviation of the noise, told or estimated; as told before there are two rewards that differ."""
        if self.noise == "told":
            return self._noise
        total, n = self._filter.errors
        return math.sqrt(total / n) if total else self._noise

    def _bounds(self) -> np.ndarray:
        mean, variance = self._filter.posterior()
        return mean + logarithmic(self._filter.n_rewards + 1) * self.noise_std * np.sqrt(variance)

    def _learn(self, chosen: int, reward: float) -> None:
        self._likeliest = likeliest(self._filters, chosen, reward, self._noise if self.noise == "told" else None)

    def _restart(self) -> None:
        self.restarts += 1
        for each in self._filters:
            each.restart()


@component
class EventTriggeredGPUCB(RestartingGP):
    """GP-UCB that starts anew when a reward is farther from its forecast than a uniform error bound allows.

    With the t-th reward y since the last restart, of a point of mean m and deviation s given those before, the event is
    |y - m| > c (s + noise), c^2 = 2 ln(2 pi_t / delta), pi_t = pi^2 t^2 / 6. The reward that triggers is the first of
    the new data. See `RestartingGP` for the bounds and the scale.
    Source: Brunzema, von Rohr, Solowjow and Trimpe 2025 (ET-GP-UCB), of which we had the abstract and summaries; its
    repository (brunzema/et-bo, 13f1cd9 of 2025-01-20) holds no code. The event is that of two of its authors' next
    paper (antoHolz/ETSO, bbcccde of 2024-05-21), which keeps the reward that triggers, as here. There s is tripled, the
    error quadrupled, delta 0.01, and t at most the round at which it stops learning; here it never stops. t starts anew
    as in a third paper of theirs (NKPmedia/np-et-learn, 75374ed of 2024-06-27).
    Assumed: delta; no least and no largest distance between resets: the paper's theory bounds both, by values that we
    do not have. Ours: s^2 has the variance of the estimated mean; with ``noise`` estimated from n errors, c^2 is
    n (exp(c^2 / n) - 1), about the same chance under Student's t.

    Parameters
    ----------
    delta
        Chance of a false event in a block.
    """

    label: ClassVar[str] = "ET-GP-UCB"

    delta: Annotated[float, Field(gt=0, lt=1)] = 0.1

    def _learn(self, chosen: int, reward: float) -> None:
        if self._is_event(chosen, reward):
            self._restart()
        super()._learn(chosen, reward)

    def _is_event(self, chosen: int, reward: float) -> bool:
        t = self._filter.n_rewards + 1
        square = 2.0 * math.log(math.pi**2 * t**2 / (3.0 * self.delta))
        if self.noise == "estimated":
            total, n = self._filter.errors
            if not total:
                return False
            square = n * math.expm1(square / n)
        if t == 1:
            return False
        mean, variance = self._filter.forecast(chosen)
        return abs(reward - mean) > math.sqrt(square) * self.noise_std * (math.sqrt(variance) + 1.0)
