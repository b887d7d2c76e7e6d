"""Calls on several processors: the only place that knows joblib.

One job: in this process, one call after the other. Several: `joblib.Parallel` on loky, on dask, or on whatever else is
registered with joblib. What was lost with a worker that died is made once more, each call in a process of its own.
"""

import os
import re
import signal
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import ExitStack, contextmanager
from typing import Any

from bench.errors import ConfigError, TaskError, one_line
from runners.config.runner import Runner
from runners.execute.limits import (
    GRACE_SECONDS,
    THREAD_VARIABLES,
    WITHOUT_FILES,
    TimeOverError,
    check_threads,
    end_without_files,
    set_up,
)

_QUIET = (
    "A worker stopped while some jobs were given",  # one that has grown large is replaced, which loses nothing
    r"([\d,]+ tasks have been successfully|.*still being processed by the workers)",  # after an error, or Ctrl-C
)
_jobs = 0
"""How many processes may take the calls of a session; 0 outside of sessions."""
_is_here = True
"""Whether calls are made in this process."""
_is_dask = False


class WorkerDiedError(TaskError):
    """The process of a call died, also when the call was made once more."""


class Call:
    """A call to be made by a worker, which gets function and arguments pickled; ``seconds``: its limit of time."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> None:
        self.function, self.arguments, self.seconds = function, arguments, seconds

    def kept(self) -> Any:
        """Return its result as far as it is kept elsewhere, where its worker died; None if it is to be made again."""


@contextmanager
def workers(runner: Runner, jobs: int) -> Iterator[None]:
    """Provide workers for all calls inside the block, and stop them at its end, also after an interruption.

    A block inside another uses the workers of that, since starting them takes a second. Raises ConfigError where there
    can be none.
    """
    global _jobs, _is_here, _is_dask
    if _jobs:
        yield
        return
    if jobs < 1:
        raise ConfigError(f"jobs: found {jobs}, expected a whole number, at least 1")
    check_threads()
    with ExitStack() as stack:
        _is_here = jobs == 1 and runner.backend == "loky"
        if not _is_here:
            for words in _QUIET:
                warnings.filterwarnings("ignore", message=words, category=UserWarning)
            # For the process that clears away after this one, also where it is stopped in the middle
            ignored = [os.environ.get("PYTHONWARNINGS", ""), "ignore:resource_tracker:UserWarning"]
            os.environ["PYTHONWARNINGS"] = ",".join(dict.fromkeys(filter(None, ",".join(ignored).split(","))))
            stack.enter_context(_parallel(runner, jobs))
        _jobs, _is_dask = jobs, runner.backend == "dask"
        try:
            yield
        finally:
            _jobs, _is_here, _is_dask = 0, True, False


@contextmanager
def _parallel(runner: Runner, jobs: int) -> Iterator[None]:
    """Configure joblib inside the block."""
    if runner.backend == "dask":
        from runners.execute.dask_workers import dask_workers

        with dask_workers(runner, jobs):
            yield
        return
    import joblib  # slow to import

    options: dict[str, Any] = {"n_jobs": jobs}
    if runner.backend == "loky":
        options |= {"initializer": set_up, "initargs": (os.getpid(),), "max_nbytes": None, "inner_max_num_threads": 1}
    try:
        config = joblib.parallel_config(runner.backend, **options)
        joblib.Parallel(return_as="generator_unordered")  # which not every back end can
    except (ValueError, TypeError) as error:
        raise ConfigError(
            f"runner.backend: found '{runner.backend}', expected loky or dask ({one_line(error)})"
        ) from None
    with config:
        try:
            yield
        finally:
            if runner.backend == "loky":
                from joblib.externals.loky import get_reusable_executor

                get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)


def calls(queue: deque[Call]) -> Iterator[tuple[Call, Any]]:
    """Make calls in a session's workers, and yield each with what it returns, as they come; what one raises is raised.

    Calls may be added to ``queue`` meanwhile. When a worker dies (out of memory, a crash in compiled code), what was
    lost with it is made once more, at the end, in a process of its own; what loses that, too, has a `WorkerDiedError`,
    or a `TimeOverError`, in the place of a result. Raises ConfigError where no worker can be started.
    """
    while queue and _is_here:
        call = queue.popleft()
        yield call, call.function(*call.arguments)
    suspects: deque[Call] = deque()
    while queue or suspects:
        if not queue:
            yield from _each_alone(suspects) if _is_dask else _apart(suspects, _jobs)
            continue
        for call, result in _spread(queue):
            if isinstance(result, WorkerDiedError) and (result := call.kept()) is None:
                suspects.append(call)
            else:
                yield call, result


def _spread(queue: deque[Call]) -> Iterator[tuple[Call, Any]]:
    """Give calls to joblib until the queue is empty; with a `WorkerDiedError` for what was lost with a worker."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    begun: dict[int, Call] = {}

    def tasks() -> Iterator[Any]:
        number = 0
        while queue:
            begun[number] = call = queue.popleft()
            yield delayed(_make)(number, call.function, call.arguments, os.getpid())
            number += 1

    # Where dask gives up a batch, nothing says which of its calls did it
    parallel = Parallel(return_as="generator_unordered", batch_size=1 if _is_dask else "auto")
    try:
        with no_interrupt():
            results = parallel(tasks())
    except OSError as error:
        raise not_started(error) from error
    try:
        for number, result in results:
            yield begun.pop(number), result
    except BrokenProcessPool as death:
        for call in begun.values():
            yield call, died(death)


def _make(number: int, function: Callable[..., Any], arguments: tuple[Any, ...], command: int) -> tuple[int, Any]:
    """Make a call, in a worker of the process ``command``."""
    set_up(command)
    result = function(*arguments)
    end_without_files()
    return number, result


def _each_alone(suspects: deque[Call]) -> Iterator[tuple[Call, Any]]:
    """Make calls one after the other: what loses its worker has killed it."""
    while suspects:
        ((call, result),) = _spread(deque([suspects.popleft()]))
        if isinstance(result, WorkerDiedError):
            result = call.kept() or result
        yield call, result


def _apart(suspects: deque[Call], jobs: int, **environ: str) -> Iterator[tuple[Call, Any]]:
    """Make calls that may end their process, each in one whose death harms no other call, ``jobs`` at a time."""
    from joblib.externals.loky.process_executor import BrokenProcessPool

    flying: dict[Any, tuple[Call, Any, float]] = {}
    pools = [_own_process(environ) for _ in range(min(jobs, len(suspects)))]

    def begin(pool: Any) -> None:
        call = suspects.popleft()
        with no_interrupt():
            future = pool.submit(_make, 0, call.function, call.arguments, os.getpid())
        flying[future] = call, pool, time.monotonic()

    try:
        for pool in pools:
            begin(pool)
        while flying:
            for future in wait(flying, return_when=FIRST_COMPLETED)[0]:
                call, pool, start = flying.pop(future)
                try:
                    result = future.result()[1]
                except BrokenProcessPool as death:
                    # Compiled code that leaves no other thread a turn, see `time_limit`
                    is_over = call.seconds is not None and time.monotonic() > start + call.seconds + 2 * GRACE_SECONDS
                    result = call.kept() or (TimeOverError(call.seconds or 0) if is_over else died(death))
                    pools.append(pool := _own_process(environ))
                if suspects:
                    begin(pool)
                yield call, result
    finally:
        for pool in pools:
            pool.shutdown(wait=True, kill_workers=True)


def apart(*made: tuple[Any, ...], **environ: str) -> list[Any]:
    """Return what functions return for arguments, in one fresh process; where that dies, the error that says so."""
    asked = [Call(*one) for one in made]
    found = {id(call): result for call, result in _apart(deque(asked), 1, **environ)}
    return [found[id(call)] for call in asked]


def _own_process(environ: Mapping[str, str]) -> Any:
    """Return an executor with a single process, started at its first call, which ends with this one."""
    from joblib.externals.loky import ProcessPoolExecutor

    env = {**dict.fromkeys((*THREAD_VARIABLES, "NUMBA_NUM_THREADS"), "1"), **environ}
    return ProcessPoolExecutor(1, initializer=set_up, initargs=(os.getpid(),), env=env)


def spread(runner: Runner, jobs: int) -> Callable[..., Iterator[Any]]:
    """Return what calls a function with each of some tuples, like `itertools.starmap`, but in workers, in any order."""

    def each(function: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        with workers(runner, jobs):
            for _, result in calls(deque(Call(function, *item) for item in items)):
                if isinstance(result, WorkerDiedError):
                    raise result
                yield result

    return each


def died(death: BaseException) -> WorkerDiedError:
    """Return the error of a call whose process died, said as loky or dask says it."""
    codes = re.search(r"\{(?:EXIT\()?([^()]*)", str(death))  # such as {SIGSEGV(-11)} or {EXIT(3)}, as loky words it
    how = codes[1] if codes else type(death).__name__
    how = f"exit code {how}{', all its files were closed' * (how == str(WITHOUT_FILES))}" if how.isdecimal() else how
    reason = ", for instance for lack of memory" if how in ("SIGKILL", "KilledWorker") else ""
    return WorkerDiedError(f"its process died ({how}){reason}")


def not_started(error: BaseException) -> ConfigError:
    """Say why no worker can be started: no shared memory, processes or files are left."""
    return ConfigError(
        f"jobs: found that no worker can be started ({getattr(error, 'strerror', '') or one_line(error)}), expected "
        "room in /dev/shm, and larger limits of open files and processes (ulimit -n, -u); jobs=1 needs none"
    )


@contextmanager
def no_interrupt() -> Iterator[None]:
    """Hold back Ctrl-C, which the processes that are started inside inherit: a terminal sends it to them, too."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_resource_tracker

    for tracker in (resource_tracker, loky_resource_tracker):
        tracker.ensure_running()  # when it starts, it lifts the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
