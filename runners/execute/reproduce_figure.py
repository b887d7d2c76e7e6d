"""Figures: run what is missing for them, and have each written when its last repetition is there."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from bench.errors import BenchError
from bench.report.figure import read_figure
from bench.report.provenance import Provenance
from runners.config.classes import OPTIONAL, require, version
from runners.config.experiment import part_classes
from runners.config.figures import by_reading, without_reading
from runners.config.runner import Runner
from runners.execute.fanout import FanOut
from runners.execute.figure_run import FigureRun
from runners.execute.repetition import Answer, Key
from runners.execute.timing import measure
from runners.execute.write_figure import redraw, timed_part, write
from runners.results.derive import evidence
from runners.results.store import Store, results_folder
from runners.results.until_decided import look


def reproduce_figure(run: FigureRun, *, jobs: int, runner: Runner) -> FigureRun:
    """Run what is missing for one figure and write its files; BenchError also when it cannot be written."""
    (written,) = reproduce_figures([run], jobs=jobs, runner=runner)
    if written.error:
        raise BenchError(written.error)
    return written


def reproduce_figures(runs: Iterable[FigureRun], *, jobs: int, runner: Runner) -> Iterator[FigureRun]:
    """Run what is missing for some figures in one pool of workers, and yield each as it is written.

    A figure is written by a worker as soon as its last repetition is there; its line is printed then. With
    ``until_decided`` its claims are looked at after each step, and only the experiments that open cases need go on;
    repetitions beyond the step are not looked at even if they are there, so the result depends on the claims alone.
    To a figure with runs that other code or packages made nothing is added: it is drawn as it is. Timings are measured
    at the end, when no worker runs. A figure that cannot be written does not stop the others.
    Raises BenchError when a setting is wrong, or repetitions cannot be written; what is finished is kept.
    """
    store = Store(results_folder())
    runs = [replace(run, figure=read_figure(run.figure)) for run in runs]
    if not all(map(version, OPTIONAL)):
        _require_packages(runs, store)
    timed = [run for run in runs if run.figure.source == "timing"]
    fan = FanOut(store, jobs=jobs, runner=runner)
    board = _Board(fan, store)
    finished = 0
    for answer in fan.answers(map(board.open, [run for run in runs if run.figure.source != "timing"])):
        if isinstance(answer, Answer):
            board.take(answer)
        else:
            finished += 1
            yield answer.tell()
        words = [f"{board.current}, {finished} of {len(runs)} figures"] if len(runs) > 1 else []
        words += [f"{board.open_cases} case{'s' * (board.open_cases > 1)} open"] if board.open_cases else []
        fan.progress.words = ", ".join(words)
        fan.progress.show()
    for run in timed:
        run.compose()
        for run_id, result in measure(run.drawn, store, timed_part(run.figure)).items():
            run.new += len(result.new)
            run.failed |= {(run_id, number): error for number, error in result.failed.items()}
        yield write(run, store).tell()


def _require_packages(runs: Iterable[FigureRun], store: Store) -> None:
    """Refuse, before anything is run, what needs packages that are not installed; results that are there need none."""
    missing = []
    for run in runs:
        run.compose()
        for labelled in [] if run.unconfirmed else run.drawn:
            done = store.done(labelled.experiment.run_id) | run.committed.done(labelled.experiment.key)
            if not set(range(labelled.settings.repetitions)) <= done:
                missing.append(part_classes(labelled.experiment.settings))
    require(*missing)


class _Board:
    """The repetitions of all figures that are open, each of which may be asked for by several."""

    def __init__(self, fan: FanOut, store: Store) -> None:
        self.current = ""
        """The figure that the latest repetition was for."""
        self._fan = fan
        self._store = store
        self._open: list[FigureRun] = []
        self._answers: dict[Key, Answer] = {}

    @property
    def open_cases(self) -> int:
        """Number of cases for which repetitions are added until they are decided."""
        return sum(run.open_cases for run in self._open)

    def open(self, run: FigureRun) -> None:
        """Ask for what a figure lacks, or have it written if it lacks nothing."""
        run.compose()
        if run.unconfirmed:
            run.forget()
            self._fan.call(redraw, run, run.folder)
            return
        self._open.append(run)
        self._ask(run, check=True)
        self._go_on(run)

    def _ask(self, run: FigureRun, *, check: bool = False) -> None:
        """Ask for the repetitions that a figure lacks."""
        for labelled in sorted(run.drawn, key=lambda labelled: -labelled.settings.horizon):
            experiment, numbers = labelled.experiment, range(labelled.settings.repetitions)
            run_id = experiment.run_id
            lacking = set(numbers) - self._store.sound(run_id, numbers) - run.committed.done(experiment.key)
            for key in [(run_id, number) for number in lacking]:
                if key not in self._answers:
                    run.waiting.add(key)
                elif self._answers[key].status == "failed":
                    run.failed[key] = self._answers[key].error
            self._fan.add(experiment, [i for i in sorted(lacking) if (run_id, i) in run.waiting], check=check)

    def take(self, answer: Answer) -> None:
        """Note that a repetition is done or failed; figures that wait for nothing else are written."""
        key = answer.key
        self._answers[key] = answer
        waiting = [run for run in self._open if key in run.waiting]
        self.current = waiting[0].name
        for run in waiting:
            run.waiting.remove(key)
            run.new += answer.status == "new" and run is waiting[0]
            if answer.status == "failed":
                run.failed[key] = answer.error
            self._go_on(run)

    def _go_on(self, run: FigureRun) -> None:
        """Have a figure that waits for nothing written, unless its claims ask for more repetitions."""
        while not run.waiting:
            if run.most is None or not self._ask_for_more(run, run.most):
                self._open.remove(run)
                self._fan.call(write, run, self._store)
                return

    def _ask_for_more(self, run: FigureRun, most: int) -> bool:
        """Look at the claims, ask for the repetitions that open cases need, and return whether there are such cases."""
        drawn, done, runs = run.drawn, run.done(), run.read(self._store)
        # Only the first reading's verdicts are waited for; under the others experiments go as far, or to their limit.
        first = next(iter(by_reading(run.figure, drawn).values()))
        curves, finals, _ = evidence(run.figure, [runs[i] for i in first], Provenance())
        seen = look(run.figure, [drawn[i] for i in first], [done[i] for i in first], finals, curves, most)
        of_labels = {tuple(drawn[i].labels.items()): number for i, number in zip(first, seen.next, strict=True)}
        run.open_cases = seen.open_cases
        run.ask([of_labels[tuple(without_reading(labelled).labels.items())] for labelled in drawn])
        if seen.open_cases:
            self._ask(run)
        return seen.open_cases > 0
