"""Workers: processes on this machine, or on several machines through dask; each uses a single thread."""

import logging
import os
import signal
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from bench.errors import ConfigError, TaskError
from runners.config.runner import Runner
from runners.execute.limits import THREAD_VARIABLES, end_with, in_one_thread, no_interrupt

_CONNECT_SECONDS = 15
_IDLE_SECONDS = 300
_QUIET = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""For dask workers: they ignore Ctrl-C, which is handled by the process that started them."""


class Task(NamedTuple):
    """A call to be made by a worker, which gets function and arguments pickled; ``key`` stays here."""

    key: Any
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class WorkerDiedError(TaskError):
    """The worker of a task died, and when the task was run once more, alone, its worker died again."""


class Workers:
    """What tasks are handed to, a few at a time: this process; `_Loky` and `_Dask` have processes of their own."""

    in_flight = 1

    def run(self, queue: deque[Task]) -> Iterator[tuple[Task, "Future[Any]"]]:
        """Yield each task with its finished future, as they finish; tasks may be added to ``queue`` meanwhile.

        When a worker dies (out of memory, a crash in compiled code), what it ran is run once more, alone. What loses
        its worker then, too, has a `WorkerDiedError`. Raises ConfigError when there are no workers any more.
        """
        flying: dict[Future[Any], Task] = {}
        try:
            while queue or flying:
                while queue and len(flying) < self.in_flight:
                    task = queue.popleft()
                    flying[self._submit(task)] = task
                done, _ = wait(flying, _CONNECT_SECONDS, FIRST_COMPLETED)
                if not done:
                    self._check()
                for future in done:
                    task = flying.pop(future)
                    yield task, self._once_more(task) if self._death(future) else future
        finally:
            for future in flying:
                future.cancel()

    def _once_more(self, task: Task) -> "Future[Any]":
        future = self._alone(task)
        death = self._death(future)
        if death:
            error = WorkerDiedError(f"its worker died twice ({type(death).__name__}), for instance for lack of memory")
            error.__cause__ = death
            future = Future()
            future.set_exception(error)
        return future

    def _submit(self, task: Task) -> "Future[Any]":
        future: Future[Any] = Future()
        try:
            future.set_result(task.function(*task.arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def _alone(self, task: Task) -> "Future[Any]":
        """Run a task in a worker whose death harms no other task, and return its finished future."""
        future = self._submit(task)
        wait([future])
        return future

    def _death(self, future: "Future[Any]") -> BaseException | None:
        """Return what tells that the worker of a task died, None if it did not."""
        error = future.exception()
        return error if isinstance(error, BrokenProcessPool) or type(error).__name__ == "KilledWorker" else None

    def _check(self) -> None:
        """Raise an error if there are no workers any more."""


class _Loky(Workers):
    """Processes on this machine; when one dies, loky gives up all of them, and new ones are started."""

    def __init__(self, jobs: int) -> None:
        self.in_flight = 2 * jobs  # each has its next task at hand
        self._jobs = jobs
        env = dict.fromkeys(THREAD_VARIABLES, "1")
        self._options = {"timeout": _IDLE_SECONDS, "initializer": end_with, "initargs": (os.getpid(),), "env": env}
        # A worker that has grown large is replaced, which loses nothing
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given", category=UserWarning)
        # For the process that clears away after this one, also where it is stopped in the middle
        ignored = [os.environ.get("PYTHONWARNINGS", ""), "ignore:resource_tracker:UserWarning"]
        os.environ["PYTHONWARNINGS"] = ",".join(dict.fromkeys(filter(None, ",".join(ignored).split(","))))

    def _executor(self) -> Any:
        from joblib.externals.loky import get_reusable_executor  # slow to import

        return get_reusable_executor(self._jobs, **self._options)

    def _submit(self, task: Task) -> "Future[Any]":
        with no_interrupt():
            while True:
                with suppress(BrokenProcessPool):  # a worker has died just now
                    future: Future[Any] = self._executor().submit(in_one_thread, task.function, task.arguments)
                    return future

    def _alone(self, task: Task) -> "Future[Any]":
        from joblib.externals.loky import ProcessPoolExecutor  # slow to import

        with ProcessPoolExecutor(1, **self._options) as executor:
            with no_interrupt():
                future: Future[Any] = executor.submit(in_one_thread, task.function, task.arguments)
            wait([future])
        return future

    def stop(self) -> None:
        """Kill the workers: finished results are on disk."""
        self._executor().shutdown(wait=True, kill_workers=True)


class _Dask(Workers):
    """Workers of a dask scheduler, which replaces those that die."""

    def __init__(self, jobs: int, client: Any) -> None:
        self._client = client
        self._address = client.scheduler.address
        self._jobs = jobs
        self._check()
        self._executor = client.get_executor(pure=False)

    def _submit(self, task: Task) -> "Future[Any]":
        try:
            future: Future[Any] = self._executor.submit(in_one_thread, task.function, task.arguments, os.getpid())
        except Exception:
            raise self._lost() from None
        return future

    def _death(self, future: "Future[Any]") -> BaseException | None:
        try:
            return super()._death(future)
        except CancelledError:
            raise self._lost() from None

    def _check(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
            n_threads = sum(self._client.nthreads().values())
        except TimeoutError:
            raise ConfigError(
                f"runner.scheduler: found no workers at '{self._address}', expected at least one, started with: dask "
                f"worker {self._address}"
            ) from None
        except Exception:
            raise self._lost() from None
        self.in_flight = 2 * max(self._jobs, n_threads)  # of a running scheduler all workers are used

    def _lost(self) -> ConfigError:
        return ConfigError(
            f"runner.scheduler: '{self._address}' does not respond any more, expected a running dask "
            "scheduler; finished work is kept, rerun to resume"
        )


_current: Workers | None = None


@contextmanager
def workers(runner: Runner, jobs: int) -> Iterator[Workers]:
    """Provide workers inside the block and stop them at its end, also after an interruption.

    With one job and without dask, tasks run in this process. A nested block uses the workers of the outer one, since
    starting them takes seconds. Raises ConfigError when dask is not installed, or the scheduler cannot be reached or
    has no workers.
    """
    global _current
    if _current is not None:
        yield _current
        return
    try:
        if runner.backend == "dask":
            with _dask(runner.scheduler, jobs) as _current:
                yield _current
        elif jobs == 1:
            _current = Workers()
            yield _current
        else:
            _current = processes = _Loky(jobs)
            try:
                yield processes
            finally:
                processes.stop()
    finally:
        _current = None


@contextmanager
def _dask(scheduler: str | None, jobs: int) -> Iterator[Workers]:
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise ConfigError("runner: dask is not installed: pip install 'bandit-tuning-bench[dask]'") from None
    for name in ("distributed", "tornado", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):  # also after the cluster has stopped
            logging.getLogger(name).setLevel(logging.CRITICAL)
    settings = {
        "distributed.scheduler.allowed-failures": 0,  # `Workers` runs once more what was lost with a worker
        "distributed.scheduler.worker-saturation": 1.0,  # so that only what was running is lost
        "distributed.worker.preload": [_QUIET],
    }
    with dask.config.set(settings):
        if scheduler is None:
            size: dict[str, Any] = {"n_workers": jobs, "threads_per_worker": 1, "memory_limit": None}
            with no_interrupt():  # inherited by the threads and processes that it starts
                cluster = LocalCluster(**size, dashboard_address="127.0.0.1:0", silence_logs=50)
            with cluster, Client(cluster) as client:
                try:
                    yield _Dask(jobs, client)
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
            yield _Dask(jobs, client)


def spread(runner: Runner, jobs: int) -> Callable[..., Iterator[Any]]:
    """Return what calls a function with each of some tuples, like `itertools.starmap`, but in workers, in any order."""

    def each(function: Callable[..., Any], items: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        with workers(runner, jobs) as pool:
            for _, future in pool.run(deque(Task(None, function, item) for item in items)):
                yield future.result()

    return each
