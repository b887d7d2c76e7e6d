"""What passes through the loop is copied and converted; what environments say of themselves is checked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.component import component
from bench.envs.direct import DirectEnvironment
from bench.errors import BenchError, TaskError, TunerError
from bench.loop import run
from bench.space import Space
from bench.tasks.base import Outcome, Task
from bench.tasks.direct import Direct
from bench.tuners.base import Problem, Tuner
from bench.tuners.op import OP
from bench.tuners.tl import TL
from bench.tuners.ucb import UCB1

GRID = {"candidates": (0.0, 0.25, 0.5, 0.75, 1.0), "low": 0.0, "high": 1.0}


@component
class Says(DirectEnvironment):
    """Its best configuration is in the middle; what it says of itself is a setting."""

    best: object = 1.0
    average: object = 0.7
    noise: object = 0.1

    @property
    def space(self):
        return Space.of(x=GRID, y=dict(GRID, default=0.25), word=["b", "a"])

    def start(self, rounds, seeds):
        self.sub_gaussian, self.best_mean, self.average_mean = self.noise, self.best, self.average
        self.seen = []

    def play(self, configuration):
        self.seen.append(dict(configuration))
        self.mean = 1 - abs(configuration["x"] - 0.5) / 2 - abs(configuration["y"] - 0.5) / 2
        return self.mean


@pytest.mark.parametrize("tuner", [TL(), OP()])
def test_a_tuner_of_one_hyper_parameter_plays_the_others_at_their_defaults_and_the_trace_has_them(tuner):
    environment = Says()
    columns = run(Direct(environment), tuner, rounds=50).columns()
    assert {(seen["y"], seen["word"]) for seen in environment.seen} == {(0.25, "b")}
    assert set(columns["y"]) == {0.25}
    assert set(columns["word"]) == {"b"}
    np.testing.assert_allclose(columns["regret"], np.cumsum([1 - 0.875 + abs(x - 0.5) / 2 for x in columns["x"]]))


@pytest.mark.parametrize(
    ("settings_", "words"),
    [
        (
            {"best": 0.2},
            r"round 1: Says: found the expected reward of the configuration played = 0\.\d+, expected at most",
        ),
        (
            {"best": 0.9},
            r"round \d+: Says: found the expected reward of the configuration played = 1.0, expected at most",
        ),
        ({"average": 1.1}, r"round 1: Says: found average_mean = 1.1, expected at most best_mean = 1.0"),
        ({"average": float("nan")}, r"round 1: Says: found average_mean = nan, expected a finite number"),
        ({"best": float("nan")}, r"round 1: Says: found best_mean = nan, expected a finite number"),
        ({"noise": float("nan")}, r"Says.sub_gaussian: found nan after start, expected a finite number, at least 0"),
        ({"noise": -1.0}, r"Says.sub_gaussian: found -1.0 after start, expected a finite number, at least 0"),
        ({"noise": "1"}, r"Says.sub_gaussian: found '1' after start, expected a finite number, at least 0"),
    ],
)
def test_an_environment_that_contradicts_itself_is_named(settings_, words):
    environment = Says(**settings_)
    with pytest.raises(TaskError, match=f"^{words}"):
        run(Direct(environment), UCB1(), rounds=200)


def test_means_may_differ_by_rounding_and_are_float64_for_the_regret():
    environment = Says(best=np.float32(1.0 - 1e-7), average=np.float32(0.7))
    columns = run(Direct(environment), UCB1(), rounds=20).columns()
    assert columns["regret"].dtype == np.float64
    assert columns["random_regret"][-1] == pytest.approx(20 * (float(np.float32(1 - 1e-7)) - float(np.float32(0.7))))


# Any user object, at any round


ROUNDS = 12
BAD = st.sampled_from(
    [
        "mutates",
        "float32",
        "subclass",
        "reused",
        "raises",
        "exits",
        "interrupts nothing",
        "nan",
        "text",
        "generator exit",
    ]
)


class Number(float):
    """A float of one's own."""


class Plays(Task):
    """Pays x + t, and in one round does what it is told."""

    def __init__(self, at, what):
        self.at, self.what = at, what

    def start(self, rounds, seeds):
        self.round, self.values = 0, {}
        return Problem(Space.of(x=[0.5, 1.5]), rounds)

    def play(self, configuration):
        self.round += 1
        reward = configuration["x"] + self.round
        if self.what == "reused":
            self.values.clear()
        values = self.values if self.what == "reused" else {}
        values["reward"] = reward
        if self.round == self.at:
            reward = values["reward"] = self.odd(reward, configuration)
        return Outcome(reward, values)

    def odd(self, reward, configuration):
        if self.what == "mutates":
            configuration["x"] = 99.0
            configuration["y"] = 1.0
        if self.what in ("float32", "subclass"):
            return np.float32(reward) if self.what == "float32" else Number(reward)
        return fails(self.what, reward)


class Asks(Tuner):
    """Proposes the candidates in turn, and in one ask or tell does what it is told."""

    def __init__(self, at, what, call):
        self.at, self.what, self.call = at, what, call

    def _start(self, problem, seeds):
        self.asked, self.configuration = 0, {"x": 0.5}

    def _ask(self):
        self.asked += 1
        self.configuration["x"] = 0.5 + self.asked % 2
        if self.asked == self.at and self.call == "ask":
            if self.what in ("float32", "subclass"):
                kind = np.float32 if self.what == "float32" else Number
                return {"x": kind(self.configuration["x"])}
            fails(self.what, 0.0)
        return self.configuration

    def _tell(self, reward, outcome):
        assert type(reward) is float
        if self.what == "mutates":
            outcome.values["reward"] = 99.0
            self.configuration["x"] = 77.0
        if self.asked == self.at and self.call == "tell":
            fails(self.what, reward)


def fails(what, value):
    if what == "raises":
        raise ValueError("no such arm")
    if what == "exits":
        raise SystemExit(3)
    if what == "generator exit":
        raise GeneratorExit
    return {"nan": float("nan"), "text": "one"}.get(what, value)


@settings(max_examples=500, deadline=None)
@given(at=st.integers(1, ROUNDS), what=BAD, who=st.sampled_from(["play", "ask", "tell"]), max_rows=st.integers(2, 20))
def test_whatever_user_code_does_the_result_is_that_of_well_behaved_code_or_a_failure_in_a_sentence(
    at, what, who, max_rows
):
    task = Plays(at if who == "play" else 0, what if who == "play" else "")
    tuner = Asks(at if who != "play" else 0, what if who != "play" else "", who)
    found = None
    try:
        columns = run(task, tuner, rounds=ROUNDS, max_rows=max_rows).columns()
    except (BenchError, ValueError) as error:
        found = error
    if isinstance(found, ValueError):
        assert what == "raises"
        assert found.__notes__[0].startswith(f"round {at}")
    elif found is not None:
        assert f"round {at}" in str(found)
        assert what in ("exits", "generator exit", "nan", "text")
        assert "\n" not in str(found)
        assert type(found) is (TaskError if who == "play" else TunerError)
    else:
        proposed = [0.5 + t % 2 for t in range(1, ROUNDS + 1)]
        sums = np.cumsum([x + t for t, x in enumerate(proposed, start=1)])
        rows = (columns["round"] - 1).tolist()
        assert columns["x"].tolist() == [proposed[row] for row in rows]
        assert columns["reward"].tolist() == sums[rows].tolist()
