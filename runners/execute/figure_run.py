"""The states of a figure on its way to its files: asked for, composed, running, written."""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from bench.columns import is_measured
from bench.data_kind import DataKind
from bench.report.claims.tallies import Tally, tallies
from bench.report.figure import Figure
from bench.report.formats import Size
from bench.report.reading import READING
from runners.config.figures import LabelledRun, expand, figure_names
from runners.config.tree import suite_choices
from runners.execute.repetition import RepetitionId
from runners.results.aggregate import Repetitions, read_run
from runners.results.capture import environment, kind_of_machine
from runners.results.checksums import note
from runners.results.committed import CommittedRepetitions, labels_of
from runners.results.derive import is_backed, thinning
from runners.results.replay import compare, follows_last_digits
from runners.results.store import Store, read_json, results_folder
from runners.results.until_decided import STEP, applies_to, with_repetitions


@dataclass(frozen=True)
class AskedFigure:
    """A figure as a command asks for it.

    ``where``: the folder, among the results; ``-surrogate`` or ``-altered`` is added where data stands in for the real.
    ``extra``: overrides for all its experiments. ``command``: the command that makes the figure, for the manifest.
    ``is_reference``: whether the result is one to be committed: its repetitions are written beside it, and taken from
    there, unless ``renew`` says that all are to be of today's code. ``until_decided``: the largest number of
    repetitions where they are run until the claims are decided; None: as many as the scale says, which also holds for
    timings and for figures without claims. ``formats`` and ``size``: what is written beside the usual files, and the
    width of a PDF; see `bench.report.formats`. ``readings``: whether all readings are run, or only the first.
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
    size: Size = ""
    renew: bool = False

    @property
    def name(self) -> str:
        """The figure, such as ``cdt/figure2``."""
        return "/".join(self.where.split("/")[:2])

    @property
    def is_suites(self) -> bool:
        """Whether it is one of the suite's figures at one of its scales, with nothing in it that a user has set."""
        return not self.extra and self.name in figure_names() and self.scale in suite_choices("scale")

    @property
    def repetitions_of(self) -> str:
        """The figure whose repetitions it is drawn from, such as ``tournament/ranks``; "" if it has its own."""
        named = self.figure.repetitions_of if self.is_reference else ""
        return f"{self.figure.paper}/{named}" if named else ""

    @property
    def most(self) -> int | None:
        """The largest number of repetitions; None where it is not decided on by looking."""
        return self.until_decided if applies_to(self.figure) else None

    @property
    def readings_up_to(self) -> int | None:
        """The largest number of repetitions under further readings; None: as many as under the first."""
        scale = self.figure.scales.get(self.scale)
        return scale.readings_up_to if scale else None

    def is_sequential(self, runs: Sequence[LabelledRun]) -> bool:
        """Return whether looks decide how many repetitions there are: not of readings that end at the first look."""
        further = any(READING in labelled.labels for labelled in runs)
        return self.most is not None and not (further and (self.readings_up_to or self.most) <= STEP)

    def composed(self) -> "ComposedFigure":
        """Find the experiments that it asks for first, and the repetitions that lie beside it."""
        runs = expand(self.figure, self.scale, list(self.extra), readings=self.readings)
        kinds = {labelled.experiment.data_kind for labelled in runs}
        kind = next((f"-{kind}" for kind in (DataKind.ALTERED, DataKind.SURROGATE) if kind in kinds), "")
        folder = results_folder() / f"{self.where}{kind}"
        if not self.is_reference or self.figure.source != "runs":
            return ComposedFigure(self, runs, folder)
        return ComposedFigure(self, runs, folder, CommittedRepetitions() if self.renew else self._beside(runs, folder))

    def _beside(self, runs: Sequence[LabelledRun], folder: Path) -> CommittedRepetitions:
        """Return the repetitions of its runs beside it, and beside other figures of its paper, at this scale."""
        keys = {labelled.experiment.key for labelled in runs}
        others = sorted(folder.parents[1].glob(f"*/{self.scale}*"), key=lambda path: path.parent != folder.parent)
        folders = [folder, *(path for path in others if path != folder and keys & labels_of(path).keys())]
        committed = CommittedRepetitions(folders, thinning(self.figure), keys)
        if is_measured(self.figure.column):  # seconds of another machine are no repetitions
            if committed.machines != [kind_of_machine(environment())]:
                return CommittedRepetitions()
            for key, of_run in committed.runs.items():
                committed.runs[key] = {i: kept for i, kept in of_run.items() if "seconds_total" in kept.seconds}
        return committed

    def committed(self) -> Path | None:
        """Return the folder whose committed repetitions are those of all its runs, None if there is none.

        A run whose data is not here is one of them if its key with the data that the manifest names is committed.
        """
        folders = [results_folder() / f"{self.where}{kind}" for kind in ("", f"-{DataKind.SURROGATE}")]
        folders = [path for path in folders if self.figure.source == "runs" and is_backed(self.figure, path)]
        runs = self.composed().runs if folders else []
        for folder in folders:
            if has_all(read_json(folder / "manifest.json"), runs, numbers=self.most is None):
                return folder
        return None


def has_all(manifest: dict[str, Any], runs: Sequence[LabelledRun], *, numbers: bool) -> bool:
    """Whether a result has all runs, and as many repetitions of them where their ``numbers`` count."""
    entries = {json.dumps(entry["labels"], sort_keys=True): entry for entry in manifest.get("runs", [])}
    by_labels = {json.dumps(labelled.labels, sort_keys=True): labelled for labelled in runs}
    if entries.keys() != by_labels.keys():
        return False
    for labels, entry in entries.items():
        experiment = by_labels[labels].experiment
        if experiment.fingerprint == DataKind.SURROGATE:
            experiment = experiment.on_data(entry["data"])
        if entry.get("key") != experiment.key:
            return False
        if numbers and entry["repetitions"] != by_labels[labels].settings.repetitions:
            return False
    return True


@dataclass(frozen=True)
class ComposedFigure:
    """A figure with its experiments; ``committed``: repetitions that need not be run, nor read from the store."""

    asked: AskedFigure
    runs: list[LabelledRun]
    folder: Path
    committed: CommittedRepetitions = field(default_factory=CommittedRepetitions)


class Witness(NamedTuple):
    """A committed repetition that is played again before others are added: they count only beside an equal one."""

    labelled: LabelledRun
    number: int
    same_machine: bool

    @property
    def id(self) -> RepetitionId:
        return self.labelled.experiment.run_id, self.number


class RunningFigure:
    """A composed figure, and what has been run of it.

    ``runs``: its experiments, with the numbers of repetitions that are asked for. ``failed``: errors of repetitions.
    ``new``: how many repetitions were run. ``open_cases``: how many cases of claims ask for more of them.
    ``is_confirmed``: whether what is committed may be added to; ``is_tried``: whether that is being found out, see
    `Witness`. ``notes``: a sentence for each of a user's classes that is not determined by its seeds.
    """

    def __init__(self, composed: ComposedFigure) -> None:
        self.composed, self.asked = composed, composed.asked
        self.runs = composed.runs
        self.waiting: set[RepetitionId] = set()
        self.failed: dict[RepetitionId, str] = {}
        self.new = self.open_cases = 0
        self.is_confirmed, self.is_tried = not composed.committed.runs, False
        self.notes: list[str] = []
        if self.asked.most is not None:
            self.ask([min(STEP, self.asked.most)] * len(self.runs))
        for labelled in self.runs:
            labelled.experiment.check_repetitions(labelled.settings.repetitions)

    def ask(self, numbers: Sequence[int]) -> None:
        """Set the numbers of repetitions of the experiments, as far as readings and limits go."""
        most = self.asked.readings_up_to or max(numbers)
        limits = self.asked.figure.limit_runs()

        def at_most(labelled: LabelledRun, number: int) -> int:
            if limits and labelled.is_limit:
                return min(number, limits.repetitions)
            number = min(number, labelled.experiment.most_repetitions or number)
            return min(number, most) if READING in labelled.labels else number

        self.runs = with_repetitions(self.runs, list(map(at_most, self.runs, numbers)))

    @cached_property
    def witness(self) -> "Witness | None":
        """Of what is committed, a repetition of the shortest run; None where other last digits may decide on all."""
        committed, today = self.composed.committed, kind_of_machine(environment())
        same_machine = committed.machines == [today]
        runs = [
            labelled
            for labelled in self.runs
            if committed.runs.get(labelled.experiment.key)
            and (same_machine or not follows_last_digits(labelled.experiment))
        ]
        seconds = committed.mean_seconds
        if not runs:
            return None
        labelled = min(runs, key=lambda labelled: seconds.get(labelled.experiment.key, math.inf))
        return Witness(labelled, min(committed.runs[labelled.experiment.key]), same_machine)

    def refusal(self, store: Store) -> str:
        """Return why nothing may be added to what is committed, now that the witness was played again; "" if it may."""
        if witness := self.witness:
            experiment = witness.labelled.experiment
            if error := self.failed.pop(witness.id, ""):
                difference = f"failed: {error}"
            else:
                then, figure = self.composed.committed.runs[experiment.key][witness.number], self.asked.figure
                difference = compare(then, figure, store, *witness.id, same_machine=witness.same_machine).difference
            words = f"{', '.join(witness.labelled.labels.values())}: repetition {witness.number}, {difference}"
        else:
            difference = words = "another kind of machine made it, and what is tried depends on last digits"
        cure = "nothing is added to what is committed; renew=true runs all of it again"
        return f"{words}; {cure}" if difference else ""

    def done(self) -> list[list[int]]:
        """Return, for each experiment, the repetitions that have a result, when nothing is waited for."""
        return [
            [i for i in range(labelled.settings.repetitions) if (labelled.experiment.run_id, i) not in self.failed]
            for labelled in self.runs
        ]

    def read(self, store: Store) -> list[Repetitions]:
        """Return what is kept of the repetitions of each experiment; each is read once."""
        figure, read_runs = self.asked.figure, []
        columns, keep = figure.curve_columns(), figure.kept_rounds
        for labelled, numbers in zip(self.runs, self.done(), strict=True):
            experiment = labelled.experiment
            known = self.composed.committed.runs.setdefault(experiment.key, {})
            run_id = experiment.run_id
            read_runs.append(read_run(labelled.labels, run_id, numbers, store, columns=columns, keep=keep, known=known))
            known |= read_runs[-1].kept
        return read_runs

    def failures(self, store: Store) -> list[str]:
        """Return a sentence for each repetition that failed; of a run that has no others only the first error."""
        names: dict[str, str] = {}
        for labelled in self.runs:  # under the first of several readings
            names.setdefault(labelled.experiment.run_id, ", ".join(labelled.labels.values()))
        done = {labelled.experiment.run_id for labelled, numbers in zip(self.runs, self.done(), strict=True) if numbers}
        sentences = []
        for run_id, name in names.items():
            failed = {key: error for key, error in sorted(self.failed.items()) if key[0] == run_id}
            if failed and run_id not in done:
                sentences.append(f"{self.asked.where}: {name}: {all_failed(failed, store)}")
                continue
            for (_, number), error in failed.items():
                sentences.append(f"{self.asked.where}: {name}: repetition {number} failed: {error}")
        return sentences


def all_failed(failed: dict[RepetitionId, str], store: Store) -> str:
    """Return what is said where there are no others: the error of a first one, and where its traceback is."""
    run_id, number = min(failed, key=lambda key: (key[1], key[0]))
    record = store.path(run_id, number, ".failed.json")
    place = f"; its traceback is in {record}" if record.is_file() else ""
    words = f"all {len(failed)} repetitions failed, the first" if len(failed) > 1 else "its only repetition failed"
    return f"{words} with {failed[run_id, number]}{place}"


@dataclass(frozen=True)
class WrittenFigure:
    """A figure that is written, or with the ``error`` for which it could not be.

    ``claims``: the verdicts, as `bench.report.claims.check` returns them. ``failures``: a sentence for each repetition
    that failed.
    """

    asked: AskedFigure
    folder: Path
    claims: pd.DataFrame = field(default_factory=lambda: pd.DataFrame({"verdict": [], "holm": []}))
    line: str = ""
    failures: Sequence[str] = ()
    error: str = ""
    notes: Sequence[str] = ()

    @property
    def name(self) -> str:
        return self.asked.name

    @property
    def complete(self) -> bool:
        """Whether it is written, and no repetition failed."""
        return not self.error and not self.failures

    @property
    def tallies(self) -> dict[str, Tally]:
        """The cases by origin and verdict, each counted once."""
        return tallies(self.asked.figure, self.claims.to_dict("records"))

    def tell(self) -> "WrittenFigure":
        """Print its line and the errors of its repetitions; note the digests of its files, if git keeps them."""
        if not self.error:
            note(results_folder(), [self.folder])
        for sentence in self.failures:
            print(f"error: {sentence}", file=sys.stderr)
        for sentence in self.notes:
            print(f"warning: {sentence}", file=sys.stderr)
        if self.line:
            print(self.line, flush=True)
        return self
