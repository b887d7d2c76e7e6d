"""Tuners that wrap other libraries, and TPE, which proposes the same values as Optuna's."""

import math
import subprocess
import sys

import numpy as np
import pytest

from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.gp_minimize import GPMinimize
from bench.tuners.optuna_tuner import OptunaRandom
from bench.tuners.tpe import TPE

TUNERS = [GPMinimize, TPE, OptunaRandom]
MIXED = Space.of(
    kind=(None, "a", 3, 0.5),
    scale={"low": 1e-3, "high": 1e3, "log": True},
    size={"low": 5, "high": 100, "integer": True},
    share={"low": 0.1, "high": 0.9},
    only=["k"],
)


def drive(tuner, space, rounds, reward, seed=1):
    tuner.start(Problem(space, rounds), Seeds(seed).child("tuner"))
    asked = []
    for _ in range(rounds):
        asked.append(tuner.ask())
        tuner.tell(reward(asked[-1]))
    return asked


def bowl(configuration):
    """Best at scale 10, size 40."""
    return -((math.log10(configuration["scale"]) - 1) ** 2) - ((configuration["size"] - 40) / 30) ** 2


@pytest.mark.parametrize("cls", TUNERS)
def test_values_of_every_type_are_proposed_as_they_are(cls):
    asked = drive(cls(), MIXED, 11 if cls is GPMinimize else 25, bowl)
    for configuration in asked:
        assert set(configuration) == set(MIXED.names)
        assert configuration["kind"] in (None, "a", 3, 0.5)
        assert type(configuration["size"]) is int
        assert 5 <= configuration["size"] <= 100
        assert type(configuration["scale"]) is float
        assert 1e-3 <= configuration["scale"] <= 1e3
        assert configuration["only"] == "k"
    assert {type(configuration["kind"]) for configuration in asked} == {type(None), str, int, float}
    assert sum(configuration["scale"] < 1 for configuration in asked[:10]) in range(1, 10)  # a logarithmic scale


@pytest.mark.parametrize("cls", TUNERS)
def test_one_enormous_reward_and_a_question_without_an_answer_do_no_harm(cls):
    tuner = GPMinimize(n_initial_points=4) if cls is GPMinimize else cls()
    tuner.start(Problem(Space.of(x={"low": 0.0, "high": 1.0}), 40), Seeds(2))
    asked = []
    for i in range(11 if cls is GPMinimize else 18):
        tuner.ask()
        asked.append(tuner.ask()["x"])
        tuner.tell(-1.7e308 if i == 10 else -abs(asked[-1] - 0.8))
    if cls is not OptunaRandom:
        assert np.median(np.abs(np.array(asked[-4:]) - 0.8)) < 0.2


@pytest.mark.filterwarnings("ignore")
def test_gp_minimize_proposes_as_its_library_in_one_call():
    from skopt import gp_minimize

    space = Space.of(size={"low": 5, "high": 100, "integer": True}, scale={"low": 1e-3, "high": 1e3, "log": True})
    asked = drive(GPMinimize(), space, 12, bowl)
    seed = int(Seeds(1).child("tuner").generator("optimizer").integers(2**31))
    whole = gp_minimize(
        lambda point: -bowl({"size": point[0], "scale": point[1]}),
        [(5, 100), (1e-3, 1e3, "log-uniform")],
        n_calls=12,
        random_state=seed,
    )
    assert [[c["size"], c["scale"]] for c in asked] == [[int(size), float(scale)] for size, scale in whole.x_iters]


def test_libraries_are_loaded_on_demand_and_print_nothing():
    script = (
        "import sys, bench.tuners.gp_minimize, bench.tuners.optuna_tuner as library\n"
        "from bench.tuners import base; from bench import space as s\n"
        "assert not {'skopt', 'optuna', 'sklearn'} & set(sys.modules)\n"
        "tuner = library.OptunaRandom()\n"
        "tuner.start(base.Problem(s.Space.of(x=[1, 2]), 5)); tuner.ask(); tuner.tell(1.0)\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout == out.stderr == ""
