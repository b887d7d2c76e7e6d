"""Copies of an algorithm, one for each candidate, and the tuner that plays the copy with the best forecasts."""

import copy
import math
from typing import Any, ClassVar

import numpy as np
import pytest
from kept import Kept
from scipy.special import expit
from scipy.stats import bernoulli, chisquare, norm

from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm
from bench.component import component
from bench.envs.contextual import ContextualEnvironment
from bench.envs.synthetic_logistic import SyntheticLogistic
from bench.errors import ConfigError, TunerError
from bench.loop import run
from bench.seeding import Seeds
from bench.space import Space
from bench.tasks.base import Outcome
from bench.tasks.copies import Copies
from bench.tuners.base import Problem
from bench.tuners.baselines import Fixed, Random
from bench.tuners.experts import BestForecast
from bench.tuners.gaussian_ts import GaussianTS
from runners.config.compose import from_overrides
from runners.config.experiment import build

LAPLACE = ("env=synthetic_logistic", "algorithm=laplace_ts", "algorithm.space.step_size.candidates=[0.1,0.5,5]")
SGD = ("env=synthetic_logistic", "algorithm=sgd_ts", "algorithm.epoch_factor=2", "algorithm.tune=[learning_rate]")
GLOC = ("env=synthetic_logistic", "algorithm=gloc", "algorithm.tune=[kappa]")
UCB_GLM = ("env=synthetic_logistic", "algorithm=ucb_glm", "algorithm.tune=[ridge]")
LINUCB = ("env=synthetic_linear", "algorithm=linucb", "algorithm.tune=[ridge]")
ALL = {"Laplace-TS": LAPLACE, "SGD-TS": SGD, "GLOC": GLOC, "UCB-GLM": UCB_GLM, "LinUCB": LINUCB}
SMALL = ("env.n_arms=6", "env.dim=3")


def parts(*words: str) -> tuple[Any, Any]:
    return build(from_overrides([*words, *SMALL, "horizon=300"]).experiment)


def columns(*words: str, rounds: int = 300) -> dict[str, np.ndarray]:
    return run(*parts(*words), rounds=rounds, seeds=Seeds(3)).columns()


def assert_same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> None:
    assert set(left) == set(right)
    for name, values in left.items():
        np.testing.assert_array_equal(values, right[name])


# Two copies by hand


@component
class Scripted(ContextualEnvironment):
    """One arm with one feature, 1, and the rewards that are given."""

    rewards: list[float]
    kind: str = "linear"

    @property
    def link(self):
        return self.kind

    def start(self, rounds, seeds):
        self.dim = self.n_arms = 1
        self.sub_gaussian, self.feature_norm = 0.5, 1.0
        self.means, self.best_mean, self.average_mean = np.zeros(1), 0.0, 0.0
        self._left = list(self.rewards)

    def observe(self):
        return np.ones((1, 1)) if self._left else None

    def pull(self, arm):
        return self._left.pop(0)


@component
class Following(ContextualAlgorithm):
    """Its estimate moves by ``rate`` of the way to each reward."""

    spaces: ClassVar[dict[str, dict[str, Any]]] = {"rate": {"candidates": (0.5, 1.0)}}

    @property
    def estimate(self):
        return self.mean

    def start(self, info, seeds):
        self.mean = np.zeros(1)

    def choose(self, contexts, configuration):
        self._rate = configuration["rate"]
        return 0

    def update(self, contexts, arm, reward):
        self.mean += self._rate * (reward - self.mean)


class Logistic(Following):
    links: ClassVar[tuple[str, ...]] = ("logistic",)


class WithoutEstimate(Following):
    estimate = None


class Watched(BestForecast):
    """Records its configurations and rewards."""

    def _begin(self, n, problem, seeds):
        super()._begin(n, problem, seeds)
        self.played, self.outcomes = [], []

    def _choose(self):
        self.played.append(super()._choose())
        return self.played[-1]

    def _tell(self, reward, outcome):
        super()._tell(reward, outcome)
        self.outcomes.append(outcome)


def test_no_logarithmic_loss_is_infinite():
    task = Copies(Scripted(rewards=[], kind="logistic"), Logistic())
    task.start(9, Seeds(0))
    for reward, loss in ((1.0, 0.0), (0.0, 15 * math.log(10))):
        for each in task.copied.copies:
            each.mean[:] = 800.0
        task.environment._left = [reward]
        assert task.play({"rate": 0.5}).forecast_losses == pytest.approx([loss] * 2, rel=1e-2, abs=1e-14)


# Limit cases


@pytest.mark.parametrize("learn", ["all", "played"])
@pytest.mark.parametrize("name", ALL)
def test_a_single_candidate_is_the_algorithm_itself(name, learn):
    words = ALL[name]
    key = {"Laplace-TS": "step_size", "SGD-TS": "learning_rate", "GLOC": "kappa"}.get(name, "ridge")
    one_copy = (*words, f"algorithm.space.{key}.candidates=[0.5]", "task=copies", f"task.learn={learn}")
    tuner = "tuner=best_forecast" if learn == "all" else "tuner=ucb1"
    plain = columns(*words, "tuner=fixed", f"+tuner.configuration.{key}=0.5")
    assert_same(columns(*one_copy, tuner), plain)
    assert np.ptp(plain["regret"]) > 0


@pytest.mark.parametrize("learn", ["all", "played"])
@pytest.mark.parametrize("name", ALL)
def test_a_copy_equals_a_single_algorithm_with_the_same_rounds(name, learn):
    task, _ = parts(*ALL[name], "task=copies", f"task.learn={learn}", "tuner=random")
    kept = Kept(task.environment)
    tuner = Watched() if learn == "all" else GaussianTS()
    asked = []
    ask = tuner.ask
    tuner.ask = lambda: asked.append(ask()) or asked[-1]
    rounds = 300
    run(task, tuner, rounds=rounds, seeds=Seeds(5))
    environment, per_ask = task.environment, task.algorithm.rounds_per_decision
    warm_up = task.random_rounds
    info = BanditInfo(environment.dim, environment.n_arms, rounds, environment.sub_gaussian, environment.feature_norm)
    losses = []
    for candidate, mine in zip(task.algorithm.tuned.product(), task.copied.copies, strict=True):
        alone = copy.deepcopy(task.copied._original)
        alone.start(info, Seeds(5).child("algorithm"))
        defaults = alone.hyper_parameters.defaults
        losses.append([])
        for t, (contexts, arm, reward) in enumerate(kept.observations):
            if t >= warm_up:
                if learn == "played" and asked[(t - warm_up) // per_ask] != candidate:
                    continue
                alone.choose(contexts, {**defaults, **alone.theory(t + 1, candidate), **candidate})
                value = contexts[arm] @ alone.estimate
                if environment.link == "logistic":
                    losses[-1].append(min(-bernoulli.logpmf(reward, expit(value)), 15 * math.log(10)))
                else:
                    losses[-1].append(-norm.logpdf((reward - value) / environment.sub_gaussian) + norm.logpdf(0))
            alone.update(contexts, arm, reward)
        np.testing.assert_array_equal(mine.estimate, alone.estimate)
    if learn == "all":
        total = np.array(losses).cumsum(axis=1)
        before = np.hstack([np.zeros((len(total), 1)), total[:, per_ask - 1 :: per_ask]])
        assert tuner.losses == pytest.approx(total[:, -1], rel=1e-5)
        for configuration, column in zip(asked, before.T, strict=False):
            assert column[tuner._candidates.index(configuration)] - column.min() <= 1e-6
        assert np.ptp(before[:, len(asked) // 2]) > 1e-3
    else:
        assert len({str(configuration) for configuration in asked}) == len(losses)


def test_agreement_is_asked_of_the_copies_themselves():
    task, tuner = parts(*LAPLACE, "task=copies", "tuner=exp4_agreement")
    tuner.start(task.start(300, Seeds(1)), Seeds(1))
    task.wish = tuner.wish
    kept = Kept(task.environment)
    for _ in range(40):
        before = copy.deepcopy(task.copied.copies)
        outcome = task.play(tuner.ask())
        tuner.tell(outcome.reward, outcome)
        contexts, arm, _ = kept.observations[-1]
        arms = [c.choose(contexts, k) for c, k in zip(before, tuner.wish.agreement, strict=True)]
        assert outcome.agreement.tolist() == [other == arm for other in arms]


# The tuner


@pytest.mark.parametrize(
    ("settings", "losses", "weights"),
    [({}, [0.5, 0.7, 0.5], [1, 0, 1]), ({"eta": 2.0}, [0.3, 0.0, 1.2], np.exp([-0.6, 0.0, -2.4]))],
)
def test_one_of_equal_leaders_is_drawn_or_else_by_exponential_weights(settings, losses, weights):
    tuner = BestForecast(**settings)
    tuner.start(Problem(Space.of(x=[0, 1, 2]), 10), Seeds(2))
    tuner.ask()
    tuner.tell(1.0, Outcome(1.0, forecast_losses=np.array(losses)))
    counts, weights = np.bincount([tuner.ask()["x"] for _ in range(6_000)], minlength=3), np.array(weights)
    assert (counts[weights == 0] == 0).all()
    assert chisquare(counts[weights > 0], 6_000 * weights[weights > 0] / weights.sum()).pvalue > 0.01


def test_tasks_without_forecasts_are_refused_only_by_tuners_that_need_them():
    task = Copies(Scripted(rewards=[1.0] * 9), WithoutEstimate())
    with pytest.raises(TunerError, match="an algorithm that has an estimate"):
        run(task, BestForecast(), rounds=9)
    assert not task.start(9, Seeds(0)).forecasts
    assert run(task, GaussianTS(), rounds=9).round == 9


def test_a_configuration_without_a_copy_is_refused():
    task = Copies(SyntheticLogistic(n_arms=5, dim=3), parts(*LAPLACE, "tuner=random")[0].algorithm)
    with pytest.raises(ConfigError, match=r"found the configuration .*2.5.*, expected one of the 3 candidates"):
        run(task, Fixed({"step_size": 2.5}), rounds=9)
    played = run(task, Random(), rounds=200).columns()["step_size"]
    assert set(played) == {0.1, 0.5, 5.0}  # of the interval nothing else is shown
