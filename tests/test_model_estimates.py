"""A task with a contextual algorithm tells a tuner the algorithm's estimates on request."""

import numpy as np
import pytest
import registry
from scipy.special import expit

from bench.algorithms.contextual import ContextualAlgorithm
from bench.algorithms.linucb import LinUCB
from bench.algorithms.sgd_ts import SGDTS
from bench.conformance.drive import drive_algorithm
from bench.envs.synthetic_linear import SyntheticLinear
from bench.envs.synthetic_logistic import SyntheticLogistic
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.base import Wish
from bench.tuners.baselines import Random

BANDITS = [n for n in registry.names("algorithm") if isinstance(registry.build("algorithm", n), ContextualAlgorithm)]


class Curious(Random):
    """Random configurations; records its rewards and values."""

    def _start(self, problem, seeds):
        super()._start(problem, seeds)
        self.outcomes = []

    @property
    def wish(self):
        return Wish(estimates=True)

    def _tell(self, reward, outcome):
        self.outcomes.append(outcome)


@pytest.mark.parametrize("name", BANDITS)
def test_expectations_are_those_of_the_estimate(name):
    algorithm = registry.build("algorithm", name)
    drive_algorithm(algorithm, 1, 400)
    contexts = np.random.default_rng(0).uniform(-1, 1, (3, 5)).T
    means = contexts @ algorithm.estimate
    if algorithm.links == ("logistic",):
        means = expit(means)
    assert np.ptp(means) > 1e-6
    rounding = 1e-12 * np.abs(means).max()
    for arm in range(5):
        told = algorithm.expect(contexts, arm)
        assert told["model_mean"] == pytest.approx(means[arm], abs=rounding)
        assert told["model_regret"] == pytest.approx(means.max() - means[arm], abs=rounding)
        assert told["model_regret"] >= 0


def test_only_a_tuner_that_wants_them_gets_them_and_nothing_else_changes():
    task = ContextualBandit(SyntheticLinear(n_arms=10, dim=3), LinUCB())

    def play(tuner):
        return run(task, tuner, rounds=300, seeds=Seeds(3)).columns()

    plain, told, again = play(Random()), play(Curious()), play(Random())
    assert set(again) == set(plain)
    assert set(told) - set(plain) == {"model_mean", "model_regret"}
    for name, values in plain.items():
        np.testing.assert_array_equal(values, told[name])


def test_every_round_of_a_decision_tells():
    tuner = Curious()
    run(ContextualBandit(SyntheticLogistic(n_arms=10, dim=3), SGDTS()), tuner, rounds=400, seeds=Seeds(0))
    assert tuner.outcomes
    for outcome in tuner.outcomes:
        assert len(outcome.steps) > 1
        assert all(step["model_regret"] >= 0 for step in outcome.steps)


def test_an_algorithm_without_an_estimate_leaves_them_out():
    class Silent(LinUCB):
        estimate = None

    tuner = Curious()
    run(ContextualBandit(SyntheticLinear(n_arms=10, dim=3), Silent()), tuner, rounds=20, seeds=Seeds(0))
    assert all("model_mean" not in outcome.values for outcome in tuner.outcomes)
