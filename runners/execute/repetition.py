"""What a worker does: one repetition, kept or recorded as failed, and the start of an experiment before it."""

import time
import traceback
from typing import Literal, NamedTuple

from bench.errors import BenchError, TaskError
from bench.seeding import Seeds
from runners.config.classes import describe
from runners.config.experiment import Experiment, build, check_experiment, run_repetition
from runners.execute.limits import raise_if_stopped, time_limit
from runners.results.capture import environment
from runners.results.store import Store

RepetitionId = tuple[str, int]
"""A repetition: the name of its run, and its number."""


class Answer(NamedTuple):
    """What became of a repetition: it is ``new``, ``done`` by another process, or ``failed`` with a line of error."""

    id: RepetitionId
    status: Literal["new", "done", "failed"]
    error: str = ""


def repeat(experiment: Experiment, repetition: int, store: Store, limit: float | None, session: str) -> Answer:
    """Run one repetition, unless another process has done so, and keep its result or its failure."""
    named = experiment.run_id, repetition
    if store.has(*named):
        return Answer(named, "done")
    before = store.failure(*named)
    if before.get("session") == session:  # recorded when its worker was ended
        return Answer(named, "failed", before["error"])
    start = time.perf_counter()
    try:
        _check_identity(experiment)
        with time_limit(limit, lambda over: failed(store, experiment, repetition, over, session=session)):
            trace = run_repetition(experiment, repetition)
        columns = trace.columns()
        if not columns:
            raise TaskError("the log ended before the first accepted round")
    except BaseException as error:  # user code may raise anything
        raise_if_stopped(error)
        return failed(store, experiment, repetition, error)
    seconds = time.perf_counter() - start
    raise_if_stopped()
    store.write(*named, columns, {"seconds": seconds, "costs": trace.costs, "environment": environment()})
    return Answer(named, "new")


def failed(
    store: Store, experiment: Experiment, repetition: int, error: BaseException, trace: str = "", session: str = ""
) -> Answer:
    """Keep how a repetition failed, with the error's traceback if no other is given."""
    text, trace = describe(error), trace or "".join(traceback.format_exception(error))
    record = {"error": text, "traceback": trace, "repetition": repetition, "settings": experiment.settings}
    if session:
        record["session"] = session
    store.fail(experiment.run_id, repetition, record)
    return Answer((experiment.run_id, repetition), "failed", text)


_checked: set[str] = set()


def _check_identity(experiment: Experiment) -> None:
    """Refuse to run other code or data than what the run is named after (edited meanwhile, or not on this machine)."""
    if experiment.run_id in _checked:
        return
    experiment.check_here()
    _checked.add(experiment.run_id)


def start(experiment: Experiment) -> None:
    """Start a task once, which prepares its data; what fails here is left to the repetitions."""
    try:
        build(experiment)[0].start(1, Seeds(experiment.settings["seed"]))
    except BaseException as error:
        raise_if_stopped(error)


def check_correctable(experiment: Experiment) -> None:
    """Raise what a user can correct; all else that fails here is left to the repetitions."""
    try:
        check_experiment(experiment)
    except BaseException as error:
        raise_if_stopped(error)
        if isinstance(error, BenchError):
            raise
