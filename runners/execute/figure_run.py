"""A figure on its way to its files."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from bench.audit.tallies import Tally, spell_by_origin, tallies
from bench.columns import is_measured
from bench.data_kind import DataKind
from bench.report.figure import Figure
from bench.report.page import Size
from bench.report.reading import READING
from runners.config.figures import LabelledRun, expand
from runners.execute.repetition import Key
from runners.results.aggregate import Repetitions, read
from runners.results.capture import environment, kind_of_machine
from runners.results.committed import CommittedRepetitions, labels_of
from runners.results.derive import thinning
from runners.results.stamps import read_stamps
from runners.results.store import Store, results_folder
from runners.results.until_decided import STEP, applies_to, with_repetitions


@dataclass
class FigureRun:
    """A figure that is asked for; then composed (`compose`), played, and written or found impossible to write.

    ``where``: the folder, among the results; ``-surrogate`` or ``-altered`` is added where data stands in for the real.
    ``extra``: overrides for all its experiments. ``command``: the command that makes the figure, for the manifest.
    ``is_reference``: whether the result is one to be committed: its repetitions are written beside it, and taken from
    there. ``until_decided``: the largest number of repetitions where they are run until the claims are decided; None:
    as many as the scale says, which also holds for timings and for figures without claims. ``formats`` and ``size``:
    what is written beside the usual files, and the width of a PDF; see `bench.report.saving`. ``readings``: whether all
    readings are run, or the first alone. ``renew``: whether runs that other code or packages made are run again.
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

    # composed
    drawn: list[LabelledRun] = field(default_factory=list, init=False)
    committed: CommittedRepetitions = field(default_factory=CommittedRepetitions, init=False)
    """Repetitions that need not be run, nor read from the store."""
    unconfirmed: int = field(default=0, init=False)
    """How many runs in its folder other code or packages made: then nothing is added to them."""
    folder: Path = field(default=Path(), init=False)
    # played
    waiting: set[Key] = field(default_factory=set, init=False)
    failed: dict[Key, str] = field(default_factory=dict, init=False)
    """The errors of repetitions that failed."""
    new: int = field(default=0, init=False)
    """How many repetitions were run."""
    open_cases: int = field(default=0, init=False)
    """How many cases of claims ask for more repetitions."""
    # written
    claims: pd.DataFrame = field(default_factory=lambda: pd.DataFrame({"verdict": [], "holm": []}), init=False)
    """The verdicts, as `bench.report.claims.check` returns them."""
    error: str = field(default="", init=False)
    """Why it could not be written; "" if it was."""
    line: str = field(default="", init=False)
    messages: list[str] = field(default_factory=list, init=False)
    """A sentence for each repetition that failed."""

    @property
    def name(self) -> str:
        """The figure, such as ``cdt/figure2``."""
        return "/".join(self.where.split("/")[:2])

    @property
    def complete(self) -> bool:
        """Whether it is written, and no repetition failed."""
        return not self.error and not self.failed

    @property
    def most(self) -> int | None:
        """The largest number of repetitions; None where it is not decided on by looking."""
        return self.until_decided if applies_to(self.figure) else None

    @property
    def readings_up_to(self) -> int | None:
        """The largest number of repetitions under further readings; None: as many as under the first."""
        scale = self.figure.scales.get(self.scale)
        return scale.readings_up_to if scale else None

    @property
    def tallies(self) -> dict[str, Tally]:
        """The cases by origin and verdict, each counted once."""
        return tallies(self.figure, self.claims.to_dict("records"))

    def forget(self) -> None:
        """Drop what takes long to pickle, when it is not needed any more."""
        self.drawn.clear()
        self.committed.runs.clear()

    def note(self, repetitions: int) -> None:
        """Note what is printed of it when it is written."""
        counts = [f"{repetitions} repetitions"] + [f"{self.new} new"] * (self.new != repetitions)
        counts += [f"{len(self.failed)} failed"] * bool(self.failed)
        verdicts = spell_by_origin(tallies(self.figure, self.claims.to_dict("records"), every=True))
        counts += [f"{self.unconfirmed} runs to be confirmed"] * bool(self.unconfirmed)
        self.line = f"{self.name}  {', '.join(counts)}  {verdicts}".rstrip()

    def tell(self) -> "FigureRun":
        """Print its line and the errors of its repetitions."""
        for message in self.messages:
            print(f"error: {message}", file=sys.stderr)
        if self.line:
            print(self.line, flush=True)
        return self

    def compose(self) -> None:
        """Find the experiments that it asks for first, and the repetitions that lie beside it."""
        self.drawn = expand(self.figure, self.scale, list(self.extra), readings=self.readings)
        kinds = {labelled.experiment.data_kind for labelled in self.drawn}
        kind = next((f"-{kind}" for kind in (DataKind.ALTERED, DataKind.SURROGATE) if kind in kinds), "")
        self.folder = results_folder() / f"{self.where}{kind}"
        if self.is_reference and self.figure.source == "runs":
            self.unconfirmed = 0 if self.renew else self._unconfirmed()
            self.committed = self._beside()
        if self.most is not None:
            self.ask([min(STEP, self.most)] * len(self.drawn))

    def _unconfirmed(self) -> int:
        """Return how many of its runs lie in its folder under another stamp than today's."""
        stamps = read_stamps(self.folder)
        today = {labelled.experiment.key: labelled.experiment.stamp for labelled in self.drawn}
        others = [key for key, stamp in today.items() if stamps.get(key, stamp) != stamp]
        return len(CommittedRepetitions([self.folder], thinning(self.figure), others).runs) if others else 0

    def _beside(self) -> CommittedRepetitions:
        """Return the repetitions of its runs beside it, and beside other figures of its paper, at this scale.

        Only those of today's code and packages.
        """
        stamps = {labelled.experiment.key: labelled.experiment.stamp for labelled in self.drawn}
        others = sorted(
            self.folder.parents[1].glob(f"*/{self.scale}*"), key=lambda path: path.parent != self.folder.parent
        )
        folders = [self.folder, *(path for path in others if path != self.folder and stamps.keys() & labels_of(path))]
        committed = CommittedRepetitions(folders, thinning(self.figure), stamps, stamps)
        if is_measured(self.figure.column):  # seconds of another machine are no repetitions
            if committed.machines != [kind_of_machine(environment())]:
                return CommittedRepetitions()
            for key, of_run in committed.runs.items():
                committed.runs[key] = {i: kept for i, kept in of_run.items() if "seconds_total" in kept.seconds}
        return committed

    def is_sequential(self, drawn: Sequence[LabelledRun]) -> bool:
        """Return whether looks decide how many repetitions there are: not of readings that end at the first look."""
        further = any(READING in labelled.labels for labelled in drawn)
        return self.most is not None and not (further and (self.readings_up_to or self.most) <= STEP)

    def ask(self, numbers: Sequence[int]) -> None:
        """Set the numbers of repetitions of the experiments, as far as readings and limits go."""
        most = self.readings_up_to or max(numbers)
        limits = self.figure.limit_runs()

        def at_most(labelled: LabelledRun, number: int) -> int:
            if limits and labelled.is_limit:
                return min(number, limits.repetitions)
            return min(number, most) if READING in labelled.labels else number

        self.drawn = with_repetitions(self.drawn, list(map(at_most, self.drawn, numbers)))

    def done(self) -> list[list[int]]:
        """Return, for each experiment, the repetitions that have a result, when nothing is waited for."""
        return [
            [i for i in range(labelled.settings.repetitions) if (labelled.experiment.run_id, i) not in self.failed]
            for labelled in self.drawn
        ]

    def read(self, store: Store) -> list[Repetitions]:
        """Return what is kept of the repetitions of each experiment; each is read once."""
        columns, keep, runs = self.figure.curve_columns(), self.figure.kept_rounds, []
        for labelled, numbers in zip(self.drawn, self.done(), strict=True):
            experiment = labelled.experiment
            known = self.committed.runs.setdefault(experiment.key, {})
            run_id = experiment.run_id
            runs.append(read(labelled.labels, run_id, numbers, store, columns=columns, keep=keep, known=known))
            known |= runs[-1].kept
        return runs

    def say_what_failed(self, store: Store) -> None:
        """Say which repetitions failed, and how; of a run that has no others the error of the first alone."""
        names = {labelled.experiment.run_id: ", ".join(labelled.labels.values()) for labelled in reversed(self.drawn)}
        done = {
            labelled.experiment.run_id for labelled, numbers in zip(self.drawn, self.done(), strict=True) if numbers
        }
        for run_id, name in reversed(names.items()):
            failed = {key: error for key, error in sorted(self.failed.items()) if key[0] == run_id}
            if failed and run_id not in done:
                self.messages.append(f"{self.where}: {name}: {all_failed(failed, store)}")
                continue
            for (_, number), error in failed.items():
                self.messages.append(f"{self.where}: {name}: repetition {number} failed: {error}")


def all_failed(failed: dict[Key, str], store: Store) -> str:
    """Return what is said where there are no others: the error of a first one, and where its traceback is."""
    run_id, number = min(failed, key=lambda key: (key[1], key[0]))
    record = store.path(run_id, number, ".failed.json")
    place = f"; its traceback is in {record}" if record.is_file() else ""
    count = f"all {len(failed)} repetitions" if len(failed) > 1 else "its repetition"
    return f"{count} failed, the first with {failed[run_id, number]}{place}"
