"""NumPy's and pandas' values as candidates: Python's own plain values everywhere, or a sentence."""

import json
from enum import IntEnum
from types import NoneType

import numpy as np
import pandas as pd
import pytest

from bench.errors import ConfigError, TunerError
from bench.space import HyperParameter, Space
from bench.tuners.base import Problem
from bench.tuners.baselines import Fixed, Random
from bench.tuners.ucb import UCB1

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
def test_candidates_and_proposals_are_plain_values(candidates):
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
def test_candidates_of_another_type_than_a_list_are_named(candidates):
    for build in (lambda: Space.of(x=candidates), lambda: HyperParameter("x", candidates=candidates)):
        with pytest.raises(ConfigError, match=r"^hyper-parameter 'x': found the candidates [^\n]*, expected a list"):
            build()


def test_a_hyper_parameter_may_have_any_name():
    assert Space.of(cls=[1, 2], self=[3]).names == ("cls", "self")


@pytest.mark.parametrize(
    "arguments",
    [(Space.of(x=[1, 2]),), (Problem(Space.of(x=[1, 2]), 10), 7), (Problem([1, 2], 10),), (Problem(None, 10),)],
)
def test_a_start_with_other_arguments_is_one_sentence(arguments):
    with pytest.raises(TunerError, match=r"^Random: found start\([^\n]*, expected start\(Problem\("):
        Random().start(*arguments)


@pytest.mark.parametrize("names", [("x", "model"), ("x",)])
def test_a_condition_on_a_later_hyper_parameter_is_refused(names):
    """It would be ignored; one on a hyper-parameter outside the space is, because a space may be a part of another."""
    given = {"x": {"candidates": [1, 2], "when": (names[-1], "large")}, "model": ["small", "large"]}
    with pytest.raises(ConfigError, match=r"'x': found when = \('\w+', 'large'\), expected an earlier hyper-parameter"):
        Space.of(**given)
    assert len(Space.of(x=given["x"] | {"when": ("other", 1)}).product()) == 2
    assert len(Space.of(model=given["model"], x=given["x"] | {"when": ("model", "large")}).product()) == 3
