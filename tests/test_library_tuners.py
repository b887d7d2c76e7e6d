"""Tuners that other libraries do the work of."""

import math
import subprocess
import sys

import numpy as np
import pytest

from bench.algorithms.softmax_policy import SoftmaxPolicy
from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.gp_minimize import GPMinimize
from bench.tuners.optuna_tuner import TPE, OptunaRandom

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


@pytest.mark.parametrize("multivariate", [False, True])
def test_tpe_proposes_as_its_library_in_one_call(multivariate):
    import optuna

    space = Space.of(size={"low": 5, "high": 100, "integer": True}, scale={"low": 1e-3, "high": 1e3, "log": True})
    asked = drive(TPE(n_startup=7, multivariate=multivariate), space, 30, bowl)
    seed = int(Seeds(1).child("tuner").generator("sampler").integers(2**31))
    sampler = optuna.samplers.TPESampler(n_startup_trials=7, multivariate=multivariate, seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(
        lambda trial: bowl(
            {"size": trial.suggest_int("size", 5, 100), "scale": trial.suggest_float("scale", 1e-3, 1e3, log=True)}
        ),
        n_trials=30,
    )
    assert [trial.params for trial in study.trials] == asked


class PlainTPE(TPE):
    def _sampler(self, seed):
        import optuna

        return optuna.samplers.TPESampler(
            n_startup_trials=self.n_startup, multivariate=self.multivariate, constant_liar=False, seed=seed
        )


@pytest.mark.parametrize("multivariate", [False, True])
def test_the_sampler_that_remembers_its_trials_proposes_as_optunas(multivariate):
    """With hyper-parameters that do not always count, equal rewards, and trials without a result."""
    space = SoftmaxPolicy().tuned
    rng = np.random.default_rng(5)
    noise = rng.integers(0, 6, 90).tolist()
    asked = []
    for tuner in (TPE(multivariate=multivariate), PlainTPE(multivariate=multivariate)):
        tuner.start(Problem(space, 90), Seeds(7))
        own = []
        for i, extra in enumerate(noise):
            if i % 10 == 3:
                tuner.ask()
            own.append(tuner.ask())
            tuner.tell(float(round(math.log10(own[-1]["C"])) - (own[-1]["max_depth"] > 9) + extra))
        asked.append(own)
    assert asked[0] == asked[1]
    assert len({c["model"] for c in asked[0]}) == 2


def test_settings_without_effect_stay_at_their_usual_value_and_are_not_learnt():
    space = Space.of(
        model=["tree", "line"],
        depth={"low": 2, "high": 32, "integer": True, "when": ("model", "tree"), "default": 7},
        slope={"low": 0.0, "high": 1.0, "when": ("model", "line")},
    )
    tuner = TPE()
    asked = drive(tuner, space, 40, lambda c: c["depth"] / 32 if c["model"] == "tree" else c["slope"])
    for configuration, trial in zip(asked, tuner._study.trials, strict=True):
        if configuration["model"] == "tree":
            assert configuration["slope"] == 0.5
            assert set(trial.params) == {"model", "depth"}
        else:
            assert configuration["depth"] == 7
            assert set(trial.params) == {"model", "slope"}
    assert len({c["depth"] for c in asked}) > 5
    assert len({c["slope"] for c in asked}) > 2


def test_libraries_are_loaded_on_demand_and_print_nothing():
    script = (
        "import sys, bench.tuners.gp_minimize, bench.tuners.optuna_tuner as tpe\n"
        "from bench.tuners import base; from bench import space as s\n"
        "assert not {'skopt', 'optuna', 'sklearn'} & set(sys.modules)\n"
        "tuner = tpe.TPE(); tuner.start(base.Problem(s.Space.of(x=[1, 2]), 5)); tuner.ask(); tuner.tell(1.0)\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout == out.stderr == ""
