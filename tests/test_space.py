"""NumPy's and pandas' values that user code hands over: Python's own plain values everywhere, or a sentence."""

import json
from enum import IntEnum
from types import NoneType

import numpy as np
import pandas as pd
import pytest

from bench.algorithms.linucb import LinUCB
from bench.component import component
from bench.envs.contextual import ContextualEnvironment
from bench.errors import ConfigError, TaskError, TunerError
from bench.loop import run
from bench.space import HyperParameter, Space
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.base import Problem
from bench.tuners.baselines import Fixed, Random
from bench.tuners.ucb import UCB1


@component
class Mistaken(ContextualEnvironment):
    """Its contexts are what a test sets."""

    def start(self, rounds, seeds):
        self.dim, self.n_arms, self.sub_gaussian, self.feature_norm = 2, 3, 0.25, 1.0
        self.means, self.best_mean, self.average_mean = np.zeros(3), 0.0, 0.0

    def observe(self):
        return self.contexts

    def pull(self, arm):
        return arm / 2


def play(contexts):
    env = Mistaken()
    env.contexts = contexts
    return run(ContextualBandit(env, LinUCB()), Random(), rounds=9).columns()


PLAIN = np.array([[1.0, 0.5], [0.25, 2.0], [-1.0, 0.0]])
SAME = {
    "a list": PLAIN.tolist(),
    "float32": PLAIN.astype(np.float32),
    "big-endian": PLAIN.astype(">f8"),
    "objects": PLAIN.astype(object),
    "a table": pd.DataFrame(PLAIN),
    "masked nowhere": np.ma.masked_array(PLAIN),
}


@pytest.mark.parametrize("contexts", SAME.values(), ids=SAME)
def test_contexts_of_the_same_numbers_are_the_same(contexts):
    found, expected = (play(each) for each in (contexts, PLAIN))
    assert {name: column.tolist() for name, column in found.items()} == {
        name: column.tolist() for name, column in expected.items()
    }


NO_NUMBERS = {
    "masked": np.ma.masked_array(PLAIN, PLAIN > 1),
    "words": PLAIN.astype(str),
    "objects with a word": np.array([[1.0, "a"]] * 3, dtype=object),
    "rows of different lengths": [[1.0, 2.0], [1.0]],
    "complex": PLAIN.astype(complex),
    "missing in a table": pd.DataFrame({"a": [1, pd.NA, 3], "b": [1, 2, 3]}),
}


@pytest.mark.parametrize("contexts", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_contexts_that_are_no_numbers_are_named(contexts):
    with pytest.raises(TaskError, match=r"^round 1: Mistaken.observe: found contexts [^\n]*, expected an array of num"):
        play(contexts)


CANDIDATES = {
    "an array": np.array([0.5, 1.5]),
    "float32": np.array([0.5, 1.5], dtype=np.float32),
    "big-endian": np.array([0.5, 1.5], dtype=">f8"),
    "whole numbers": np.arange(1, 3),
    "words": np.array(["a", "b"]),
    "objects": np.array([0.5, "a", None], dtype=object),
    "scalars": [np.float16(0.5), np.int8(3), np.str_("a")],
    "a series": pd.Series([0.5, 1.5]),
    "an enumeration": list(IntEnum("Level", "LOW HIGH")),
    "a range": range(2),
}


@pytest.mark.parametrize("candidates", CANDIDATES.values(), ids=CANDIDATES)
def test_candidates_and_what_is_proposed_are_plain_values(candidates):
    for tuner in (Random(), UCB1(), Fixed(configuration={"x": next(iter(candidates))})):
        tuner.start(Problem(Space.of(x=candidates, y={"candidates": candidates, "default": list(candidates)[1]}), 10))
        configuration = tuner.ask()
        assert json.loads(json.dumps(configuration)) == configuration
        assert {*map(type, configuration.values())} <= {float, int, str, NoneType}


@pytest.mark.parametrize(
    "candidates",
    ["word", 0.5, None, b"ab", {"a", "b"}, pd.DataFrame({"a": [1]}), np.ones((2, 2)), np.array(0.5)],
    ids=lambda value: type(value).__name__,
)
def test_candidates_that_are_no_list_are_named(candidates):
    for build in (lambda: Space.of(x=candidates), lambda: HyperParameter("x", candidates=candidates)):
        with pytest.raises(ConfigError, match=r"^hyper-parameter 'x': found the candidates [^\n]*, expected a list"):
            build()


def test_a_hyper_parameter_may_have_any_name():
    assert Space.of(cls=[1, 2], self=[3]).names == ("cls", "self")


@pytest.mark.parametrize("arguments", [(Space.of(x=[1, 2]),), (Problem(Space.of(x=[1, 2]), 10), 7)])
def test_a_start_with_other_arguments_is_one_sentence(arguments):
    with pytest.raises(TunerError, match=r"^Random: found start\([^\n]*, expected start\(Problem\("):
        Random().start(*arguments)
