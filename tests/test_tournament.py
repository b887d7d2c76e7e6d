"""The limits that the tournament's regret is measured from."""

import json
from functools import cache

import pandas as pd
import pytest

from bench.seeding import Seeds
from runners.config.experiment import build
from runners.config.figures import expand, load_figure

FIGURES = ["tournament/ranks", "tournament/sensitivity", "tournament/unseen"]


@cache
def table_tasks(figure):
    """Return the experiments of a figure's tasks whose best score is given, one for each."""
    tasks = {one.labels["task"]: one.experiment for one in expand(load_figure(figure), "paper", [], readings=False)}
    return {label: one for label, one in tasks.items() if one.settings["task"].get("best_score")}


REACHED = {"Titanic, split size": 2, "Titanic, depth": 3, "house prices, split size": 13, "house prices, depth": 10}
"""A value with the best score on stand-ins, of the tasks that are looked at before every commit."""


def best_of(experiment, wanted=lambda value: True):
    """Return the task and the best score of the wanted values of its hyper-parameter."""
    task, _ = build(experiment)
    (parameter,) = task.start(100, Seeds(0)).space.parameters
    values = filter(wanted, range(int(parameter.low), int(parameter.high) + 1))
    return task, max(task.play({parameter.name: value}).reward for value in values)


@pytest.mark.parametrize("label", REACHED)
def test_the_best_score_on_stand_ins_is_reached_and_none_of_some_values_exceeds_it(label, monkeypatch, tmp_path):
    """Only every fourteenth value is tried, because training is slow."""
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    some = {REACHED[label], *range(2, 99, 14)}
    task, best = best_of(table_tasks("tournament/ranks")[label], some.__contains__)
    assert task.best_score["surrogate"] == pytest.approx(best, abs=1e-12)


@pytest.mark.release
@pytest.mark.parametrize("figure", FIGURES)
def test_the_best_score_on_stand_ins_is_that_of_the_best_value(figure, monkeypatch, tmp_path):
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    for label, experiment in table_tasks(figure).items():
        task, best = best_of(experiment)
        assert task.best_score["surrogate"] == pytest.approx(best, abs=1e-12), label


@pytest.mark.release
@pytest.mark.parametrize("figure", FIGURES)
def test_the_best_score_on_real_data_is_that_of_the_best_value(figure):
    for label, experiment in table_tasks(figure).items():
        task, best = best_of(experiment)
        if task.environment.fingerprint == "surrogate":
            pytest.skip("needs Titanic and House Prices")
        assert task.best_score["real"] == pytest.approx(best, abs=1e-12), label


@pytest.mark.parametrize("figure", FIGURES)
def test_the_best_score_was_reached_and_never_exceeded(figure, reference_results):
    """With all values in reach of many runs, a limit that none reaches belongs to another problem."""
    folder = reference_results / figure / "paper"
    if not folder.is_dir():
        pytest.skip("has not been run")
    labels = {run["key"]: run["labels"] for run in json.loads((folder / "manifest.json").read_text())["runs"]}
    table = pd.read_parquet(folder / "repetitions.parquet", columns=["key", "best_score"]).dropna()
    best = table.groupby(table["key"].map(lambda key: labels[key]["task"]))["best_score"].max()
    limits = {label: one.settings["task"]["best_score"]["real"] for label, one in table_tasks(figure).items()}
    assert best.to_dict() == pytest.approx(limits, abs=1e-12)
