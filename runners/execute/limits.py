"""What a worker is held to: one thread, a limit of time, and the life of the process that started it."""

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
    limit_threads()
    return function(*arguments)


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
    """Stop the code inside the block after ``seconds``.

    Raises
    ------
    TaskError
        Inside the block, when the time is up.
    """
    if seconds is None:
        yield
        return
    error = TaskError(f"the repetition did not finish within runner.time_limit = {seconds:g} s")

    def stop(*_: Any) -> None:
        raise error

    if threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        return
    with _limit_of_thread(seconds, error):
        yield


@contextmanager
def _limit_of_thread(seconds: float, error: TaskError) -> Iterator[None]:
    """Do so outside the main thread, where signals do not arrive (as in dask workers): between two bytecodes."""
    import ctypes

    class TimeOverError(Exception):
        pass

    identity = ctypes.c_ulong(threading.get_ident())
    timer = threading.Timer(
        seconds, lambda: ctypes.pythonapi.PyThreadState_SetAsyncExc(identity, ctypes.py_object(TimeOverError))
    )
    timer.daemon = True
    timer.start()
    try:
        yield
    except TimeOverError:
        raise error from None
    finally:
        timer.cancel()


@lru_cache(maxsize=1)
def end_with(parent: int) -> None:
    """In a worker: exit when the process that started it is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    if os.getppid() == parent:
        threading.Thread(target=watch, daemon=True).start()


@lru_cache(maxsize=1)
def limit_threads() -> None:
    """Limit the numerical libraries of this process to one thread."""
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
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
