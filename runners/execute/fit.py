"""Checks before a run: whether the parts fit together, and the columns of the results."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from bench.algorithms.contextual import ContextualAlgorithm
from bench.columns import is_measured
from bench.errors import BenchError, ConfigError, one_line
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.base import Task
from runners.config.experiment import Experiment, build, check_experiment
from runners.config.runner import Runner
from runners.config.tree import one_of
from runners.execute.limits import Call, TimeOverError, WorkerDiedError, raise_if_stopped, time_limit
from runners.execute.progress import STARTING, said_if_slow
from runners.execute.workers import calls, workers
from runners.results.store import Store, StoreError

_WHEN = "when it was started and asked once"


@dataclass(frozen=True)
class Fit:
    """The findings about an experiment before its run.

    ``error`` is the reason why the experiment cannot be run, or "". ``columns`` are the columns of its results, empty
    if unknown. ``searches`` is whether its tuner can search an interval, None if that is unknown or if the tuner may
    leave the space. ``apart`` has a sentence for each hyper-parameter with candidates outside its interval.
    """

    error: str = ""
    columns: tuple[str, ...] = ()
    searches: bool | None = None
    apart: tuple[str, ...] = ()


def fits(experiments: Iterable[Experiment], columns: Collection[str], *, jobs: int, runner: Runner) -> dict[str, Fit]:
    """Start the parts of each experiment once in a worker, and return the `Fit` of each experiment by run id.

    If ``columns`` is empty, only ``error`` is set.
    """
    limit, found = runner.time_limit, {}
    with workers(runner, jobs), said_if_slow(STARTING, runner.progress):
        for call, result in calls(Call(_fit, one, columns, limit, seconds=limit) for one in experiments):
            if isinstance(result, WorkerDiedError):
                result = Fit(f"{call.arguments[0].own_names}: {one_line(result)} {_WHEN}, expected a reward")
            found[call.arguments[0].run_id] = result
    return found


def check(
    experiments: Iterable[Experiment], *, jobs: int, runner: Runner, columns: Collection[str] = ()
) -> dict[str, Fit]:
    """Return the result of `fits`. Raises ConfigError for an error that a user can correct.

    Any other error is left to the repetitions, which record its traceback.
    """
    found = fits(experiments, columns, jobs=jobs, runner=runner)
    for fit in found.values():
        if fit.error:
            raise ConfigError(fit.error)
    return found


def check_columns(
    named: Mapping[str, str],
    experiments: Iterable[Experiment],
    found: Mapping[str, Fit],
    store: Store,
    *,
    as_curves: bool = False,
) -> None:
    """Raise ConfigError for a column that no run has; the check is skipped if the columns of a run are unknown.

    ``named`` maps each column to the place that names it. ``found`` holds the `fits` of experiments with missing
    repetitions. The columns of all other experiments are read from their first stored repetition, but only while a
    column has not been found. ``as_curves`` is whether the error offers only columns that have a curve.
    """
    known: dict[str, None] = {}
    for experiment in experiments:
        if named.keys() <= known.keys():
            return
        is_new = experiment.run_id in found
        columns = found[experiment.run_id].columns if is_new else _stored_columns(experiment, store)
        if not columns:
            return
        known |= dict.fromkeys(columns)
    offered = [name for name in known if not as_curves or not (name == "rounds" or is_measured(name))]
    for column, place in named.items() if known else ():  # a figure may have no runs
        if column not in known:
            raise ConfigError(f"{place}: found '{column}', {one_of(column, offered)}")


def _fit(experiment: Experiment, columns: Collection[str], limit: float | None) -> Fit:
    fit = None
    try:
        with time_limit(limit):
            check_experiment(experiment)
            fit = Fit()
            return _with_columns(experiment, columns) if columns else fit
    except BaseException as error:  # other errors are left to the repetitions
        raise_if_stopped(error)
        if isinstance(error, TimeOverError):
            found = f"found no answer within runner.time_limit = {limit:g} s {_WHEN}"
            return Fit(f"{experiment.own_names}: {found}, expected one")
        return fit or Fit(one_line(error) if isinstance(error, BenchError) else "")


def _with_columns(experiment: Experiment, columns: Collection[str]) -> Fit:
    from bench.conformance.capabilities import searches_interval  # slow to import

    task, tuner = build(experiment)
    searches = None if tuner.leaves_space else searches_interval(tuner)
    own = experiment.own.keys()
    # These may add columns in any later round
    is_unknown = own - {"tuner"} or (own and tuner.leaves_space)
    return Fit("", () if is_unknown else _columns(experiment, task, columns), searches, tuple(_apart(task)))


def _stored_columns(experiment: Experiment, store: Store) -> tuple[str, ...]:
    for repetition in sorted(store.done(experiment.run_id)):
        with suppress(StoreError):  # a damaged repetition is run again
            costs = store.read_side(experiment.run_id, repetition).get("costs", {})
            return _of_results(store.table(experiment.run_id, repetition).column_names, costs)
    return ()


def _columns(experiment: Experiment, task: Task, columns: Collection[str]) -> tuple[str, ...]:
    """Return the columns of the results, taken from a first round unless the task sums all ``columns``."""
    settings = experiment.settings
    problem = task.start(settings["horizon"], Seeds(settings["seed"]))
    if {*columns} <= {*task.sums}:
        return tuple(task.sums)
    task, tuner = build(experiment)
    at_random = max(task.random_rounds, tuner.random_rounds(problem))
    trace = run(task, tuner, rounds=min(settings["horizon"], at_random + 1))
    return _of_results(trace.columns(), trace.costs)


def _of_results(columns: Iterable[str], costs: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of final values, named as by `runners.results.aggregate.final_table`, without labels."""
    seconds = ("seconds_total", *(f"seconds_{name}" for name in costs))
    return (*(name for name in columns if name != "round"), "rounds", *seconds)


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
                "tuners use the candidates, others the interval; with paper=tournament they have the same range"
            )
