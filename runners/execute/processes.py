"""What workers have in common, and worker processes on this machine.

Workers are handed tasks, and what was lost with one of them is run once more.
"""

import errno
import math
import os
import re
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from bench.errors import ConfigError, TaskError, one_line
from runners.config.sources import known
from runners.execute.limits import (
    GRACE_SECONDS,
    THREAD_VARIABLES,
    TimeOverError,
    allow_files,
    in_one_thread,
    no_interrupt,
    set_up,
)

CONNECT_SECONDS = 15
_LOOK_SECONDS = 1.0


_NO_WORKER = {
    errno.EMFILE: "a larger limit of open files: ulimit -n",
    errno.ENFILE: "a larger limit of open files on this machine",
    errno.EAGAIN: "a larger limit of processes: ulimit -u",
    errno.ENOMEM: "more memory, or a larger limit of it: ulimit -v",
}
"""What is expected where no worker can be started, by the number of the error."""


@dataclass(eq=False)
class Call:
    """A call to be made by a worker, which gets function and arguments pickled.

    ``seconds``: the limit that the function holds itself to; its worker is killed some seconds later. ``apart``:
    whether it must not be made in this process, which it might end.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    seconds: float | None = None
    apart: bool = False


class WorkerDiedError(TaskError):
    """The worker of a task died, and when the task was run once more, its worker died again."""


class Workers(ABC):
    """What tasks are handed to, a few at a time."""

    in_flight = 1

    def run(self, queue: deque[Call], meanwhile: Iterable[Any] = ()) -> Iterator[tuple[Call, "Future[Any]"]]:
        """Yield each task with its finished future, as they finish; tasks may be added to ``queue`` meanwhile.

        As long as no task has finished, one thing after the other is taken from ``meanwhile``, which may add some.
        When a worker dies (out of memory, a crash in compiled code), what it ran is run once more; what loses its
        worker then, too, has a `WorkerDiedError`, and what was killed because of its limit a `TimeOverError`. Raises
        ConfigError when there are no workers any more.
        """
        flying: dict[Future[Any], Call] = {}
        lost_once: set[Call] = set()
        steps, has_more = iter(meanwhile), True
        heard = time.monotonic()
        try:
            while queue or flying:
                while queue and len(flying) < self.in_flight:
                    task = queue.popleft()
                    flying[self.submit(task)] = task
                done, _ = wait(flying, 0 if has_more else _LOOK_SECONDS, FIRST_COMPLETED)
                self.look()
                if not done and has_more:
                    has_more = next(steps, self) is not self
                elif not done and time.monotonic() - heard > CONNECT_SECONDS:
                    self.require_workers()
                    heard = time.monotonic()
                elif done:
                    heard = time.monotonic()
                for future in done:
                    task = flying.pop(future)
                    death = self.fate(future)
                    if not death:
                        yield task, future
                    elif isinstance(death, TimeOverError) or task in lost_once:
                        yield task, _lost(death)
                    else:
                        lost_once.add(task)
                        queue.appendleft(task)
        finally:
            for future in flying:
                future.cancel()

    @abstractmethod
    def submit(self, task: Call) -> "Future[Any]":
        """Hand a task to a worker."""

    @abstractmethod
    def fate(self, future: "Future[Any]") -> BaseException | None:
        """Return what tells that the worker of a finished task died; None if it did not."""

    @abstractmethod
    def look(self) -> None:
        """Do what is due every second."""

    @abstractmethod
    def require_workers(self) -> None:
        """Raise an error if there are no workers any more; called when nothing was heard of them for a while."""


def not_started(error: BaseException) -> ConfigError:
    """Say why no worker can be started: no semaphores, processes or files are left."""
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__ or error
    reason = getattr(error, "strerror", "") or one_line(error)
    expected = _NO_WORKER.get(getattr(error, "errno", None) or 0, "") or (
        "memory that processes share: on Linux that is /dev/shm, which may be full, missing or read-only"
    )
    return ConfigError(
        f"jobs: found that no worker can be started ({reason}), expected {expected}; jobs=1 needs none, other than for "
        "classes of your own"
    )


def _lost(death: BaseException) -> "Future[Any]":
    """Return the future of a task that is not run again."""
    future: Future[Any] = Future()
    if isinstance(death, TimeOverError):
        future.set_exception(death)
        return future
    codes = re.search(r"\{(?:EXIT\()?([^()]*)", str(death))  # such as {SIGSEGV(-11)} or {EXIT(3)}, as loky words it
    how = codes[1] if codes else type(death).__name__
    how = f"exit code {how}" if how.isdecimal() else how
    reason = ", for instance for lack of memory" if how in ("SIGKILL", "KilledWorker") else ""
    error = WorkerDiedError(f"its worker died twice ({how}){reason}")
    error.__cause__ = death
    future.set_exception(error)
    return future


_FILES_EACH = 16
"""More than a process takes of the files that this one may have open."""
_Work = tuple[Call, "Future[Any]"]


class Processes(Workers):
    """Processes, started as they are needed, up to ``jobs``; with one job, tasks run here unless they are ``apart``.

    Each has one task at a time, and takes the next by itself. Its death harms no other task.
    """

    def __init__(self, jobs: int) -> None:
        self.in_flight = 2 * jobs if jobs > 1 else 1  # the next tasks are at hand
        self._jobs = jobs
        self._processes: list[_Process] = []
        self._waiting: deque[_Work] = deque()
        self._lock = threading.RLock()
        allow_files(_FILES_EACH * jobs)
        # A worker that has grown large is replaced, which loses nothing
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given", category=UserWarning)

    def submit(self, task: Call) -> "Future[Any]":
        """Run a task in this process, or hand it to the next process that has nothing to do."""
        future: Future[Any] = Future()
        if self._jobs == 1 and not task.apart:
            try:
                future.set_result(task.function(*task.arguments))
            except Exception as error:
                future.set_exception(error)
        else:
            self._waiting.append((task, future))
            self._feed()
        return future

    def fate(self, future: "Future[Any]") -> BaseException | None:
        """Return how the process of a finished task died, if it did."""
        error = future.exception()
        return error if isinstance(error, BrokenProcessPool | TimeOverError) else None

    def look(self) -> None:
        """Replace processes that died, and kill those that run a task some seconds longer than its limit."""
        for process in self._processes:
            process.kill_overdue()
        self._feed()

    def require_workers(self) -> None:
        """Do nothing: processes that die are replaced."""

    def stop(self) -> None:
        """Kill all processes: finished results are on disk."""
        self._waiting.clear()
        for process in self._processes:
            process.stop()

    def _feed(self) -> None:
        """Give waiting tasks to processes without any, also to new ones."""
        with self._lock:
            self._processes = [process for process in self._processes if not process.is_dead]
            idle = [process for process in self._processes if process.is_idle]
            while (idle or len(self._processes) < self._jobs) and (work := self._next()):
                if not idle:
                    idle.append(_Process(self._next))
                    self._processes.append(idle[-1])
                idle.pop().begin(work)

    def _next(self) -> _Work | None:
        """Return the next task that was not cancelled; also called in the threads that wait for processes."""
        with self._lock:
            while self._waiting:
                work = self._waiting.popleft()
                if work[1].set_running_or_notify_cancel():
                    return work
        return None


class _Process:
    """A process of loky, which asks ``following`` for its next task when it has finished one."""

    def __init__(self, following: Any) -> None:
        from loky import ProcessPoolExecutor  # slow to import

        env = {**dict.fromkeys(THREAD_VARIABLES, "1"), "PYTHONFAULTHANDLER": ""}  # no list of modules at a crash
        self._following = following
        self._begun = math.inf
        self._limit: float | None = None
        self._over: float | None = None
        self.is_dead = False
        self.is_idle = True
        try:
            with no_interrupt():
                given = os.getpid(), dict(known)
                self._executor = ProcessPoolExecutor(1, initializer=set_up, initargs=given, env=env)
                self._started = self._executor.submit(int)
        except OSError as error:
            raise not_started(error) from error
        self._started.add_done_callback(lambda _: self._note_time())

    def _note_time(self) -> None:
        self._begun = time.monotonic()

    def begin(self, work: _Work) -> None:
        """Run a task; a process that has died just now is as one that dies while it runs it."""
        task, future = work
        self.is_idle, self._limit = False, task.seconds
        if self._started.done():
            self._note_time()
        try:
            with no_interrupt():
                inner = self._executor.submit(in_one_thread, task.function, task.arguments)
        except RuntimeError as error:
            self.is_dead = True
            future.set_exception(BrokenProcessPool(str(error)))
        else:
            inner.add_done_callback(lambda _: self._finished(inner, future))

    def _finished(self, inner: "Future[Any]", future: "Future[Any]") -> None:
        """Tell what became of a task, and begin the next; called in the thread that waits for the process."""
        from loky.process_executor import ShutdownExecutorError

        error = inner.exception()
        self.is_dead = isinstance(error, BrokenProcessPool | ShutdownExecutorError)
        work = None if self.is_dead else self._following()
        if work:
            self.begin(work)
        self.is_idle = not work
        if self.is_dead:
            error = BrokenProcessPool(str(error)) if self._over is None else TimeOverError(self._over)
        if error:
            future.set_exception(error)
        else:
            future.set_result(inner.result())

    def kill_overdue(self) -> None:
        """Kill it if its task should have ended some seconds ago: it may be stopped, or never return to Python."""
        if self.is_idle or self._limit is None or self._over is not None:
            return
        if time.monotonic() - self._begun > self._limit + GRACE_SECONDS:
            self._over = self._limit
            self.stop(wait=False)

    def stop(self, *, wait: bool = True) -> None:
        """Kill it."""
        self._executor.shutdown(wait=wait, kill_workers=True)
