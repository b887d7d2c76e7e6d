"""A worker that dies or hangs loses only its own repetition, and none outlasts the command."""

import time
from collections import deque
from contextlib import suppress

import psutil
import pytest
from commands import PATIENCE, peak_settings, until
from worker_calls import note

from bench.errors import ConfigError
from runners.config.experiment import Experiment
from runners.config.runner import Runner
from runners.execute.fanout import run_all
from runners.execute.limits import Call, TimeOverError, WorkerDiedError, time_limit
from runners.execute.workers import calls, spread, workers
from runners.results.store import Store

SIZE = ("env=switching_sine", "algorithm=none", "horizon=200", "runner.progress=false")


def test_only_calls_lost_with_a_worker_are_repeated(tmp_path):
    """The fourth call ends each process that makes it; it is made twice, and no other more often."""
    asked = {Call(note, str(tmp_path / "log"), number): number for number in range(12)}
    with workers(Runner(), 2):
        answers = {asked[call]: result for call, result in calls(deque(asked))}
    assert {number for number, result in answers.items() if result == number} == set(range(12)) - {3}
    assert isinstance(answers[3], WorkerDiedError)
    assert "SIGKILL" in str(answers[3])
    begun = [int(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert set(begun) == set(range(12))
    assert begun.count(3) == 2


@pytest.mark.parametrize(
    ("runner", "said"),
    [
        (
            Runner(),
            {
                "segfault": "its process died (SIGSEGV",
                "exit without a word": "its process died (EXIT(3))",
                "exit": "SystemExit",
                "generator exit": "GeneratorExit",
                "interrupt": "KeyboardInterrupt",
                "speechless": "Speechless",
                "unshowable": "Unshowable",
                "enormous": "ValueError: xxx",
            },
        ),
        (Runner(time_limit=1), dict.fromkeys(("sleep", "swallow", "compute"), "runner.time_limit = 1 s")),
        (Runner("dask"), {"exit without a word": "its process died"}),
        (Runner("dask", time_limit=1), {"compute": "runner.time_limit = 1 s"}),
    ],
    ids=["loky", "loky with a limit", "dask", "dask with a limit"],
)
def test_one_repetition_that_fails_in_any_way_fails_alone(tmp_path, trouble, runner, said):
    """The third repetition does it; the others equal a harmless tuner's, and nothing of the third is kept."""
    if runner.backend == "dask":
        pytest.importorskip("distributed", reason="dask is not installed")
    harmful = {"tuner": "harmful.Harmful", "horizon": 200, "at": 50, "repetition": 2}
    made = {kind: Experiment(peak_settings(**harmful, kind=kind)) for kind in said}
    store = Store(tmp_path / "results")
    results = run_all(list(made.values()), 4, store, jobs=2, runner=runner)
    for kind, experiment in made.items():
        result = results[experiment.run_id]
        assert (result.done, set(result.failed)) == ({0, 1, 3}, {2}), kind
        assert said[kind] in result.failed[2], kind
        assert len(result.failed[2]) < 2_200
        assert store.path(experiment.run_id, 2, ".failed.json").stat().st_size < 100_000


def test_a_tuner_that_never_answers_is_a_sentence_before_anything_is_run(commands):
    tuners = "tuner=Mine=harmful.Harmful(kind=sleep),ucb1,random"
    answer = commands.call("compare", tuners, *SIZE, "repetitions=2", "runner.time_limit=8")
    line = next(line for line in answer.err.splitlines() if line.startswith("error: left out: Mine: "))
    assert "found no answer within runner.time_limit = 8 s" in line
    assert "compare/" in answer.out


@pytest.mark.release
def test_with_one_job_too_a_limit_of_time_ends_code_that_does_not_stop(commands):
    own = ("tuner=harmful.Harmful", "tuner.kind=swallow", "tuner.at=50", "tuner.repetition=0", "repetitions=2")
    answer = commands.call("run", *own, *SIZE, "runner.time_limit=1")
    assert answer.code == 1
    assert "error: repetition 0 failed: its process died" in answer.err
    assert [path.name for path in commands.results.rglob("rep-*.parquet")] == ["rep-00001.parquet"]


@pytest.mark.parametrize("runner", ["loky", pytest.param("dask", marks=pytest.mark.release)])
def test_workers_of_a_command_that_is_killed_end(commands, runner):
    if runner == "dask":
        pytest.importorskip("distributed", reason="dask is not installed")
    own = ("tuner=harmful.Harmful", "tuner.kind=sleep", "tuner.at=50", "tuner.repetition=2", "repetitions=3")
    child = commands.popen("run", *own, *SIZE, "jobs=2", f"runner={runner}")
    until(lambda: child.poll() is not None or len(list(commands.results.rglob("*.parquet"))) == 2)
    family = psutil.Process(child.pid).children(recursive=True)
    assert family
    child.kill()
    child.communicate(timeout=PATIENCE)
    _, alive = psutil.wait_procs(family, timeout=60)
    assert alive == []


def test_an_unknown_back_end_is_named_and_one_that_is_registered_used():
    for name in ("nowhere", "multiprocessing"):  # the latter cannot say what comes first
        with pytest.raises(ConfigError, match=rf"(?i)^runner\.backend: found '{name}'"), workers(Runner(name), 2):
            pass
    assert sorted(spread(Runner("threading"), 2)(abs, [(-1,), (-2,)])) == [1, 2]


def test_code_that_catches_the_limit_has_still_exceeded_it():
    def catch() -> None:
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            with suppress(TimeOverError):
                time.sleep(0.01)

    with pytest.raises(TimeOverError), time_limit(0.05):
        catch()
