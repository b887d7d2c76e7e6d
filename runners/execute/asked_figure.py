"""A figure as requested by a command, and its outcome."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from bench.critical import STEP
from bench.data_kind import DataKind
from bench.report.claims.tallies import Tally, tallies
from bench.report.figure import Figure
from bench.report.formats import Size
from bench.report.reading import READING
from runners.config.figures import LabelledRun, expand, figure_names
from runners.config.tree import suite_choices
from runners.results.checksums import note
from runners.results.folder import ResultFolder
from runners.results.store import results_folder
from runners.results.until_decided import applies_to


@dataclass(frozen=True)
class AskedFigure:
    """A figure as requested by a command.

    ``where`` is the folder below the results; ``-surrogate`` or ``-altered`` is added if other data replaces the real
    data. ``extra`` holds overrides for all experiments. ``command`` is the command that makes the figure, for the
    manifest. ``is_reference`` is whether the result is to be committed; its repetitions are then written with it, and
    reused from there, unless ``renew`` runs all of them again. ``until_decided`` is the largest number of repetitions
    if repetitions are added until the claims are decided; None stands for the scale's number, which also applies to
    timings and to figures without claims. ``formats`` are additional formats and ``size`` is the width of a PDF; see
    `bench.report.formats`. ``readings`` is whether all readings are run, or only the first. ``runs`` holds the
    experiments if they differ from the figure's. ``part`` holds, for a part of a figure, the labels by axis.
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
    runs: list[LabelledRun] | None = None
    part: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the figure, such as ``cdt/figure2``."""
        return "/".join(self.where.split("/")[:2])

    @property
    def is_comparison(self) -> bool:
        return self.where.startswith("compare/")

    @property
    def is_suites(self) -> bool:
        """Whether the figure is the suite's at one of the suite's scales, without a user's settings."""
        return not self.extra and self.name in figure_names() and self.scale in suite_choices("scale")

    @property
    def repetitions_of(self) -> str:
        """The figure whose repetitions are used, such as ``tournament/ranks``; "" if the figure has its own."""
        named = self.figure.repetitions_of if self.is_reference else ""
        return f"{self.figure.paper}/{named}" if named else ""

    @property
    def most(self) -> int | None:
        """The largest number of repetitions, or None if their number is fixed."""
        return self.until_decided if applies_to(self.figure) else None

    @property
    def smaller(self) -> tuple[str, ...]:
        """The reductions by the scale other than horizon and repetitions, in words."""
        return self.figure.at(self.scale).in_words()

    @property
    def readings_up_to(self) -> int | None:
        """The largest number of repetitions under further readings.

        None stands for the number of repetitions under the first reading.
        """
        return self.figure.at(self.scale).readings_up_to

    def most_of(self, runs: Sequence[LabelledRun]) -> int | None:
        """Return the largest number of repetitions of ``runs`` if repetitions are added until claims are decided.

        Returns None for further readings that end at the first look.
        """
        further = any(READING in labelled.labels for labelled in runs)
        return None if further and (self.readings_up_to or self.most or 0) <= STEP else self.most

    def experiments(self) -> list[LabelledRun]:
        return self.runs or expand(self.figure, self.scale, list(self.extra), readings=self.readings)

    def committed(self) -> Path | None:
        """Return the folder with committed repetitions of all runs, or None if there is no such folder.

        A run whose data is missing here is found by the key that it has with the data in the manifest.
        """
        paths = [results_folder() / f"{self.where}{kind}" for kind in ("", f"-{DataKind.SURROGATE}")]
        folders = [ResultFolder(path) for path in paths if self.figure.source == "runs"]
        folders = [folder for folder in folders if folder.is_backed(self.figure)]
        runs = self.experiments() if folders else []
        for folder in folders:
            if has_all(folder.own_manifest(), runs, numbers=self.most is None):
                return folder.path
        return None


@dataclass(frozen=True)
class WrittenFigure:
    """A written figure, or the ``error`` that prevented it from being written.

    ``claims`` holds the verdicts, as returned by `bench.report.claims.check`. ``failures`` has a sentence for each
    failed repetition. ``notes`` has a sentence for each of a user's classes that is not determined by its seeds, and a
    sentence about files of an earlier run.
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
        """Whether the figure is written, and no repetition failed."""
        return not self.error and not self.failures

    @property
    def tallies(self) -> dict[str, Tally]:
        """The numbers of cases by origin and verdict; each case is counted once."""
        return tallies(self.asked.figure, self.claims.to_dict("records"))

    def tell(self) -> "WrittenFigure":
        """Print the figure's line and the errors of its repetitions, and record the digests of files that git keeps."""
        if not self.error:
            note(results_folder(), [self.folder])
        for sentence in self.failures:
            print(f"error: {sentence}", file=sys.stderr)
        for sentence in () if self.asked.is_comparison else self.notes:  # the comparison prints all its notes
            print(f"warning: {sentence}", file=sys.stderr)
        if self.line:
            print(self.line, flush=True)
        return self


def has_all(manifest: dict[str, Any], runs: Sequence[LabelledRun], *, numbers: bool) -> bool:
    """Whether a result has all runs and, with ``numbers``, the requested number of repetitions of each run."""
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
