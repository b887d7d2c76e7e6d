"""The habo paper's Bayesian optimisation, run as its authors' code does: the four printed scores."""

import pytest

from bench.algorithms.random_forest import RandomForest
from bench.envs.house_prices import HousePrices
from bench.envs.titanic import Titanic
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.training import Training
from bench.tuners.gp_minimize import GPMinimize

PRINTED = [
    (Titanic, 20, 0.8042),
    pytest.param(Titanic, 50, 0.8112, marks=pytest.mark.release),
    (HousePrices, 20, 0.8916),
    pytest.param(HousePrices, 50, 0.8945, marks=pytest.mark.release),
]


@pytest.mark.parametrize(("environment", "rounds", "score"), PRINTED)
def test_the_printed_score(environment, rounds, score):
    if environment().fingerprint == "surrogate":
        pytest.skip(f"{environment.__name__} is not at hand: BENCH_DATA_DIR names no folder with it")
    max_features = {"candidates": ["sqrt", "log2", None]}
    task = Training(environment(), RandomForest(space={"max_features": max_features}))
    trace = run(task, GPMinimize(random_state=42), rounds=rounds, seeds=Seeds())
    # The start, scored before the first round, is below every printed score.
    assert round(trace.columns()["best_score"][-1], 4) == score
