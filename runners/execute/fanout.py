"""Repetitions of experiments on all processors, each stored, or recorded as failed, as soon as it is finished."""

import os
import time
import traceback
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.columns import is_measured
from bench.errors import TaskError
from runners.config.classes import describe
from runners.config.experiment import Experiment, run_repetition
from runners.config.runner import Runner
from runners.execute.limits import Call, WorkerDiedError, raise_if_stopped, time_limit
from runners.execute.progress import Progress
from runners.execute.workers import apart, calls, workers
from runners.results.capture import environment
from runners.results.store import Store

RepetitionId = tuple[str, int]
"""A repetition: the name of its run, and its number."""

_LONGEST, _LONGEST_TRACE = 2_000, 20_000
"""Largest number of characters of a user's error, and of its traceback, that is kept."""


class Answer(NamedTuple):
    """The outcome of a repetition.

    ``error`` is the reason of a failure in one line, or "" if the repetition has a result.
    """

    id: RepetitionId
    error: str = ""


def repeat(experiment: Experiment, repetition: int, store: Store, limit: float | None) -> Answer:
    """Run one repetition, unless another process has already run it, and store its result or its failure."""
    named = experiment.run_id, repetition
    if store.has(*named):  # from a worker that has died since, or from another command
        return Answer(named)
    start = time.perf_counter()
    try:
        _check_identity(experiment)
        with time_limit(limit):
            trace = run_repetition(experiment, repetition)
        columns = trace.columns()
        if not columns:
            raise TaskError("the log ended before the first accepted round")
    except BaseException as error:  # user code may raise any error
        raise_if_stopped(error)
        return failed(store, experiment, repetition, error)
    seconds = time.perf_counter() - start
    store.write(*named, columns, {"seconds": seconds, "costs": trace.costs, "environment": environment()})
    return Answer(named)


def failed(store: Store, experiment: Experiment, repetition: int, error: BaseException) -> Answer:
    """Store the failure of a repetition, with the error's message and traceback, both limited in length."""
    text, trace = in_words(error)
    record = {"error": text, "traceback": trace, "repetition": repetition, "settings": experiment.settings}
    store.fail(experiment.run_id, repetition, record)
    return Answer((experiment.run_id, repetition), text)


def in_words(error: BaseException) -> tuple[str, str]:
    """Return a one-line description of an error, and its traceback.

    A user's error may itself raise an error when it is shown; the description then states only its type.
    """
    try:
        text = describe(error)
    except BaseException:
        text = f"{type(error).__name__}: (it cannot be shown)"
    try:
        trace = "".join(traceback.format_exception(error))
    except BaseException:
        trace = "".join(traceback.format_tb(error.__traceback__)) + text
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]} ... ({len(text):,} characters)"
    if len(trace) > _LONGEST_TRACE:
        trace = f"{trace[: _LONGEST_TRACE // 2]}\n ... \n{trace[-_LONGEST_TRACE // 2 :]}"
    return text, trace


_checked: set[str] = set()


def _check_identity(experiment: Experiment) -> None:
    """Refuse code or data that do not match the name of the run, after an edit or on another machine."""
    if experiment.run_id in _checked:
        return
    experiment.check_here()
    _checked.add(experiment.run_id)


@dataclass
class Result:
    """The repetitions of one experiment; ``new`` holds the repetitions in ``done`` that were missing before."""

    done: set[int] = field(default_factory=set)
    new: set[int] = field(default_factory=set)
    failed: dict[int, str] = field(default_factory=dict)


def run_all(
    experiments: Iterable[Experiment], repetitions: int, store: Store, *, jobs: int, runner: Runner | None = None
) -> dict[str, Result]:
    """Run the missing repetitions of each experiment, each in one thread, and return the results by run id.

    Raises ConfigError for a wrong runner, and OSError if results cannot be written; finished repetitions are kept.
    """
    by_id = {experiment.run_id: experiment for experiment in experiments}
    results = {run_id: Result(store.sound(run_id, range(repetitions))) for run_id in by_id}
    missing = [(by_id[run_id], set(range(repetitions)) - result.done) for run_id, result in results.items()]
    for answer in run_each(missing, store, jobs=jobs, runner=runner or Runner()):
        run_id, repetition = answer.id
        if answer.error:
            results[run_id].failed[repetition] = answer.error
        else:
            results[run_id].done.add(repetition)
            results[run_id].new.add(repetition)
    return results


def run_each(
    wanted: Iterable[tuple[Experiment, Iterable[int]]], store: Store, *, jobs: int, runner: Runner, words: str = ""
) -> Iterator[Answer]:
    """Run repetitions of some experiments, the longest first, with a progress bar, and yield answers as they arrive.

    A repetition that fails is recorded with its traceback, and the other repetitions continue. Other processes may work
    on the same folder; a repetition that two processes run has the same bytes.
    """
    limit = runner.time_limit
    asked = [(one, sorted(numbers)) for one, numbers in wanted]
    asked = sorted(((one, numbers) for one, numbers in asked if numbers), key=lambda item: -_work(item[0]))
    if not asked:
        return
    for experiment, _ in asked:
        store.prepare(experiment.run_id, experiment.description)
    # Workers begin with one of each, because they compile different things
    tasks = [(one, numbers[0]) for one, numbers in asked]
    tasks += [(one, number) for one, numbers in asked for number in numbers[1:]]
    progress = Progress([_work(one) for one, _ in tasks], words)
    with workers(runner, jobs), progress.bar(runner.progress):
        for call, result in calls(Call(repeat, one, number, store, limit, seconds=limit) for one, number in tasks):
            experiment, number = call.arguments[:2]
            progress.advance(_work(experiment))
            is_lost = isinstance(result, WorkerDiedError)
            yield failed(store, experiment, number, result) if is_lost else result


def _work(experiment: Experiment) -> int:
    """Return the work of a repetition in rounds; a round that trains a model counts as 1,000 rounds."""
    return int(experiment.settings["horizon"]) * (1_000 if experiment.classes["task"].timed else 1)  # type: ignore[attr-defined]


def not_determined(
    ran: Iterable[tuple[Experiment, Collection[int]]],
    store: Store,
    *,
    limit: float | None = None,
    seen: set[type] | None = None,
) -> list[str]:
    """Return a sentence for each user's class whose repetition differs when played in another process.

    ``ran`` holds experiments with the repetitions that were just run. The last repetition of the quickest experiment is
    played again, because it may depend on earlier repetitions. ``seen`` holds the classes that have been tried; the
    classes tried now are added.
    """
    seen = set() if seen is None else seen
    last = [(experiment, max(numbers)) for experiment, numbers in ran if numbers and experiment.own]
    sentences = []
    for experiment, number in sorted(last, key=lambda one: store.read_side(one[0].run_id, one[1]).get("seconds", 0.0)):
        own = set(experiment.own.values())
        if own <= seen:
            continue
        seen |= own
        if difference := _difference(store, experiment, number, limit):
            sentences.append(
                f"{experiment.own_names}: repetition {number} played again in another process {difference}: its "
                "numbers are not determined by its seeds, expected random numbers from `seeds` only, and no state of "
                "an earlier repetition"
            )
    return sentences


def _difference(store: Store, experiment: Experiment, number: int, limit: float | None) -> str:
    """Return the difference if another process, with another hash seed, plays a repetition; "" if nothing differs."""
    run_id, seed = experiment.run_id, "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    with TemporaryDirectory() as scratch:
        elsewhere = Store(scratch)
        elsewhere.prepare(run_id, experiment.description)
        answer = apart(repeat, experiment, number, elsewhere, limit, PYTHONHASHSEED=seed)
        if error := answer if isinstance(answer, Exception) else answer.error:
            return f"failed ({error})"
        then, now = (one.table(run_id, number).to_pydict() for one in (store, elsewhere))
    names = [name for name in {**then, **now} if not is_measured(name)]
    other = [name for name in names if repr(then.get(name)) != repr(now.get(name))]  # NaN is the same as NaN
    return f"had other values ({', '.join(other)})" if other else ""
