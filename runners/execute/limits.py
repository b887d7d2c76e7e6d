"""What a worker is held to: one thread, a limit of time, and the life of the process that started it."""

import ctypes
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import threadpool_limits

from bench.errors import TaskError

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def in_one_thread(function: Callable[..., Any], arguments: tuple[Any, ...], parent: int | None = None) -> Any:
    """Make a call, in a worker; ``parent`` is the process that the worker is to end with."""
    if parent is not None:
        end_with(parent)
    _limit_threads()
    return function(*arguments)


@lru_cache(maxsize=1)
def _limit_threads() -> None:
    import numba

    numba.set_num_threads(1)  # first, since it may load a library that starts with more threads
    threadpool_limits(1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit numerical libraries to one thread, also in libraries loaded and processes started inside the block."""
    import numba

    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    numba_threads = numba.get_num_threads()
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    numba.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        numba.set_num_threads(numba_threads)
        for name in THREAD_VARIABLES:
            del os.environ[name]
        os.environ.update({name: value for name, value in before.items() if value is not None})


@lru_cache(maxsize=1)
def end_with(parent: int) -> None:
    """In a worker: exit when the process that started it is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    if os.getppid() == parent:
        threading.Thread(target=watch, daemon=True).start()


@contextmanager
def no_interrupt() -> Iterator[None]:
    """Hold back Ctrl-C, which the processes that are started inside inherit: a terminal sends it to them, too."""
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_resource_tracker

    for tracker in (resource_tracker, loky_resource_tracker):
        tracker.ensure_running()  # when it starts, it lifts the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise a `TaskError` inside the block after ``seconds``, as soon as it returns to Python."""
    if seconds is None:
        yield
        return

    class TimeOverError(TaskError):
        def __init__(self) -> None:
            super().__init__(f"the repetition did not finish within runner.time_limit = {seconds:g} s")

    def stop(*_: Any) -> None:
        raise TimeOverError

    if threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        return
    thread, error = ctypes.c_ulong(threading.get_ident()), ctypes.py_object(TimeOverError)
    timer = threading.Timer(seconds, ctypes.pythonapi.PyThreadState_SetAsyncExc, (thread, error))  # as in dask workers
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
