"""What a worker is held to: one thread, limits of time, memory and files, and an end when its parent ends."""

import ctypes
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController, threadpool_limits

from bench.errors import ConfigError, TaskError
from runners.config.sources import Source, Status, known
from runners.config.trial import end_with

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)

GRACE_SECONDS = 5.0
"""How long after its limit of time a repetition's process is ended, if the repetition has not ended by itself."""
_AGAIN_SECONDS = 1.0

_MOST_GROWTH = 800_000_000
"""By how many bytes a process may grow before another takes its place, which has to load all libraries and data anew.

loky allows 300 MB, which libraries, compiled code and data of usual figures take together.
"""

stopping = threading.Event()
"""Whether this process was asked to stop."""
_in_worker = threading.Event()


def raise_if_stopped(error: BaseException | None = None) -> None:
    """Raise KeyboardInterrupt if this process was asked to stop, whatever the outcome, or if ``error`` is one.

    A worker is not asked to stop but killed: a KeyboardInterrupt there comes from a user's code.
    """
    if not _in_worker.is_set() and (stopping.is_set() or isinstance(error, KeyboardInterrupt)):
        raise KeyboardInterrupt


def in_one_thread(function: Callable[..., Any], arguments: tuple[Any, ...], parent: int | None = None) -> Any:
    """Make a call, in a worker; ``parent`` is the process that it is to end with, if that has started it."""
    if parent == os.getppid():
        end_with(parent)
    _in_worker.set()
    collect_rarely()
    _limit_threads()
    return function(*arguments)


def collect_rarely() -> None:
    """Look for garbage in cycles after more new objects than Python does: there is little, and imports make many."""
    gc.set_threshold(20_000)


def check_threads() -> None:
    """Refuse a number of threads with which numba cannot be imported (ConfigError)."""
    given = os.environ.get("NUMBA_NUM_THREADS", "1")
    if not given.strip().isdecimal() or int(given) == 0:
        raise ConfigError(
            f"NUMBA_NUM_THREADS: found '{given}', expected a whole number, at least 1; correct or unset it"
        )


@lru_cache(maxsize=1)
def _limit_threads() -> None:
    if numba := sys.modules.get("numba"):
        numba.set_num_threads(1)  # first, since it may load a library that starts with more threads
    else:  # most workers need none, and importing it takes longer than what they do
        os.environ["NUMBA_NUM_THREADS"] = "1"  # read when it is imported
    threadpool_limits(1)


@lru_cache(maxsize=1)
def _thread_pools(modules: frozenset[str]) -> ThreadpoolController:
    """Return the thread pools of what the modules have loaded: finding them takes longer than a short repetition."""
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit numerical libraries to one thread, also in libraries loaded and processes started inside the block.

    Only a user's own class may have numba use several threads, and it runs in a worker, see `in_one_thread`.
    """
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    numba = sys.modules.get("numba")
    numba_threads = numba.get_num_threads() if numba else 0
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    if numba:
        numba.set_num_threads(1)
    try:
        with _thread_pools(frozenset(sys.modules)).limit(limits=1):
            yield
    finally:
        if numba:
            numba.set_num_threads(numba_threads)
        for name in THREAD_VARIABLES:
            os.environ.pop(name, None)
        os.environ.update({name: value for name, value in before.items() if value is not None})


@contextmanager
def no_interrupt() -> Iterator[None]:
    """Hold back Ctrl-C, which the processes that are started inside inherit: a terminal sends it to them, too."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    from loky.backend import resource_tracker as loky_resource_tracker

    for tracker in (resource_tracker, loky_resource_tracker):
        tracker.ensure_running()  # when it starts, it lifts the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class TimeOverError(TaskError):
    """A repetition ran longer than ``seconds``."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the repetition did not finish within runner.time_limit = {seconds:g} s")
        self.seconds = seconds

    def __reduce__(self) -> tuple[Any, ...]:
        return TimeOverError, (self.seconds,)


class _TimeOver(TaskError):
    """What is raised in another thread, where an error has to be made without arguments."""


@contextmanager
def time_limit(seconds: float | None, record: Callable[[TimeOverError], Any] = id) -> Iterator[None]:
    """Raise a `TimeOverError` inside the block after ``seconds``, as soon as it returns to Python.

    It is raised every second from then on, and once more after the block, in place of any other error: code inside may
    catch it. In a thread other than the main one, as in dask workers, and on Windows, what does not end all the same
    some seconds later ends with its process, after a call of ``record``.
    """
    if seconds is None:
        yield
        return
    over, end = TimeOverError(seconds), time.monotonic() + seconds
    has_alarm = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    try:
        with _alarm(over) if has_alarm else _asynchronous(over, record):
            yield
    except BaseException as error:
        if time.monotonic() < end or isinstance(error, KeyboardInterrupt):
            raise
    if time.monotonic() >= end:
        raise over


@contextmanager
def _alarm(over: TimeOverError) -> Iterator[None]:
    """Raise an error in the main thread, again and again."""

    def stop(*_: Any) -> None:
        raise over

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, over.seconds, _AGAIN_SECONDS)
        yield
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        finally:  # also if the alarm came just now
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


@contextmanager
def _asynchronous(over: TimeOverError, record: Callable[[TimeOverError], Any]) -> Iterator[None]:
    """Raise an error in this thread, again and again; then end the process."""
    thread, ended, lock = ctypes.c_ulong(threading.get_ident()), threading.Event(), threading.Lock()
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc

    def watch() -> None:
        wait = over.seconds
        while not ended.wait(wait):
            if time.monotonic() > begun + over.seconds + GRACE_SECONDS:
                record(over)
                os._exit(1)
            with lock:
                if not ended.is_set():
                    raise_in(thread, ctypes.py_object(_TimeOver))
            wait = _AGAIN_SECONDS

    begun = time.monotonic()
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        is_quiet = False
        while not is_quiet:
            try:
                with lock:
                    ended.set()
                _arrive()
                is_quiet = True
            except _TimeOver:
                pass


def _arrive() -> None:
    """Be called, which raises what another thread has raised in this one.

    To take it back instead leaves Python 3.11 looking for it for ever, in which it gets stuck under a profiler.
    """


def set_up(parent: int, sources: Mapping[tuple[str, Status], Source]) -> None:
    """Have a process that was just started end with its parent, and grow as far as it may.

    Modules whose files are as they were when the parent read them are not read again, for the names of runs.
    """
    from loky import process_executor  # there already

    end_with(parent)
    known.update(sources)
    process_executor._MAX_MEMORY_LEAK_SIZE = _MOST_GROWTH


def allow_files(count: int) -> None:
    """Raise the number of files that this process may have open, as far as the system allows."""
    try:
        import resource
    except ImportError:  # Windows, which has no such limit
        return
    low, high = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 256 + count if high == resource.RLIM_INFINITY else min(256 + count, high)
    if low != resource.RLIM_INFINITY and low < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, high))
