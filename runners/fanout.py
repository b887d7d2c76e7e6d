"""Running many repetitions of many experiments on all processors, and keeping each as soon as it is there."""

import os
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from bench.errors import BenchError, ConfigError, StoreError, TaskError
from bench.loop import run
from bench.seeding import Seeds
from runners.capture import environment
from runners.experiment import Experiment, build, part_classes, play
from runners.pool import Runner, end_with, limit_threads, one_thread, pool, time_limit, workers
from runners.progress import progress_bar
from runners.store import Store

POLL_SECONDS = 0.2
"""How often it is looked whether another process has finished."""

_IDLE_DEATHS = 2
_TRIAL_ROUNDS = (2, 2, 20, 200)
_TRIAL_SECONDS = 0.5


@dataclass
class Result:
    """What there is of one experiment.

    Parameters
    ----------
    experiment
        Which.
    done
        Repetitions, of those asked for, that have a result now.
    new
        Those of them that were run just now, here; in the first result only where several are of the same experiment.
    failed
        Repetitions without a result, with the first line of the error.
    """

    experiment: Experiment
    done: set[int] = field(default_factory=set)
    new: set[int] = field(default_factory=set)
    failed: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """What came of a call of `run_all`: a result for each piece of work, in its order, and the seconds it took."""

    results: list[Result]
    seconds: float


class _Pair(NamedTuple):
    experiment: Experiment
    repetition: int

    @property
    def key(self) -> tuple[str, int]:
        return self.experiment.run_id, self.repetition


class _Batch(NamedTuple):
    """What one pool runs; whether it was lost with a worker before, and pools that died before anything began."""

    pairs: list[_Pair]
    lost: bool = False
    idle: int = 0


class _Answer(NamedTuple):
    pair: _Pair
    status: Literal["new", "done", "busy", "failed"]
    error: str = ""


def run_all(
    work: Sequence[tuple[Experiment, int]],
    store: Store,
    *,
    jobs: int,
    runner: Runner | None = None,
) -> Summary:
    """Make sure that every experiment has its repetitions: run what is missing, each in one thread.

    A result that is there already is verified, by reading if it has changed since that was last done; a damaged one is
    named on stderr and run again. What another live process is running is waited for, and taken over if that process
    dies. A repetition that fails is recorded with its traceback, and the others go on.

    Parameters
    ----------
    work
        Experiments, each with its number of repetitions; what is asked for twice is run once.
    store
        Where results are kept.
    jobs
        Number of worker processes; 1: everything runs in this process.
    runner
        Where they are, and how long a repetition may take; by default on this machine, and as long as it takes.

    Raises
    ------
    ConfigError
        When an experiment's settings, ``jobs`` or the runner's are wrong.
    StoreError
        When results cannot be written; what is finished is kept.
    """
    start = time.perf_counter()
    runner = runner or Runner()
    if jobs < 1:
        raise ConfigError(f"jobs: found {jobs}, expected a whole number, at least 1")
    experiments = {experiment.run_id: experiment for experiment, _ in reversed(work)}
    wanted: dict[str, int] = {}
    for experiment, repetitions in work:
        wanted[experiment.run_id] = max(repetitions, wanted.get(experiment.run_id, 0))
    state = {run_id: Result(experiments[run_id]) for run_id in wanted}

    missing: list[_Pair] = []
    for run_id, repetitions in wanted.items():
        state[run_id].done, errors = store.verify(run_id, range(repetitions))
        for error in errors:
            print(f"warning: {error}; it is run again", file=sys.stderr)
        todo = sorted(set(range(repetitions)) - state[run_id].done)
        if todo:
            store.prepare(run_id, experiments[run_id].identity)
        missing += [_Pair(experiments[run_id], repetition) for repetition in todo]
    missing.sort(key=lambda pair: -pair.experiment.settings["horizon"])  # no long one is left to the end

    if missing:
        with ExitStack() as stack:
            stack.enter_context(one_thread())
            horizons = [pair.experiment.settings["horizon"] for pair in missing]
            advance = stack.enter_context(progress_bar(horizons, runner.progress))
            stack.enter_context(workers(runner, jobs))
            if jobs > 1:
                _compile_and_prepare(missing)
            for answer in _finish(missing, store, jobs, runner):
                result = state[answer.pair.experiment.run_id]
                if answer.status == "failed":
                    result.failed[answer.pair.repetition] = answer.error
                else:
                    result.done.add(answer.pair.repetition)
                    if answer.status == "new":
                        result.new.add(answer.pair.repetition)
                advance(answer.pair.experiment.settings["horizon"])
    return Summary(_by_work(work, state), time.perf_counter() - start)


def _by_work(work: Sequence[tuple[Experiment, int]], state: dict[str, Result]) -> list[Result]:
    """Share the results out to the pieces of work, which may ask for the same experiment with different numbers."""
    results = []
    for experiment, repetitions in work:
        result = state[experiment.run_id]
        new = {repetition for repetition in result.new if repetition < repetitions}
        result.new -= new
        done = {repetition for repetition in result.done if repetition < repetitions}
        failed = {repetition: error for repetition, error in result.failed.items() if repetition < repetitions}
        results.append(Result(experiment, done, new, failed))
    return results


def _finish(pairs: list[_Pair], store: Store, jobs: int, runner: Runner) -> Iterator[_Answer]:
    """Yield one final answer for every pair, in the order in which they come."""
    earlier = {run_id: store.failures(run_id) for run_id in {pair.experiment.run_id for pair in pairs}}
    while pairs:
        busy = []
        for answer in _fan_out(pairs, store, jobs, runner):
            if answer.status == "busy":
                busy.append(answer.pair)
            else:
                yield answer
        pairs = busy
        while pairs:
            waiting = []
            for pair in pairs:
                answer = _look(pair, store, earlier[pair.experiment.run_id].get(pair.repetition, {}))
                if answer.status == "busy":
                    waiting.append(pair)
                else:
                    yield answer
            pairs = waiting
            free = [pair for pair in pairs if _is_free(store, pair)]
            if free:
                break  # their process has died, or has just finished: to be asked for again
            if pairs:
                time.sleep(POLL_SECONDS)


def _look(pair: _Pair, store: Store, earlier: dict[str, Any]) -> _Answer:
    """Return what has become of a repetition that another process has claimed."""
    if store.path(*pair.key).exists():
        with suppress(StoreError):
            store.read(*pair.key)
            return _Answer(pair, "done")
    failure = store.failure(*pair.key)
    if failure and failure != earlier:
        return _Answer(pair, "failed", failure.get("error", ""))
    return _Answer(pair, "busy")


def _is_free(store: Store, pair: _Pair) -> bool:
    with store.claim(*pair.key) as mine:
        return mine


def _fan_out(pairs: list[_Pair], store: Store, jobs: int, runner: Runner) -> Iterator[_Answer]:
    """Run pairs in one pool, or in this process for one job, and yield answers as they come.

    When a worker dies (out of memory, a crash in compiled code), joblib gives up the whole pool. Whoever was running is
    then run once more, in a pool of its own, where it does no harm to others; who is lost there, too, has failed.
    """
    from joblib import delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    batches = [_Batch(pairs)]
    while batches:
        batch = batches.pop(0)
        left = {pair.key: pair for pair in batch.pairs}
        n_workers = 1 if jobs == 1 else max(2, min(jobs, len(left)))  # never here: it might crash
        try:
            for answer in pool(runner, n_workers)(
                delayed(_repeat)(pair.experiment, pair.repetition, store, os.getpid(), runner.time_limit)
                for pair in batch.pairs
            ):
                left.pop(answer.pair.key)
                yield answer
        except Exception as error:
            if not isinstance(error, TerminatedWorkerError) and type(error).__name__ != "KilledWorker":  # dask's
                raise
            began = [left.pop(key) for key in list(left) if store.claimed(*key)]
            rest = list(left.values())
            idle = batch.idle + 1 if len(rest) == len(batch.pairs) else 0
            if rest and idle <= _IDLE_DEATHS:
                batches.insert(0, _Batch(rest, batch.lost, idle))
                rest = []
            if not batch.lost:
                batches += [_Batch([pair], lost=True) for pair in began]
                began = []
            for pair in began + rest:
                with store.claim(*pair.key) as mine:  # and leave no claim of the dead behind
                    lost = TaskError(
                        f"found that its worker process died, and another one, too ({type(error).__name__}), for "
                        "instance for lack of memory, expected it to end"
                    )
                    # If it is not ours, it is another process's, or was finished just before
                    answer = _failed(store, pair, lost, str(error)) if mine else _Answer(pair, "busy")
                yield answer


def _repeat(experiment: Experiment, repetition: int, store: Store, parent: int, limit: float | None = None) -> _Answer:
    """Run one repetition, unless it is claimed or done, and keep its result or its failure. Called in the workers."""
    end_with(parent)
    pair = _Pair(experiment, repetition)
    with store.claim(*pair.key) as mine:
        if not mine:
            return _Answer(pair, "busy")
        limit_threads()
        start = time.perf_counter()
        try:
            _check_identity(experiment)
            with time_limit(limit):
                trace = play(experiment, repetition)
            columns = trace.columns()
            if not columns:
                raise TaskError("found no round at all before the log's end, expected at least one")
        except (Exception, SystemExit) as error:
            return _failed(store, pair, error, traceback.format_exc())
        side = {"seconds": time.perf_counter() - start, "costs": trace.costs, "environment": environment()}
        store.write(*pair.key, columns, side)
    return _Answer(pair, "new")


def _failed(store: Store, pair: _Pair, error: BaseException, trace: str) -> _Answer:
    first_line = str(error).strip().partition("\n")[0]
    text = first_line if isinstance(error, BenchError) else f"{type(error).__name__}: {first_line}".removesuffix(": ")
    record = {"error": text, "traceback": trace, "repetition": pair.repetition, "settings": pair.experiment.settings}
    store.fail(*pair.key, record)
    return _Answer(pair, "failed", text)


_checked: set[str] = set()


def _check_identity(experiment: Experiment) -> None:
    """Refuse to run other code or data than what the run is named after (edited meanwhile, or not on this machine)."""
    if experiment.run_id in _checked:
        return
    here = Experiment(experiment.settings)
    if here.run_id != experiment.run_id:
        raise ConfigError(
            f"run {experiment.run_id}: found other code or data than when it was started (data now: "
            f"{here.fingerprint}), expected the same; start it again"
        )
    _checked.add(experiment.run_id)


def _compile_and_prepare(pairs: list[_Pair]) -> None:
    """Compile and prepare here, once, what the workers would else do all at the same time.

    For each distinct combination of classes: some rounds, more while they are cheap. For each distinct environment: its
    start, which prepares data. What fails here is left to the repetition, which records it.
    """
    seen: set[Any] = set()
    for pair in pairs:
        settings = pair.experiment.settings
        classes = tuple(part_classes(settings).values())
        if classes not in seen:
            seen.add(classes)
            for i, rounds in enumerate(_TRIAL_ROUNDS):
                start = time.perf_counter()
                with suppress(Exception):
                    task, tuner = build(settings)
                    run(task, tuner, rounds=min(rounds, settings["horizon"]), seeds=Seeds(settings["seed"]))
                if i and time.perf_counter() - start > _TRIAL_SECONDS:  # the first may have compiled
                    break
        environment_settings = repr(settings["env"])
        if environment_settings not in seen:
            seen.add(environment_settings)
            with suppress(Exception):
                build(settings)[0].start(1, Seeds(settings["seed"]))
