"""The state of every tuner: saved at random moments, restored in another process, damaged."""

import collections
import copy
import json
import subprocess
import sys
from enum import Enum
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import registry

from bench.component import component
from bench.errors import TunerError
from bench.seeding import Seeds
from bench.space import Space
from bench.tasks.base import Outcome
from bench.tuners.base import Problem, Tuner
from bench.tuners.state import checksum

SPACE = {"x": {"candidates": (0.1, 1.0, 2.0), "low": 0.1, "high": 5.0}, "kind": ["a", "b"]}
DEAR = {"gp_minimize": (2, 12, 6), "tpe": (5, 60, 20), "gp_ucb": (5, 100, 60)}
"""Moments, rounds before the last of them and rounds compared, for slow rounds."""
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
    """Tell rewards that depend on the round alone, some late if the tuner supports it; return the configurations."""
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
    """Return states at random moments, each with the tuner's later decisions."""
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


def without_points(data):
    """Numbers as JavaScript reads and writes them: 1.0 is 1, and whole numbers beyond 2^53 are rounded."""
    if isinstance(data, dict):
        return {key: without_points(value) for key, value in data.items()}
    if isinstance(data, list):
        return [without_points(item) for item in data]
    return int(float(data)) if type(data) in (int, float) and data == int(data) else data


STORES = {
    "sorted": lambda saved: json.loads(json.dumps(saved, sort_keys=True)),
    "JavaScript": without_points,
}


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_any_store_of_json_keeps_a_state(store):
    for name in sorted(QUICK):
        tuner = begin(name)
        play(name, tuner, 0, 25)
        other = begin(name, seed=99)
        other.restore(store(json.loads(json.dumps(tuner.save()))))
        assert play(name, other, 25, 10) == play(name, tuner, 25, 10), name


def test_a_state_of_version_4_is_restored_unless_its_keys_were_put_in_another_order():
    saved = json.loads((Path(__file__).parent / "state_version_4.json").read_text())
    tuner = begin("habo", seed=99)
    tuner.restore(saved["state"])
    assert play("habo", tuner, 40, 15) == saved["asked"]
    with pytest.raises(TunerError, match="found keys in another order, expected them as they were saved"):
        tuner.restore(json.loads(json.dumps(saved["state"], sort_keys=True)))


FORGED = {
    "a class of another module": {"object": "subprocess:Popen", "attributes": {}},
    "a class that a module only imports": {"object": "bench.tuners.saving:Reader", "attributes": {}},
    "a function of NumPy for a generator": {"generator": {"dict": [["bit_generator", "seed"]]}},
    "a word in place of its arrays": "none",
    "an object of another class": {"object": "bench.seeding:Seeds", "attributes": {}},
}


@pytest.mark.parametrize("key", ["_squares", "_rng", "_given", "_tickets", "ask", "_ask"])
@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_a_forged_state_with_the_right_checksum_is_a_sentence_and_changes_nothing(key, forged):
    tuner = begin("gaussian_ts")
    play("gaussian_ts", tuner, 0, 5)
    saved = json.loads(json.dumps(tuner.save()))
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    state = saved | {"state": saved["state"] | {key: forged}}
    with pytest.raises(TunerError, match=r"^GaussianTS: saved state: [^\n]*found [^\n]*expected"):
        tuner.restore(state | {"checksum": checksum(state)})
    assert tuner.save() == saved
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


class Phase(Enum):
    FIRST = "first"


@component
class Holder(Tuner):
    """Keeps objects of the kinds that users keep."""

    def _start(self, problem, seeds):
        self.recent = collections.deque([1.0, 2.0], maxlen=2)
        self.phase = Phase.FIRST
        self.large = 2**80

    def _ask(self):
        return {"x": 1.0}

    def _tell(self, reward, outcome):
        self.recent.append(reward)


def test_bounded_queues_enumerations_and_large_numbers_are_restored_unchanged():
    tuner, other = Holder(), Holder()
    for each in (tuner, other):
        each.start(Problem(Space.of(x=[1.0]), 10))
    tuner.ask()
    tuner.tell(5.0)
    other.restore(json.loads(json.dumps(tuner.save())))
    other.ask()
    other.tell(6.0)
    assert (list(other.recent), other.phase, other.large) == ([5.0, 6.0], Phase.FIRST, 2**80)


NOT_KEPT = [
    (number for number in range(3)),
    collections.Counter("ab"),
    collections.OrderedDict(a=1),
    np.ma.masked_array([1.0, 2.0], [True, False]),
    pd.DataFrame({"a": [1]}),
    np.random.Generator(np.random.MT19937(1)),
]


@pytest.mark.parametrize("value", NOT_KEPT, ids=lambda value: type(value).__name__)
def test_attributes_that_cannot_be_restored_are_refused_when_saved(value):
    tuner = Holder()
    tuner.start(Problem(Space.of(x=[1.0]), 10))
    tuner.large = value
    with pytest.raises(TunerError, match=r"^Holder: large: found .*, expected .* in `unsaved`"):
        tuner.save()


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
