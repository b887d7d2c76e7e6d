"""A worker that dies or hangs takes only what it runs with it."""

import errno
import os
import subprocess
import sys
import threading
import time
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest
import threadpoolctl
from commands import PATIENCE, ROOT, linucb_settings
from worker_calls import grow, known_sources, meet, note

import bench.algorithms.linucb
from bench.errors import ConfigError
from runners.config.experiment import Experiment
from runners.config.runner import Runner
from runners.config.sources import known, status_of
from runners.execute import limits
from runners.execute.limits import TimeOverError
from runners.execute.processes import Call, WorkerDiedError
from runners.execute.workers import workers


def test_only_what_a_worker_ran_is_run_once_more_when_it_dies(tmp_path):
    calls = {Call(note, (str(tmp_path / "log"), number)): number for number in range(12)}
    with workers(Runner(), 2) as pool:
        answers = {calls[call]: future for call, future in pool.run(deque(calls))}
    assert {number for number, future in answers.items() if not future.exception()} == set(range(12)) - {3}
    assert isinstance(answers[3].exception(), WorkerDiedError)
    assert str(answers[3].exception()) == "its worker died twice (SIGKILL), for instance for lack of memory"
    begun = [int(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert sorted(begun) == sorted([*range(12), 3])


def test_a_worker_may_grow_as_large_as_libraries_code_and_data_make_it():
    """Another in its place would load all of them anew."""
    pytest.importorskip("psutil", reason="loky looks at the size of its processes only with psutil")
    with workers(Runner(), 1) as pool:
        calls = deque([Call(grow, (400,), apart=True), Call(os.getpid, apart=True)])
        first, second = [future.result() for _, future in pool.run(calls)]
    assert first == second != os.getpid()


def test_a_worker_knows_the_sources_that_were_read_before_it_was_started():
    """Else each reads the code of its runs anew, which takes a tenth of a second."""
    _ = Experiment(linucb_settings()).run_id
    with workers(Runner(), 1) as pool:
        ((_, future),) = pool.run(deque([Call(known_sources, apart=True)]))
    assert future.result() == known
    assert ("bench.algorithms.linucb", status_of(bench.algorithms.linucb.__file__)) in known


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_worker_that_outlasts_a_limit_is_killed_and_the_others_go_on(monkeypatch, jobs):
    monkeypatch.setattr("runners.execute.processes.GRACE_SECONDS", 0.1)
    monkeypatch.setattr("runners.execute.processes._LOOK_SECONDS", 0.05)
    endless = Call(time.sleep, (86_400,), seconds=0.1, apart=True)
    others = [Call(abs, (-number,), apart=True) for number in range(1, 6)]
    with workers(Runner(), jobs) as pool:
        answers = dict(pool.run(deque([endless, *others])))
    assert isinstance(answers[endless].exception(), TimeOverError)
    assert [answers[call].result() for call in others] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("number", "cure"),
    [
        (errno.ENOSPC, "memory that processes share"),
        (errno.ENOENT, "memory that processes share"),
        (errno.EROFS, "memory that processes share"),
        (errno.EMFILE, "a larger limit of open files: ulimit -n; jobs=1 needs none"),
        (errno.EAGAIN, "a larger limit of processes: ulimit -u; jobs=1 needs none"),
    ],
)
def test_where_no_worker_can_be_started_a_sentence_says_so(monkeypatch, number, cure):
    """Where /dev/shm is full, missing or read-only, there are no semaphores; other limits are the user's."""
    import loky.backend.synchronize as synchronize

    def none(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(synchronize, "_SemLock", none)
    expected = rf"^jobs: found that no worker can be started \({os.strerror(number)}\), expected {cure}"
    with pytest.raises(ConfigError, match=expected), workers(Runner(), 2) as pool:
        list(pool.run(deque([Call(abs, (-1,))])))
    with workers(Runner(), 1) as pool:  # which needs none
        assert [future.result() for _, future in pool.run(deque([Call(abs, (-1,))]))] == [1]


@pytest.mark.parametrize(("late", "ended"), [(0.0, []), (0.1, [1])])
def test_code_has_some_seconds_to_end_after_its_limit(monkeypatch, late, ended):
    """Outside of the main thread; whoever watches it looks at a clock ``late`` seconds after limit and grace."""
    limit, grace, codes, records, raised = 0.05, 0.06, [], [], []
    monkeypatch.setattr(limits, "GRACE_SECONDS", grace)
    monkeypatch.setattr(limits, "os", SimpleNamespace(_exit=codes.append))
    clocks = {}

    def now():
        """Return 100 before the limit, in the thread that is limited, and what is asked for in that which watches."""
        name = threading.current_thread().name
        clocks[name] = clocks.get(name, 0) + 1
        if name != "limited":
            return 100.0 + limit + (late + grace if late else 0.0)
        return 100.0 if clocks[name] <= 2 else 100.0 + limit

    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=now))

    def run():
        try:
            with limits.time_limit(limit, records.append):
                while True:
                    time.sleep(0.001)
        except TimeOverError as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="limited", daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert len(raised) == 1
    assert codes[:1] == ended
    assert len(records[:1]) == len(ended)


LIMITED = """
import sys, threading, time
from runners.execute.limits import TimeOverError, time_limit

def run():
    for number in range(100):
        try:
            with time_limit(0.001):
                time.sleep(0.00002 * number)
        except TimeOverError:
            ended.append(True)
        [(lambda: None)() for _ in range(100)]
    sys.setprofile(lambda *_: None)
    (lambda: None)()
    sys.setprofile(None)
    print(len(ended) > 0)

ended = []
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


def test_what_a_limit_raises_in_a_thread_does_not_arrive_later_and_a_profiler_still_works():
    """Python 3.11 got stuck under a profiler after a repetition with a limit of time in a dask worker."""
    code = "import resource; resource.setrlimit(resource.RLIMIT_CPU, (20, 20))" if os.name == "posix" else ""
    words = [sys.executable, "-c", code + LIMITED]
    answer = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "True\n", "")


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_workers_are_started_as_they_are_needed_and_no_more(tmp_path, backend):
    """Two calls that wait for each other have a worker each, of 50 that there might be, and at first one or none."""
    if backend == "dask":
        pytest.importorskip("distributed", reason="dask is not installed")
    with workers(Runner(backend), 50) as pool:
        started = lambda: pool._processes if backend == "loky" else pool._local.workers  # noqa: E731
        assert len(started()) <= 1
        calls = [Call(meet, (str(tmp_path), number, 2)) for number in range(2)]
        answers = dict(pool.run(deque(calls)))
        assert [answers[call].result() for call in calls] == [0, 1]
        assert len(started()) == 2


def test_libraries_are_looked_for_again_where_modules_have_been_imported_since(monkeypatch):
    found, controller = [], threadpoolctl.ThreadpoolController
    monkeypatch.setattr(limits, "ThreadpoolController", lambda: found.append(None) or controller())
    limits._thread_pools.cache_clear()
    for imported, times in (("one", 1), ("one", 1), ("another", 2)):
        monkeypatch.setitem(sys.modules, imported, None)
        with threadpoolctl.threadpool_limits(2), limits.one_thread():
            assert {library["num_threads"] for library in threadpoolctl.threadpool_info()} == {1}
        assert len(found) == times
