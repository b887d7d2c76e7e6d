"""A figure as a command asks for it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.data_kind import DataKind
from bench.report.figure import Figure
from bench.report.formats import Size
from bench.report.reading import READING
from runners.config.figures import LabelledRun, expand, figure_names
from runners.config.tree import suite_choices
from runners.results.folder import ResultFolder
from runners.results.store import results_folder
from runners.results.until_decided import STEP, applies_to


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
    ``runs``: its experiments, where they are not those that its figure spells. ``part``: the labels by axis that it
    has, where it is a part of a figure.
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
        """The figure, such as ``cdt/figure2``."""
        return "/".join(self.where.split("/")[:2])

    @property
    def is_comparison(self) -> bool:
        return self.where.startswith("compare/")

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

    def experiments(self) -> list[LabelledRun]:
        return self.runs or expand(self.figure, self.scale, list(self.extra), readings=self.readings)

    def committed(self) -> Path | None:
        """Return the folder whose committed repetitions are those of all its runs, None if there is none.

        A run whose data is not here is one of them if its key with the data that the manifest names is committed.
        """
        paths = [results_folder() / f"{self.where}{kind}" for kind in ("", f"-{DataKind.SURROGATE}")]
        folders = [ResultFolder(path) for path in paths if self.figure.source == "runs"]
        folders = [folder for folder in folders if folder.is_backed(self.figure)]
        runs = self.experiments() if folders else []
        for folder in folders:
            if has_all(folder.own_manifest(), runs, numbers=self.most is None):
                return folder.path
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
