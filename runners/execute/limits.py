"""What a repetition is held to: one thread, a limit of time, and in a worker an end when the command ends."""

import faulthandler
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import lru_cache
from typing import Any

from bench.errors import ConfigError, TaskError

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
_PARENT_SECONDS = 0.2
_OVER = 75
"""Exit code of a process that is ended for a limit of time."""
WITHOUT_FILES = 76
"""Exit code of a process that ends since all its files were closed."""

is_command = threading.Event()
"""Whether this process is a command, which may be ended for a limit of time, and not a notebook or a program."""
_in_worker = threading.Event()


def raise_if_stopped(error: BaseException) -> None:
    """Raise a KeyboardInterrupt anew; one in a worker, which hears no Ctrl-C, comes from a user's code."""
    if not _in_worker.is_set() and isinstance(error, KeyboardInterrupt):
        raise KeyboardInterrupt


_files: list[int] = []
"""In a worker: the number of an open file, which is only there to be closed with all others."""


@lru_cache(maxsize=1)
def set_up(command: int) -> None:
    """Hold this process, if it is a worker of the process ``command``, to one thread, and to end with it."""
    if os.getpid() == command:  # a back end that runs calls where they come from
        return
    from threadpoolctl import threadpool_limits

    _in_worker.set()
    _files.append(os.open(os.devnull, os.O_RDONLY))
    os.environ.setdefault("PYTHONFAULTHANDLER", "")  # read by loky: no lists of frames and modules at a crash
    collect_rarely()
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))  # for libraries still to come
    if os.getppid() == command:  # not on another machine
        threading.Thread(target=_end_with, args=(command,), daemon=True).start()
    if numba := sys.modules.get("numba"):
        numba.set_num_threads(1)  # first, since it may load a library that starts with more threads
    else:  # most workers need none, and importing it takes longer than what they do
        os.environ["NUMBA_NUM_THREADS"] = "1"
    threadpool_limits(1)


def end_without_files() -> None:
    """End this process, if it is a worker whose files a user's code has closed: it has no way to answer any more."""
    for number in _files:
        with suppress(OSError):
            if os.path.samestat(os.fstat(number), os.stat(os.devnull)):
                return
        os._exit(WITHOUT_FILES)


def _end_with(command: int) -> None:
    while os.getppid() == command:
        time.sleep(_PARENT_SECONDS)
    os._exit(1)


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
def _thread_pools(modules: frozenset[str]) -> Any:
    """Return the thread pools of what the modules have loaded: finding them takes longer than a short repetition."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Give numerical libraries a single thread in this process inside the block."""
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


class TimeOverError(TaskError):
    """A repetition ran longer than ``seconds``."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the repetition did not finish within runner.time_limit = {seconds:g} s")
        self.seconds = seconds

    def __reduce__(self) -> tuple[Any, ...]:
        return TimeOverError, (self.seconds,)


@contextmanager
def time_limit(seconds: float | None, record: Callable[[TimeOverError], Any] = id) -> Iterator[None]:
    """Raise a `TimeOverError` inside the block after ``seconds``, in the main thread, every second from then on.

    Code inside may catch it, so it is raised once more after the block, in place of any other error. What does not end
    some seconds later, or runs in another thread, as in dask workers, ends with its process, after a call of
    ``record``; but not a program or notebook that runs it in its own process.
    """
    if seconds is None:
        yield
        return
    over, end = TimeOverError(seconds), time.monotonic() + seconds
    has_alarm = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    may_end = _in_worker.is_set() or is_command.is_set()
    try:
        with (
            _end(seconds + GRACE_SECONDS * has_alarm, over, record) if may_end else nullcontext(),
            _alarm(over) if has_alarm else nullcontext(),
        ):
            yield
    except BaseException as error:
        if time.monotonic() < end or isinstance(error, KeyboardInterrupt):
            raise
    if time.monotonic() >= end:
        raise over


@contextmanager
def _end(seconds: float, over: TimeOverError, record: Callable[[TimeOverError], Any]) -> Iterator[None]:
    """End this process unless the block ends within some seconds."""
    ended = threading.Event()
    threading.Thread(target=_watch, args=(ended, seconds, over, record), daemon=True).start()
    with open(os.devnull, "w") as silence:
        # Compiled code may leave no other thread a turn
        where = silence if _in_worker.is_set() else sys.stderr
        faulthandler.dump_traceback_later(seconds + GRACE_SECONDS, exit=True, file=where)
        try:
            yield
        finally:
            ended.set()
            faulthandler.cancel_dump_traceback_later()


def _watch(ended: threading.Event, seconds: float, over: TimeOverError, record: Callable[[TimeOverError], Any]) -> None:
    if ended.wait(seconds):
        return
    record(over)
    if not _in_worker.is_set():
        words = (
            f"error: {over}, nor did it stop {GRACE_SECONDS:g} s later, which ends the command: jobs=2 ends it alone"
        )
        os.write(2, f"{words}; finished work is kept\n".encode())
        os._exit(1)
    os._exit(_OVER)


@contextmanager
def _alarm(over: TimeOverError) -> Iterator[None]:
    """Raise an error in the main thread, again and again."""

    def stop(*_: Any) -> None:
        raise over

    before, hook = signal.signal(signal.SIGALRM, stop), sys.unraisablehook
    sys.unraisablehook = lambda lost: None if lost.exc_value is over else hook(lost)  # in a destructor, or a callback
    try:
        signal.setitimer(signal.ITIMER_REAL, over.seconds, _AGAIN_SECONDS)
        yield
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        finally:  # also if the alarm came just now
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            sys.unraisablehook = hook
