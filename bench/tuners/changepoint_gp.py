import logging
import math
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from bench.arithmetic import total
from bench.component import component, neutral
from bench.errors import TunerError
from bench.rewards import LARGEST, short
from bench.seeding import Seeds
from bench.space import Configuration, Space
from bench.tuners.base import Problem, Tuner, Wish
from bench.tuners.changepoint_belief import ChangepointBelief
from bench.tuners.changepoint_kernels import OUTLIER
from bench.tuners.recommendation import Draws
from bench.tuners.space_points import distance, points
from bench.tuners.tickets import ALONE

log = logging.getLogger(__name__)

_warm = False
"""Whether the kernels have been compiled in this process."""

_PLAN = 8
"""Largest number of points that are tried in turn before the belief is formed."""

_SHARE = 20
"""One ask in this many of the horizon may be spent on the start."""

_FEWEST = 3
"""Smallest number of points that are tried in turn, for any horizon."""

_MOST_OFTEN = 0.001
"""The largest probability of a change per round."""

_TRUST = 0.9
"""Prior probability that the algorithm's estimate predicts rewards better than the belief from rewards alone."""

_LARGEST_LOG_ODDS = 30.0
"""Bound on the log odds between the two forecasters, so that rounding cannot make one certain."""


@component
class ChangepointGP(Tuner):
    """GP-UCB with Bayesian change detection for online bandits, which needs only rewards.

    The tuner draws a hypothesis about the time of the last change by its weight, and plays the point with the largest
    upper bound, mean + beta standard deviations, under this hypothesis. The expected rewards of the points of the
    search space (candidates, and even steps on the interval) are a Gaussian process until all of them change at once;
    see `bench.tuners.space_points.points` for the points and `ChangepointBelief` for the hypotheses. The level, the
    scale and the noise variance of the rewards are estimated. At first, and until rewards differ, eight even points are
    tried in turn, in random order. If eight would exceed a twentieth of the horizon, there are fewer points, but at
    least three. The variance of the function and the correlation of neighbours are weighted by the evidence: each
    hypothesis has a variance from ``signals``, and neighbours that are either independent or have a small independent
    part.

    If the task reports the algorithm's estimates (``model_mean`` for the arm pulled, and ``model_regret``, the greedy
    arm's estimate less ``model_mean``), a second belief learns from -model_regret + ``residual`` (reward - model_mean),
    which has a fraction of the reward's noise. The second belief decides while the algorithm's estimate is more likely
    than not to predict rewards better than the first belief, except in a share ``doubt`` of the rounds. Two forecasters
    are compared: the reward is normal around the forecast, with the estimated noise variance, and the better forecaster
    switches with the probability of a change; its prior probability is 0.9. Source: Srinivas et al. 2010 (GP-UCB);
    Adams and MacKay 2007 (run lengths); Mellor and Shapiro 2013 (drawing one); Herbster and Warmuth 1998 (fixed share,
    for the two forecasters). Their combination is ours.

    Parameters
    ----------
    points
        Even steps on the interval of a single hyper-parameter; candidates are added.
    length
        Length scale of the Matern 3/2 correlation, in units of the interval.
    signals
        Prior variances of the function around its level, in units of the noise variance; the belief from the
        algorithm's estimate uses the first.
    level
        Prior variance of the level, as a share of the signal.
    rough
        Share of the function's variance that is independent between neighbours.
    unrelated
        Prior weight, relative to 1, of a function with independent neighbours.
    changes
        Expected number of changes in a run; the probability per round is at most 1/1000, and falls once the horizon is
        exceeded.
    every
        Rounds between births of hypotheses.
    hypotheses
        Largest number of hypotheses of a prior.
    beta
        Width of the upper bound, in standard deviations.
    residual
        Weight of the reward in the second belief; null: learn from rewards alone.
    doubt
        Probability of a choice by rewards alone while the estimate is trusted, which ends a lasting greedy choice.
    robust
        Whether rewards more than 4 standard deviations from their forecast are learnt as outliers, with the noise
        variance of the last 300 rounds; see `ChangepointBelief`.
    """

    label: ClassVar[str] = "Changepoint GP"
    remembers: ClassVar[tuple[str, ...] | None] = ("_chosen",)
    learns_history: ClassVar[bool] = True
    heeds: ClassVar[tuple[str, ...]] = ("when", "excluded")

    points: Annotated[int, Field(ge=2)] = 20
    length: PositiveFloat = 0.4
    signals: Annotated[tuple[PositiveFloat, ...], Field(min_length=1)] = (0.3, 3.0, 30.0)
    level: NonNegativeFloat = 1.0
    rough: Annotated[float, Field(ge=0, le=1)] = 0.02
    unrelated: NonNegativeFloat = 0.05
    changes: NonNegativeFloat = 1.0
    every: PositiveInt = 8
    hypotheses: Annotated[int, Field(ge=4)] = 12
    beta: NonNegativeFloat = 1.5
    residual: Annotated[float, Field(ge=0, le=1)] | None = 0.1
    doubt: Annotated[float, Field(ge=0, le=1)] = 0.03125
    robust: bool = neutral(default=False)

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self.warm_up()
        self._rng = seeds.generator("hypothesis")
        self._configurations, correlations = points(problem.space, self.points, self.length, seeds.generator("points"))
        n = len(self._configurations)
        self._space = problem.space
        self._chosen = 0
        self._horizon = problem.horizon
        n_plan = min(_PLAN, max(_FEWEST, problem.horizon // _SHARE))

        def belief(signals: tuple[float, ...], roughs: tuple[float, ...]) -> ChangepointBelief:
            shapes = [(1.0 - rough) * correlations + rough * np.eye(n) + self.level for rough in roughs]
            priors = np.array([signal * shape for shape in shapes for signal in signals])
            weights = np.log([1.0 if rough == self.rough else self.unrelated for rough in roughs for _ in signals])
            return ChangepointBelief(
                priors, signals * len(roughs), weights, n_plan, self.hypotheses, self.every, self.robust
            )

        related = self.unrelated > 0.0 and self.rough < 1.0 and bool((correlations != np.eye(n)).any())
        self._by_rewards = belief(self.signals, (self.rough, 1.0) if related else (self.rough,))
        self._by_model = belief(self.signals[:1], (self.rough,))
        self._plan = self._rng.permutation(np.linspace(0, n - 1, min(n_plan, n)).round().astype(int)).tolist()
        self._asks = 0
        self._step = 0
        self._log_odds = math.log(_TRUST / (1.0 - _TRUST))

    @property
    def wish(self) -> Wish:
        return Wish(estimates=self.residual is not None)

    def posterior(self) -> list[tuple[Configuration, float, float]]:
        """Return each point with the mean and standard deviation of its current expected reward, from rewards alone.

        The values are averages over all hypotheses by weight. The result is empty until there is a belief. Raises
        TunerError if the tuner was not started in this process.
        """
        with ALONE:
            self._check_process("posterior()")
            belief, n = self._by_rewards, self._by_rewards.n_hypotheses
            if not n:
                return []
            _, means, covariances, log_weights, variances = (array[belief.left] for array in belief.arrays[:5])
        means, weights = means[:, :n], np.exp(log_weights[:, :n] - log_weights[:, :n].max())[..., None]
        weights /= weights.sum()
        mean = (weights * means).sum(axis=(0, 1))
        within = variances[:, None, None] * np.einsum("phkk->phk", covariances[:, :n])
        deviations = np.sqrt((weights * (np.maximum(within, 0.0) + (means - mean) ** 2)).sum(axis=(0, 1)))
        return list(zip(map(dict, self._configurations), mean.tolist(), deviations.tolist(), strict=True))

    def _belief(self, n: int, rng: np.random.Generator) -> Draws:
        """Draw a hypothesis of the belief from rewards alone by its weight, and then draw from its Gaussian process."""
        draws = self._by_rewards.draws(n, rng)
        if not len(draws):
            raise TunerError(f"{type(self).__name__}: found no belief yet, expected a few rewards that differ")
        return self._configurations, draws

    def _ask(self) -> Configuration:
        if not self._by_rewards.n_hypotheses:
            self._chosen = self._plan[self._asks % len(self._plan)]
        else:
            trusted = self._by_model.n_hypotheses and self._log_odds > 0.0
            belief = self._by_model if trusted and self._rng.random() >= self.doubt else self._by_rewards
            self._chosen = belief.largest_bound(self.beta, self._rng.random())
        self._asks += 1
        return self._configurations[self._chosen]

    def _tell(self, reward: float, outcome: Any) -> None:
        self._step += 1
        chance = min(_MOST_OFTEN, self.changes / max(self._horizon, self._step))
        error = self._by_rewards.learn(self._chosen, reward, chance)
        expected = None if self.residual is None else _expected(outcome)
        if self.residual is None or expected is None:
            return
        mean, regret = expected
        surprise = min(max(reward - mean, -LARGEST), LARGEST)
        self._by_model.learn(self._chosen, self.residual * surprise - regret, chance)
        if self._by_rewards.n_hypotheses:
            if self.robust:
                reach = OUTLIER * math.sqrt(self._by_rewards.noise_variance)
                error, surprise = (min(max(each, -reach), reach) for each in (error, surprise))
            evidence = 0.5 * (error * error - surprise * surprise) / self._by_rewards.noise_variance
            log_odds = min(max(self._log_odds + evidence, -_LARGEST_LOG_ODDS), _LARGEST_LOG_ODDS)
            odds = 1.0 / (1.0 + math.exp(-log_odds))
            odds += chance * (1.0 - 2.0 * odds)
            self._log_odds = math.log(odds / (1.0 - odds))

    def _as_asked(self, configuration: Configuration) -> None:
        """Record the point nearest to ``configuration`` as the point asked; values that are strings must be equal."""
        distances = [distance(self._space, point, configuration) for point in self._configurations]
        self._chosen = distances.index(min(distances))

    def _rebuild(self) -> None:
        n = len(self._configurations)
        for belief in (self._by_rewards, self._by_model):
            belief.check(n)
        places = [self._chosen, *(memory["_chosen"] for memory in self._tickets.open.values()), *self._plan]
        if not all(0 <= place < n for place in places) or self._step < 0:
            raise TunerError(f"found the points {short(places)}, expected numbers from 0 to {n - 1}")
        if abs(self._log_odds) > _LARGEST_LOG_ODDS:
            raise TunerError(f"found log odds of {self._log_odds}, expected at most {_LARGEST_LOG_ODDS:g} in size")

    @classmethod
    def warm_up(cls) -> None:
        """Compile the kernels of a round, which takes some ten seconds, or one second from the disk cache.

        `start` compiles them once per process; call this method earlier if the start must not wait.
        """
        global _warm
        if _warm:
            return
        _warm = True
        log.info(
            "compiling changepoint_gp, or reading it from the disk cache; this takes a second to some ten seconds, once"
        )
        tuner = cls(points=2, hypotheses=4, every=1)
        tuner.start(Problem(Space.of(x={"low": 0.0, "high": 1.0}), 10), Seeds())
        for reward in range(10):
            tuner.ask()
            tuner.tell(float(reward))


def _expected(outcome: Any) -> tuple[float, float] | None:
    """Return the algorithm's mean estimates, over the rounds, of the pulled arm and of the greedy arm's advantage."""
    steps = () if outcome is None else outcome.steps or (outcome.values,)
    if not steps or any("model_regret" not in step for step in steps):
        return None
    mean = total(step["model_mean"] for step in steps) / len(steps)
    regret = total(step["model_regret"] for step in steps) / len(steps)
    return (mean, regret) if math.isfinite(mean) and math.isfinite(regret) else None
