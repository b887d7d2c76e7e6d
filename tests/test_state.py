"""The state of every tuner: saved at random moments, restored in another process, damaged."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import registry

from bench.component import component
from bench.errors import TunerError
from bench.seeding import Seeds
from bench.space import Space
from bench.tasks.base import Outcome
from bench.tuners.base import Problem, Tuner

SPACE = {"x": {"candidates": (0.1, 1.0, 2.0), "low": 0.1, "high": 5.0}, "kind": ["a", "b"]}
DEAR = {"gp_minimize": (2, 12, 6), "tpe": (5, 60, 20), "gp_ucb": (5, 100, 60)}
"""Moments, rounds before the last of them and rounds compared, where rounds are dear."""
SCRIPT = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
import test_state
for name, moment, saved in json.load(sys.stdin):
    tuner = test_state.begin(name, seed=99)
    tuner.restore(saved)
    print(json.dumps(test_state.play(name, tuner, moment, test_state.moments(name)[2]), default=float))
"""


def moments(name):
    return DEAR.get(name, (10 if name in QUICK else 20, 300, 100))


def begin(name, seed=1):
    tuner = registry.build("tuner", name)
    space = {key: value for key, value in SPACE.items() if key == "x" or "candidates" in tuner.searches}
    problem = Problem(Space.of(**space), 600, theory=theory, change_points=(100,))
    tuner.start(problem, Seeds(seed))
    return tuner


def theory():
    return {"x": 1.5}


def play(name, tuner, first, rounds):
    """Tell rewards that depend on the round alone, some of them late where the tuner can; return what was asked."""
    asked = []
    for round_ in range(first, first + rounds):
        rng = np.random.default_rng(round_)
        ticket, configuration = tuner.ask_ticket()
        asked.append(configuration)
        reward = float(rng.normal(configuration["x"]))
        outcome = Outcome(reward, rewards=rng.random(6), forecast_losses=rng.random(6))
        if tuner.remembers is None or rng.random() < 0.8:
            tuner.tell(reward, outcome, ticket=ticket)
        for late in list(tuner._tickets.open)[: int(rng.integers(3))] if tuner.remembers is not None else ():
            tuner.tell(float(rng.normal()), outcome, ticket=late)
    return asked


QUICK = {"ucb1", "tl", "habo", "hyperband", "cdt", "bandit_over_bandit", "changepoint_gp", "tpe"}
OTHERS = [pytest.param({name}, marks=pytest.mark.release) for name in registry.names("tuner") if name not in QUICK]


def states_of(name):
    """Return states at random moments, and what the tuner decides from each on when it goes on from it here."""
    n, last, compared = moments(name)
    cuts = sorted(np.random.default_rng(2).choice(last, n, replace=False).tolist())
    tuner, states, went_on, done = begin(name), [], [], 0
    for cut in cuts:
        went_on.append(play(name, tuner, done, cut - done))
        done = cut
        states.append((name, cut, json.loads(json.dumps(tuner.save(), allow_nan=False))))
    expected = []
    for _, cut, saved in states:
        same = begin(name)
        same.restore(copy.deepcopy(saved))
        assert same.save() == saved
        expected.append(json.loads(json.dumps(play(name, same, cut, compared), default=float)))
    went_on.append(play(name, tuner, done, compared))
    for restored, asked in zip(expected, json.loads(json.dumps(went_on[1:], default=float)), strict=True):
        n = min(len(asked), compared)
        assert restored[:n] == asked[:n]
    return states, expected


@pytest.mark.parametrize("names", [QUICK, *OTHERS], ids=lambda names: "quick ones" if names == QUICK else min(names))
def test_saved_at_random_moments_and_restored_in_another_process_it_decides_the_same(names):
    """So two processes that restore one state play the same, as `restore` says."""
    made = [states_of(name) for name in sorted(names)]
    states, expected = ([one for part in parts for one in part] for parts in zip(*made, strict=True))
    paths = json.dumps([str(Path(__file__).parent), str(Path(__file__).parents[1])])
    command = [sys.executable, "-c", SCRIPT, paths]
    out = subprocess.run(command, input=json.dumps(states), capture_output=True, text=True, check=True).stdout
    assert [json.loads(line) for line in out.splitlines()] == expected


def places(data, path=()):
    """Yield the path of every value of plain data."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


DAMAGED = ["ucb1", "gaussian_ts", "exp3", "tl", "habo", "hyperband", "zooming_ts", "m_ucb", "changepoint_gp", "tpe"]


@pytest.mark.parametrize("name", DAMAGED)
def test_forty_damaged_states_are_a_sentence_each_and_change_nothing(name):
    tuner = begin(name)
    play(name, tuner, 0, 40)
    saved = json.loads(json.dumps(tuner.save()))
    rng = np.random.default_rng(7)
    found = list(places(saved))
    values = [None, -1, 10**30, "", "nan", [], {}, {"again": 3}, {"array": "O"}, True, 0.5, {"object": "os:system"}]
    damaged = 0
    while damaged < 40:
        *parents, last = found[int(rng.integers(len(found)))]
        state = copy.deepcopy(saved)
        part = state
        for key in parents:
            part = part[key]
        if rng.random() < 0.3:
            del part[last]
        else:
            part[last] = values[int(rng.integers(len(values)))]
        if state == saved:
            continue
        damaged += 1
        with pytest.raises(TunerError, match=rf"^{type(tuner).__name__}: saved state: [^\n]*found [^\n]*expected"):
            tuner.restore(state)
    assert tuner.save() == saved


def test_what_cannot_be_saved_is_named():
    @component
    class Odd(Tuner):
        def _start(self, problem, seeds):
            self.inner = {"good": 1, "bad": (number for number in range(3))}

        def _ask(self):
            return {}

        def _tell(self, reward, outcome):
            pass

    tuner = Odd()
    tuner.start(Problem(Space.of(x=[1.0]), 10))
    with pytest.raises(
        TunerError, match=r"^Odd: inner\['bad'\]: found <generator .*, expected something that can be saved"
    ):
        tuner.save()
