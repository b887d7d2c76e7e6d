"""Checks before a run: whether the parts fit together, and the columns of the trace."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bench.algorithms.contextual import ContextualAlgorithm
from bench.conformance.capabilities import searches_interval
from bench.errors import BenchError, TaskError, one_line
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.base import Task
from runners.config.experiment import Experiment, build
from runners.config.runner import Runner
from runners.execute.limits import Call, TimeOverError, raise_if_stopped, time_limit
from runners.execute.progress import STARTING, said_if_slow
from runners.execute.repetition import check_correctable
from runners.execute.workers import calls, workers


@dataclass(frozen=True)
class Fit:
    """The findings about an experiment.

    ``error``: why it cannot be run, "" if it can; ``columns`` of its trace, empty if unknown; ``searches``: whether its
    tuner can search an interval, None if it plays values from outside or this is unknown; ``apart``: a sentence on each
    hyper-parameter with candidates outside its interval; ``data``: notes on its data.
    """

    error: str = ""
    columns: tuple[str, ...] = ()
    searches: bool | None = None
    apart: tuple[str, ...] = ()
    data: tuple[str, ...] = ()


def fits(experiments: Iterable[Experiment], column: str, *, jobs: int, runner: Runner) -> dict[str, Fit]:
    """Return by run id whether experiments can be run and have ``column``: workers start their parts once."""
    limit, found = runner.time_limit, {}
    with workers(runner, jobs), said_if_slow(STARTING, runner.progress):
        for call, result in calls(deque(Call(_fit, one, column, limit, seconds=limit) for one in experiments)):
            if isinstance(result, TaskError):
                result = Fit(f"{one_line(result)} when it was started and asked once")
            found[call.arguments[0].run_id] = result
    return found


def _fit(experiment: Experiment, column: str, limit: float | None) -> Fit:
    try:
        check_correctable(experiment, limit)
    except BenchError as error:
        return Fit(one_line(error))
    try:
        with time_limit(limit):
            task, tuner = build(experiment)
            searches = None if tuner.leaves_space else searches_interval(tuner)
            notes = tuple(experiment.data_notes())
            return Fit("", _columns(experiment, task, column), searches, tuple(_apart(task)), notes)
    except TimeOverError as error:
        return Fit(f"{one_line(error)} when it was started and asked once")
    except BaseException as error:  # other errors are left to the repetitions
        raise_if_stopped(error)
        return Fit()


def _columns(experiment: Experiment, task: Task, column: str) -> tuple[str, ...]:
    """Return the columns of the trace, from a first round if ``column`` is not one that the task sums."""
    settings = experiment.settings
    problem = task.start(settings["horizon"], Seeds(settings["seed"]))
    if column in task.sums:
        return tuple(task.sums)
    task, tuner = build(experiment)
    at_random = max(task.random_rounds, tuner.random_rounds(problem))
    return tuple(run(task, tuner, rounds=min(settings["horizon"], at_random + 1)).columns())


def _apart(task: Task) -> Iterator[str]:
    """Yield a sentence for each hyper-parameter with candidates outside its interval."""
    algorithm = getattr(task, "algorithm", None)
    for parameter in algorithm.tuned.parameters if isinstance(algorithm, ContextualAlgorithm) else ():
        candidates = [value for value in parameter.candidates if isinstance(value, int | float)]
        low, high = parameter.low, parameter.high
        if low is not None and high is not None and not all(low <= value <= high for value in candidates):
            listed = ", ".join(f"{value:g}" for value in candidates)
            yield (
                f"{parameter.name}: the candidates are {listed}, the interval is {low:g} to {high:g}; some of these "
                "tuners use the one, some the other; with paper=tournament they have the same range"
            )
