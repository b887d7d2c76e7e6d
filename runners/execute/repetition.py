"""The work of a worker: one repetition, stored or recorded as failed."""

import time
import traceback
from typing import Literal, NamedTuple

from bench.errors import TaskError
from runners.config.classes import describe
from runners.config.experiment import Experiment, run_repetition
from runners.execute.limits import raise_if_stopped, time_limit
from runners.results.capture import environment
from runners.results.store import Store

RepetitionId = tuple[str, int]
"""A repetition: the name of its run, and its number."""

_LONGEST, _LONGEST_TRACE = 2_000, 20_000
"""Largest number of characters of a user's error, and of its traceback, that is kept."""


class Answer(NamedTuple):
    """The outcome of a repetition: ``new``, or ``failed`` with a one-line error message."""

    id: RepetitionId
    status: Literal["new", "failed"]
    error: str = ""


def repeat(experiment: Experiment, repetition: int, store: Store, limit: float | None) -> Answer:
    """Run one repetition, unless another process has done so, and store its result or its failure."""
    named = experiment.run_id, repetition
    if store.has(*named):  # from a worker that has died since, or from another command
        return Answer(named, "new")
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
    return Answer(named, "new")


def failed(store: Store, experiment: Experiment, repetition: int, error: BaseException) -> Answer:
    """Store the failure of a repetition, with the error's traceback, both of bounded length."""
    text, trace = in_words(error)
    record = {"error": text, "traceback": trace, "repetition": repetition, "settings": experiment.settings}
    store.fail(experiment.run_id, repetition, record)
    return Answer((experiment.run_id, repetition), "failed", text)


def in_words(error: BaseException) -> tuple[str, str]:
    """Return a one-line description of an error, and its traceback; a user's error may itself fail when it is shown."""
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
    """Refuse other code or data than the run is named after: edited meanwhile, or of another machine."""
    if experiment.run_id in _checked:
        return
    experiment.check_here()
    _checked.add(experiment.run_id)
