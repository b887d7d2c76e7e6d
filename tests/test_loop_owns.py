"""The loop copies and converts values that pass through it, and checks the statements of environments."""

from collections import OrderedDict

import numpy as np
import pytest

from bench.component import component
from bench.envs.direct import DirectEnvironment
from bench.errors import TaskError, TunerError
from bench.loop import run
from bench.space import Space
from bench.tasks.direct import Direct
from bench.tasks.feedback import Feedback
from bench.tuners.base import Problem, Tuner
from bench.tuners.op import OP
from bench.tuners.tl import TL
from bench.tuners.ucb import UCB1

GRID = {"candidates": (0.0, 0.25, 0.5, 0.75, 1.0), "low": 0.0, "high": 1.0}


@component
class Says(DirectEnvironment):
    """Its best configuration is in the middle; its statements about itself are settings."""

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
        ({"best": 0.2}, r"round 1: Says: .* 0\.\d+, expected at most"),
        ({"best": 0.9}, r"round \d+: Says: .* 1.0, expected at most"),
        ({"average": 1.1}, "round 1: Says: found average_mean = 1.1, expected at most best_mean"),
        ({"average": float("nan")}, "round 1: Says: found average_mean = nan, expected a finite number"),
        ({"best": float("nan")}, "round 1: Says: found best_mean = nan, "),
        ({"noise": -1.0}, "Says.sub_gaussian: found -1.0 .* at least 0"),
        ({"noise": float("inf")}, "Says.sub_gaussian: found inf "),
        ({"noise": "1"}, "Says.sub_gaussian: found '1' "),
    ],
)
def test_an_environment_that_contradicts_itself_is_named(settings_, words):
    environment = Says(**settings_)
    with pytest.raises(TaskError, match=f"^{words}"):
        run(Direct(environment), UCB1(), rounds=200)


class Answers(Tuner):
    """Gives the same answer at every ask."""

    def __init__(self, answer):
        self._answer = answer

    def _start(self, problem, seeds): ...

    def _ask(self):
        return self._answer

    def _tell(self, reward, outcome): ...


@pytest.mark.parametrize("kind", [dict, OrderedDict, type("OfAUser", (dict,), {})])
def test_changes_of_a_configuration_do_not_reach_the_tuner(kind):
    tuner = Answers(kind(x=0.5))
    tuner.start(Problem(Space.of(x=GRID), 10))
    for configuration in (tuner.ask(), tuner.ask_ticket()[1]):
        assert configuration.pop("x") == 0.5
        configuration["y"] = 1.0
    assert tuner.ask() == {"x": 0.5}


class Peeks(Answers):
    """Reads a value that it was not told."""

    def _tell(self, reward, outcome):
        self.seen = (outcome.values.get("regret"), outcome.steps, reward)
        outcome.values["regret"]


@pytest.mark.parametrize("feedback", [Feedback(), Feedback(hold=2)])
def test_a_tuner_is_not_told_the_regret(feedback):
    tuner, task = Peeks({"x": 0.5, "y": 0.25, "word": "b"}), Direct(Says())
    task.feedback = feedback
    with pytest.raises(TunerError, match=r"reads the value 'regret' of an outcome, expected the reward, and"):
        run(task, tuner, rounds=10)
    assert tuner.seen == (None, (), 0.875)


def test_a_tuner_is_told_only_revealed_values():
    class Open(Direct):
        reveals = ("regret",)

    tuner = Peeks({"x": 0.5, "y": 0.25, "word": "b"})
    run(Open(Says()), tuner, rounds=10)
    assert tuner.seen[0] == 0.125


def test_a_tuners_changes_of_an_outcome_have_no_effect():
    class Writes(Answers):
        def _tell(self, reward, outcome):
            assert "regret" not in outcome.values
            outcome.values["regret"] = reward

    trace = run(Direct(Says()), Writes({"x": 0.5, "y": 0.25, "word": "b"}), rounds=5)
    assert trace.columns()["regret"][-1] == pytest.approx(5 * 0.125)


@component
class SaysReward(Says):
    """Its values have a reward too."""

    def values(self):
        return {**super().values(), "reward": 99.0}


def test_a_value_called_reward_does_not_replace_the_reward():
    with pytest.raises(TaskError, match=r"^round 1: found two values with the name 'reward', expected another name"):
        run(Direct(SaysReward()), UCB1(), rounds=2)
