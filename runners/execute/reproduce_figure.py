"""Figures: run what is missing for them, and have each written when its last repetition is there."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from bench.errors import BenchError
from bench.report.figure import read_figure
from bench.report.provenance import Provenance
from bench.report.reading import READING
from runners.config.experiment import part_classes
from runners.config.figures import LabelledRun, by_reading, expand, without_reading
from runners.config.requirements import OPTIONAL, require, version
from runners.config.runner import Runner
from runners.execute.fanout import Answer, FanOut, Key
from runners.execute.progress import Progress, progress_bar
from runners.execute.timing import measure
from runners.execute.write_figure import FinishedFigure, folder_of, timed_part, write_or_say_why
from runners.results.aggregate import Kept, is_measured, kept
from runners.results.capture import environment, kind_of_machine
from runners.results.committed import CommittedRepetitions
from runners.results.derive import LabelledKept, evidence, needs
from runners.results.plan import FigurePlan, Reproduced
from runners.results.store import Store, results_folder
from runners.results.until_decided import STEP, look


@dataclass
class _Work:
    """A figure while its repetitions run."""

    plan: FigurePlan
    drawn: list[LabelledRun]
    committed: CommittedRepetitions | None
    waiting: set[Key] = field(default_factory=set)
    new: int = 0
    failed: dict[Key, str] = field(default_factory=dict)
    open_cases: int = 0
    seen: dict[Key, Kept] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.plan.name

    def get(self, run_id: str, repetition: int) -> Kept | None:
        """Return a repetition that need not be read from the store, if it is one."""
        known = self.seen.get((run_id, repetition))
        return known or (self.committed.get(run_id, repetition) if self.committed else None)

    def finished(self, done: list[list[int]]) -> FinishedFigure:
        """Return what is written of it."""
        return FinishedFigure(self.plan, self.drawn, done, self.committed, self.new, dict(self.failed))

    def done(self) -> list[list[int]]:
        """Return, for each experiment, the repetitions that have a result, when nothing is waited for."""
        return [
            [
                number
                for number in range(one.run.settings.repetitions)
                if (one.run.experiment.run_id, number) not in self.failed
            ]
            for one in self.drawn
        ]


def reproduce_figure(plan: FigurePlan, *, jobs: int, runner: Runner) -> Reproduced:
    """Run what is missing for one figure, write all its files, and print a line; see `reproduce_figures`.

    Raises
    ------
    BenchError
        Also when the figure cannot be written.
    """
    (made,) = reproduce_figures([plan], jobs=jobs, runner=runner)
    if made.error:
        raise BenchError(made.error)
    return made


def reproduce_figures(plans: Iterable[FigurePlan], *, jobs: int, runner: Runner) -> Iterator[Reproduced]:
    """Run what is missing for some figures in one pool of workers, and yield each as it is written.

    A figure is written by a worker as soon as its last repetition is there; its line is printed then. With
    ``until_decided`` its claims are looked at after each step, and only the experiments that open cases need go on;
    repetitions beyond the step are not looked at even if they are there, so the result depends on the claims alone.
    Timings are measured at the end, when no worker runs. A figure that cannot be written does not stop the others.

    Parameters
    ----------
    plans
        The figures; each is looked at while the workers run what earlier ones need.
    jobs, runner
        As in `runners.execute.fanout.FanOut`.

    Raises
    ------
    BenchError
        When a setting is wrong, or repetitions cannot be written; what is finished is kept.
    """
    store = Store(results_folder())
    plans = [plan._replace(figure=read_figure(plan.figure)) for plan in plans]
    if not all(map(version, OPTIONAL)):
        _require_packages(plans, store)
    timed = [plan for plan in plans if plan.figure.source == "timing"]
    others = [plan for plan in plans if plan.figure.source != "timing"]
    fan = FanOut(store, jobs=jobs, runner=runner)
    finished = 0
    with progress_bar(runner.progress) as progress, fan.running():
        runs = _Runs(fan, store, progress)
        while others:
            runs.open(others.pop(0))
            for answer in fan.answers():
                if answer.status == "called":
                    finished += 1
                    yield _tell(answer.value)
                else:
                    runs.take(answer)
                words = [f"{runs.current}, {finished} of {len(plans)} figures"] if len(plans) > 1 else []
                words += [f"{runs.open_cases} case{'s' * (runs.open_cases > 1)} open"] if runs.open_cases else []
                progress.words = ", ".join(words)
                progress.show()
                if others:
                    runs.open(others.pop(0))
        for plan in timed:
            drawn = expand(plan.figure, plan.scale, list(plan.extra), readings=plan.readings)
            wanted = [(one.run.experiment, one.run.settings.repetitions) for one in drawn]
            summary = measure(wanted, store, timed_part(plan.figure))
            work = _Work(plan, drawn, None)
            work.new = sum(len(result.new) for result in summary.results)
            for one, result in zip(drawn, summary.results, strict=True):
                work.failed |= {(one.run.experiment.run_id, i): error for i, error in result.failed.items()}
            yield _tell(write_or_say_why(work.finished([sorted(result.done) for result in summary.results]), store))


def _require_packages(plans: Iterable[FigurePlan], store: Store) -> None:
    """Refuse, before anything is run, what needs packages that are not installed; results that are there need none."""
    missing = []
    for work in map(_work, plans):
        for one in work.drawn:
            run_id = one.run.experiment.run_id
            there = store.done(run_id) | (work.committed.done(run_id) if work.committed else set())
            if not set(range(one.run.settings.repetitions)) <= there:
                missing.append(part_classes(one.run.experiment.settings))
    require(*missing)


def _work(plan: FigurePlan) -> _Work:
    """Return a figure with the experiments that it asks for first."""
    drawn = expand(plan.figure, plan.scale, list(plan.extra), readings=plan.readings)
    committed = _committed(plan, drawn) if plan.is_reference else None
    if plan.most is not None:
        drawn = plan.with_repetitions(drawn, [min(STEP, plan.most)] * len(drawn))
    return _Work(plan, drawn, committed)


class _Runs:
    """The repetitions of all figures that are open, each of which may be asked for by several."""

    def __init__(self, fan: FanOut, store: Store, progress: Progress) -> None:
        self.current = ""
        self._fan = fan
        self._store = store
        self._progress = progress
        self._open: list[_Work] = []
        self._known: dict[Key, Answer | None] = {}
        self._horizon: dict[Key, tuple[str, int]] = {}

    def open(self, plan: FigurePlan) -> None:
        """Ask for what a figure lacks, or have it written if it lacks nothing."""
        work = _work(plan)
        self._open.append(work)
        self._ask(work, check=True)
        self._go_on(work)

    def _ask(self, work: _Work, *, check: bool = False) -> None:
        """Ask for the repetitions that a figure lacks."""
        for one in sorted(work.drawn, key=lambda one: -one.run.settings.horizon):
            experiment = one.run.experiment
            there = self._store.sound(experiment.run_id, range(one.run.settings.repetitions))
            if work.committed:
                there |= work.committed.done(experiment.run_id)
            missing = []
            for repetition in sorted(set(range(one.run.settings.repetitions)) - there):
                key = experiment.run_id, repetition
                answer = self._known.setdefault(key, None)
                if answer is None:
                    work.waiting.add(key)
                    missing.append(repetition)
                elif answer.status == "failed":
                    work.failed[key] = answer.error
            new = [repetition for repetition in missing if (experiment.run_id, repetition) not in self._horizon]
            if new:
                horizon = experiment.settings["horizon"]
                self._horizon |= {(experiment.run_id, repetition): (work.name, horizon) for repetition in new}
                self._progress.expect(work.name, horizon, len(new))
                self._fan.add(experiment, new, check=check)

    def take(self, answer: Answer) -> None:
        """Note that a repetition is done or failed; figures that wait for nothing else are written."""
        key: Key = answer.key  # type: ignore[assignment]
        self._known[key] = answer
        self.current, horizon = self._horizon[key]
        self._progress.advance(self.current, horizon, answer.seconds)
        is_new = answer.status == "new"
        for work in [work for work in self._open if key in work.waiting]:
            work.waiting.remove(key)
            work.new += is_new
            is_new = False  # counted for the first figure only
            if answer.status == "failed":
                work.failed[key] = answer.error
            self._go_on(work)

    @property
    def open_cases(self) -> int:
        """Number of cases for which repetitions are added until they are decided."""
        return sum(work.open_cases for work in self._open)

    def _go_on(self, work: _Work) -> None:
        """Have a figure that waits for nothing written, unless its claims ask for more repetitions."""
        while not work.waiting:
            if work.plan.most is None or not self._ask_for_more(work, work.plan.most):
                self._open.remove(work)
                work.seen.clear()
                self._fan.call(("figure", work.plan.where), write_or_say_why, work.finished(work.done()), self._store)
                return

    def _ask_for_more(self, work: _Work, most: int) -> bool:
        """Look at the claims, ask for the repetitions that open cases need, and return whether there are such cases."""
        figure, drawn, done = work.plan.figure, work.drawn, work.done()
        own = kept(drawn, done, self._store, columns=figure.curve_columns(), keep=figure.kept_rounds, committed=work)
        for one, numbers, repetitions in zip(drawn, done, own, strict=True):
            work.seen |= {(one.run.experiment.run_id, i): known for i, known in zip(numbers, repetitions, strict=True)}
        # Only the first reading's verdicts are waited for; under the others experiments go as far, or to their limit.
        first = next(iter(by_reading(figure, drawn).values()))
        runs = [LabelledKept(drawn[i].labels, done[i], own[i]) for i in first]
        curves, finals, _ = evidence(figure, runs, Provenance())
        seen = look(figure, [drawn[i] for i in first], [done[i] for i in first], finals, curves, most)
        of_labels = {tuple(drawn[i].labels.items()): number for i, number in zip(first, seen.next, strict=True)}
        following = [of_labels[tuple(without_reading(one).labels.items())] for one in drawn]
        work.open_cases = seen.open_cases
        work.drawn = work.plan.with_repetitions(drawn, following)
        later = {
            one.run.experiment.run_id: max(expected - number, 0) * one.run.settings.horizon
            for one, number, expected in zip([drawn[i] for i in first], seen.next, seen.expected, strict=True)
        }
        self._progress.foresee(work.name, sum(later.values()))
        if seen.open_cases:
            self._ask(work)
        return seen.open_cases > 0


def _committed(plan: FigurePlan, drawn: list[LabelledRun]) -> CommittedRepetitions:
    """Return the repetitions that lie beside a figure, at this scale or with another number of repetitions."""
    folder = folder_of(plan, drawn)
    siblings = sorted(folder.parent.glob(f"{plan.scale}*")) if folder.parent.is_dir() else []
    folders = [folder, *(path for path in siblings if path != folder)]
    in_order = sorted(drawn, key=lambda one: READING not in one.labels)  # of shared runs the first reading's labels
    labels = {one.run.experiment.run_id: one.labels for one in in_order}
    found = CommittedRepetitions(folders, needs(plan.figure), labels)
    if is_measured(plan.figure.column):  # seconds of another machine are no repetitions
        if found.machines != [kind_of_machine(environment())]:
            return CommittedRepetitions([], "", {})
        found.without_seconds("seconds_total")
    return found


def _tell(made: tuple[Reproduced, str, list[str]]) -> Reproduced:
    """Print a figure's line and its errors."""
    reproduced, line, errors = made
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    if line:
        print(line, flush=True)
    return reproduced
