"""Everything in a figure, derived from its configuration and its repetitions only, without a run.

`runners.execute.write_figure` writes with it, and `runners.execute.verify` derives committed results again and
compares bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench.columns import is_measured
from bench.critical import STEP
from bench.errors import StoreError
from bench.report.claims.check import verdicts_on
from bench.report.figure import Figure
from bench.report.plot import Plot
from bench.report.provenance import Provenance
from bench.report.reading import READING
from bench.report.results import Results
from bench.report.tables import from_csv, to_csv
from runners.config.figures import by_reading, unfold
from runners.config.papers import load_paper
from runners.results.aggregate import Repetitions, curve_table, final_table
from runners.results.folder import REPETITIONS, SECONDS, ResultFolder

_LONG = ("curves.csv", "finals.csv")
CURVE_DIGITS = 8
"""Significant digits of ``curves.csv``."""


class Derived:
    """The content of a figure, which consists of results, tables and verdicts.

    ``by_reading`` holds the results of each reading in the figure's order, under the key "" if the figure has no
    readings. The plot is made at first use. Raises BenchError if the results do not fit the figure.
    """

    def __init__(self, by_reading: Mapping[str, Results[Figure]]) -> None:
        self.by_reading, self.results = by_reading, next(iter(by_reading.values()))
        self.tables, self.claims = self.results.figure.tables(self.results), verdicts_on(self.results)

    @cached_property
    def plot(self) -> Plot | None:
        return self.results.figure.picture(self.results, self.tables)

    def files(self) -> dict[str, bytes]:
        """Return the tables as CSV by file name, except for `long_tables`."""
        tables = {**self.tables, "claims": self.claims, **self._judged()}
        return {f"{name}.csv": to_csv(table).encode() for name, table in tables.items()}

    def _judged(self) -> dict[str, Any]:
        """Return the table ``readings`` if there are several readings, and ``numbers`` if numbers are published."""
        figure = self.results.figure
        is_time = figure.source != "runs" or is_measured(figure.column)
        has_readings = len(self.by_reading) > 1
        if not has_readings and (not figure.published or is_time):
            return {}
        from bench.audit.readings import AS_PRINTED, claims_table, numbers_table  # not needed by comparisons

        size = figure.published_repetitions or figure.repetitions or load_paper(figure.paper)["settings"]["repetitions"]
        tables = {}
        if has_readings:
            others = {name: verdicts_on(under) for name, under in self.by_reading.items() if under is not self.results}
            tables["readings"] = claims_table({next(iter(self.by_reading)): self.claims} | others)
        if not is_measured(figure.column):
            tables["numbers"] = numbers_table({name or AS_PRINTED: of for name, of in self.by_reading.items()}, size)
        return {name: table for name, table in tables.items() if name == "readings" or len(table)}


def long_tables(results: Results[Figure]) -> dict[str, bytes]:
    """Return ``curves.csv`` and ``finals.csv``, if there are any values, without measured seconds."""
    files, finals = {}, results.finals
    if "repetition" in finals:
        files["finals.csv"] = to_csv(finals.drop(columns=[n for n in finals if is_measured(str(n))])).encode()
    if len(results.curves):
        files["curves.csv"] = to_csv(results.curves, digits=CURVE_DIGITS).encode()
    return files


def derive(figure: Figure, runs: Sequence[Repetitions], provenances: Mapping[str, Provenance]) -> Derived:
    """Return the content of a figure, given ``runs`` in the order of `expand` and the provenance of each reading."""
    positions = by_reading(figure, runs)
    under = {name: [runs[place] for place in positions.get(name, [])] for name in provenances}
    return Derived({name: results_of(figure, under[name], provenances[name]) for name in provenances})


def results_of(figure: Figure, runs: Sequence[Repetitions], provenance: Provenance) -> Results[Figure]:
    """Return the results of the experiments in ``runs``, which belong to one reading."""
    if figure.readings:
        runs = [run._replace(labels={a: label for a, label in run.labels.items() if a != READING}) for run in runs]
    return Results(
        figure,
        unfold(figure, curve_table(runs, figure.individual_columns())),
        unfold(figure, final_table(runs)),
        provenance,
    )


def thinning(figure: Figure) -> dict[str, Any]:
    """Return the data that is kept of a repetition besides last values: curves, and their rounds in a run of 500."""
    columns = list(figure.curve_columns())
    return {"curves": columns, "of_500": figure.kept_rounds(np.arange(1, 501)).tolist() if columns else []}


def derive_committed(figure: Figure, folder: Path) -> Derived:
    """Return the content of a figure, derived from its committed repetitions.

    Raises StoreError if the repetitions do not match the manifest.
    """
    result = ResultFolder(folder)
    manifest = result.manifest()
    if figure.source == "timing":
        return Derived({"": Results(figure, finals=result.timings(), provenance=Provenance.of_manifest(manifest))})
    runs = list(_runs(figure, result, manifest["runs"])) if figure.source == "runs" else []
    return derive(figure, runs, _provenances(figure, manifest))


def results_in(figure: Figure, folder: Path) -> Results[Figure]:
    """Return the results of the first reading in a folder, read from tables or from committed repetitions.

    Raises DataError or StoreError if a file is damaged.
    """
    result = ResultFolder(folder)
    if result.with_runs.has(REPETITIONS) and not result.has("finals.csv"):
        entries = [run.model_dump() for run in result.about.runs]
        runs = list(_runs(figure, result, [entry for entry in entries if READING not in entry["labels"]]))
        tables = long_tables(results_of(figure, runs, Provenance()))
        curves, finals = (from_csv(tables[n].decode()) if n in tables else pd.DataFrame() for n in _LONG)
    else:
        curves, finals = (result.csv(name) if result.has(name) else pd.DataFrame() for name in _LONG)
    if len(finals) and result.has(SECONDS):  # whose first rows are those of the finals
        seconds = result.csv(SECONDS)
        finals = finals.join(seconds[[name for name in seconds if name not in finals and name != READING]])
    return Results(figure, curves, finals, result.provenance)


def _runs(figure: Figure, result: ResultFolder, entries: Sequence[Mapping[str, Any]]) -> Iterator[Repetitions]:
    folder = result.with_runs.path
    committed = result.repetitions(thinning(figure), {entry["key"] for entry in entries})
    is_timed = figure.is_timed
    for entry in entries:
        kept = dict(sorted(committed.get(entry["key"], {}).items())[: entry["repetitions"]])
        if len(kept) < entry["repetitions"]:
            raise StoreError(
                f"{folder / REPETITIONS}: found {len(kept)} repetitions of {', '.join(entry['labels'].values())}, "
                f"expected {entry['repetitions']} as manifest.json says; make the figure again"
            )
        if is_timed and not all(repetition.seconds for repetition in kept.values()):
            raise StoreError(
                f"{folder / SECONDS}: found no seconds of some repetitions of {', '.join(entry['labels'].values())}, "
                "expected those of all; make the figure again"
            )
        yield Repetitions(entry["labels"], kept)


def _provenances(figure: Figure, manifest: Mapping[str, Any]) -> dict[str, Provenance]:
    """Return the provenance of each reading; the provenance of the first reading is stated in the manifest."""
    first = Provenance.of_manifest(manifest)
    further = first.until_decided if (figure.at(first.scale).readings_up_to or STEP + 1) > STEP else None
    entries, overrides = manifest["runs"], manifest.get("overrides")
    provenances: dict[str, Provenance] = {}
    for name, places in by_reading(figure, [Repetitions(entry["labels"], {}) for entry in entries]).items():
        runs = [entries[place] for place in places]
        of_reading = Provenance.of_manifest({"scale": first.scale, "overrides": overrides, "runs": runs})
        provenances[name] = of_reading.model_copy(update={"until_decided": further}) if provenances else first
    return provenances
