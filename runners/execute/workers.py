"""Workers: processes on this machine, or on several machines through dask; each uses a single thread.

They are handed tasks, and what was lost with one of them is run once more.
"""

import os
import re
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from bench.errors import TaskError
from runners.config.runner import Runner
from runners.execute.limits import TimeOverError

CONNECT_SECONDS = 15
_LOOK_SECONDS = 1.0


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

    def run(self, queue: deque[Call]) -> Iterator[tuple[Call, "Future[Any]"]]:
        """Yield each task with its finished future, as they finish; tasks may be added to ``queue`` meanwhile.

        When a worker dies (out of memory, a crash in compiled code), what it ran is run once more; what loses its
        worker then, too, has a `WorkerDiedError`, and what was killed because of its limit a `TimeOverError`. Raises
        ConfigError when there are no workers any more.
        """
        flying: dict[Future[Any], Call] = {}
        lost_once: set[Call] = set()
        heard = time.monotonic()
        try:
            while queue or flying:
                while queue and len(flying) < self.in_flight:
                    task = queue.popleft()
                    flying[self.submit(task)] = task
                done, _ = wait(flying, _LOOK_SECONDS, FIRST_COMPLETED)
                self.look()
                if not done and time.monotonic() - heard > CONNECT_SECONDS:
                    self.check()
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
    def check(self) -> None:
        """Raise an error if there are no workers any more; called when nothing was heard of them for a while."""


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


_current: Workers | None = None


@contextmanager
def workers(runner: Runner, jobs: int) -> Iterator[Workers]:
    """Provide workers inside the block and stop them at its end, also after an interruption.

    With one job and without dask, tasks that need not be apart run in this process. A nested block uses the workers
    of the outer one, since starting them takes seconds. Raises ConfigError when dask is not installed, or the scheduler
    cannot be reached or has no workers.
    """
    global _current
    if _current is not None:
        yield _current
        return
    # For the process that clears away after this one, also where it is stopped in the middle
    ignored = [os.environ.get("PYTHONWARNINGS", ""), "ignore:resource_tracker:UserWarning"]
    os.environ["PYTHONWARNINGS"] = ",".join(dict.fromkeys(filter(None, ",".join(ignored).split(","))))
    try:
        if runner.backend == "dask":
            from runners.execute.cluster import cluster

            with cluster(runner, jobs) as _current:
                yield _current
        else:
            from runners.execute.processes import Processes

            _current = processes = Processes(jobs)
            try:
                yield processes
            finally:
                processes.stop()
    finally:
        _current = None


def spread(runner: Runner, jobs: int) -> Callable[..., Iterator[Any]]:
    """Return what calls a function with each of some tuples, like `itertools.starmap`, but in workers, in any order."""

    def each(function: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        with workers(runner, jobs) as pool:
            for _, future in pool.run(deque(Call(function, item) for item in items)):
                yield future.result()

    return each
