"""The loop refuses wrong rewards, sums and configurations, each in one sentence with its round."""

import itertools
import math
import re
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from bench.algorithms.linucb import LinUCB
from bench.algorithms.sgd_ts import SGDTS
from bench.component import component
from bench.envs.contextual import ContextualEnvironment
from bench.errors import ConfigError, TaskError, TunerError
from bench.loop import run
from bench.rewards import short
from bench.seeding import Seeds
from bench.space import Space
from bench.tasks.base import Outcome, Task
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.base import Problem, Tuner
from bench.tuners.baselines import Random

SPACE = {
    "x": {"candidates": (7.0, 0.5), "low": 0.0, "high": 1.0},
    "n": {"low": 1.0, "high": 5.0, "integer": True},
    "word": ["a", None, True],
}


class Pays(Task):
    """Pays 1 in every round, with ``odd`` values in the fourth; each decision covers ``decision`` rounds."""

    sums = ("reward", "extra")

    def __init__(self, decision=1, usual=1.0, **odd):
        self.decision, self.usual, self.odd = decision, usual, odd

    def start(self, rounds, seeds):
        self.round = 0
        return Problem(Space.of(**SPACE), rounds)

    def step(self):
        self.round += 1
        return {"reward": self.usual, "extra": 0.0} | (self.odd if self.round == 4 else {})

    def play(self, configuration):
        steps = tuple(self.step() for _ in range(self.decision))
        return Outcome(steps[0]["reward"], steps[0]) if self.decision == 1 else Outcome(1.0, steps=steps)


class Proposes(Tuner):
    """Proposes a valid configuration, in the third round with ``changes``; records the rewards."""

    def __init__(self, changes=lambda configuration: configuration):
        self.changes = changes

    def _start(self, problem, seeds):
        self.told, self.asked = [], 0

    def _ask(self):
        self.asked += 1
        configuration = {"x": 0.5, "n": 2, "word": "a"}
        return self.changes(configuration) if self.asked == 3 else configuration

    def _tell(self, reward, outcome):
        self.told.append(reward)


class ProposesBeyond(Proposes):
    leaves_space = True


class OneOnly(Proposes):
    multiple = False

    def _ask(self):
        return {"x": 0.5, **self.changes({})}


@pytest.mark.parametrize("bad", ["0.5", np.ones(1), np.ones(2), 1j, None, 10**400, math.nan, -math.inf], ids=repr)
@pytest.mark.parametrize("decision", [1, 3])
def test_a_reward_that_is_no_number_is_named(bad, decision):
    tuner = Proposes()
    with pytest.raises(TaskError, match=r"^round 4: found the reward [^\n]* for the configuration {'x'.*number$"):
        run(Pays(decision, reward=bad), tuner, rounds=9)
    assert tuner.told == [1.0] * (3 // decision)


@pytest.mark.parametrize("good", [1, np.float32(0.5), np.int64(3), True], ids=repr)
def test_a_reward_may_be_any_real_number(good):
    assert run(Pays(reward=good), Proposes(), rounds=4).columns()["reward"][-1] == 3.0 + good


def test_rewards_whose_sum_overflows_are_refused_in_the_round_of_the_overflow():
    with pytest.raises(TaskError, match=r"^round 3: found 'reward' = 6e\+307 for .*, expected .* sum finite"):
        run(Pays(usual=0.6e308), Proposes(), rounds=9)


@pytest.mark.parametrize("bad", [math.nan, math.inf, "x", None, 1j, 10**400], ids=repr)
def test_a_value_that_cannot_be_added_up_is_named(bad):
    with pytest.raises(TaskError, match=r"^round 4: found 'extra' = .* for the configuration .*, expected a number"):
        run(Pays(extra=bad), Proposes(), rounds=9)


class Answers(Pays):
    """Returns this outcome for any configuration."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def play(self, configuration):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        (Outcome(1.0, {"reward": 1.0}), "round 1: found no value 'extra'"),
        (0.5, "round 1: found 0.5, expected an Outcome"),
        (Outcome(0.5, steps=({"reward": 0.5, "extra": 0.0},) * 4), "round 9: found an outcome of 4 rounds"),
    ],
)
def test_a_wrong_outcome_of_a_task_is_refused_in_its_round(answer, place):
    with pytest.raises(TaskError, match=f"^{place}"):
        run(Answers(answer), Proposes(), rounds=9)


# What a tuner may propose


def change(**values):
    return lambda configuration: configuration | values


def without(name):
    return lambda configuration: {key: value for key, value in configuration.items() if key != name}


@pytest.mark.parametrize(
    ("tuner", "changes", "place"),
    [
        (Proposes, change(wrong=1.0), "'wrong', expected values for just x, n, word"),
        (Proposes, without("n"), "no value for 'n', expected a whole number from 1 to 5"),
        (Proposes, lambda _: None, "found None, expected a dict"),
        (Proposes, change(x=1.5), "x = 1.5, expected a number from 0 to 1 or one of 7.0, 0.5"),
        (Proposes, change(x=math.nan), "x = nan, "),
        (Proposes, change(x=True), "x = True, "),
        (Proposes, change(n=2.5), "n = 2.5, "),
        (Proposes, change(word=1), "word = 1, expected one of 'a', None, True"),
        (ProposesBeyond, change(x=math.inf), "x = inf, expected a finite number"),
        (ProposesBeyond, change(n="2"), "n = '2', "),
        (ProposesBeyond, change(word="b"), "word = 'b', "),
    ],
)
def test_a_wrong_configuration_is_refused_before_it_is_played(tuner, changes, place):
    with pytest.raises(TunerError, match=f"^round 3: {tuner.__name__}: .*{re.escape(place)}"):
        run(Pays(), tuner(changes), rounds=9)


@pytest.mark.parametrize(
    "values",
    [{"x": 7.0}, {"x": 7}, {"x": 1}, {"x": np.float64(0.3)}, {"n": 3.0}, {"n": np.int64(5)}, {"word": None}],
    ids=repr,
)
def test_values_of_the_interval_or_the_candidates_are_right(values):
    assert run(Pays(), Proposes(change(**values)), rounds=9).round == 9


def test_a_tuner_that_leaves_the_space_may_propose_any_finite_number():
    assert run(Pays(), ProposesBeyond(change(x=-3.0, n=99)), rounds=9).round == 9


def test_a_tuner_of_one_hyper_parameter_sets_just_the_first():
    assert run(Pays(), OneOnly(), rounds=2).round == 2
    with pytest.raises(TunerError, match=r"^round 1: OneOnly: found a value for 'n', expected values for just x$"):
        run(Pays(), OneOnly(change(n=2)), rounds=2)


# What an environment of one's own may return


@component
class Mistaken(ContextualEnvironment):
    """A test sets its contexts and rewards."""

    n_shown: int = 3

    link = "logistic"

    def start(self, rounds, seeds):
        self.dim, self.n_arms, self.sub_gaussian, self.feature_norm = 2, 3, 0.25, 1.0
        self.means, self.best_mean, self.average_mean = np.zeros(self.n_shown), 0.0, 0.0

    def observe(self):
        return self.contexts

    def pull(self, arm):
        return next(self.rewards)


def play(contexts, rewards, algorithm=None):
    env = Mistaken()
    env.n_shown = min(len(contexts), 3)
    env.contexts, env.rewards = contexts, iter(rewards)
    return run(ContextualBandit(env, algorithm or LinUCB()), Random(), rounds=9).columns()


@pytest.mark.parametrize(
    ("contexts", "words"),
    [
        (np.ones((2, 3)), r"contexts of shape \(2, 3\)"),
        (np.ones((4, 2)), r"contexts of shape \(4, 2\)"),
        ([[1.0, 1.0, 1.0]] * 3, r"contexts of shape \(3, 3\)"),
    ],
)
def test_contexts_of_another_shape_are_named(contexts, words):
    with pytest.raises(TaskError, match=rf"^round 1: Mistaken.observe: found {words}, expected an array of shape"):
        play(contexts, [1.0])


PLAIN = np.array([[1.0, 0.5], [0.25, 2.0], [-1.0, 0.0]])


def test_contexts_of_the_same_numbers_are_the_same():
    kinds = [PLAIN, PLAIN.tolist(), PLAIN.astype(">f8"), PLAIN.astype(object), pd.DataFrame(PLAIN)]
    first, *others = (play(contexts, [0.1, 0.7, 0.3] * 3) for contexts in kinds)
    for found in others:
        pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(first))


NO_NUMBERS = {
    "masked": np.ma.masked_array(PLAIN, PLAIN > 1),
    "words": PLAIN.astype(str),
    "rows of different lengths": [[1.0, 2.0], [1.0]],
    "complex": PLAIN.astype(complex),
    "missing in a table": pd.DataFrame({"a": [1, pd.NA, 3], "b": [1, 2, 3]}),
}


@pytest.mark.parametrize("contexts", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_contexts_that_are_no_numbers_are_named(contexts):
    with pytest.raises(TaskError, match=r"^round 1: Mistaken.observe: found contexts [^\n]*, expected an array of num"):
        play(contexts, [1.0])


@pytest.mark.parametrize("reward", [None, "0.3", 10**400, np.ones(1), np.timedelta64(3, "s")], ids=short)
@pytest.mark.parametrize("algorithm", [LinUCB(), SGDTS()])
def test_a_reward_that_an_algorithm_cannot_learn_is_named(algorithm, reward):
    with pytest.raises(TaskError, match=r"^round 5: found the reward .* for .*, expected a finite number"):
        play(np.ones((3, 2)), [0.5] * 4 + [reward], algorithm)


class Gap(Mistaken):
    """In one round, not the only one, a context is not finite."""

    def observe(self):
        contexts = np.ones((3, 2))
        self.round = getattr(self, "round", 0) + 1
        if self.round == self.at:
            contexts[:] = self.value
        return contexts


@pytest.mark.parametrize("value", [math.nan, -math.inf])
@pytest.mark.parametrize(
    ("at", "round_", "found"),
    [
        (1, 1, "Gap.observe: found contexts"),
        (60, 60, "Gap.observe: found contexts"),
        (100, 129, "LinUCB: found an estimate"),
        (140, 150, "LinUCB: found an estimate"),
    ],
)
def test_a_context_that_is_not_finite_ends_the_run_at_once_or_once_it_was_learnt(at, round_, found, value):
    env = Gap()
    env.at, env.value, env.rewards = at, value, itertools.repeat(0.5)
    with pytest.raises(TaskError, match=rf"^round {round_}: {found} with NaN or infinity, expected contexts of finite"):
        run(ContextualBandit(env, LinUCB()), Random(), rounds=150)


@pytest.mark.parametrize("reward", [1.1e150, -sys.float_info.max, 10**200], ids=short)
def test_a_reward_whose_square_overflows_is_refused_where_an_algorithm_learns_it(reward):
    words = re.escape(f"round 3: found the reward {reward:g} for ") + r".*, expected at most 1e\+150 in size"
    with pytest.raises(TaskError, match=words):
        play(np.ones((3, 2)), [0.5, 1e150, reward])


@pytest.mark.parametrize("value", [pd.NA, np.ma.masked, np.array(0.5), 1 + 0j, Decimal("0.5")])
def test_a_value_that_is_neither_number_string_nor_none_is_named(value):
    with pytest.raises(TaskError, match=r"^round 4: found 'more' = .* for .*, expected a number, a string or None"):
        run(Pays(more=value), Random(), rounds=5)


@pytest.mark.parametrize("value", [-1, 1.5, "5", None, math.nan], ids=str)
def test_rounds_and_seeds_are_whole_numbers_from_0(value):
    for call in (lambda: run(Pays(), Random(), rounds=value), lambda: Seeds(value), lambda: Seeds(1, value)):
        with pytest.raises(ConfigError, match=r"^(rounds|seed|repetition): found .*, expected a whole number, at leas"):
            call()
    assert len({Seeds(seed).generator("x").random() for seed in (0, 2**63, 2**64, 2**200)}) == 4
