"""After any interruption all repetitions exist in the end, each bit-identical, none run twice."""

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import threadpoolctl
from commands import PATIENCE, peak_settings, popen_repetitions
from trouble_tuner import ROUNDS

from bench.loop import run
from bench.seeding import Seeds
from runners.config.experiment import Experiment, build
from runners.config.identity import Code
from runners.config.runner import Runner
from runners.execute.fanout import Result, run_all
from runners.results.store import Store

pytestmark = pytest.mark.usefixtures("trouble")


SETTINGS = peak_settings("trouble_tuner.Trouble", ROUNDS)


@pytest.fixture
def experiment(trouble):
    return Experiment(SETTINGS)


def files(store: Store, experiment: Experiment) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.folder(experiment.run_id).glob("*.parquet")}


def leftovers(store: Store, experiment: Experiment) -> list[str]:
    folder = store.folder(experiment.run_id)
    return [path.name for path in folder.iterdir() if path.suffix not in (".parquet", ".json")]


def run_one(experiment: Experiment, repetitions: int, store: Store, jobs: int = 1, **options: Any) -> Result:
    return run_all([experiment], repetitions, store, jobs=jobs, **options)[experiment.run_id]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The files of eight repetitions."""
    store = Store(tmp_path_factory.mktemp("undisturbed"))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("TROUBLE", "TROUBLE_LOG"):
            patch.delenv(name, raising=False)
        experiment = Experiment(SETTINGS)
        assert run_one(experiment, 8, store).new == set(range(8))
    return files(store, experiment)


def test_results_are_those_of_the_loop(tmp_path, experiment):
    store = Store(tmp_path / "results")
    start = time.perf_counter()
    assert run_one(experiment, 2, store).failed == {}
    elapsed = time.perf_counter() - start
    task, tuner = build(experiment)
    expected = run(task, tuner, rounds=ROUNDS, seeds=Seeds(0, 1)).columns()
    found = store.read(experiment.run_id, 1)
    assert list(found.columns) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name].to_numpy(), values)
    side = store.read_side(experiment.run_id, 1)
    assert 0 < side["seconds"] < elapsed
    assert side["environment"]["packages"]["numpy"] == np.__version__
    identity = json.loads((store.folder(experiment.run_id) / "settings.json").read_text())
    assert identity["settings"] == experiment.settings
    assert Experiment(identity["settings"]).run_id == experiment.run_id


def test_two_processes_on_one_folder_do_no_harm(tmp_path, experiment, undisturbed, trouble):
    """Some repetitions are played and written by both at the same time."""
    met = tmp_path / "met"
    met.mkdir()
    trouble(";".join(f"meet {repetition} {met}" for repetition in (0, 3, 6)))
    store = Store(tmp_path / "results")
    child = popen_repetitions(experiment, 8, store.root, jobs=2)
    assert child.stdout.readline() == "begins\n"
    result = run_one(experiment, 8, store)
    assert (child.communicate(timeout=PATIENCE), child.returncode) == (("", ""), 0)
    assert (result.done, result.failed) == (set(range(8)), {})
    assert len(list(met.iterdir())) == 6
    assert files(store, experiment) == undisturbed
    assert leftovers(store, experiment) == []
    for repetition in range(8):
        store.read(experiment.run_id, repetition)


def test_a_failed_repetition_is_recorded_and_the_others_go_on(tmp_path, experiment, undisturbed, trouble, monkeypatch):
    store = Store(tmp_path / "results")
    trouble("fail 3")
    result = run_one(experiment, 5, store, 2)
    assert result.done == result.new == {0, 1, 2, 4}
    assert result.failed[3].startswith("RuntimeError: no luck today (trouble_tuner.py:")
    record = store.failure(experiment.run_id, 3)
    assert "Traceback" in record["traceback"]
    assert "trouble_tuner.py" in record["traceback"]
    assert "and a second line" in record["traceback"]
    assert record["settings"] == experiment.settings
    assert not store.path(experiment.run_id, 3, ".json").exists()

    trouble("")
    monkeypatch.setenv("TROUBLE_LOG", str(tmp_path / "log"))
    result = run_one(experiment, 5, store)
    assert (result.done, result.new, result.failed) == ({0, 1, 2, 3, 4}, {3}, {})
    assert [line.split()[0] for line in (tmp_path / "log").read_text().splitlines()] == ["3"]
    assert store.failure(experiment.run_id, 3) == {}
    assert files(store, experiment) == {name: undisturbed[name] for name in sorted(undisturbed)[:5]}


def test_other_code_than_the_run_is_named_after_is_refused(tmp_path, experiment):
    store = Store(tmp_path / "results")
    experiment.__dict__["code"] = Code({"bench": "0" * 20}, {})
    result = run_one(experiment, 1, store)
    assert result.done == set()
    assert "found other code or data than when it was started" in result.failed[0]


BACKENDS = [(1, "loky"), (3, "loky"), (2, "dask")]


@pytest.mark.parametrize(("jobs", "backend"), BACKENDS)
def test_any_number_of_jobs_and_any_back_end_give_the_same_bytes_in_one_thread_each(
    tmp_path, experiment, undisturbed, monkeypatch, jobs, backend
):
    if backend == "dask":
        pytest.importorskip("distributed", reason="dask is not installed")
    monkeypatch.setenv("TROUBLE_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    other, store = Experiment(SETTINGS | {"seed": 1}), Store(tmp_path / "results")
    with threadpoolctl.threadpool_limits(2):
        threads = [library["num_threads"] for library in threadpoolctl.threadpool_info()]
        results = run_all([experiment, other, experiment], 8, store, jobs=jobs, runner=Runner(backend))
        assert [library["num_threads"] for library in threadpoolctl.threadpool_info()] == threads
    assert os.environ["OMP_NUM_THREADS"] == "2"
    assert {run_id: len(result.new) for run_id, result in results.items()} == {experiment.run_id: 8, other.run_id: 8}
    assert files(store, experiment) == undisturbed
    assert leftovers(store, experiment) == []
    lines = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    assert len(lines) == 16
    assert {line[1] for line in lines} == {"11"}  # in the libraries that are there, and in those still to come
    pids = {int(line[2]) for line in lines}
    assert (pids == {os.getpid()}) == (jobs == 1)
    assert jobs == 1 or not any(Path(f"/proc/{pid}").exists() for pid in pids)  # none is left behind
