"""Workers of dask, through joblib's own back end: a local cluster, or a scheduler that runs already."""

import logging
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any

from bench.errors import ConfigError
from bench.packages import how_to_install
from runners.config.runner import Runner
from runners.execute.workers import died, no_interrupt, not_started

CONNECT_SECONDS = 15
_WORKERS_SECONDS = 120
"""How long there may be no workers while calls are made: those that died are being started again."""
_CLOSE_SECONDS = 5
_QUIET = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""For dask workers: they ignore Ctrl-C, which is handled by the process that started them."""


def _backend(client: Any, scheduler: str) -> Any:
    """Return joblib's back end, which by itself waits for ever where dask gives a task up, or loses its scheduler."""
    from distributed.scheduler import KilledWorker
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):
        def submit(self, func: Any, callback: Callable[[Any], None]) -> "Future[Any]":
            future: Future[Any] = super().submit(func, callback)

            def tell(ended: "Future[Any]") -> None:
                error = ended.exception()
                if isinstance(error, KilledWorker):
                    callback([(arguments[0], died(error)) for _, arguments, _ in func.items])
                elif error is not None:
                    callback(error)

            future.add_done_callback(tell)
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, BaseException):
                raise _lost(scheduler) if type(out).__name__ == "FutureCancelledError" else out
            return super().retrieve_result_callback(out)

        def effective_n_jobs(self, n_jobs: int) -> int:
            _require_workers(client, scheduler, _WORKERS_SECONDS)
            return max(2, sum(client.nthreads().values()))  # with one joblib makes calls in this process

    return Backend(client=client)


@contextmanager
def dask_workers(runner: Runner, jobs: int) -> Iterator[None]:
    """Configure joblib for a running scheduler, or for a cluster of this process; ConfigError if there is none."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise ConfigError(f"runner: dask is not installed: {how_to_install('dask')}") from None
    import joblib

    for name in ("distributed", "tornado", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):  # also after the cluster has stopped
            logging.getLogger(name).setLevel(logging.CRITICAL)
    settings = {
        "distributed.scheduler.allowed-failures": 0,  # what was lost with a worker, `calls` makes once more
        "distributed.scheduler.worker-saturation": 1.0,  # so that only what was running is lost
        "distributed.worker.preload": [_QUIET],
    }
    with dask.config.set(settings):
        if runner.scheduler is not None:
            try:
                client = Client(runner.scheduler, timeout=CONNECT_SECONDS)
            except (OSError, ValueError, TimeoutError):
                raise ConfigError(
                    f"runner.scheduler: found '{runner.scheduler}', which does not respond, expected the address of a "
                    "running dask scheduler, such as tcp://node1:8786"
                ) from None
            with client:
                _require_workers(client, runner.scheduler, CONNECT_SECONDS)
                with joblib.parallel_config(_backend(client, runner.scheduler)):
                    yield
            return
        size: dict[str, Any] = {"n_workers": jobs, "threads_per_worker": 1, "memory_limit": None}
        try:
            with no_interrupt():  # inherited by the threads and processes that it starts
                local = LocalCluster(**size, dashboard_address="127.0.0.1:0", silence_logs=50)
        except Exception as error:
            raise not_started(error) from error
        client = Client(local)
        try:
            with joblib.parallel_config(_backend(client, local.scheduler_address)):
                yield
        finally:  # do not wait for the workers: finished results are on disk
            for nanny in local.workers.values():
                nanny.auto_restart = False
                if nanny.pid:
                    with suppress(ProcessLookupError):
                        os.kill(nanny.pid, signal.SIGKILL)
            for each in (client, local):
                with suppress(TimeoutError):  # where a worker is being started
                    each.close(timeout=_CLOSE_SECONDS)


def _require_workers(client: Any, scheduler: str, seconds: float) -> None:
    """Raise ConfigError where there are no workers for some seconds, or no scheduler."""
    try:
        client.wait_for_workers(1, timeout=seconds)
    except TimeoutError:
        raise ConfigError(
            f"runner.scheduler: found no workers at '{scheduler}', expected at least one, started with: dask worker "
            f"{scheduler}"
        ) from None
    except Exception:
        raise _lost(scheduler) from None


def _lost(scheduler: str) -> ConfigError:
    return ConfigError(
        f"runner.scheduler: '{scheduler}' does not respond any more, expected a running dask scheduler; finished work "
        "is kept, rerun to resume"
    )
