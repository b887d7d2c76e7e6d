"""A worker that dies or hangs takes only what it runs with it."""

import os
import signal
import time
from collections import deque
from pathlib import Path

import pytest

from runners.config.runner import Runner
from runners.execute.limits import TimeOverError
from runners.execute.processes import Call, WorkerDiedError
from runners.execute.workers import workers


def note(path: str, number: int) -> int:
    """Write down that a call was begun; the fourth call ends its process, each time."""
    with open(path, "a") as log:
        log.write(f"{number}\n")
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_only_what_a_worker_ran_is_run_once_more_when_it_dies(tmp_path):
    calls = {Call(note, (str(tmp_path / "log"), number)): number for number in range(12)}
    with workers(Runner(), 2) as pool:
        answers = {calls[call]: future for call, future in pool.run(deque(calls))}
    assert {number for number, future in answers.items() if not future.exception()} == set(range(12)) - {3}
    assert isinstance(answers[3].exception(), WorkerDiedError)
    assert str(answers[3].exception()) == "its worker died twice (SIGKILL), for instance for lack of memory"
    begun = [int(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert sorted(begun) == sorted([*range(12), 3])


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_worker_that_outlasts_a_limit_is_killed_and_the_others_go_on(monkeypatch, jobs):
    monkeypatch.setattr("runners.execute.processes.GRACE_SECONDS", 0.1)
    endless = Call(time.sleep, (86_400,), seconds=0.1, apart=True)
    others = [Call(abs, (-number,), apart=True) for number in range(1, 6)]
    with workers(Runner(), jobs) as pool:
        answers = dict(pool.run(deque([endless, *others])))
    assert isinstance(answers[endless].exception(), TimeOverError)
    assert [answers[call].result() for call in others] == [1, 2, 3, 4, 5]


def meet(folder: str, number: int, others: int) -> int:
    """Return when as many calls have begun as there are."""
    Path(folder, str(number)).touch()
    while len(list(Path(folder).iterdir())) < others:
        time.sleep(0.05)
    return number


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_workers_are_started_as_they_are_needed_and_no_more(tmp_path, backend):
    """Three calls that wait for each other have a worker each, of 50 that there might be, and at first one or none."""
    if backend == "dask":
        pytest.importorskip("distributed", reason="dask is not installed")
    with workers(Runner(backend), 50) as pool:
        started = lambda: pool._processes if backend == "loky" else pool._local.workers  # noqa: E731
        assert len(started()) <= 1
        calls = [Call(meet, (str(tmp_path), number, 3)) for number in range(3)]
        answers = dict(pool.run(deque(calls)))
        assert [answers[call].result() for call in calls] == [0, 1, 2]
        assert len(started()) == 3
