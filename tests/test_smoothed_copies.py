"""Copies that take turns with their past: scripted ones by hand, and the suite's algorithms fed the same rounds."""

import copy
from typing import Any, ClassVar

import numpy as np
import pytest
from kept import Kept
from scipy.stats import chisquare

from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm
from bench.component import component
from bench.envs.contextual import ContextualEnvironment
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.copies import Copies
from bench.tasks.smoothed_copies import SmoothedCopies
from bench.tuners.baselines import Random
from bench.tuners.stochastic_corral import StochasticCorral
from runners.config.compose import from_overrides
from runners.config.experiment import build

SMALL = ("env.n_arms=6", "env.dim=3", "horizon=400")
ALL = {
    "LinTS": ("env=synthetic_linear", "algorithm=lints", "algorithm.tune=[ridge]"),
    "Laplace-TS": ("env=synthetic_logistic", "algorithm=laplace_ts"),
    "SGD-TS": (
        "env=synthetic_logistic",
        "algorithm=sgd_ts",
        "algorithm.epoch_factor=2",
        "algorithm.tune=[learning_rate]",
    ),
    "UCB-GLM": ("env=synthetic_logistic", "algorithm=ucb_glm", "algorithm.tune=[ridge]"),
}


def parts(*words: str) -> tuple[Any, Any]:
    return build(from_overrides([*words, *SMALL]).experiment)


@component
class Many(ContextualEnvironment):
    """A thousand arms with one feature; pulls are recorded."""

    @property
    def link(self):
        return "linear"

    def start(self, rounds, seeds):
        self.dim, self.n_arms = 1, 1_000
        self.sub_gaussian = self.feature_norm = 1.0
        self.means, self.best_mean, self.average_mean = np.zeros(self.n_arms), 0.0, 0.0
        self.pulled = []

    def observe(self):
        return np.ones((self.n_arms, 1))

    def pull(self, arm):
        self.pulled.append(arm)
        return 0.0


class Inner:
    """Where an algorithm keeps its generator."""

    def __init__(self, rng):
        self.rng = rng


class Counting(ContextualAlgorithm):
    """Pulls the arm whose number is that of the rewards learnt, and draws a number in each round."""

    spaces: ClassVar[dict[str, dict[str, Any]]] = {"rate": {"candidates": (0.5, 1.0)}}

    def start(self, info, seeds):
        self.learnt = 0
        self.inner = Inner(seeds.generator("draws"))
        self.shared = {"draws": [], "rates": []}

    def choose(self, contexts, configuration):
        self.draw = self.inner.rng.random()
        self.rate = configuration["rate"]
        return self.learnt

    def update(self, contexts, arm, reward):
        self.learnt += 1


def play(configurations, seed=0):
    task = SmoothedCopies(Many(), Counting())
    task.start(len(configurations), Seeds(seed))
    for rate in configurations:
        task.play({"rate": rate})
    return task


def test_a_copy_learns_from_every_second_decision_of_its_own_and_plays_its_past_in_the_others():
    """The two copies take turns independently of each other."""
    turns = [0.5, 1.0, 0.5, 0.5, 1.0, 0.5, 0.5, 1.0, 1.0, 0.5, 0.5, 0.5]
    task = play(turns)
    assert [each.learnt for each in task.copied.copies] == [4, 2]
    pulled = np.array(task.environment.pulled)
    for rate in (0.5, 1.0):
        mine = pulled[np.array(turns) == rate]
        assert mine[::2].tolist() == list(range(len(mine[::2])))
        assert all(0 <= arm <= s for s, arm in enumerate(mine[1::2]))


def test_the_past_policy_is_drawn_evenly_from_all_so_far_the_latest_included():
    fourth = [play([0.5] * 8, seed).environment.pulled[7] for seed in range(400)]
    counts = np.bincount(fourth, minlength=4)
    assert len(counts) == 4
    assert chisquare(counts).pvalue > 0.01


def test_a_past_policy_draws_anew_and_leaves_the_draws_of_the_copy_alone():
    task = SmoothedCopies(Many(), Counting())
    task.start(400, Seeds(3))
    alone = Counting()
    alone.start(None, Seeds(3).child("algorithm"))
    own, past = [], []
    for t in range(400):
        task.play({"rate": 0.5})
        (past if t % 2 else own).append(task._smoothed._policy[0].draw)
    np.testing.assert_array_equal(own, [alone.inner.rng.random() for _ in own])
    assert len({*own, *past}) == 400


def test_a_past_policy_has_the_configuration_of_then():
    """Hyper-parameters that are not tuned, and stand at a theoretical value, change with the rounds."""
    task, _ = parts("env=synthetic_linear", "algorithm=linucb", "algorithm.tune=[ridge]", "task=smoothed_copies")
    task.start(400, Seeds(1))
    theory = []
    for t in range(40):
        theory.append(task.algorithm.theory(t + 1)["exploration_rate"])
        task.play({"ridge": 0.1})
        _, completed = task._smoothed._policy
        if t % 2 == 0:
            now = completed["exploration_rate"]
        else:
            assert completed["exploration_rate"] <= now
    assert len(set(theory)) == 40


@pytest.mark.parametrize("name", ALL)
def test_a_copy_is_an_algorithm_alone_that_is_fed_its_own_rounds(name):
    """It pulls exactly the arms of these rounds, to the last draw."""
    task, _ = parts(*ALL[name], "task=smoothed_copies")
    kept, tuner, asked = Kept(task.environment), StochasticCorral(), []
    ask = tuner.ask
    tuner.ask = lambda: asked.append(ask()) or asked[-1]
    run(task, tuner, rounds=400, seeds=Seeds(5))
    environment, per_ask, warm_up = task.environment, task.algorithm.rounds_per_decision, task.random_rounds
    info = BanditInfo(environment.dim, environment.n_arms, 400, environment.sub_gaussian, environment.feature_norm)
    learnt = 0
    for candidate, mine in zip(task.algorithm.tuned.product(), task.copied.copies, strict=True):
        alone = copy.deepcopy(task.copied._original)
        alone.start(info, Seeds(5).child("algorithm"))
        defaults = alone.hyper_parameters.defaults
        for t, (contexts, arm, reward) in enumerate(kept.observations):
            if t >= warm_up:
                decision = (t - warm_up) // per_ask
                if asked[decision] != candidate or asked[: decision + 1].count(candidate) % 2 == 0:
                    continue
                first = warm_up + decision * per_ask
                complete = {**defaults, **alone.theory(first + 1, candidate), **candidate}
                assert alone.choose(contexts, complete) == arm
                learnt += 1
            alone.update(contexts, arm, reward)
        np.testing.assert_array_equal(mine.estimate, alone.estimate)
    assert learnt >= 100


def test_whoever_plays_agrees_with_itself():
    """Also where a past policy plays; the others are asked as they are."""
    words = ("env=synthetic_linear", "algorithm=lints", "algorithm.tune=[ridge]", "tuner=exp4_agreement")
    task, tuner = parts(*words, "task=smoothed_copies")
    tuner.start(task.start(400, Seeds(1)), Seeds(1))
    task.wish = tuner.wish
    kept = Kept(task.environment)
    for _ in range(100):
        configuration = tuner.ask()
        before, candidates = copy.deepcopy(task.copied.copies), list(map(task._complete, tuner.wish.agreement))
        outcome = task.play(configuration)
        tuner.tell(outcome.reward, outcome)
        contexts, arm, _ = kept.observations[-1]
        others = [each.choose(contexts, k) == arm for each, k in zip(before, candidates, strict=True)]
        others[tuner._chosen] = True
        assert outcome.agreement.tolist() == others


class Steady(Counting):
    """Learns nothing."""

    def update(self, contexts, arm, reward):
        pass


def test_where_nothing_is_learnt_it_is_the_task_of_copies():
    pulled = []
    for task in (Copies(Many(), Steady(), "played"), SmoothedCopies(Many(), Steady())):
        run(task, Random(), rounds=50, seeds=Seeds(2))
        pulled.append(task.environment.pulled)
    assert pulled[0] == pulled[1]


def test_copies_that_learn_from_their_own_rounds_have_no_forecasts():
    assert not SmoothedCopies(Many(), Counting()).start(9, Seeds(0)).forecasts
