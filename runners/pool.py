"""Workers: processes on this machine, or on several machines through dask; each uses a single thread."""

import logging
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import PositiveFloat
from threadpoolctl import threadpool_limits

from bench.component import component
from bench.errors import ConfigError, TaskError

if TYPE_CHECKING:  # slow to import
    from joblib import Parallel

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_CONNECT_SECONDS = 15
_has_workers = False
_QUIET = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""For dask workers: they ignore Ctrl-C, which is handled by the process that started them."""


@component
class Runner:
    """How repetitions are spread over processes: the group ``runner`` of the configuration.

    Parameters
    ----------
    backend
        joblib's name of the back end: ``loky`` (processes on this machine) or ``dask`` (one or more machines).
    scheduler
        dask only: the address of a running scheduler, such as ``tcp://node1:8786``. If None, workers are started on
        this machine.
    time_limit
        Seconds after which a repetition is stopped and fails. Code that does not return to Python, such as an endless
        compiled loop, cannot be stopped.
    progress
        Whether to show a progress bar on stderr; None: only on a terminal.

    Raises
    ------
    ConfigError
        When joblib has no such back end, or a scheduler is set for one other than dask.
    """

    backend: str = "loky"
    scheduler: str | None = None
    time_limit: PositiveFloat | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        if self.backend not in ("loky", "dask"):
            from joblib.parallel import BACKENDS, EXTERNAL_BACKENDS

            known = sorted({*BACKENDS, *EXTERNAL_BACKENDS})
            if self.backend not in known:
                raise ConfigError(f"runner.backend: found {self.backend!r}, expected one of: {', '.join(known)}")
        if self.scheduler is not None and self.backend != "dask":
            raise ConfigError(f"runner.scheduler: found '{self.scheduler}' with {self.backend}, expected runner=dask")

    @property
    def has_own_workers(self) -> bool:
        """Whether even a single job runs in another process."""
        return self.backend == "dask"


@contextmanager
def workers(runner: Runner, jobs: int) -> Iterator[None]:
    """Provide workers inside the block and stop them at its end, also after an interruption.

    A nested block uses the workers of the outer one, since starting them takes seconds.

    Raises
    ------
    ConfigError
        When dask is not installed, or the scheduler cannot be reached.
    """
    global _has_workers
    if _has_workers:
        yield
        return
    _has_workers = True
    try:
        with _dask(runner.scheduler, jobs) if runner.backend == "dask" else nullcontext():
            yield
    finally:
        _has_workers = False
        if runner.backend == "loky" and jobs > 1:
            from joblib.externals.loky import get_reusable_executor

            get_reusable_executor(reuse=True).shutdown(kill_workers=True)  # finished results are on disk


@contextmanager
def _dask(scheduler: str | None, jobs: int) -> Iterator[None]:
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise ConfigError(
            "runner: found dask, which is not installed, expected it: pip install 'bandit-tuning-bench[dask]'"
        ) from None
    for name in ("distributed", "tornado", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):  # also after the cluster has stopped
            logging.getLogger(name).setLevel(logging.CRITICAL)
    settings = {
        "distributed.scheduler.allowed-failures": 1,  # a repetition whose worker died is run once more
        "distributed.worker.preload": [_QUIET],
    }
    with dask.config.set(settings):
        if scheduler is None:
            size: dict[str, Any] = {"n_workers": jobs, "threads_per_worker": 1, "memory_limit": None}
            with LocalCluster(**size, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster, Client(cluster):
                try:
                    yield
                except BaseException:  # do not wait for the workers: finished results are on disk
                    for nanny in cluster.workers.values():
                        nanny.auto_restart = False
                        with suppress(ProcessLookupError):
                            if nanny.pid:
                                os.kill(nanny.pid, signal.SIGKILL)
                    raise
            return
        try:
            client = Client(scheduler, timeout=_CONNECT_SECONDS)
        except (OSError, ValueError, TimeoutError):
            raise ConfigError(
                f"runner.scheduler: found '{scheduler}', which does not respond, expected the address of a running "
                "dask scheduler, such as tcp://node1:8786"
            ) from None
        with client:
            yield


def pool(runner: Runner, jobs: int) -> "Parallel":
    """Return a joblib ``Parallel`` that passes calls to the workers and yields results as they complete."""
    from joblib import Parallel, parallel_config

    # A worker that has grown large is replaced, which loses nothing
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given", category=UserWarning)
    limits = {"inner_max_num_threads": 1} if runner.backend == "loky" and jobs > 1 else {}
    try:
        with parallel_config(backend=runner.backend, **limits):
            n_jobs = -1 if runner.has_own_workers else jobs
            return Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    except (ValueError, TypeError) as error:
        raise ConfigError(
            f"runner.backend: found '{runner.backend}' ({error}), expected one that yields results as they complete"
        ) from None


def spread(runner: Runner, jobs: int) -> Callable[..., Iterator[Any]]:
    """Return what calls a function with each of some tuples, like `itertools.starmap`, but in workers, in any order."""
    from joblib import delayed  # slow to import

    def each(function: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        yield from pool(runner, jobs)(delayed(function)(*item) for item in items) if items else ()

    return each


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
    error = TaskError(f"found no end within runner.time_limit = {seconds:g} s, expected the repetition to finish")

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

    before = {name: os.environ.get(name) for name in _THREADS}
    numba_threads = numba.get_num_threads()
    os.environ.update(dict.fromkeys(_THREADS, "1"))
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
