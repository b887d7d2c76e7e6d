"""A result's folder: runs, drawings, derivations and comparisons read and write its files here."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from bench.report.figure import Figure
from bench.report.folder import ENVIRONMENT, MANIFEST, REPETITIONS, SECONDS, ResultFiles
from runners.results import committed
from runners.results.aggregate import Kept
from runners.results.capture import environment, kind_of_machine
from runners.results.store import read_json, write_together


@dataclass(frozen=True)
class ResultFolder(ResultFiles):
    """The files of a figure at one scale, with its repetitions; they can also be written."""

    def is_backed(self, figure: Figure) -> bool:
        """Whether the source of the tables is there: repetitions, measured seconds, or a formula."""
        if figure.source == "timing":
            return self.has(SECONDS)
        return figure.source == "formula" or self.with_runs.has(REPETITIONS)

    def own_manifest(self) -> dict[str, Any]:
        return read_json(self.path / MANIFEST)

    def made(self) -> dict[str, Any]:
        """Return the environment and day of its runs; empty if unknown."""
        return read_json(self.with_runs.path / ENVIRONMENT)

    @property
    def is_of_this_machine(self) -> bool:
        """Whether this kind of machine made all its repetitions."""
        return committed.machines(self.with_runs.path) == [kind_of_machine(environment())]

    def keys(self) -> set[str]:
        """Return the keys of its runs."""
        return {entry["key"] for entry in self.own_manifest().get("runs", [])}

    def numbers(self, thinning: Mapping[str, Any]) -> dict[str, list[int]]:
        """Return the numbers of the repetitions of each run, by key, without their values."""
        source = self.with_runs
        return committed.committed_numbers(source.path, thinning) if source.has(REPETITIONS) else {}

    def repetitions(self, thinning: Mapping[str, Any], keys: Collection[str]) -> dict[str, dict[int, Kept]]:
        """Return repetitions by key of the run and number; StoreError if they are damaged."""
        return committed.CommittedRepetitions([self.with_runs.path], thinning, keys).runs

    def timings(self) -> pd.DataFrame:
        """Return the final values of a figure of timings: measured seconds, and rounds."""
        return committed.read_seconds(self.path).assign(rounds=self.csv("finals.csv")["rounds"])

    def write(
        self,
        files: Mapping[str, bytes | None],
        manifest: Mapping[str, Any] | None = None,
        made: Mapping[str, Any] | None = None,
    ) -> None:
        """Write files by name, each whole, or none of them if one fails (OSError); None as content removes a file.

        ``manifest`` and ``made``, the environment of its runs, replace the old ones.
        """
        about = {MANIFEST: in_lines(manifest).encode()} if manifest else {}
        about |= {ENVIRONMENT: json.dumps(made, indent=1).encode()} if made else {}
        write_together(self.path, about | dict(files))


def in_lines(manifest: Mapping[str, Any]) -> str:
    """Return a manifest as text: one line for each entry, and for each item of a list."""
    entries = []
    for key, value in manifest.items():
        items = ",\n  ".join(map(json.dumps, value)) if isinstance(value, list) else ""
        entries.append(f" {json.dumps(key)}: " + (f"[\n  {items}\n ]" if items else json.dumps(value)))
    return "{\n" + ",\n".join(entries) + "\n}\n"
