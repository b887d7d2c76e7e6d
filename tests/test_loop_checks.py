"""What the loop refuses: rewards, sums and configurations that are wrong, each in one sentence with its round."""

import math

import numpy as np
import pytest

from bench.algorithms.linucb import LinUCB
from bench.algorithms.sgd_ts import SGDTS
from bench.component import component
from bench.envs.contextual import ContextualEnvironment
from bench.errors import TaskError, TunerError
from bench.loop import run
from bench.rewards import short
from bench.space import Space
from bench.tasks.base import Outcome, Task
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.base import Problem, Tuner
from bench.tuners.baselines import Random


class Listener(Tuner):
    """Takes down what it is told; proposes the one candidate."""

    def _start(self, problem, seeds):
        self.told = []

    def _ask(self):
        return {"first": 1.0}

    def _tell(self, reward, outcome):
        self.told.append(reward)


class Paid(Task):
    """Pays 1 in every round, but ``odd`` in the fourth; each decision covers ``decision`` rounds."""

    sums = ("reward", "extra")

    def __init__(self, odd, decision=1, **values):
        self.odd, self.decision, self.values = odd, decision, values

    def start(self, rounds, seeds):
        self.round = 0
        return Problem(Space.of(first=[1.0]), rounds)

    def step(self):
        self.round += 1
        reward = self.odd if self.round == 4 else 1.0
        return {"reward": reward, "extra": 0.0, **(self.values if self.round == 4 else {})}

    def play(self, configuration):
        steps = tuple(self.step() for _ in range(self.decision))
        return Outcome(steps[0]["reward"], steps[0]) if self.decision == 1 else Outcome(1.0, steps=steps)


class Growing(Task):
    """Pays 0.6e308 in every round: the sum of three overflows."""

    def start(self, rounds, seeds):
        return Problem(Space.of(first=[1.0]), rounds)

    def play(self, configuration):
        return Outcome(0.6e308, {"reward": 0.6e308})


@pytest.mark.parametrize("bad", ["0.5", np.ones(1), np.ones(2), 1j, None, 10**400, math.nan, -math.inf], ids=repr)
@pytest.mark.parametrize("decision", [1, 3])
def test_a_reward_that_is_no_number_is_named(bad, decision):
    listener = Listener()
    with pytest.raises(TaskError) as error:
        run(Paid(bad, decision), listener, rounds=9)
    text = str(error.value)
    assert text.startswith("round 4: found the reward ")
    assert " for the configuration {'first': " in text
    assert text.endswith(", expected a finite number")
    assert "\n" not in text
    assert listener.told == [1.0] * (3 // decision)


@pytest.mark.parametrize("good", [1, np.float32(0.5), np.int64(3), True], ids=repr)
def test_a_reward_may_be_any_real_number(good):
    assert run(Paid(good, 1), Listener(), rounds=4).columns()["reward"][-1] == 3.0 + good


def test_rewards_whose_sum_overflows_are_refused_in_the_round_of_the_overflow():
    with pytest.raises(TaskError, match=r"^round 3: found 'reward' = 6e\+307 for .*, expected a number with which"):
        run(Growing(), Listener(), rounds=9)


@pytest.mark.parametrize("bad", [math.nan, math.inf, "x", None, 1j, 10**400], ids=repr)
def test_a_value_that_cannot_be_added_up_is_named(bad):
    with pytest.raises(TaskError, match=r"^round 4: found 'extra' = .* for the configuration .*, expected a number"):
        run(Paid(1.0, extra=bad), Listener(), rounds=9)


def test_a_value_that_is_missing_is_named():
    task = Paid(1.0)
    task.sums = ("reward", "regret")
    with pytest.raises(TaskError, match=r"^round 1: found no value 'regret' for the configuration .*, expected"):
        run(task, Listener(), rounds=9)


def test_a_task_returns_outcomes():
    task = Paid(1.0)
    task.play = lambda configuration: 0.5
    with pytest.raises(TaskError, match=r"^round 1: found 0.5, expected an Outcome or None$"):
        run(task, Listener(), rounds=9)


# What a tuner may propose

SPACE = {
    "x": {"candidates": (7.0, 0.5), "low": 0.0, "high": 1.0},
    "n": {"low": 1.0, "high": 5.0, "integer": True},
    "word": ["a", None, True],
}


class Proposes(Tuner):
    """Proposes what is right, and in the third round that with ``changes``."""

    def __init__(self, changes):
        self.changes = changes

    def _start(self, problem, seeds):
        self.asked = 0

    def _ask(self):
        self.asked += 1
        configuration = {"x": 0.5, "n": 2, "word": "a"}
        return self.changes(configuration) if self.asked == 3 else configuration

    def _tell(self, reward, outcome):
        pass


class ProposesBeyond(Proposes):
    leaves_space = True


class OneOnly(Proposes):
    multiple = False

    def _ask(self):
        return {"x": 0.5, **self.changes({})}


class Pays(Task):
    def start(self, rounds, seeds):
        return Problem(Space.of(**SPACE), rounds)

    def play(self, configuration):
        return Outcome(1.0, {"reward": 1.0})


def change(**values):
    return lambda configuration: configuration | values


def without(name):
    return lambda configuration: {key: value for key, value in configuration.items() if key != name}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (change(wrong=1.0), "found a value for 'wrong', expected values for just x, n, word"),
        (without("n"), "found no value for 'n', expected a whole number from 1 to 5"),
        (lambda _: {}, "found no value for 'x', expected a number from 0 to 1 or one of 7.0, 0.5"),
        (lambda _: None, "found None, expected a dict with a value for x, n, word"),
        (lambda _: [0.5], "found [0.5], expected a dict with a value for x, n, word"),
        (change(x=1.5), "found x = 1.5, expected a number from 0 to 1 or one of 7.0, 0.5"),
        (change(x=math.nan), "found x = nan, expected a number from 0 to 1 or one of 7.0, 0.5"),
        (change(x=True), "found x = True, expected a number from 0 to 1 or one of 7.0, 0.5"),
        (change(x=np.array([0.5])), "found x = array([0.5]), expected a number from 0 to 1 or one of 7.0, 0.5"),
        (change(n=2.5), "found n = 2.5, expected a whole number from 1 to 5"),
        (change(word="b"), "found word = 'b', expected one of 'a', None, True"),
        (change(word=1), "found word = 1, expected one of 'a', None, True"),
    ],
)
def test_a_wrong_configuration_is_refused_before_it_is_played(changes, text):
    with pytest.raises(TunerError) as error:
        run(Pays(), Proposes(changes), rounds=9)
    assert str(error.value) == f"round 3: Proposes: {text}"


@pytest.mark.parametrize(
    "values",
    [{"x": 7.0}, {"x": 7}, {"x": 1}, {"x": np.float64(0.3)}, {"n": 3.0}, {"n": np.int64(5)}, {"word": None}],
    ids=repr,
)
def test_values_of_the_interval_or_the_candidates_are_right(values):
    assert len(run(Pays(), Proposes(change(**values)), rounds=9).columns()["round"]) == 9


def test_a_tuner_that_leaves_the_space_still_sets_finite_numbers_and_words_there_are():
    assert len(run(Pays(), ProposesBeyond(change(x=-3.0, n=99)), rounds=9).columns()["round"]) == 9
    for changes, text in (
        (change(wrong=1.0), "found a value for 'wrong', expected values for just x, n, word"),
        (change(x=math.inf), "found x = inf, expected a finite number"),
        (change(n="2"), "found n = '2', expected a finite number"),
        (change(word="b"), "found word = 'b', expected one of 'a', None, True"),
    ):
        with pytest.raises(TunerError) as error:
            run(Pays(), ProposesBeyond(changes), rounds=9)
        assert str(error.value) == f"round 3: ProposesBeyond: {text}"


def test_a_tuner_of_one_hyper_parameter_sets_just_the_first():
    assert run(Pays(), OneOnly(change()), rounds=2).round == 2
    with pytest.raises(TunerError, match=r"^round 1: OneOnly: found a value for 'n', expected values for just x$"):
        run(Pays(), OneOnly(change(n=2)), rounds=2)


# What an environment of one's own may return


@component
class Mistaken(ContextualEnvironment):
    """Contexts and rewards are what a test sets."""

    link = "logistic"

    def start(self, rounds, seeds):
        self.dim, self.n_arms, self.sub_gaussian, self.feature_norm = 2, 3, 0.25, 1.0
        self.means, self.best_mean, self.average_mean = np.zeros(3), 0.0, 0.0

    def observe(self):
        return self.contexts

    def pull(self, arm):
        return self.reward


def mistaken(contexts, reward):
    env = Mistaken()
    env.contexts, env.reward = contexts, reward
    return ContextualBandit(env, LinUCB())


@pytest.mark.parametrize(
    ("contexts", "words"),
    [
        (np.ones((2, 3)), r"contexts of shape \(2, 3\)"),
        (np.ones(2), r"contexts of shape \(2,\)"),
        (np.ones((4, 2)), r"contexts of shape \(4, 2\)"),
        (np.ones((0, 2)), r"contexts of shape \(0, 2\)"),
        ([[1.0, 1.0]] * 3, r"contexts of shape \(3, 2\)"),
    ],
)
def test_contexts_of_another_shape_are_named(contexts, words):
    with pytest.raises(TaskError, match=rf"^round 1: Mistaken.observe: found {words}, expected an array of shape"):
        run(mistaken(contexts, 1.0), Random(), rounds=9)


def test_there_may_be_fewer_arms():
    assert run(mistaken(np.ones((1, 2)), 1.0), Random(), rounds=9).columns()["reward"][-1] == 9.0


@pytest.mark.parametrize("reward", [None, "0.3", 10**400, np.ones(1)], ids=short)
@pytest.mark.parametrize("algorithm", [LinUCB(), SGDTS()])
def test_a_reward_that_an_algorithm_cannot_learn_is_named(algorithm, reward):
    environment = mistaken(np.ones((3, 2)), reward).environment
    rewards = iter([0.5] * 4)
    environment.pull = lambda arm: next(rewards, reward)
    with pytest.raises(TaskError, match=r"^round 5: found the reward .* for .*, expected a finite number"):
        run(ContextualBandit(environment, algorithm), Random(), rounds=9)


def test_a_reward_may_be_true():
    trace = run(mistaken(np.ones((3, 2)), np.True_), Random(), rounds=9).columns()
    assert trace["reward"][-1] == 9.0
