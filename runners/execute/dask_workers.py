"""Workers of dask: a local cluster, or a running scheduler."""

import logging
import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from bench.errors import ConfigError, one_line
from bench.packages import how_to_install
from runners.config.runner import Runner
from runners.execute.limits import Call, Makes, set_up
from runners.execute.progress import said_if_slow

CONNECT_SECONDS = 15
_WORKERS_SECONDS = 120
"""Seconds without workers that are tolerated during calls, while dead workers restart."""
_CLOSE_SECONDS = 5
_SETTINGS = {
    "distributed.scheduler.allowed-failures": 1,  # calls lost with a worker are repeated once
    "distributed.scheduler.worker-saturation": 1.0,  # so that only running calls are lost
    "distributed.worker.preload": ["import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"],
}


@contextmanager
def dask_workers(runner: Runner, jobs: int) -> Iterator[Makes]:
    """Provide the workers of a running scheduler, or of a cluster that this process starts.

    Raises ConfigError if no workers can be provided.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise ConfigError(f"runner: dask is not installed: {how_to_install('dask')}") from None
    for name in ("distributed", "tornado", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):  # also after the cluster has stopped
            logging.getLogger(name).setLevel(logging.CRITICAL)
    address = runner.scheduler
    if address is not None:
        try:
            with said_if_slow(f"connecting to the dask scheduler at {address}", runner.progress):
                client = Client(address, timeout=CONNECT_SECONDS)
        except (OSError, ValueError, TimeoutError):
            raise ConfigError(
                f"runner.scheduler: found '{address}', which does not respond, expected the address of a running dask "
                "scheduler, such as tcp://node1:8786"
            ) from None
        with client:
            _workers_of(client, address, CONNECT_SECONDS)
            yield partial(_spread, client, address)
        return
    with dask.config.set(_SETTINGS):
        size: dict[str, Any] = {"n_workers": jobs, "threads_per_worker": 1, "memory_limit": None}
        size |= {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
        with ThreadPoolExecutor(1) as thread:  # Ctrl-C must not leave a half-started cluster, which dask cannot close
            try:
                cluster = thread.submit(LocalCluster, **size).result()
            except (RuntimeError, OSError) as error:
                raise ConfigError(f"runner: found that dask cannot start its workers: {one_line(error)}") from error
        client = Client(cluster)
        try:
            yield partial(_spread, client, cluster.scheduler_address)
        finally:  # do not wait for the workers: finished results are on disk
            for nanny in cluster.workers.values():
                nanny.auto_restart = False
            for process in multiprocessing.active_children():
                if process.name.startswith("Dask Worker"):
                    process.kill()
            for each in (client, cluster):
                with suppress(Exception):  # while a worker is being started
                    each.close(timeout=_CLOSE_SECONDS)


def _spread(client: Any, address: str, asked: Iterable[Call]) -> Iterator[tuple[Call, Any]]:
    """Make calls, at most twice as many at a time as the workers have threads; workers may join and leave."""
    from distributed import as_completed
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker

    queue = deque(asked)
    flying: dict[Any, Call] = {}
    # Without results: `as_completed` would wait forever for one lost with its worker after the call
    done = as_completed()
    most, again = 0, 0.0
    while queue or flying:
        if time.monotonic() >= again:
            most, again = 2 * _workers_of(client, address, _WORKERS_SECONDS), time.monotonic() + 1
        while queue and len(flying) < most:
            call = queue.popleft()
            future = client.submit(_make, call.function, *call.arguments, pure=False)
            flying[future] = call
            done.add(future)
        future = next(done)
        call = flying.pop(future)
        try:
            result = future.result()
        except KilledWorker as death:
            result = call.died(death)
        except (CancelledError, CommClosedError):
            raise _lost(address) from None
        yield call, result


def _make(function: Callable[..., Any], *arguments: Any) -> Any:
    set_up()
    return function(*arguments)


def _workers_of(client: Any, address: str, seconds: float) -> int:
    """Return the number of threads of all workers.

    Raises ConfigError if the scheduler does not respond, or if no worker joins within ``seconds``.
    """
    try:
        client.wait_for_workers(1, timeout=seconds)
        return sum(client.nthreads().values())
    except TimeoutError:
        raise ConfigError(
            f"runner.scheduler: found no workers at '{address}', expected at least one, started with: dask worker "
            f"{address}"
        ) from None
    except Exception:
        raise _lost(address) from None


def _lost(address: str) -> ConfigError:
    return ConfigError(
        f"runner.scheduler: '{address}' does not respond any more, expected a running dask scheduler; finished work "
        "is kept, rerun to resume"
    )
