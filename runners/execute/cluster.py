"""Workers of dask: a local cluster, or a scheduler that runs already."""

import logging
import os
import signal
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from typing import Any

from bench.errors import ConfigError
from bench.packages import how_to_install
from runners.config.runner import Runner
from runners.execute.limits import GRACE_SECONDS, in_one_thread, no_interrupt
from runners.execute.processes import CONNECT_SECONDS, Call, Workers, not_started

_QUIET = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""For dask workers: they ignore Ctrl-C, which is handled by the process that started them."""


class _Dask(Workers):
    """Workers of a dask scheduler, which replaces those that die.

    Those of a ``local`` cluster are started as they are needed, up to ``jobs``; of a running scheduler all are used.
    """

    def __init__(self, jobs: int, client: Any, local: Any = None) -> None:
        self._client = client
        self._local = local
        self._n_local = 1
        self._unfinished: set[Future[Any]] = set()
        self._address = client.scheduler.address
        self._jobs = jobs
        self.require_workers()
        self._executor = client.get_executor(pure=False)

    def submit(self, task: Call) -> "Future[Any]":
        """Hand a task to the scheduler."""
        try:
            future: Future[Any] = self._executor.submit(in_one_thread, task.function, task.arguments, os.getpid())
        except Exception:
            raise self._lost() from None
        if self._local is not None and self._n_local < self._jobs:
            self._grow(future)
        return future

    def _grow(self, future: "Future[Any]") -> None:
        """Have as many workers as there are tasks, up to ``jobs``."""
        self._unfinished = {one for one in self._unfinished if not one.done()} | {future}
        needed = min(self._jobs, len(self._unfinished))
        if needed > self._n_local:
            self._n_local = needed
            self._local.scale(needed)

    def fate(self, future: "Future[Any]") -> BaseException | None:
        """Return the error of a task whose worker died; what only waited for that worker dask gives to another."""
        try:
            error = future.exception()
        except CancelledError:
            raise self._lost() from None
        return error if type(error).__name__ == "KilledWorker" else None

    def look(self) -> None:
        """Do nothing: workers end by themselves, and the scheduler replaces those that do not respond."""

    def require_workers(self) -> None:
        """Raise ConfigError if the scheduler or all workers are gone."""
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_SECONDS)
            n_threads = sum(self._client.nthreads().values())
        except TimeoutError:
            raise ConfigError(
                f"runner.scheduler: found no workers at '{self._address}', expected at least one, started with: dask "
                f"worker {self._address}"
            ) from None
        except Exception:
            raise self._lost() from None
        self.in_flight = 2 * max(self._jobs, n_threads)

    def _lost(self) -> ConfigError:
        return ConfigError(
            f"runner.scheduler: '{self._address}' does not respond any more, expected a running dask "
            "scheduler; finished work is kept, rerun to resume"
        )


@contextmanager
def cluster(runner: Runner, jobs: int) -> Iterator[Workers]:
    """Provide the workers of a running scheduler, or of a cluster of this process; ConfigError if there are none."""
    scheduler, limit = runner.scheduler, runner.time_limit
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise ConfigError(f"runner: dask is not installed: {how_to_install('dask')}") from None
    for name in ("distributed", "tornado", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):  # also after the cluster has stopped
            logging.getLogger(name).setLevel(logging.CRITICAL)
    settings = {
        "distributed.scheduler.allowed-failures": 0,  # `Workers` runs once more what was lost with a worker
        "distributed.scheduler.worker-saturation": 1.0,  # so that only what was running is lost
        "distributed.worker.preload": [_QUIET],
    }
    if limit is not None:  # a worker that is stopped, or does not leave compiled code, is replaced
        settings["distributed.scheduler.worker-ttl"] = f"{limit + 2 * GRACE_SECONDS:g} s"
    with dask.config.set(settings):
        if scheduler is None:
            size: dict[str, Any] = {"n_workers": 1, "threads_per_worker": 1, "memory_limit": None}
            try:
                with no_interrupt():  # inherited by the threads and processes that it starts
                    local = LocalCluster(**size, dashboard_address="127.0.0.1:0", silence_logs=50)
            except Exception as error:
                raise not_started(error) from error
            with local, Client(local) as client:
                try:
                    yield _Dask(jobs, client, local)
                except BaseException:  # do not wait for the workers: finished results are on disk
                    for nanny in local.workers.values():
                        nanny.auto_restart = False
                        with suppress(ProcessLookupError):
                            if nanny.pid:
                                os.kill(nanny.pid, signal.SIGKILL)
                    raise
            return
        try:
            client = Client(scheduler, timeout=CONNECT_SECONDS)
        except (OSError, ValueError, TimeoutError):
            raise ConfigError(
                f"runner.scheduler: found '{scheduler}', which does not respond, expected the address of a running "
                "dask scheduler, such as tcp://node1:8786"
            ) from None
        with client:
            yield _Dask(jobs, client)
