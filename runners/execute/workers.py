"""Calls on several processors: the only module that uses joblib.

With one job, calls are made in this process, one after the other. With several jobs, they are made by `joblib.Parallel`
on loky or another registered back end, or by dask's own client. Calls that were lost with a worker that died are made
once more, each in a separate process.
"""

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any

from bench.errors import ConfigError
from runners.config.runner import Runner
from runners.execute.limits import Call, Makes, WorkerDiedError, one_thread, set_up

_QUIET = (
    "A worker stopped while some jobs were given",  # a worker whose memory has grown is replaced: harmless
    r"([\d,]+ tasks have been successfully|.*still being processed by the workers)",  # after an error, or Ctrl-C
)


_makes: Makes | None = None
"""The back end of the present session; None outside of sessions."""


@contextmanager
def workers(runner: Runner, jobs: int) -> Iterator[None]:
    """Provide workers for all calls inside the block, and stop them at its end, even after an interruption.

    A nested block uses the workers of the outer block, because their start takes a second. Raises ConfigError if no
    workers can be provided.
    """
    global _makes
    if _makes:
        yield
        return
    if jobs < 1:
        raise ConfigError(f"jobs: found {jobs}, expected a whole number, at least 1")
    if runner.backend == "dask":
        from runners.execute.dask_workers import dask_workers

        provided = dask_workers(runner, jobs)
    else:
        provided = _joblib_workers(runner, jobs)
    with provided as makes:
        _makes = makes
        try:
            yield
        finally:
            _makes = None


def calls(asked: Iterable[Call]) -> Iterator[tuple[Call, Any]]:
    """Make calls in the workers of the enclosing block, and yield each call with its result as it arrives.

    Errors are raised. When a worker dies, for lack of memory or by a crash in compiled code, its calls are repeated at
    the end. The result of a call whose process dies again is a `WorkerDiedError`.
    """
    assert _makes, "expected a block of `workers`"
    return _makes(asked)


def spread(runner: Runner, jobs: int) -> Callable[..., Iterator[Any]]:
    """Return a function like `itertools.starmap` that makes its calls in workers and yields results in any order."""

    def each(function: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        with workers(runner, jobs):
            for _, result in calls(Call(function, *item) for item in items):
                if isinstance(result, WorkerDiedError):
                    raise result
                yield result

    return each


def apart(function: Callable[..., Any], *arguments: Any, **environ: str) -> Any:
    """Return the result of a function in a new process with variables ``environ``, or an error if the process dies."""
    ((_, result),) = _apart([Call(function, *arguments)], 1, environ)
    return result


@contextmanager
def _joblib_workers(runner: Runner, jobs: int) -> Iterator[Makes]:
    """Configure joblib inside the block; a single job needs a worker only if there is a time limit."""
    is_loky = runner.backend == "loky"
    if is_loky and jobs == 1:
        yield _here if runner.time_limit is None else _apart
        return
    import joblib  # slow to import
    from joblib.externals.loky import get_reusable_executor

    for words in _QUIET:
        warnings.filterwarnings("ignore", message=words, category=UserWarning)
    own = {"initializer": set_up, "initargs": (os.getpid(),), "max_nbytes": None, "inner_max_num_threads": 1}
    with joblib.parallel_config(runner.backend, n_jobs=jobs, **(own if is_loky else {})):
        try:
            yield partial(_spread, jobs=jobs)
        finally:
            if is_loky:
                get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)


def _here(asked: Iterable[Call]) -> Iterator[tuple[Call, Any]]:
    with one_thread():
        for call in asked:
            yield call, call.function(*call.arguments)


def _spread(asked: Iterable[Call], jobs: int) -> Iterator[tuple[Call, Any]]:
    """Make calls with joblib; calls that are lost with a dead worker are repeated at the end in separate processes."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    queue, lost = deque(asked), list[Call]()
    begun: dict[int, Call] = {}

    def tasks() -> Iterator[Any]:
        while queue:
            call = queue.popleft()
            begun[id(call)] = call
            yield delayed(_make)(id(call), os.getpid(), call.function, *call.arguments)

    while queue:
        try:
            for number, result in Parallel(return_as="generator_unordered")(tasks()):
                yield begun.pop(number), result
        except BrokenProcessPool:
            lost += begun.values()
            begun.clear()
    yield from _apart(lost, jobs)


def _make(number: int, command: int, function: Callable[..., Any], *arguments: Any) -> tuple[int, Any]:
    set_up(command)  # the back end has no initializer
    return number, function(*arguments)


def _apart(
    asked: Iterable[Call], jobs: int = 1, environ: Mapping[str, str] = MappingProxyType({})
) -> Iterator[tuple[Call, Any]]:
    """Make the calls in ``jobs`` separate processes, one at a time in each, so that a crash affects no other call."""
    from joblib.externals.loky import ProcessPoolExecutor
    from joblib.externals.loky.process_executor import BrokenProcessPool

    queue = deque(asked)
    own = {"initializer": set_up, "initargs": (os.getpid(),), "env": {"NUMBA_NUM_THREADS": "1", **environ}}
    free = [ProcessPoolExecutor(1, **own) for _ in range(min(jobs, len(queue)))]
    flying: dict[Any, tuple[Call, Any]] = {}
    try:
        while queue or flying:
            while queue and free:
                call, pool = queue.popleft(), free.pop()
                flying[pool.submit(call.function, *call.arguments)] = call, pool
            for future in wait(flying, return_when=FIRST_COMPLETED)[0]:
                call, pool = flying.pop(future)
                try:
                    result = future.result()
                except BrokenProcessPool as death:
                    result, pool = call.died(death), ProcessPoolExecutor(1, **own)
                free.append(pool)
                yield call, result
    finally:
        for pool in [*free, *(pool for _, pool in flying.values())]:
            pool.shutdown(wait=True, kill_workers=True)
