"""Figures: run what is missing for them, then write their tables, claims, pictures and manifests."""

import json
import shlex
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bench.errors import BenchError, one_line
from bench.report.claims import spell
from bench.report.drawing import draw
from bench.report.figure import Figure, read_figure
from bench.report.kinds.timing import Timing
from bench.report.provenance import Provenance
from bench.report.reading import READING
from bench.report.render import Evidence, notes, render, render_readings
from bench.report.results import Results
from bench.report.saving import save
from bench.report.tables import to_csv, to_markdown
from runners.aggregate import Kept, curve_table, final_table, is_measured, kept
from runners.capture import environment, kind_of_machine
from runners.committed import FILE, SECONDS, CommittedRepetitions, write_repetitions
from runners.compose import PARTS
from runners.experiment import part_classes
from runners.fanout import Answer, FanOut, Key
from runners.figures import LabelledRun, by_reading, expand, load_paper, unfold, without_reading
from runners.live import LiveRun
from runners.pool import Runner
from runners.progress import Progress, progress_bar
from runners.requirements import OPTIONAL, require, version
from runners.store import Store, results_folder, write_text
from runners.timing import Part, measure, measurements
from runners.timing import finals as timed_finals
from runners.until_decided import STEP, applies_to, look, with_repetitions


class FigurePlan(NamedTuple):
    """A figure that is asked for.

    Parameters
    ----------
    figure
        Its configuration, as `runners.figures.load_figure` returns it.
    where
        The folder, among the results; ``-surrogate`` or ``-altered`` is added where data stands in for the real.
    scale
        How large.
    extra
        Overrides for all its experiments.
    command
        The command that makes the figure, for the manifest.
    is_reference
        Whether the result is one to be committed: its repetitions are written beside it, and taken from there.
    until_decided
        The largest number of repetitions where they are run until the claims are decided; None: as many as the scale
        says, which also holds for timings and for figures without claims.
    formats
        What is written beside the usual files, of `bench.report.saving.EXTRA`.
    readings
        Whether all readings are run, or the first alone.
    """

    figure: Figure
    where: str
    scale: str
    extra: Sequence[str]
    command: str
    is_reference: bool = False
    until_decided: int | None = None
    formats: Sequence[str] = ()
    readings: bool = True

    @property
    def most(self) -> int | None:
        """The largest number of repetitions; None where it is not decided on by looking."""
        return self.until_decided if applies_to(self.figure) else None

    @property
    def readings_up_to(self) -> int | None:
        """The largest number of repetitions under further readings; None: as many as under the first."""
        scale = self.figure.scales.get(self.scale)
        return scale.readings_up_to if scale else None

    def is_sequential(self, drawn: Sequence[LabelledRun]) -> bool:
        """Return whether looks decide how many repetitions there are: not of readings that end at the first look."""
        further = any(READING in one.labels for one in drawn)
        return self.most is not None and not (further and (self.readings_up_to or self.most) <= STEP)

    def with_repetitions(self, drawn: Sequence[LabelledRun], numbers: Sequence[int]) -> list[LabelledRun]:
        """Return the experiments with other numbers of repetitions, as far as the scale lets readings go."""
        most = self.readings_up_to or max(numbers)
        return with_repetitions(
            drawn, [min(n, most) if READING in one.labels else n for one, n in zip(drawn, numbers, strict=True)]
        )


@dataclass(frozen=True)
class Reproduced:
    """What is known of a figure when it is drawn.

    Parameters
    ----------
    complete
        Whether no repetition failed.
    claims
        The verdicts, as `bench.report.claims.check` returns them.
    folder
        Where the files are.
    error
        Why the figure could not be written; "" if it was.
    """

    complete: bool
    claims: pd.DataFrame
    folder: Path
    error: str = ""


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
        return "/".join(self.plan.where.split("/")[:2])

    def get(self, run_id: str, repetition: int) -> Kept | None:
        """Return a repetition that need not be read from the store, if it is one."""
        known = self.seen.get((run_id, repetition))
        return known or (self.committed.get(run_id, repetition) if self.committed else None)

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
        As in `runners.fanout.FanOut`.

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
    with progress_bar(runner.progress, results=store.root) as progress, fan.running():
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
            summary = measure(wanted, store, _timed_part(plan.figure))
            work = _Work(plan, drawn, None)
            work.new = sum(len(result.new) for result in summary.results)
            for one, result in zip(drawn, summary.results, strict=True):
                work.failed |= {(one.run.experiment.run_id, i): error for i, error in result.failed.items()}
            yield _tell(_write_or_say_why(work, store, [sorted(result.done) for result in summary.results]))


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
        self._progress.announce(work.name, work.plan.figure, _live_runs(work.drawn))
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
            is_new = False  # of several figures the first counts it
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
                self._fan.call(("figure", work.plan.where), _write_or_say_why, work, self._store, work.done())
                return

    def _ask_for_more(self, work: _Work, most: int) -> bool:
        """Look at the claims, ask for the repetitions that open cases need, and return whether there are such cases."""
        figure, drawn, done = work.plan.figure, work.drawn, work.done()
        own = kept(drawn, done, self._store, columns=figure.curve_columns(), keep=figure.kept_rounds, committed=work)
        for one, numbers, repetitions in zip(drawn, done, own, strict=True):
            work.seen |= {(one.run.experiment.run_id, i): known for i, known in zip(numbers, repetitions, strict=True)}
        # Only the first reading's verdicts are waited for; under the others experiments go as far, or to their limit.
        first = next(iter(by_reading(figure, drawn).values()))
        curves, finals, _ = _evidence(work.plan, drawn, done, own, first)
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


def _live_runs(drawn: list[LabelledRun]) -> list[LiveRun]:
    """Return what is said of experiments while they run: those of the first reading."""
    return [
        LiveRun(run_id=one.run.experiment.run_id, labels=one.labels, repetitions=one.run.settings.repetitions)
        for one in drawn
        if READING not in one.labels
    ]


def _committed(plan: FigurePlan, drawn: list[LabelledRun]) -> CommittedRepetitions:
    """Return the repetitions that lie beside a figure, at this scale or with another number of repetitions."""
    folder = _folder(plan, drawn)
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


def _folder(plan: FigurePlan, drawn: list[LabelledRun]) -> Path:
    surrogate = any(one.run.experiment.surrogate for one in drawn)
    altered = any(one.run.experiment.altered for one in drawn)
    return results_folder() / f"{plan.where}{'-altered' if altered else '-surrogate' if surrogate else ''}"


def _tell(made: tuple[Reproduced, str, list[str]]) -> Reproduced:
    """Print a figure's line and its errors."""
    reproduced, line, errors = made
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    if line:
        print(line, flush=True)
    return reproduced


def _write_or_say_why(work: _Work, store: Store, done: list[list[int]]) -> tuple[Reproduced, str, list[str]]:
    """Do what `_write` does; an error is part of what is returned, so that other figures go on."""
    try:
        return _write(work, store, done)
    except Exception as error:
        why = one_line(error) if isinstance(error, BenchError) else _where(error)
        claims = pd.DataFrame({"verdict": [], "holm": []})
        return Reproduced(False, claims, _folder(work.plan, work.drawn), error=why), "", _failures(work)


def _where(error: Exception) -> str:
    """Return an unexpected error with the place in the code."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {one_line(error)} ({Path(last.filename).name}, line {last.lineno})"


def _write(work: _Work, store: Store, done: list[list[int]]) -> tuple[Reproduced, str, list[str]]:
    """Write all files of a figure; return what it is, its line and its errors. Called in the workers."""
    figure, drawn = work.plan.figure, work.drawn
    folder = _folder(work.plan, drawn)
    positions = by_reading(figure, drawn)
    first = [drawn[i] for i in next(iter(positions.values()))]
    provenance = _provenance(work.plan, first)
    own: list[list[Kept]] = []
    curves, finals = pd.DataFrame(), pd.DataFrame()
    evidence: dict[str, Evidence] = {}
    if figure.source == "timing":
        finals = timed_finals(drawn, done, store, _timed_part(figure))
    elif figure.source == "runs":
        columns, keep = figure.curve_columns(), figure.kept_rounds
        own = kept(drawn, done, store, columns=columns, keep=keep, committed=work.committed)
        evidence = {name: _evidence(work.plan, drawn, done, own, places) for name, places in positions.items()}
        curves, finals, _ = next(iter(evidence.values()))
    rendering = render(figure, curves, finals, provenance=provenance)
    for file, table in rendering.tables.items():
        write_text(folder / f"{file}.csv", to_csv(table))
        write_text(folder / f"{file}.md", to_markdown(table, figure.heading, notes(figure, provenance)))
    run_ids = [one.run.experiment.run_id for one in drawn]
    if work.plan.is_reference and own:
        write_repetitions(folder, needs(figure), run_ids, done, own)
    if not figure.draws_finals and (folder / FILE).exists():  # megabytes of the same numbers
        for name in ("finals.csv", SECONDS):
            (folder / name).unlink(missing_ok=True)
    elif drawn:
        measured = [name for name in finals if is_measured(str(name))]
        write_text(folder / "finals.csv", to_csv(finals.drop(columns=measured)))
        if measured:
            axes = list(finals.columns[: list(finals.columns).index("repetition") + 1])
            write_text(folder / SECONDS, to_csv(finals[axes + measured]))
    write_text(folder / "claims.csv", to_csv(rendering.claims))
    if len(curves):
        write_text(folder / "curves.csv", to_csv(curves, digits=8))
    write_text(folder / "manifest.json", json.dumps(_manifest(work.plan, drawn, provenance, done), indent=1))
    made = _environment(figure, run_ids, done, own, store, work.committed)
    write_text(folder / "environment.json", json.dumps(made, indent=1))
    pictures = ("png", "svg", *(["pdf"] if "pdf" in work.plan.formats else []))
    save(rendering.picture, folder, figure.name, pictures)
    if "tex" in work.plan.formats:
        from bench.report.latex import latex_tables

        results = Results(figure, curves, finals, provenance)
        for file, text in latex_tables(figure, rendering.tables, results).items():
            write_text(folder / f"{file}.tex", text)
    if len(evidence) < 2:  # of a run with more readings
        for path in (
            *folder.glob("readings*.csv"),
            *folder.glob("numbers.csv"),
            *folder.glob(f"{figure.name}_[rn]*.*"),
        ):
            path.unlink()
    if len(evidence) > 1 or (figure.published and evidence and not is_measured(figure.column)):
        _write_readings(figure, evidence, folder, pictures)

    total = sum(map(len, done))
    counts = [f"{total} repetitions"]
    counts += [f"{work.new} new"] * (work.new != total) + [f"{len(work.failed)} failed"] * bool(work.failed)
    verdicts = [words for words in spell(Counter(rendering.claims["verdict"])).split(", ") if words[:2] != "0 "]
    line = f"{work.name}  {', '.join(counts)}  {', '.join(verdicts)}".rstrip()
    return Reproduced(not work.failed, rendering.claims, folder), line, _failures(work)


def _failures(work: _Work) -> list[str]:
    """Return a sentence for each repetition that failed."""
    names = {one.run.experiment.run_id: one.labels for one in reversed(work.drawn)}
    return [
        f"{work.plan.where}: {names[run_id]}: repetition {repetition} failed: {error}"
        for (run_id, repetition), error in sorted(work.failed.items())
    ]


def _evidence(
    plan: FigurePlan, drawn: list[LabelledRun], done: list[list[int]], own: list[list[Kept]], places: list[int]
) -> Evidence:
    """Return the tables of some of the experiments, which are those of one reading."""
    of_reading = [drawn[i] for i in places]
    runs = [without_reading(one) if plan.figure.readings else one for one in of_reading]
    kept_of_runs = [own[i] for i in places]
    curves = unfold(plan.figure, curve_table(runs, kept_of_runs))
    finals = unfold(plan.figure, final_table(runs, [done[i] for i in places], kept_of_runs))
    return Evidence(curves, finals, _provenance(plan, of_reading))


def _write_readings(figure: Figure, evidence: Mapping[str, Evidence], folder: Path, pictures: Sequence[str]) -> None:
    """Write claims and numbers under the readings, and their pictures; without readings the numbers."""
    size = figure.published_repetitions or figure.repetitions or load_paper(figure.paper)["settings"]["repetitions"]
    readings = render_readings(figure, evidence, size)
    if len(evidence) > 1:
        write_text(folder / "readings.csv", to_csv(readings.claims))
    if len(readings.numbers):
        write_text(folder / "numbers.csv", to_csv(readings.numbers))
    for name, plot in readings.plots.items():
        save(draw(plot), folder, name, pictures)


def needs(figure: Figure) -> str:
    """Return what the figure keeps of a repetition, in words that change with it."""
    columns = figure.curve_columns()
    if not columns:
        return "last values"
    kept_of_500 = " ".join(map(str, figure.kept_rounds(np.arange(1, 501))))
    return f"last values; curves of {', '.join(columns)} at these of 500 rounds: {kept_of_500}"


def _provenance(plan: FigurePlan, drawn: list[LabelledRun]) -> Provenance:
    """Return what the figure's numbers rest on."""
    return Provenance(
        scale="" if plan.figure.paper == "none" else plan.scale,
        repetitions=tuple(sorted({one.run.settings.repetitions for one in drawn})),
        horizons=tuple(sorted({one.run.settings.horizon for one in drawn})),
        surrogate=tuple(sorted({one.run.choices["env"] for one in drawn if one.run.experiment.surrogate})),
        altered=tuple(sorted({one.run.choices["env"] for one in drawn if one.run.experiment.altered})),
        packaged=any(one.run.experiment.packaged for one in drawn),
        sequential=plan.is_sequential(drawn),
    )


def _manifest(
    plan: FigurePlan, drawn: list[LabelledRun], provenance: Provenance, done: list[list[int]]
) -> dict[str, Any]:
    """Return what a reader needs to judge the figure or to make it again: the same whenever it is made."""
    runs = [
        {
            "labels": one.labels,
            "command": shlex.join(["python", "-m", "runners.run", *one.overrides, *_size(one), *plan.extra]),
            "run_id": one.run.experiment.run_id,
            "inputs": one.run.experiment.inputs,
            "repetitions": len(repetitions),
            "horizon": one.run.settings.horizon,
            "data": one.run.experiment.fingerprint,
        }
        for one, repetitions in zip(drawn, done, strict=True)
    ]
    return {
        "figure": f"{plan.where.partition('/')[0]}/{plan.figure.name}",
        "title": plan.figure.heading,
        "scale": plan.scale,
        "command": plan.command,
        "settings": settings_table(plan.figure, [one for one in drawn if READING not in one.labels], plan.scale),
        "provenance": provenance.model_dump(mode="json"),
        "published": plan.figure.published,
        **({"readings": plan.figure["readings"]} if plan.figure.readings else {}),
        "runs": runs,
    }


def _timed_part(figure: Figure) -> Part:
    return figure.part if isinstance(figure, Timing) else "run"


def _environment(
    figure: Figure,
    run_ids: list[str],
    done: list[list[int]],
    own: list[list[Kept]],
    store: Store,
    committed: CommittedRepetitions | None,
) -> dict[str, Any]:
    """Return with what and when the figure was made, and the mean seconds of a repetition of each run.

    Of runs whose repetitions all come from ``committed`` without their seconds, it is the mean noted there. Other kinds
    of machines that made repetitions are noted, too.
    """
    earlier = committed.mean_seconds if committed else {}
    others = [kind for kind in (committed.machines if committed else []) if kind != kind_of_machine(environment())]
    seconds = {}
    for position, (run_id, numbers) in enumerate(zip(run_ids, done, strict=True)):
        if figure.source == "timing":
            measured = measurements(store, run_id, _timed_part(figure))
            known = [measured[number]["seconds"] for number in numbers]
        else:
            known = [one.seconds["seconds_total"] for one in own[position] if "seconds_total" in one.seconds]
        if known:
            seconds[run_id] = round(sum(known) / len(known), 4)
        elif run_id in earlier:
            seconds[run_id] = earlier[run_id]
    when = datetime.now(UTC).isoformat(timespec="seconds")
    adopted: dict[str, Any] = {"adopted_from": others} if others else {}
    if committed and committed.carried:
        adopted["carried"] = committed.carried
    return {"made": when, **environment(), **adopted, "seconds_per_repetition": seconds}


def _size(one: LabelledRun) -> list[str]:
    """Return what scale and figure say of the run's size, as overrides of a single run."""
    return [f"horizon={one.run.settings.horizon}", f"repetitions={one.run.settings.repetitions}"]


def settings_table(figure: Mapping[str, Any], drawn: list[LabelledRun], scale: str = "paper") -> list[dict[str, Any]]:
    """Return every setting of the figure's experiments with its values, its source and the place.

    The source is ``scale`` for what is not of the paper's size; else the figure's where it names the key
    (``env.dim``), else the paper's (``env.synthetic_linear.dim``), else ``assumed``: the suite's own default.
    """
    paper = load_paper(figure["paper"])
    sources = paper["sources"]
    rows: dict[str, dict[str, Any]] = {}
    at_scale = {
        override.lstrip("+").partition("=")[0]
        for override in figure.get("scales", {}).get(scale, {}).get("overrides", [])
    }
    for one in drawn:
        flat = {"horizon": one.run.settings.horizon, "repetitions": one.run.settings.repetitions}
        for part in PARTS:
            own = _flatten(one.run.experiment.settings.get(part) or {}, f"{part}.{one.run.choices[part]}")
            flat |= {key: value for key, value in own.items() if part != "task" or value}  # what a task is not given
        for key, value in flat.items():
            part, _, rest = key.partition(".")
            general = f"{part}.{rest.partition('.')[2]}" if rest else key
            given = figure.get("sources", {}).get(general) or sources.get(key)
            source, where = given or ["assumed", "the suite's default"]
            if general in at_scale or (not rest and value != figure.get(key, paper["settings"].get(key, value))):
                source, where = "scale", "less than the paper's, or as the command says"
            row = rows.setdefault(key, {"key": key, "values": [], "source": source, "where": where})
            if value not in row["values"]:
                row["values"].append(value)
    return list(rows.values())


def _flatten(node: dict[str, Any], prefix: str) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in node.items():
        if key == "_target_":
            continue
        if isinstance(value, dict) and value:
            flat |= _flatten(value, f"{prefix}.{key}")
        else:
            flat[f"{prefix}.{key}"] = value
    return flat
