import math
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem
from bench.tuners.first_phase import Share, TrainThenBest
from bench.tuners.gaussian_process import CovarianceName, GaussianProcess

_FIRST_FIT = 10


@component
class GPUCB(TrainThenBest):
    """Play the point with the largest mean + sqrt(beta_t) deviation, and after training that with the largest mean.

    The means and deviations are those of a Gaussian process. The maximum is over a fixed set of D points. For one
    hyper-parameter the points are evenly spaced and include both ends; for several they are a Halton sequence with a
    random shift. The first point to play is drawn from the set. The parameters of the covariance function are fitted by
    maximum marginal likelihood after 10, 20, 40, 80, ... rewards. beta_t = ``beta_scale`` 2 ln(D t^2 pi^2 / (6 delta)).
    The time of training is quadratic and the time of the fits is cubic in the number of rounds, and memory is rounds
    times ``n_points``; the tuner is meant for a few thousand rounds. Raises ConfigError if a hyper-parameter has no
    interval. Source: Srinivas et al. 2010, algorithm 1 and theorem 1, with D, delta and the factor 1/5 from section 6;
    online_hpo, section 7.1.3 (two covariance functions, upper confidence bounds, first T/10 rounds; all else assumed).

    Parameters
    ----------
    covariance
        ``squared_exponential``, or ``matern`` with nu = 5/2.
    n_points
        D, the number of points.
    delta
        Probability with which the bound on the function may fail.
    beta_scale
        Factor on beta_t; 1 is the theory.
    """

    follows_last_digits: ClassVar[bool] = True

    label: ClassVar[str] = "Bayes-SE"
    searches: ClassVar[tuple[str, ...]] = ("interval",)
    remembers: ClassVar[tuple[str, ...] | None] = ("_asked_for",)

    train_share: Share = 0.1
    covariance: CovarianceName = "squared_exponential"
    n_points: PositiveInt = 1000
    delta: Annotated[float, Field(gt=0, lt=1)] = 0.1
    beta_scale: PositiveFloat = 0.2

    def _prepare(self, problem: Problem, n_train: int, seeds: Seeds) -> None:
        self._space = problem.space
        self._points = self._place(problem.space.dim, seeds.generator("points"))
        self._process = GaussianProcess(self._points, self.covariance)
        self._n_seen = 0
        self._next = int(seeds.generator("first_point").integers(self.n_points))
        self._space.from_unit(self._points[self._next])  # raises the error for a space without intervals

    def _place(self, dim: int, rng: np.random.Generator) -> np.ndarray:
        if dim == 1:
            return np.linspace(0.0, 1.0, self.n_points)[:, None]
        from scipy.stats import qmc

        return (qmc.Halton(dim, scramble=False).random(self.n_points) + rng.random(dim)) % 1.0

    def _explore(self) -> Configuration:
        self._asked_for = self._next
        return self._space.from_unit(self._points[self._next])

    def _learn(self, reward: float) -> None:
        self._process.observe(self._asked_for, reward)
        self._n_seen += 1
        doublings, rest = divmod(self._n_seen, _FIRST_FIT)
        if rest == 0 and doublings.bit_count() == 1:
            self._process.fit()
        mean, deviation = self._process.posterior()
        t = self._n_seen + 1
        beta = self.beta_scale * 2.0 * math.log(self.n_points * t**2 * math.pi**2 / (6.0 * self.delta))
        self._next = int(np.argmax(mean + math.sqrt(beta) * deviation))

    def _find_best(self) -> Configuration:
        mean, _ = self._process.posterior()
        return self._space.from_unit(self._points[int(np.argmax(mean))])
