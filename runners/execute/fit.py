"""What is known before anything is run: whether the parts of a run fit together, and the columns of its trace."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bench.algorithms.contextual import ContextualAlgorithm
from bench.conformance.capabilities import capabilities
from bench.errors import BenchError, one_line
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.base import Task
from runners.config.experiment import Experiment, build
from runners.config.runner import Runner
from runners.execute.limits import raise_if_stopped
from runners.execute.processes import Call, WorkerDiedError
from runners.execute.repetition import check_correctable
from runners.execute.workers import workers


@dataclass(frozen=True)
class Fit:
    """What was found out about an experiment.

    ``error``: why it cannot be run, "" if it can; ``columns`` of its trace, none where they were not found out;
    ``searches``: whether its tuner can search an interval, None if it plays values from outside or nothing is known;
    ``apart``: a sentence on each hyper-parameter whose candidates lie outside of its interval; ``data``: notes on its
    data.
    """

    error: str = ""
    columns: tuple[str, ...] = ()
    searches: bool | None = None
    apart: tuple[str, ...] = ()
    data: tuple[str, ...] = ()


def fits(experiments: Iterable[Experiment], column: str, *, jobs: int, runner: Runner) -> dict[str, Fit]:
    """Return by run id whether experiments can be run, and have ``column``: workers start their parts once."""
    calls = {Call(_fit, (one, column), apart=not one.is_suites): one for one in experiments}
    found = {}
    with workers(runner, jobs) as pool:
        for call, future in pool.run(deque(calls)):
            try:
                found[calls[call].run_id] = future.result()
            except WorkerDiedError as error:
                found[calls[call].run_id] = Fit(f"{one_line(error)} when it was started and asked once")
    return found


def _fit(experiment: Experiment, column: str) -> Fit:
    try:
        check_correctable(experiment)
    except BenchError as error:
        return Fit(one_line(error))
    try:
        task, tuner = build(experiment)
        searches = None if tuner.leaves_space else capabilities(tuner).interval
        notes = tuple(experiment.data_notes())
        return Fit("", _columns(experiment, task, column), searches, tuple(_apart(task)), notes)
    except BaseException as error:  # what fails here is left to the repetitions
        raise_if_stopped(error)
        return Fit()


def _columns(experiment: Experiment, task: Task, column: str) -> tuple[str, ...]:
    """Return the columns of the trace, from a first round where ``column`` is none that the task adds up."""
    settings = experiment.settings
    problem = task.start(settings["horizon"], Seeds(settings["seed"]))
    if column in task.sums:
        return tuple(task.sums)
    task, tuner = build(experiment)
    at_random = max(task.random_rounds, tuner.random_rounds(problem))
    return tuple(run(task, tuner, rounds=min(settings["horizon"], at_random + 1)).columns())


def _apart(task: Task) -> Iterator[str]:
    """Yield what to say of hyper-parameters whose candidates lie outside of the interval."""
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
