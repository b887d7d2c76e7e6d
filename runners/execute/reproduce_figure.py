"""Figures: run what is missing for them, and have each written when its last repetition is there."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from bench.errors import BenchError
from bench.report.figure import read_figure
from bench.report.provenance import Provenance
from runners.config.classes import OPTIONAL, require, version
from runners.config.experiment import Experiment
from runners.config.figures import by_reading, without_reading
from runners.config.runner import Runner
from runners.execute.fanout import FanOut, check
from runners.execute.figure_run import AskedFigure, ComposedFigure, RunningFigure, WrittenFigure
from runners.execute.repetition import Answer, RepetitionId
from runners.execute.timing import measure
from runners.execute.twice import not_determined
from runners.execute.workers import workers
from runners.execute.write_figure import redraw, timed_part, write
from runners.results.derive import results_of
from runners.results.store import Store, results_folder
from runners.results.until_decided import look


def reproduce_figure(asked: AskedFigure, *, jobs: int, runner: Runner, is_checked: bool = False) -> WrittenFigure:
    """Run what is missing for one figure and write its files; BenchError also when it cannot be written.

    ``is_checked``: whether its experiments have been started once, and nothing was wrong.
    """
    (written,) = reproduce_figures([asked], jobs=jobs, runner=runner, is_checked=is_checked)
    if written.error:
        raise BenchError(written.error)
    return written


def reproduce_figures(
    figures: Iterable[AskedFigure], *, jobs: int, runner: Runner, is_checked: bool = False
) -> Iterator[WrittenFigure]:
    """Run what is missing for some figures in one pool of workers, and yield each as it is written.

    A figure is written by a worker as soon as its last repetition is there; its line is printed then. With
    ``until_decided`` its claims are looked at after each step, and only the experiments that open cases need go on;
    repetitions beyond the step are not looked at even if they are there, so the result depends on the claims alone.
    To a figure with runs that other code or packages made nothing is added: it is drawn as it is. Timings are measured
    at the end, when no worker runs. A figure that cannot be written does not stop the others.
    Raises BenchError when a setting is wrong, or repetitions cannot be written; what is finished is kept.
    """
    store = Store(results_folder())
    asked = [replace(one, figure=read_figure(one.figure)) for one in figures]
    composed = [one.composed() for one in asked]
    parallel = [one for one in composed if one.asked.figure.source != "timing"]
    timed = [one for one in composed if one.asked.figure.source == "timing"]
    if not all(map(version, OPTIONAL)):
        _require_packages(composed, store)
    fan = FanOut(store, jobs=jobs, runner=runner)
    board = _Board(fan, store, runner.time_limit)
    with workers(runner, jobs):
        by_user = board.open(parallel)
        if not is_checked:
            check(list(by_user.values()), jobs=jobs, runner=runner)
        yield from _written(fan, board, len(asked))
    for one in timed:
        running = RunningFigure(one)
        for run_id, result in measure(running.runs, store, timed_part(one.asked.figure)).items():
            running.new += len(result.new)
            running.failed |= {(run_id, number): error for number, error in result.failed.items()}
        yield write(running, store).tell()


def _written(fan: FanOut, board: "_Board", count: int) -> Iterator[WrittenFigure]:
    """Run what the open figures ask for, and yield each figure as it is written."""
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


def _require_packages(figures: Iterable[ComposedFigure], store: Store) -> None:
    """Refuse, before anything is run, what needs packages that are not installed; results that are there need none."""
    missing = []
    for composed in figures:
        for labelled in [] if composed.unconfirmed else RunningFigure(composed).runs:
            experiment = labelled.experiment
            done = store.done(experiment.run_id) | composed.committed.done(experiment.key)
            if not set(range(labelled.settings.repetitions)) <= done:
                missing.append(experiment.classes)
    require(*missing)


class _Board:
    """The repetitions of all figures that are open, each of which may be asked for by several."""

    def __init__(self, fan: FanOut, store: Store, limit: float | None) -> None:
        self.current = ""
        """The figure that the latest repetition was for."""
        self._limit = limit
        self._seen: set[type] = set()
        self._fan = fan
        self._store = store
        self._open: list[RunningFigure] = []
        self._answers: dict[RepetitionId, Answer] = {}

    @property
    def open_cases(self) -> int:
        """Number of cases for which repetitions are added until they are decided."""
        return sum(running.open_cases for running in self._open)

    def open(self, figures: Iterable[ComposedFigure]) -> dict[str, Experiment]:
        """Ask for what figures lack, and have those written that lack nothing.

        Returns by run id the experiments in which a user may have set something wrong.
        """
        by_user: dict[str, Experiment] = {}
        for composed in figures:
            if composed.unconfirmed:
                self._fan.call(redraw, composed.asked, composed.folder, composed.unconfirmed)
                continue
            self._open.append(running := RunningFigure(composed))
            asked = self._ask(running)
            if not running.asked.is_suites:
                by_user |= {experiment.run_id: experiment for experiment in asked}
        for running in reversed(self._open):  # what is asked for last is written first
            self._go_on(running)
        return by_user

    def _ask(self, running: RunningFigure) -> list[Experiment]:
        """Ask for the repetitions that a figure lacks; return their experiments."""
        experiments = []
        for labelled in sorted(running.runs, key=lambda labelled: -labelled.settings.horizon):
            experiment, numbers = labelled.experiment, range(labelled.settings.repetitions)
            run_id = experiment.run_id
            lacking = (
                set(numbers) - self._store.sound(run_id, numbers) - running.composed.committed.done(experiment.key)
            )
            for key in [(run_id, number) for number in lacking]:
                if key not in self._answers:
                    running.waiting.add(key)
                elif self._answers[key].status == "failed":
                    running.failed[key] = self._answers[key].error
            asked = [i for i in sorted(lacking) if (run_id, i) in running.waiting]
            self._fan.add(experiment, asked)
            experiments += [experiment] * bool(asked)
        return experiments

    def take(self, answer: Answer) -> None:
        """Note that a repetition is done or failed; figures that wait for nothing else are written."""
        key = answer.id
        self._answers[key] = answer
        waiting = [running for running in self._open if key in running.waiting]
        self.current = waiting[0].asked.name
        for running in waiting:
            running.waiting.remove(key)
            running.new += answer.status == "new" and running is waiting[0]
            if answer.status == "failed":
                running.failed[key] = answer.error
            self._go_on(running)

    def _go_on(self, running: RunningFigure) -> None:
        """Have a figure that waits for nothing written, unless its claims ask for more repetitions."""
        while not running.waiting:
            if running.asked.most is None or not self._ask_for_more(running, running.asked.most):
                self._open = [one for one in self._open if one is not running]
                self._play_again(running)
                self._fan.call(write, running, self._store)
                return

    def _play_again(self, running: RunningFigure) -> None:
        """Note which of a user's classes are not determined by their seeds."""
        ran: dict[str, tuple[Experiment, list[int]]] = {}
        for labelled in running.runs:
            experiment = labelled.experiment
            if not experiment.is_suites and experiment.run_id not in ran:
                numbers = range(labelled.settings.repetitions)
                keys = [(experiment.run_id, number) for number in numbers]
                ran[experiment.run_id] = (
                    experiment,
                    [key[1] for key in keys if key in self._answers and self._answers[key].status == "new"],
                )
        running.notes += not_determined(ran.values(), self._store, limit=self._limit, seen=self._seen)

    def _ask_for_more(self, running: RunningFigure, most: int) -> bool:
        """Look at the claims, ask for the repetitions that open cases need, and return whether there are such cases."""
        runs, done, kept = running.runs, running.done(), running.read(self._store)
        figure = running.asked.figure
        # Only the first reading's verdicts are waited for; under the others experiments go as far, or to their limit.
        first = next(iter(by_reading(figure, runs).values()))
        results = results_of(figure, [kept[i] for i in first], Provenance(sequential=True))
        seen = look([runs[i] for i in first], [done[i] for i in first], results, most)
        of_labels = {tuple(runs[i].labels.items()): number for i, number in zip(first, seen.next, strict=True)}
        running.open_cases = seen.open_cases
        running.ask([of_labels[tuple(without_reading(labelled).labels.items())] for labelled in runs])
        if seen.open_cases:
            self._ask(running)
        return seen.open_cases > 0
