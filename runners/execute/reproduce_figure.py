"""Runs of figures' missing repetitions; each figure is written when its last repetition is finished."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from bench.errors import BenchError
from bench.report.figure import read_figure
from runners.config.classes import is_suites, require
from runners.config.experiment import Experiment
from runners.config.figures import figure_names
from runners.config.runner import Runner
from runners.config.tree import placed
from runners.execute.asked_figure import AskedFigure, WrittenFigure
from runners.execute.fanout import Answer, RepetitionId, run_each
from runners.execute.figure_run import FigureRun
from runners.execute.fit import check, check_columns
from runners.execute.workers import spread, workers
from runners.execute.write_figure import unchanged, write
from runners.results.store import Store, results_folder


def reproduce_figure(asked: AskedFigure, *, jobs: int, runner: Runner) -> WrittenFigure:
    """Run the missing repetitions of one figure and write its files.

    Raises BenchError as `reproduce_figures` does, and also if the figure cannot be written.
    """
    (written,) = reproduce_figures([asked], jobs=jobs, runner=runner)
    if written.error:
        raise BenchError(written.error)
    return written


def reproduce_figures(figures: Iterable[AskedFigure], *, jobs: int, runner: Runner) -> Iterator[WrittenFigure]:
    """Run the missing repetitions of figures; yield each figure once it is written and its line is printed.

    A figure with unchanged settings, code and repetitions is not written again. The repetitions of all figures are run
    together, and a figure is written after its last repetition. With ``until_decided`` claims are checked after each
    step, and the experiments of open cases continue; results depend on the claims alone. Committed repetitions are
    extended only if one of them gives the same numbers when played again. Timings are measured last, when no worker
    runs. A figure that cannot be written does not stop the other figures. Raises BenchError if a setting is wrong, or
    if repetitions cannot be written; finished repetitions are kept.
    """
    store = Store(results_folder())
    every = [FigureRun(replace(one, figure=read_figure(one.figure)), store) for one in figures]
    as_before = {id(run): written for run in every if (written := unchanged(run))}
    yield from (written.tell() for written in as_before.values())
    runs = [run for run in every if id(run) not in as_before]
    parallel = [run for run in runs if run.asked.figure.source != "timing"]
    require(*(experiment.classes for run in runs for experiment in run.missing()))
    with workers(runner, jobs):
        _check(parallel, store, jobs, runner)
        yield from _run(parallel, store, jobs, runner)
    for run in runs:
        if run.asked.figure.source == "timing":
            run.measure()
            yield write(run).tell()


def _check(runs: Sequence[FigureRun], store: Store, jobs: int, runner: Runner) -> None:
    """Start the experiments that a user may have changed, so that an error is found before any run.

    Raises ConfigError for parts that do not fit, and for a column in a user's figure that no run has.
    """
    own = [run for run in runs if not (run.asked.is_suites or run.asked.is_comparison)]  # checked by `compare`
    every = {experiment.run_id: experiment for run in own for experiment in run.missing()}
    named = [_columns(run.asked) for run in own]
    found = check(every.values(), jobs=jobs, runner=runner, columns={*chain(*named)})
    for run, columns in zip(own, named, strict=True):
        with placed(f"figure/{run.asked.name}"):
            check_columns(columns, [labelled.experiment for labelled in run.runs], found, store)


def _run(left: list[FigureRun], store: Store, jobs: int, runner: Runner) -> Iterator[WrittenFigure]:
    """Run the repetitions that the figures need, shared repetitions once, and yield each figure once written."""
    answers: dict[RepetitionId, Answer] = {}
    seen: set[type] = set()

    def finished(run: FigureRun) -> FigureRun:
        left.remove(run)
        if not run.refusal:
            run.play_again(answers, runner.time_limit, seen)
        return run

    while left:
        wanted: dict[str, tuple[Experiment, set[int]]] = {}
        waiting: dict[RepetitionId, list[FigureRun]] = {}
        complete = []
        for run in list(left):
            pending = run.pending(answers)
            complete += [] if pending else [finished(run)]
            for experiment, numbers in pending:
                wanted.setdefault(experiment.run_id, (experiment, set()))[1].update(numbers)
                for number in numbers:
                    waiting.setdefault((experiment.run_id, number), []).append(run)
        yield from (written.tell() for written in spread(runner, jobs)(_written, [(run,) for run in complete]))
        for answer in run_each(wanted.values(), store, jobs=jobs, runner=runner, words=_words(left)):
            answers[answer.id] = answer
            for run in waiting[answer.id]:
                run.take(answer, counts=run is waiting[answer.id][0])
                if not run.waiting and not run.pending(answers):
                    yield _written(finished(run)).tell()


def _words(left: Sequence[FigureRun]) -> str:
    open_cases = sum(run.open_cases for run in left)
    words = [f"{len(left)} figures"] if len(left) > 1 else []
    words += [f"{open_cases} case{'s' * (open_cases > 1)} open"] if open_cases else []
    return ", ".join(words)


def _written(run: FigureRun) -> WrittenFigure:
    return WrittenFigure(run.asked, run.folder, error=run.refusal) if run.refusal else write(run)


def _columns(asked: AskedFigure) -> dict[str, str]:
    """Return the `trace_columns` of a user's figure.

    Returns none if the kind of the figure is the user's own, because it may compute columns.
    """
    is_users = asked.name not in figure_names() and is_suites(type(asked.figure))
    return asked.figure.trace_columns() if is_users else {}
