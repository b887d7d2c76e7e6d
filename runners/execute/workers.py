"""Workers: processes on this machine, or on several machines through dask; each uses a single thread."""

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from runners.config.runner import Runner
from runners.execute.limits import check_threads
from runners.execute.processes import Call, Processes, Workers

_current: Workers | None = None


@contextmanager
def workers(runner: Runner, jobs: int) -> Iterator[Workers]:
    """Provide workers inside the block and stop them at its end, also after an interruption.

    With one job and without dask, tasks that need not be apart run in this process. A nested block uses the workers
    of the outer one, since starting them takes seconds. Raises ConfigError when dask is not installed, or the scheduler
    cannot be reached or has no workers, or the environment has a number of threads that is none.
    """
    global _current
    if _current is not None:
        yield _current
        return
    check_threads()
    # Where there are no semaphores, an error says it
    warnings.filterwarnings("ignore", message=".*joblib will operate in serial mode", category=UserWarning)
    # For the process that clears away after this one, also where it is stopped in the middle
    ignored = [os.environ.get("PYTHONWARNINGS", ""), "ignore:resource_tracker:UserWarning", "ignore:[Errno:UserWarning"]
    os.environ["PYTHONWARNINGS"] = ",".join(dict.fromkeys(filter(None, ",".join(ignored).split(","))))
    try:
        if runner.backend == "dask":
            from runners.execute.cluster import cluster

            with cluster(runner, jobs) as _current:
                yield _current
        else:
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
