"""Timings: measured one after the other, kept, summarised by the median, and shown beside published ones."""

import gc
import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import threadpoolctl
from commands import linucb_settings
from rendered import NO_CURVES, finals_of, shown, tables

from bench.report.figure import read_figure
from bench.tuners.baselines import Random
from runners.config.experiment import Experiment
from runners.config.runner import Runner
from runners.execute import timing
from runners.execute.asked_figure import AskedFigure
from runners.execute.reproduce_figure import reproduce_figure
from runners.results.derive import derive_committed
from runners.results.store import Store

HORIZON = 30
FIGURE: dict[str, Any] = {
    "name": "table1",
    "paper": "cdt",
    "title": "Seconds",
    "kind": "timing",
    "column": "seconds",
    "reference": {"method": "TL / Syndicated"},
    "common": ["env=synthetic_linear"],
    "runs": [{"panel": {"LinUCB": [], "LinTS": ["algorithm=lints"]},
              "method": {"TL / Syndicated": ["tuner=syndicated"], "CDT": ["tuner=cdt"]}}],
    "published": [
        {"panel": "LinUCB", "method": "TL / Syndicated", "what": "mean", "value": 4.0},
        {"panel": "LinUCB", "method": "CDT", "what": "mean", "value": 6.0, "note": "a slip?"},
    ],
}  # fmt: skip
SECONDS = {
    ("LinUCB", "TL / Syndicated"): [2.0, 2.2, 1.8, 2.1, 9.0],
    ("LinUCB", "CDT"): [3.1, 3.0, 3.3, 3.2, 3.15],
    ("LinTS", "TL / Syndicated"): [1.0, 1.0, 1.0, 1.0, 1.0],
    ("LinTS", "CDT"): [2.5, 2.4, 2.6, 2.5, 2.7],
}


def experiment(**changes: Any) -> Experiment:
    return Experiment(linucb_settings(horizon=HORIZON, **changes))


class Calls:
    """Replaces `run_repetition`: records its calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.play = timing.run_repetition
        self.calls: list[tuple[int, int, int]] = []
        self.threads: set[int] = set()
        monkeypatch.setattr(timing, "run_repetition", self)

    def __call__(self, one: Experiment, repetition: int) -> Any:
        self.calls.append((one.settings["seed"], one.settings["horizon"], repetition))
        self.threads |= {library["num_threads"] for library in threadpoolctl.threadpool_info()}
        return self.play(one, repetition)


@pytest.fixture(autouse=True)
def no_search_for_garbage(monkeypatch):
    """With all that the session has imported, a collection takes longer than a test."""
    monkeypatch.setattr(gc, "collect", lambda: 0)
    yield
    gc.freeze()


@pytest.fixture
def calls(monkeypatch):
    return Calls(monkeypatch)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def drawn(*work: tuple[Experiment, int]) -> list[Any]:
    """Replace experiments of a figure, each with its number of measurements."""
    return [SimpleNamespace(experiment=one, settings=SimpleNamespace(repetitions=times)) for one, times in work]


def test_all_take_turns_in_one_thread_after_a_warm_up_and_only_with_repetition_0(calls, store, monkeypatch):
    monkeypatch.setattr(timing, "WARM_UP_ROUNDS", 7)
    first, second = experiment(seed=1), experiment(seed=2)
    with threadpoolctl.threadpool_limits(2):
        results = timing.measure(drawn((first, 3), (second, 2)), store)
    warm_up, turns = calls.calls[:2], calls.calls[2:]
    assert warm_up == [(1, 7, 0), (2, 7, 0)]
    assert turns == [(seed, HORIZON, 0) for seed in (1, 2, 1, 2, 1)]
    assert calls.threads == {1}
    for one, times in ((first, {0, 1, 2}), (second, {0, 1})):
        assert results[one.run_id].done == results[one.run_id].new == times
    for measured in timing.measurements(store, first.run_id):
        assert measured["rounds"] == HORIZON
        assert 0 < measured["cpu_seconds"] <= 1.5 * measured["seconds"] + 0.1


def test_kept_measurements_are_not_repeated(calls, store):
    one = experiment()
    timing.measure(drawn((one, 2)), store)
    first = timing.measurements(store, one.run_id)
    calls.calls.clear()
    (result,) = timing.measure(drawn((one, 2), (one, 1)), store).values()
    assert calls.calls == []
    assert (result.done, result.new) == ({0, 1}, set())
    timing.measure(drawn((one, 3)), store)
    assert len(calls.calls) == 2  # the warm-up, and the one that was missing
    assert timing.measurements(store, one.run_id)[:2] == first
    assert set(json.loads((store.folder(one.run_id) / "settings.json").read_text())) >= {"settings"}


def test_a_tuner_alone_is_told_the_rewards_of_its_run_and_asks_for_the_same(store, monkeypatch):
    """Warm-up, then per measurement a run and its repetition; pairs go forwards and backwards."""
    asked: list[list[Any]] = []

    class Noted(Random):
        def _start(self, problem, seeds):
            asked.append([problem.horizon])
            super()._start(problem, seeds)

        def _ask(self):
            asked[-1].append(super()._ask())
            return asked[-1][-1]

    Noted.__module__ = Random.__module__  # a class of a user's own would be measured in another process
    monkeypatch.setattr(timing, "WARM_UP_ROUNDS", 7)
    monkeypatch.setattr("bench.tuners.baselines.Random", Noted)
    work = [(experiment(seed=seed, tuner={"_target_": "bench.tuners.baselines.Random"}), 2) for seed in (1, 2)]
    results = timing.measure(drawn(*work), store, "tuner")
    assert [result.new for result in results.values()] == [{0, 1}, {0, 1}]
    runs = asked[2:]
    assert [one == other for one, other in zip(runs[::2], runs[1::2], strict=True)] == [True] * 4
    assert [runs[i] == runs[0] for i in (0, 2, 4, 6)] == [True, False, False, True]
    (first, again) = timing.measurements(store, work[0][0].run_id, "tuner")
    assert first["rounds"] == again["rounds"] == HORIZON
    assert first["seconds"] > 0
    assert not timing.measurements(store, work[0][0].run_id)


def test_a_figure_is_measured_in_this_process_for_any_jobs(tmp_path, monkeypatch, capsys):
    """End to end: nothing is handed to workers, and a second call measures nothing."""
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    monkeypatch.setattr("runners.execute.fanout.repeat", lambda *_: pytest.fail("handed to workers"))

    def make():
        run = AskedFigure(FIGURE, "cdt/table1/smoke", "smoke", [], "")
        return reproduce_figure(run, jobs=2, runner=Runner(progress=False)).complete

    assert make()
    assert "8 repetitions" in capsys.readouterr().out
    folder = tmp_path / "cdt" / "table1" / "smoke"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert make()
    assert "8 repetitions, 0 new" in capsys.readouterr().out
    again = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert {**again, "environment.json": b""} == {**before, "environment.json": b""}
    assert set(before) == {"table1.svg"} | {
        f"{name}.{end}" for name, end in (("table", "csv"), ("table", "md"), ("finals", "csv"), ("claims", "csv"))
    } | {"manifest.json", "environment.json", "seconds.csv"}
    finals = pd.read_csv(folder / "finals.csv")
    assert list(finals.columns) == ["panel", "method", "repetition", "rounds"]
    seconds = pd.read_csv(folder / "seconds.csv")
    assert list(seconds.columns) == ["panel", "method", "repetition", "seconds", "cpu_seconds"]
    kept = [json.loads(path.read_text())["measurements"] for path in tmp_path.glob("raw/*/seconds.json")]
    assert sorted(seconds["seconds"]) == pytest.approx(sorted(one["seconds"] for own in kept for one in own))
    assert set(finals["rounds"]) == {200}
    tables = derive_committed(read_figure(FIGURE), folder).files()
    assert tables == {name: before[name] for name in ("table.csv", "claims.csv")}
    key = json.loads(before["manifest.json"])["runs"][0]["key"]
    each = json.loads(before["environment.json"])["seconds_per_repetition"]
    assert each[key] == pytest.approx(seconds["seconds"][:2].mean(), abs=1e-4)


def finals(changes: dict[tuple[str, str], list[float]] | None = None, busy: float = 0.0) -> pd.DataFrame:
    table = finals_of(SECONDS | (changes or {}), "panel", "method", rounds=14000, column="seconds")
    return table.assign(cpu_seconds=(1 - busy) * table["seconds"])


def test_the_table_tells_medians_and_ratios_of_medians_ours_and_published():
    table = tables(FIGURE, finals())["table"]
    assert table["seconds"].tolist() == [2.1, 3.15, 1.0, 2.5]
    assert table["fastest"].tolist() == [1.8, 3.0, 1.0, 2.4]
    assert table["slowest"].tolist() == [9.0, 3.3, 1.0, 2.7]
    assert table["relative"].tolist() == pytest.approx([1.0, 3.15 / 2.1, 1.0, 2.5])
    np.testing.assert_allclose(table["published_seconds"], [4.0, 6.0, np.nan, np.nan])
    np.testing.assert_allclose(table["published_relative"], [1.0, 1.5, np.nan, np.nan])
    assert table["published_note"].tolist() == ["", "a slip?", "", ""]


def test_seconds_of_another_machine_are_compared_with_ours_as_ratios_alone():
    plot = shown(FIGURE, NO_CURVES, finals())
    assert list(plot.legend) == ["TL / Syndicated", "CDT", "published"]
    [panel] = plot.panels
    assert list(panel.y.names) == ["LinUCB", "LinTS"]
    numbers = {(mark.part, mark.name): mark.numbers.tolist() for mark in plot.marks()}
    assert numbers["line", "CDT"] == pytest.approx([1.5, 2.5])
    assert numbers["published", "CDT"][0] == 1.5
