from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveInt

from bench.component import component
from bench.data import cdt_factors
from bench.data.factorisation import Factors
from bench.data.movielens import fingerprint, movielens_factors, users_by_period
from bench.envs.contextual import ContextualEnvironment, Link, RewardNoise, linear_means, transform_means
from bench.errors import ConfigError
from bench.jit import kernel
from bench.seeding import Seeds


@component
class Movielens(ContextualEnvironment):
    """Recommendation of films, with a random set of films offered in each round.

    theta is the mean factor of a random set of users. Source: syndicated, section 6; cdt, section 5.

    Parameters
    ----------
    dim
        Rank of the factorisation, which is the number of features.
    n_arms
        Number of films offered in a round, drawn without repetition.
    reward_link
        ``linear``: reward N(mean, noise_std^2); ``logistic``: Bernoulli(1 / (1 + exp(-x'theta))).
    noise_std
        Standard deviation of linear rewards; also the sub-Gaussian constant passed to theory.
    n_users
        Number of users whose mean factor is theta.
    mean
        Linear rewards only. ``min_max``: x'theta mapped onto [0, 1] by one map over all films; ``raw``: x'theta.
    normalise_theta
        Whether theta is scaled to norm 1.
    feature_scaling
        ``none``; ``unit_ball``: features are divided by the largest norm of all films; ``round``: by the largest norm
        in the round.
    regularisation
        Penalty of the factorisation, per rating.
    factors
        ``computed`` from the ratings; ``cdt``: published factors of rank 20, or, without their file, computed factors
        (``surrogate``).
    """

    reads: ClassVar[tuple[str, ...]] = ("movielens",)

    dim: PositiveInt = 20
    n_arms: Annotated[int, Field(ge=1, le=1682)] = 1000
    reward_link: Link = "linear"
    noise_std: NonNegativeFloat = 1.0
    n_users: Annotated[int, Field(ge=1, le=943)] = 100
    mean: Literal["min_max", "raw"] = "min_max"
    normalise_theta: bool = False
    feature_scaling: Literal["none", "unit_ball", "round"] = "none"
    regularisation: Annotated[float, Field(gt=0)] = 0.05
    factors: Literal["computed", "cdt"] = "computed"

    @property
    def link(self) -> Link:
        return self.reward_link

    @property
    def fingerprint(self) -> str:
        return fingerprint() if self.factors == "computed" else cdt_factors.fingerprint()

    def start(self, rounds: int, seeds: Seeds) -> None:
        self.sub_gaussian = 0.5 if self.reward_link == "logistic" else self.noise_std
        factors = self._factors()
        films = np.asarray(factors.items, dtype=np.float64)
        if self.feature_scaling == "unit_ball":
            films = films / np.linalg.norm(films, axis=1).max()
        users = seeds.generator("theta").choice(len(factors.users), self.n_users, replace=False)
        self.theta = factors.users[users].mean(axis=0)
        if self.normalise_theta:
            self.theta = self.theta / np.linalg.norm(self.theta)

        self._norms = np.linalg.norm(films, axis=1)
        self.feature_norm = 1.0 if self.feature_scaling == "round" else float(self._norms.max())
        self._scale, self._shift = self._mean_map(films @ self.theta)
        self._films = np.ascontiguousarray(films.T)
        self._order = np.arange(len(films))
        self._picks = np.empty(self.n_arms)
        self._memory = np.empty((self.dim, self.n_arms))
        self._contexts = self._memory.T
        self.means = np.empty(self.n_arms)
        self._rng = seeds.generator("contexts")
        self._noise = RewardNoise(self.reward_link, self.noise_std, seeds.generator("noise"))

    @classmethod
    def data_sets(cls, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return (*cls.reads, "cdt_factors") if settings.get("factors") == "cdt" else cls.reads

    def _factors(self) -> Factors:
        if self.factors == "cdt":
            if self.dim != cdt_factors.RANK:
                raise ConfigError(f"env.dim: found {self.dim} with factors 'cdt', expected {cdt_factors.RANK}")
            published = cdt_factors.cdt_factors()
            if published is not None:
                return published
        return movielens_factors(self.dim, self.regularisation)

    def _mean_map(self, values: np.ndarray) -> tuple[float, float]:
        if self.reward_link == "logistic" or self.mean == "raw":
            return 1.0, 0.0
        if self.feature_scaling == "round":
            raise ConfigError(
                "env.mean: found 'min_max' with feature_scaling 'round', expected 'raw', as films then have no fixed "
                "mean"
            )
        low, high = float(values.min()), float(values.max())
        return 1.0 / (high - low), -low / (high - low)

    def observe(self) -> np.ndarray:
        self._rng.random(out=self._picks)
        _offer(self._films, self._norms, self._order, self._picks, self.feature_scaling == "round", self._memory)
        linear_means(self._contexts, self.theta, self.means)
        logistic = self.reward_link == "logistic"
        self.best_mean, self.average_mean = transform_means(self.means, self._scale, self._shift, logistic)
        return self._contexts

    def pull(self, arm: int) -> float:
        return self._noise.reward(self.means.item(arm))


@kernel
def _offer(
    films: np.ndarray, norms: np.ndarray, order: np.ndarray, picks: np.ndarray, by_round: bool, out: np.ndarray
) -> None:
    """Copy the features of a uniformly random set of films into ``out``, by a partial Fisher-Yates shuffle."""
    dim, n_arms = out.shape
    largest = 0.0
    for k in range(n_arms):
        j = k + int(picks[k] * (order.size - k))
        order[k], order[j] = order[j], order[k]
        largest = max(largest, norms[order[k]])
    scale = 1.0 / largest if by_round else 1.0
    for i in range(dim):
        for k in range(n_arms):
            out[i, k] = films[i, order[k]] * scale


@component
class DriftingMovielens(Movielens):
    """MovieLens with a changing audience: theta is the mean factor of users who rated in the current part of the log.

    With one period, there is no drift. The mean tastes of all raters in any two tenths of the real log are nearly equal
    (cosines above 0.98), so the drift comes from the selection of a few users.

    Parameters
    ----------
    periods
        Number of parts of the log, equal in ratings and in time order, that follow each other in equal parts of the
        run. In each part, theta is the mean factor of ``n_users`` random users who rated in that part, or of all of
        them if they are fewer.
    """

    periods: PositiveInt = 20

    def notes(self) -> tuple[str, ...]:
        still = ("DriftingMovielens does not drift with these settings: see env.periods",) if self.periods == 1 else ()
        return (*super().notes(), *still)

    def start(self, rounds: int, seeds: Seeds) -> None:
        super().start(rounds, seeds)
        self._round = 0
        self._period = 0
        if self.periods == 1:
            self.change_points: tuple[int, ...] = ()
            return
        self.change_points = tuple(round(i * rounds / self.periods) for i in range(1, self.periods))
        users, rng = self._factors().users, seeds.generator("audience")
        self._thetas = []
        for raters in users_by_period(self.periods):
            if len(raters) and raters[-1] >= len(users):
                raise ConfigError(f"env.periods: found factors of {len(users)} users, expected one for every rater")
            theta = users[rng.choice(raters, min(self.n_users, len(raters)), replace=False)].mean(axis=0)
            self._thetas.append(theta / np.linalg.norm(theta) if self.normalise_theta else theta)
        self._enter(0)

    def _enter(self, period: int) -> None:
        self._period = period
        self.theta = self._thetas[period]
        self._scale, self._shift = self._mean_map(self._films.T @ self.theta)

    def observe(self) -> np.ndarray:
        while self._period < len(self.change_points) and self._round >= self.change_points[self._period]:
            self._enter(self._period + 1)
        self._round += 1
        return super().observe()
