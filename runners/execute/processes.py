"""Worker processes on this machine."""

import math
import os
import time
import warnings
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from runners.execute.limits import GRACE_SECONDS, THREAD_VARIABLES, TimeOverError, end_with, in_one_thread, no_interrupt
from runners.execute.worker import Task, Workers

_FILES_EACH = 16
"""More than a process takes of the files that this one may have open."""


class Processes(Workers):
    """Processes, started as they are needed, up to ``jobs``; with one job, tasks run here unless they are ``apart``."""

    def __init__(self, jobs: int) -> None:
        self.in_flight = 2 * jobs if jobs > 1 else 1  # each has its next task at hand
        self._jobs = jobs
        self._processes: list[_Process] = []
        self._of: dict[Future[Any], _Process] = {}
        _allow_files(_FILES_EACH * jobs)
        # A worker that has grown large is replaced, which loses nothing
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given", category=UserWarning)

    def submit(self, task: Task) -> "Future[Any]":
        """Run a task in this process, or hand it to the process that has least to do."""
        if self._jobs == 1 and not task.apart:
            return _made_here(task)
        while True:
            process = min(self._processes, key=len, default=None)
            if process is None or (len(process) and len(self._processes) < self._jobs):
                process = _Process()
                self._processes.append(process)
            try:
                future = process.submit(task)
            except RuntimeError:  # it has died just now: `BrokenProcessPool`, `ShutdownExecutorError`
                self._processes.remove(process)
                continue
            self._of[future] = process
            return future

    def fate(self, future: "Future[Any]") -> tuple[BaseException | None, bool]:
        """Return how the process of a finished task died, if it did, and whether this was the task that it ran."""
        process = self._of.pop(future, None)
        if process is None:
            return None, True
        death, was_running = process.finished(future)
        if death and process in self._processes:
            self._processes.remove(process)
        return death, was_running

    def kill_overdue(self) -> None:
        """Kill processes that run a task some seconds longer than its limit."""
        for process in self._processes:
            process.kill_overdue()

    def check(self) -> None:
        """Do nothing: processes that die are replaced."""

    def stop(self) -> None:
        """Kill all processes: finished results are on disk."""
        for process in self._processes:
            process.stop()


def _made_here(task: Task) -> "Future[Any]":
    future: Future[Any] = Future()
    try:
        future.set_result(task.function(*task.arguments))
    except Exception as error:
        future.set_exception(error)
    return future


class _Process:
    """A process with what it runs and what it runs next; its death harms no other, and tells which of the two it was.

    ``len``: how many tasks it has.
    """

    def __init__(self) -> None:
        from joblib.externals.loky import ProcessPoolExecutor  # slow to import

        env = {**dict.fromkeys(THREAD_VARIABLES, "1"), "PYTHONFAULTHANDLER": ""}  # no list of modules at a crash
        with no_interrupt():
            self._executor = ProcessPoolExecutor(1, initializer=end_with, initargs=(os.getpid(),), env=env)
            self._executor.submit(int).add_done_callback(lambda _: self._begin())
        self._limits: dict[Future[Any], float | None] = {}
        self._begun = math.inf
        self._over: float | None = None
        self._suspect: Future[Any] | None = None

    def __len__(self) -> int:
        return len(self._limits)

    def _begin(self) -> None:
        """Note when it began the first of its tasks."""
        self._begun = time.monotonic()

    def submit(self, task: Task) -> "Future[Any]":
        """Give it a task to run after those that it has; RuntimeError if it has died."""
        with no_interrupt():
            future: Future[Any] = self._executor.submit(in_one_thread, task.function, task.arguments)
        if not self._limits and self._begun < math.inf:
            self._begin()
        self._limits[future] = task.seconds
        return future

    def finished(self, future: "Future[Any]") -> tuple[BaseException | None, bool]:
        """Forget a task, and return how the process died, if it did, and whether the task was the one that it ran."""
        death = self._death(future)
        if death and self._suspect is None:
            self._suspect = next(one for one in self._limits if not one.done() or self._death(one))
        del self._limits[future]
        self._begin()
        return death, future is self._suspect

    def _death(self, future: "Future[Any]") -> BaseException | None:
        from joblib.externals.loky.process_executor import ShutdownExecutorError

        error = future.exception()
        if not isinstance(error, BrokenProcessPool | ShutdownExecutorError):
            return None
        return error if self._over is None else TimeOverError(self._over)

    def kill_overdue(self) -> None:
        """Kill it if the task that it runs should have ended some seconds ago."""
        limit = next(iter(self._limits.values()), None)
        if limit is not None and self._over is None and time.monotonic() - self._begun > limit + GRACE_SECONDS:
            self._over = limit
            self.stop(wait=False)

    def stop(self, *, wait: bool = True) -> None:
        """Kill it."""
        self._executor.shutdown(wait=wait, kill_workers=True)


def _allow_files(count: int) -> None:
    """Raise the number of files that this process may have open, as far as the system allows."""
    import resource

    low, high = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 256 + count if high == resource.RLIM_INFINITY else min(256 + count, high)
    if low != resource.RLIM_INFINITY and low < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, high))
