"""The folder of a result, whose files pages, commands and the Python interface read only through this module."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

import pandas as pd
from pydantic import BaseModel, model_validator

from bench.data_kind import DataKind
from bench.errors import DataError
from bench.report.labels import matches
from bench.report.provenance import Provenance
from bench.report.tables import from_csv

MANIFEST, ENVIRONMENT, SECONDS, REPETITIONS = "manifest.json", "environment.json", "seconds.csv", "repetitions.parquet"
COMPARISON = "comparison.json"
"""The figure of a comparison, beside its results."""
PAGE = "index.html"
SUITES_DEFAULT = "the suite's default"
"""The place of a setting that no paper, figure or command gives."""
SCALES = ("paper", "reduced", "quick", "smoke")
CAVEATS = (DataKind.ALTERED, DataKind.SURROGATE, DataKind.PACKAGED)
"""Kinds of data that a page warns about."""
Read = TypeVar("Read")
_NAME = re.compile(r"\w[\w.-]*")


class Setting(BaseModel):
    """A setting with its values, its source (stated, code, assumed, scale) and the place of the source."""

    key: str
    values: list[Any] = []
    source: str = "assumed"
    where: str = ""


class ManifestRun(BaseModel):
    key: str = ""
    labels: dict[str, str] = {}
    overrides: list[str] = []
    repetitions: int = 0
    horizon: int | None = None
    data: str | None = None


class Manifest(BaseModel):
    """The request of a figure, and the basis of its numbers."""

    command: str = ""
    scale: str = ""
    part: dict[str, list[str]] = {}
    provenance: Provenance = Provenance()
    settings: list[Setting] = []
    published: list[Any] = []
    overrides: dict[str, Any] = {}
    runs: list[ManifestRun] = []

    @model_validator(mode="before")
    @classmethod
    def _with_provenance(cls, given: Any) -> Any:
        provenance = Provenance.of_manifest(given)
        return {**given, "provenance": provenance}


class Made(BaseModel):
    """The environment in which a figure was made, and the seconds of its runs; both differ each time it is made."""

    made: str = ""
    python: str = ""
    cpu: str = ""
    git: dict[str, Any] | None = None
    seconds_per_repetition: dict[str, float] = {}


def text_of(path: Path) -> str:
    """Return the text of a result's file.

    Raises OSError also for a link, because a link may lead out of the results.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise OSError("found a link or device, expected a file")
    return path.read_text(encoding="utf-8")


@dataclass(frozen=True)
class ResultFiles:
    """The files of a figure at one scale, below the folder of results; for a comparison ``compare/<name>``.

    Reading raises FileNotFoundError if a file is missing, and DataError if a file is damaged.
    """

    path: Path

    @classmethod
    def of(cls, root: Path, name: str, scale: str = "paper*") -> list[Self]:
        """Return the results of a figure, such as ``cdt/figure2``, that have a manifest; real data is preferred."""
        paths = [path.parent for path in sorted((root / name).glob(f"{scale}/{MANIFEST}"))]
        return [cls(path) for path in sorted(paths, key=lambda path: DataKind.SURROGATE in path.name)]

    @property
    def name(self) -> str:
        """The name of the figure."""
        return "/".join(self.path.parts[-3:-1])

    @property
    def files(self) -> list[str]:
        """The names of the files, without pages and hidden files."""
        names = (path.name for path in self.path.iterdir() if path.is_file())
        return sorted(name for name in names if name[0] != "." and name != PAGE)

    def has(self, name: str) -> bool:
        return (self.path / name).is_file()

    def beside(self, figure: str) -> Self:
        """Return the folder of another figure of the paper, at the same scale."""
        return type(self)(self.path.parents[1] / figure / self.path.name)

    @property
    def with_runs(self) -> Self:
        """The folder with the repetitions, which is this folder or the folder of the figure named in the manifest.

        A link is not followed.
        """
        try:
            other = self.beside(name := json.loads(text_of(self.path / MANIFEST))["repetitions_of"])
            is_link = other.path.is_symlink() or other.path.parent.is_symlink()
            return other if _NAME.fullmatch(name) and not is_link else self
        except (OSError, ValueError, LookupError, TypeError, RecursionError):  # damaged: reported elsewhere
            return self

    def read(self, name: str, parse: Callable[[str], Read]) -> Read:
        """Return the parsed content of a file."""
        try:
            return parse(text_of(self.path / name))
        except FileNotFoundError:
            raise
        except Exception as error:  # a damaged file can raise any error in its reader
            reason = str(error).splitlines()[0] if str(error) else "empty"
            raise DataError(
                f"{self.path / name} cannot be read: {reason}; delete it and run the figure's command again"
            ) from None

    def csv(self, name: str, *words: str) -> pd.DataFrame:
        """Return a table, in which the columns ``words`` stay text."""
        return self.read(name, lambda text: from_csv(text, *words))

    def manifest(self) -> dict[str, Any]:
        """Return the manifest, completed from the figure that has the runs. Raises OSError or ValueError."""
        own: dict[str, Any] = json.loads(text_of(self.path / MANIFEST))
        if (source := self.with_runs) == self:
            return own
        whole = json.loads(text_of(source.path / MANIFEST))
        return whole | own | {"runs": [run for run in whole["runs"] if matches(run["labels"], own["only"])]}

    @cached_property
    def about(self) -> Manifest:
        """The checked manifest."""
        return self.read(MANIFEST, lambda _: Manifest.model_validate(self.manifest()))

    @property
    def provenance(self) -> Provenance:
        return self.about.provenance

    @property
    def data(self) -> dict[DataKind, list[str]]:
        """The kinds of data used with their checksums."""
        sums: dict[DataKind, set[str]] = {}
        for run in self.about.runs:
            of_kind = sums.setdefault(DataKind.of(run.data), set())
            if run.data and run.data != DataKind.SURROGATE:
                of_kind.add(run.data.rpartition("-")[2])
        if DataKind.SURROGATE in self.path.name:
            sums.setdefault(DataKind.SURROGATE, set())
        return {kind: sorted(sums[kind]) for kind in DataKind if kind in sums}

    @property
    def order(self) -> tuple[bool, int, bool, str]:
        """The sort key, by which whole figures, large scales, and real and synthetic data come first."""
        size = self.path.name.split("-")[0]
        place = SCALES.index(size) if size in SCALES else len(SCALES)
        return bool(self.about.part), place, any(kind in self.data for kind in CAVEATS), self.path.name
