"""The limits that the tournament's regret is measured from."""

import json

import pandas as pd
import pytest

from bench.seeding import Seeds
from runners.config.experiment import build
from runners.config.figures import expand, load_figure

FIGURES = ["tournament/ranks", "tournament/sensitivity", "tournament/unseen"]


def table_tasks():
    """Yield the experiments of all tasks whose best score is given, one for each, by figure and task."""
    for name in FIGURES:
        tasks = {one.labels["task"]: one.experiment for one in expand(load_figure(name), "paper", [])}
        for label, experiment in tasks.items():
            if experiment.settings["task"].get("best_score"):
                yield f"{name}: {label}", experiment


TASKS = dict(table_tasks())


def best_of_all_values(experiment):
    task, _ = build(experiment.settings)
    (parameter,) = task.start(100, Seeds(0)).space.parameters
    values = range(int(parameter.low), int(parameter.high) + 1)
    return task, max(task.play({parameter.name: value}).reward for value in values)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.release if "unseen" in name else ()) for name in TASKS]
)
def test_the_best_score_on_stand_ins_is_that_of_the_best_value(name, monkeypatch, tmp_path):
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    task, best = best_of_all_values(TASKS[name])
    assert task.best_score["surrogate"] == pytest.approx(best, abs=1e-12)


@pytest.mark.release
@pytest.mark.parametrize("name", TASKS)
def test_the_best_score_on_real_data_is_that_of_the_best_value(name):
    task, best = best_of_all_values(TASKS[name])
    if task.environment.fingerprint == "surrogate":
        pytest.skip("needs Titanic and House Prices")
    assert task.best_score["real"] == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("figure", FIGURES)
def test_the_best_score_was_reached_and_never_exceeded(figure, reference_results):
    """With all values in reach of many runs, a limit that none reaches is that of something else."""
    folder = reference_results / figure / "paper"
    if not folder.is_dir():
        pytest.skip("has not been run")
    labels = {run["key"]: run["labels"] for run in json.loads((folder / "manifest.json").read_text())["runs"]}
    table = pd.read_parquet(folder / "repetitions.parquet", columns=["key", "best_score"]).dropna()
    best = table.groupby(table["key"].map(lambda key: labels[key]["task"]))["best_score"].max()
    limits = {
        name.split(": ")[1]: experiment.settings["task"]["best_score"]["real"]
        for name, experiment in TASKS.items()
        if name.startswith(figure)
    }
    assert best.to_dict() == pytest.approx(limits, abs=1e-12)
