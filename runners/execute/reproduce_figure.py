"""Runs of figures' missing repetitions; each figure is written when its last repetition is finished."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from bench.errors import BenchError
from bench.report.figure import read_figure
from runners.config.classes import OPTIONAL, require, version
from runners.config.experiment import Experiment
from runners.config.runner import Runner
from runners.execute.asked_figure import AskedFigure, WrittenFigure
from runners.execute.fanout import FanOut
from runners.execute.figure_run import FigureRun
from runners.execute.fit import check
from runners.execute.repetition import Answer, RepetitionId
from runners.execute.workers import workers
from runners.execute.write_figure import unchanged, write
from runners.results.store import Store, results_folder


def reproduce_figure(asked: AskedFigure, *, jobs: int, runner: Runner, is_checked: bool = False) -> WrittenFigure:
    """Run the missing repetitions of one figure and write its files; BenchError also if it cannot be written.

    ``is_checked``: whether its experiments have been started once, without an error.
    """
    (written,) = reproduce_figures([asked], jobs=jobs, runner=runner, is_checked=is_checked)
    if written.error:
        raise BenchError(written.error)
    return written


def reproduce_figures(
    figures: Iterable[AskedFigure], *, jobs: int, runner: Runner, is_checked: bool = False
) -> Iterator[WrittenFigure]:
    """Run what is missing for some figures in one pool of workers, and yield each as it is written.

    A worker writes a figure, and its line is printed, as soon as its last repetition is there; a figure whose settings,
    code and repetitions are unchanged stays as it is. With ``until_decided`` claims are looked at after each step, and
    the experiments that open cases need go on; repetitions beyond the step are ignored, so that results depend on the
    claims alone. Committed repetitions are extended only if one of them, played again, comes out equal. Timings are
    measured last, when no worker runs. A figure that cannot be written does not stop the others.
    Raises BenchError when a setting is wrong, or repetitions cannot be written; what is finished is kept.
    """
    store = Store(results_folder())
    every = [FigureRun(replace(one, figure=read_figure(one.figure)), store) for one in figures]
    as_before = {id(run): written for run in every if (written := unchanged(run))}
    yield from (written.tell() for written in as_before.values())
    runs = [run for run in every if id(run) not in as_before]
    parallel = [run for run in runs if run.asked.figure.source != "timing"]
    if not all(map(version, OPTIONAL)):  # before any run; existing results need no check
        require(*(experiment.classes for run in runs for experiment in run.missing()))
    fan = FanOut(store, jobs=jobs, runner=runner)
    board = _Board(fan, runner.time_limit)
    with workers(runner, jobs):
        by_user = board.open(parallel)
        if not is_checked:
            check(by_user, jobs=jobs, runner=runner)
        yield from _written(fan, board, len(runs))
    for run in runs:
        if run.asked.figure.source == "timing":
            run.measure()
            yield write(run).tell()


def _written(fan: FanOut, board: "_Board", count: int) -> Iterator[WrittenFigure]:
    finished = 0
    for answer in fan.answers():
        if isinstance(answer, Answer):
            board.take(answer)
        else:
            finished += 1
            yield answer.tell()
        words = [f"{board.current}, {finished} of {count} figures"] if count > 1 else []
        words += [f"{board.open_cases} case{'s' * (board.open_cases > 1)} open"] if board.open_cases else []
        fan.progress.words = ", ".join(words)
        fan.progress.show()


class _Board:
    """The figures that wait for each repetition: several may request the same."""

    def __init__(self, fan: FanOut, limit: float | None) -> None:
        self.current = ""
        """The figure for which the latest repetition was run."""
        self._fan, self._limit = fan, limit
        self._open: list[FigureRun] = []
        self._waiting: dict[RepetitionId, list[FigureRun]] = {}
        self._answers: dict[RepetitionId, Answer] = {}
        self._seen: set[type] = set()

    @property
    def open_cases(self) -> int:
        return sum(run.open_cases for run in self._open)

    def open(self, runs: Sequence[FigureRun]) -> list[Experiment]:
        """Request the missing repetitions of figures, and write the figures that miss none.

        Returns the experiments in which a user may have made an error.
        """
        self._open, complete = list(runs), []
        by_user: dict[str, Experiment] = {}
        for run in runs:
            asked = self._ask(run)
            complete += [run] * (not asked)
            if not run.asked.is_suites:
                by_user |= {experiment.run_id: experiment for experiment in (*asked, *run.missing()) if asked}
        for run in reversed(complete):  # a later call goes first
            self._finish(run)
        return list(by_user.values())

    def take(self, answer: Answer) -> None:
        """Record a finished or failed repetition; figures that wait for no other continue, or are written."""
        self._answers[answer.id] = answer
        waiting = self._waiting.pop(answer.id)
        self.current = waiting[0].asked.name
        for run in waiting:
            run.take(answer, counts=run is waiting[0])
            if not run.waiting and not self._ask(run):
                self._finish(run)

    def _ask(self, run: FigureRun) -> list[Experiment]:
        """Request the pending repetitions of a figure; return the experiments."""
        pending = run.pending(self._answers)
        for experiment, numbers in pending:
            for number in numbers:
                self._waiting.setdefault((experiment.run_id, number), []).append(run)
        for experiment, numbers in pending:  # workers begin with one of each, and so compile different things
            self._fan.add(experiment, numbers[:1])
        for experiment, numbers in pending:
            self._fan.add(experiment, numbers[1:])
        return [experiment for experiment, _ in pending]

    def _finish(self, run: FigureRun) -> None:
        """Let a worker write a figure."""
        self._open = [one for one in self._open if one is not run]
        if run.refusal:
            self._fan.call(partial(WrittenFigure, error=run.refusal), run.asked, run.folder)
            return
        run.play_again(self._answers, self._limit, self._seen)
        self._fan.call(write, run)
