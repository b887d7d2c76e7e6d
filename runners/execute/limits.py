"""A call under limits: one thread, a time limit, and, in a worker, termination with the command."""

import faulthandler
import gc
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeAlias

from bench.errors import TaskError

_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
_GRACE_SECONDS = 5.0
"""Seconds between the limit of time and the end of a repetition's process, if it has not stopped."""
_PARENT_SECONDS = 0.2

_in_worker = threading.Event()


class WorkerDiedError(TaskError):
    """The process of a call died, and died again when the call was repeated."""


class Call:
    """A call for a worker, which receives the pickled function and arguments; ``seconds`` is the time limit."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> None:
        self.function, self.arguments, self.seconds = function, arguments, seconds

    def died(self, death: BaseException) -> WorkerDiedError:
        codes = re.search(r"\{(.+)\}", str(death))  # such as {SIGSEGV(-11)} or {EXIT(3)}
        limit = f", or code that does not stop at runner.time_limit = {self.seconds:g} s" if self.seconds else ""
        how = codes[1] if codes else type(death).__name__
        return WorkerDiedError(f"its process died ({how}): an exit, a crash, too little memory{limit}")


Makes: TypeAlias = Callable[[Iterable[Call]], Iterator[tuple[Call, Any]]]
"""A function that makes calls, and yields each call with its result."""


@cache
def set_up(command: int | None = None) -> None:
    """Limit a worker process to one thread, and end it with its parent if the parent is the process ``command``."""
    from threadpoolctl import threadpool_limits

    if command == os.getpid():  # the back end makes calls in the command's own process
        return
    _in_worker.set()
    gc.set_threshold(20_000)  # there are few reference cycles, and imports create many objects
    if command is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to workers too
        threading.Thread(target=_end_with, args=(command,), daemon=True).start()
    os.environ.update(_ONE_THREAD)  # for libraries that are imported later
    threadpool_limits(1)


def _end_with(command: int) -> None:
    while os.getppid() == command:
        time.sleep(_PARENT_SECONDS)
    os._exit(1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit the numerical libraries in this process to one thread inside the block."""
    from threadpoolctl import threadpool_limits

    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(_ONE_THREAD)  # for libraries that are imported later
    try:
        with threadpool_limits(1):
            yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def raise_if_stopped(error: BaseException) -> None:
    """Raise KeyboardInterrupt again, except in a worker, which receives no Ctrl-C, so that a user's code raised it."""
    if isinstance(error, KeyboardInterrupt) and not _in_worker.is_set():
        raise KeyboardInterrupt


class TimeOverError(TaskError):
    """A repetition ran longer than its time limit."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise a `TimeOverError` inside the block after ``seconds``, and after the block if the code inside caught it.

    A worker exits if its block has not ended some seconds later. In a thread that receives no signals, such as a worker
    of dask, the worker exits after ``seconds``.
    """
    if seconds is None:
        yield
        return
    over = TimeOverError(f"the repetition did not finish within runner.time_limit = {seconds:g} s")
    end = time.monotonic() + seconds
    has_alarm = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()

    def stop(*_: object) -> None:
        raise over

    before = signal.signal(signal.SIGALRM, stop) if has_alarm else None
    if _in_worker.is_set():
        faulthandler.dump_traceback_later(seconds + _GRACE_SECONDS * has_alarm, exit=True, file=2)
    try:
        if has_alarm:
            signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    except BaseException as error:
        if time.monotonic() < end or isinstance(error, KeyboardInterrupt):
            raise
    finally:
        faulthandler.cancel_dump_traceback_later()
        if has_alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    if time.monotonic() >= end:
        raise over
