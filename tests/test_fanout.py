"""Whatever happens while repetitions run, at the end all are there, each bit-identical, none run twice."""

import json
import os
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import threadpoolctl
from commands import PATIENCE, linucb_settings, popen_repetitions
from trouble_tuner import ROUNDS
from worker_calls import meet, note_threads

from bench.errors import ConfigError
from bench.loop import run
from bench.seeding import Seeds
from runners.config.experiment import Experiment, build
from runners.config.runner import Runner
from runners.execute.fanout import FanOut, Result, run_all
from runners.execute.progress import _clock
from runners.execute.repetition import Answer
from runners.execute.workers import workers
from runners.results.store import Store

pytestmark = pytest.mark.usefixtures("trouble")


def settings(**changes: Any) -> dict[str, Any]:
    """Return the settings of a run that needs no compiled code: a worker that loads none starts in half the time."""
    parts = {"env": "bench.envs.moving_peak.SwitchingTriangle", "tuner": "trouble_tuner.Trouble"}
    parts |= {"task": "bench.tasks.direct.Direct"}
    return {part: {"_target_": path} for part, path in parts.items()} | {"horizon": ROUNDS, "seed": 0} | changes


@pytest.fixture
def experiment(trouble):
    return Experiment(settings())


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
        experiment = Experiment(settings())
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


def test_any_number_of_jobs_gives_the_same_bytes_in_one_thread_each(tmp_path, experiment, undisturbed, monkeypatch):
    monkeypatch.setenv("TROUBLE_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    other = Experiment(settings(seed=1))
    with threadpoolctl.threadpool_limits(2):
        threads = [library["num_threads"] for library in threadpoolctl.threadpool_info()]
        for jobs in (1, 2):
            store = Store(tmp_path / f"results{jobs}")
            with workers(Runner(), jobs):
                run_one(other, 2, store, jobs)
                results = run_all([experiment, other, experiment], 8, store, jobs=jobs)
            assert {run_id: len(result.new) for run_id, result in results.items()} == {
                experiment.run_id: 8,
                other.run_id: 6,
            }
            assert files(store, experiment) == undisturbed
            assert leftovers(store, experiment) == []
        assert [library["num_threads"] for library in threadpoolctl.threadpool_info()] == threads
        assert os.environ["OMP_NUM_THREADS"] == "2"
    lines = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    assert len(lines) == 32
    assert {line[1] for line in lines} == {"11"}  # in the libraries that are there, and in those still to come
    pids = [int(line[2]) for line in lines]
    assert os.getpid() not in pids  # a class of a user's own


def test_workers_are_kept_for_several_calls_where_they_are_held(tmp_path, experiment, monkeypatch):
    """And only there: a call of its own leaves none behind."""
    monkeypatch.setenv("TROUBLE_LOG", str(tmp_path / "log"))

    def pids_of_call(name, jobs=2):
        run_one(experiment, 6, Store(tmp_path / name), jobs)
        pids = {line.split()[2] for line in (tmp_path / "log").read_text().splitlines()}
        (tmp_path / "log").unlink()
        return pids

    with workers(Runner(), 2):
        held = pids_of_call("first") | pids_of_call("second")
    assert len(held) <= 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in held)
    assert not held & pids_of_call("third", jobs=1)


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


def test_what_exists_is_not_run_again(tmp_path, experiment, monkeypatch):
    store = Store(tmp_path / "results")
    monkeypatch.setenv("TROUBLE_LOG", str(tmp_path / "log"))
    with workers(Runner(), 1):
        run_one(experiment, 3, store)
        before = files(store, experiment)
        (tmp_path / "log").unlink()
        result = run_one(experiment, 2, store, 2)
        assert (result.done, result.new) == ({0, 1}, set())
        assert not (tmp_path / "log").exists()
        assert run_one(experiment, 5, store).new == {3, 4}
    assert sorted(line.split()[0] for line in (tmp_path / "log").read_text().splitlines()) == ["3", "4"]
    assert before.items() < files(store, experiment).items()


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
    object.__setattr__(experiment, "stamp", "0" * 12)
    result = run_one(experiment, 1, store)
    assert result.done == set()
    assert "found other code or data than when it was started" in result.failed[0]


@pytest.mark.parametrize(("jobs", "backend"), [(2, "loky"), (1, "dask")])
def test_a_tuner_that_hangs_is_stopped(tmp_path, experiment, trouble, jobs, backend):
    """Other tests show that the others go on; on a busy machine none may be quick enough for any limit."""
    if backend == "dask":
        pytest.importorskip("distributed", reason="dask is not installed")
    trouble("hang all")
    result = run_one(experiment, 2, Store(tmp_path / "results"), jobs, runner=Runner(backend, time_limit=0.3))
    assert result.done == set()
    for repetition in (0, 1):
        assert result.failed[repetition].startswith("the repetition did not finish within runner.time_limit = 0.3 s")


@pytest.mark.parametrize("jobs", [1, 2])
def test_calls_and_more_repetitions_can_be_added_while_answers_come(
    tmp_path, experiment, undisturbed, monkeypatch, jobs
):
    store = Store(tmp_path / "results")
    fan = FanOut(store, jobs=jobs)

    def feed():
        fan.add(experiment, [0, 1])
        yield
        fan.add(experiment, range(8))  # two of which are asked for already
        fan.call(note_threads, str(tmp_path / "calls"), "called")
        yield

    handed = []
    with workers(Runner(), jobs) as pool:
        submit = pool.submit
        monkeypatch.setattr(pool, "submit", lambda call: handed.append(call.function) or submit(call))
        answers = list(fan.answers(feed()))
    repetitions = [answer.id for answer in answers if isinstance(answer, Answer)]
    assert sorted(repetitions) == [(experiment.run_id, i) for i in range(8)]
    assert len(answers) == 9
    assert handed.index(note_threads) <= 2  # before what was not begun
    assert "called" in answers
    pid, numba_threads = map(int, (tmp_path / "calls").read_text().split()[1:])
    assert (os.getpid() == pid) == (jobs == 1)
    assert jobs == 1 or numba_threads == 1  # in this process, only kernels of the suite use it, in one thread
    assert files(store, experiment) == undisturbed


def test_more_is_asked_for_while_workers_run_what_they_have(tmp_path):
    """Two calls return only when both have begun; the second is asked for in the second step."""
    fan = FanOut(Store(tmp_path / "results"), jobs=2)
    met = tmp_path / "met"
    met.mkdir()
    answers = list(fan.answers(fan.call(meet, str(met), number, 2) for number in range(2)))
    assert len(answers) == 2
    assert sorted(path.name for path in met.iterdir()) == ["0", "1"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_check_or_a_call_raises_ends_it_all(tmp_path, jobs):
    wrong = Experiment(linucb_settings(env={"_target_": "bench.envs.moving_peak.SwitchingSine"}))
    store = Store(tmp_path / "results")
    fan = FanOut(store, jobs=jobs)
    fan.add(wrong, [0, 1], check=True)
    with pytest.raises(ConfigError, match="found SwitchingSine"):
        list(fan.answers())
    assert not store.folder(wrong.run_id).exists()  # before anything is written
    fan = FanOut(store, jobs=jobs)
    fan.call(int, "x")
    with pytest.raises(ValueError, match="invalid literal"):
        list(fan.answers())


@pytest.mark.usefixtures("one_worker")
@pytest.mark.parametrize("jobs", [1, 2])
def test_of_what_the_suite_itself_asks_for_the_first_of_each_class_is_checked(tmp_path, jobs):
    """Another with the same classes is not: what is wrong with it is recorded, like anything that fails in a run."""
    right = Experiment(linucb_settings() | {"horizon": 60})
    wrong = Experiment(linucb_settings(env={"_target_": "bench.envs.moving_peak.SwitchingSine"}) | {"horizon": 60})
    fan = FanOut(Store(tmp_path / "results"), jobs=jobs)
    for experiment in (right, wrong):
        fan.add(experiment, [0, 1], check=True, is_known=True)
    found = {answer.id: (answer.status, "found SwitchingSine" in answer.error) for answer in fan.answers()}
    expected = {right.run_id: ("new", False), wrong.run_id: ("failed", True)}
    assert found == {(run_id, i): answer for run_id, answer in expected.items() for i in (0, 1)}
    fan = FanOut(Store(tmp_path / "others"), jobs=jobs)
    for experiment in (wrong, right):
        fan.add(experiment, [0, 1], check=True, is_known=True)
    with pytest.raises(ConfigError, match="found SwitchingSine"):
        list(fan.answers())


SLOW = """
class Slow{number}({module}.{base}):
    fingerprint = "abc"

    def start(self, *arguments):
        file = "{folder}/{number}"
        if not os.path.exists(file):
            with open(file + ".log", "a") as log:
                log.write("started ")
            time.sleep(0.2)
            open(file, "w").close()
        return super().start(*arguments)
"""
"""A part whose first start takes long, and must not be made twice at once."""


def test_data_is_prepared_and_a_class_checked_by_one_worker_before_any_other_starts(tmp_path, monkeypatch):
    """Data would be fetched twice, kernels compiled twice; there are two workers that have nothing to do."""
    monkeypatch.syspath_prepend(tmp_path)
    cases = [("env", False), ("env", True), ("tuner", True)]
    plain = settings(tuner={"_target_": "bench.tuners.baselines.Random"})
    text = "import os\nimport time\n\nimport bench.envs.moving_peak\nimport bench.tuners.baselines\n"
    for number, (part, _) in enumerate(cases):
        module, _, base = plain[part]["_target_"].rpartition(".")
        text += SLOW.format(number=number, module=module, base=base, folder=tmp_path)
    (tmp_path / "mine_slow.py").write_text(text)
    with workers(Runner(), 2):
        for number, (part, check) in enumerate(cases):
            slow = plain | {part: {**plain[part], "_target_": f"mine_slow.Slow{number}"}}
            fan = FanOut(Store(tmp_path / "results"), jobs=2)
            for seed in range(3):
                fan.add(Experiment(slow | {"seed": seed}), range(2), check=check)
            assert [(answer.status, answer.error) for answer in fan.answers()] == [("new", "")] * 6
            assert (tmp_path / f"{number}.log").read_text() == "started ", (part, check)
    sys.modules.pop("mine_slow", None)


@pytest.mark.usefixtures("one_worker")
def test_progress_is_shown_only_where_it_is_wanted(tmp_path, experiment, capsys):
    run_one(experiment, 2, Store(tmp_path / "quiet"))
    assert capsys.readouterr() == ("", "")
    run_one(experiment, 2, Store(tmp_path / "shown"), runner=Runner(progress=True))
    out, err = capsys.readouterr()
    assert out == ""
    assert "2/2 repetitions" in err


@pytest.mark.parametrize("seconds", [0, 59, 60, 3_599, 3_600, 86_399])
def test_the_time_left_is_in_hours_minutes_and_seconds(seconds):
    assert _clock(seconds + 0.4) == str(timedelta(seconds=seconds))
