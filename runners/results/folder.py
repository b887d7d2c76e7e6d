"""A result's folder, with its repetitions; runs, drawings, derivations and comparisons read and write it here."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bench.columns import is_measured
from bench.errors import StoreError
from bench.report.figure import Figure
from bench.report.folder import ENVIRONMENT, MANIFEST, REPETITIONS, SECONDS, ResultFiles
from bench.report.reading import READING
from bench.report.tables import unquoted
from runners.results.aggregate import Kept
from runners.results.capture import environment, kind_of_machine
from runners.results.store import read_json, write_together

_INDEX = ("key", "repetition", "round")


@dataclass(frozen=True)
class ResultFolder(ResultFiles):
    """The files of a figure at one scale, with its repetitions, for reading and writing."""

    def is_backed(self, figure: Figure) -> bool:
        """Whether the source of the tables exists, which is repetitions, measured seconds, or a formula."""
        if figure.source == "timing":
            return self.has(SECONDS)
        return figure.source == "formula" or self.with_runs.has(REPETITIONS)

    def own_manifest(self) -> dict[str, Any]:
        return read_json(self.path / MANIFEST)

    def made(self) -> dict[str, Any]:
        """Return the environment and day of the figure's runs; empty if unknown."""
        return read_json(self.with_runs.path / ENVIRONMENT)

    @property
    def is_of_this_machine(self) -> bool:
        """Whether all repetitions were made on this kind of machine."""
        return machines(self.with_runs.path) == [kind_of_machine(environment())]

    def keys(self) -> set[str]:
        """Return the keys of the figure's runs."""
        return {entry["key"] for entry in self.own_manifest().get("runs", [])}

    def numbers(self, thinning: Mapping[str, Any]) -> dict[str, list[int]]:
        """Return the numbers of the repetitions of each run by key, without reading their values."""
        source = self.with_runs
        return _numbers(source.path, thinning) if source.has(REPETITIONS) else {}

    def repetitions(self, thinning: Mapping[str, Any], keys: Collection[str]) -> dict[str, dict[int, Kept]]:
        """Return repetitions by key of the run and by number. Raises StoreError if they are damaged."""
        return CommittedRepetitions([self.with_runs.path], thinning, keys).runs

    def timings(self) -> pd.DataFrame:
        """Return the final values of a figure of timings, which are measured seconds and rounds."""
        return _read_seconds(self.path).assign(rounds=self.csv("finals.csv")["rounds"])

    def write(
        self,
        files: Mapping[str, bytes | None],
        manifest: Mapping[str, Any] | None = None,
        made: Mapping[str, Any] | None = None,
    ) -> None:
        """Write files by name, each as a whole; a file with None as content is removed.

        ``manifest`` and ``made``, the environment of the runs, replace the previous files. Raises OSError if a file
        cannot be written; no file is then written.
        """
        about = {MANIFEST: in_lines(manifest).encode()} if manifest else {}
        about |= {ENVIRONMENT: json.dumps(made, indent=1).encode()} if made else {}
        write_together(self.path, about | dict(files))


def in_lines(manifest: Mapping[str, Any]) -> str:
    """Return a manifest as text, with a line for each entry and for each item of a list."""
    entries = []
    for key, value in manifest.items():
        items = ",\n  ".join(map(json.dumps, value)) if isinstance(value, list) else ""
        entries.append(f" {json.dumps(key)}: " + (f"[\n  {items}\n ]" if items else json.dumps(value)))
    return "{\n" + ",\n".join(entries) + "\n}\n"


class CommittedRepetitions:
    """The repetitions that `write_repetitions` has written into one or several folders.

    Only runs with ``keys`` are read. A folder without a file of repetitions, or with differently thinned curves, is
    ignored; if ``thinning`` names no curves, only last values are read. Raises StoreError if a file is damaged.
    """

    def __init__(
        self,
        folders: Sequence[Path] = (),
        thinning: Mapping[str, Any] = MappingProxyType({}),
        keys: Collection[str] = (),
    ) -> None:
        self.runs: dict[str, dict[int, Kept]] = {}
        """The kept data by key of the run and number of the repetition."""
        self.machines: list[dict[str, Any]] = []
        """The kinds of machines that made the repetitions, see `runners.results.capture.kind_of_machine`."""
        self.mean_seconds: dict[str, float] = {}
        """The mean seconds by run, for runs whose repetitions have no recorded seconds (other readings, rankings)."""
        for folder in folders:
            if not (folder / REPETITIONS).is_file():
                continue
            made = read_json(folder / ENVIRONMENT)
            runs = _read(folder, thinning, keys)
            if any(kept.keys() - self.done(key) for key, kept in runs.items()):
                self.machines += [kind for kind in machines(folder) if kind not in self.machines]
            for key, kept in runs.items():
                self.runs[key] = kept | self.runs.get(key, {})
            self.mean_seconds = made.get("seconds_per_repetition", {}) | self.mean_seconds

    def done(self, key: str) -> set[int]:
        return set(self.runs.get(key, ()))


def write_repetitions(folder: Path, thinning: Mapping[str, Any], runs: Mapping[str, Mapping[int, Kept]]) -> None:
    """Write the kept data of a figure's repetitions exactly into one file.

    Each row is a round of a repetition. The columns are ``key``, ``repetition``, ``round``, the columns with curves,
    and all other columns, which have a value only in the last row of a repetition. Numbers are stored by bytes of equal
    weight, which makes curves a quarter smaller; pages have checksums.

    ``thinning`` is the selection of kept data, as plain data; a file with another selection is not read. ``runs`` holds
    the kept data by key of the run and by number of the repetition.
    """
    rows = {(key, number): kept for key, of_run in runs.items() for number, kept in of_run.items()}
    curves = list(dict.fromkeys(name for kept in rows.values() for name in kept.curves))
    columns: dict[str, Any] = {
        "key": pa.array([key for (key, _), kept in rows.items() for _ in kept.rounds], pa.string()),
        "repetition": pa.array([number for (_, number), kept in rows.items() for _ in kept.rounds], pa.int32()),
        "round": pa.array([round_ for kept in rows.values() for round_ in kept.rounds.tolist()], pa.int64()),
    }
    for name in dict.fromkeys(name for kept in rows.values() for name in kept.finals):
        values: list[Any] = []
        for kept in rows.values():
            if name in kept.curves:
                values += kept.curves[name].tolist()
            else:
                values += [None] * (len(kept.rounds) - 1) + [kept.finals.get(name)]
        is_word = any(isinstance(value, str) for value in values)
        texts = [value if isinstance(value, str) else None for value in values] if is_word else values
        columns[name] = pa.array(texts, pa.string() if is_word else pa.float64(), from_pandas=False)
    metadata = {"thinning": json.dumps(dict(thinning)), "curves": json.dumps(curves)}
    _write(folder / REPETITIONS, pa.table(columns).replace_schema_metadata(metadata))


def _write(path: Path, table: pa.Table) -> None:
    numbers = [name for name in table.column_names if pa.types.is_floating(table.schema.field(name).type)]
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        compression="zstd",
        compression_level=9,
        use_dictionary=["key"],
        column_encoding=dict.fromkeys(numbers, "BYTE_STREAM_SPLIT"),
        write_statistics=False,
        write_page_checksum=True,
    )
    write_together(path.parent, {path.name: sink.getvalue().to_pybytes()})


def _numbers(folder: Path, thinning: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return the numbers of a result's repetitions by key, without reading their values."""
    table = _table(folder / REPETITIONS, ["key", "repetition"])
    if not _is_of(table, thinning):
        return {}
    found: dict[str, dict[int, None]] = {}
    for key, number in zip(table.column("key").to_pylist(), table.column("repetition").to_pylist(), strict=True):
        found.setdefault(key, {})[number] = None
    return {key: list(numbers) for key, numbers in found.items()}


def _is_of(table: pa.Table, thinning: Mapping[str, Any]) -> bool:
    """Whether a file has repetitions of this ``thinning``, or only last values are requested."""
    noted = (table.schema.metadata or {}).get(b"thinning", b"null")
    return thinning.get("curves") == [] or json.loads(noted) == thinning


def _read(folder: Path, thinning: Mapping[str, Any], wanted: Collection[str]) -> dict[str, dict[int, Kept]]:
    table = _table(folder / REPETITIONS)
    if not _is_of(table, thinning):
        return {}
    is_of_finals = thinning.get("curves") == []
    curves = [] if is_of_finals else json.loads(table.schema.metadata[b"curves"])
    keys = table.column("key").combine_chunks().dictionary_encode()
    numbers = table.column("repetition").to_numpy()
    rounds = table.column("round").to_numpy()
    values = {name: table.column(name) for name in table.column_names if name not in _INDEX}
    of_curves = {name: (values[name].to_numpy(), values[name].is_valid().to_numpy()) for name in curves}
    changes = (np.diff(keys.indices.to_numpy(), prepend=-1) != 0) | (np.diff(numbers, prepend=-1) != 0)
    starts = np.flatnonzero(changes).tolist()
    ends = np.array([*starts[1:], len(table)], dtype=np.intp)
    lasts = {name: column.take(pa.array(ends - 1)).to_pylist() for name, column in values.items()} if starts else {}
    for name, last in lasts.items():
        if pa.types.is_string(values[name].type):  # an unset setting in a column of text
            lasts[name] = [math.nan if value is None else value for value in last]
    names = keys.take(pa.array(starts, pa.int64())).to_pylist()
    seconds = _seconds(folder, wanted)
    runs: dict[str, dict[int, Kept]] = {}
    for place, (name, start, end) in enumerate(zip(names, starts, ends.tolist(), strict=False)):
        if name in wanted:
            number = int(numbers[start])
            drawn = {curve: column[start:end] for curve, (column, is_valid) in of_curves.items() if is_valid[start]}
            finals = {final: last[place] for final, last in lasts.items() if last[place] is not None}
            first = end - 1 if is_of_finals else start
            kept = Kept(rounds[first:end], drawn, finals, seconds.get((name, number), {}))
            runs.setdefault(name, {})[number] = kept
    return runs


def _table(path: Path, columns: list[str] | None = None) -> pa.Table:
    try:
        return pq.ParquetFile(path, page_checksum_verification=True).read(columns)
    except (OSError, pa.ArrowException, ValueError) as error:
        line = str(error).partition("\n")[0]
        raise StoreError(
            f"{path}: cannot be read ({line}), expected repetitions; delete it to run them again"
        ) from None


def _labels_of(folder: Path) -> dict[str, dict[str, str]]:
    """Return the labels of each run of a figure by key.

    If several readings share a run, the labels are the ones of the first reading.
    """
    entries = read_json(folder / MANIFEST).get("runs", [])
    in_order = sorted(entries, key=lambda entry: READING not in entry["labels"])
    return {entry["key"]: entry["labels"] for entry in in_order}


def _seconds(folder: Path, wanted: Collection[str]) -> dict[tuple[str, int], dict[str, float]]:
    """Return the measured seconds of repetitions by key and number, as far as they are known."""
    all_labels = {key: labels for key, labels in _labels_of(folder).items() if key in wanted}
    try:
        table = _read_seconds(folder)
    except (OSError, ValueError):
        return {}
    by_label: dict[tuple[str, ...], list[str]] = {}
    axes = [name for name in table.columns if name != "repetition" and not is_measured(name)]
    shared = [axis for axis in axes if any(axis in labels for labels in all_labels.values())]
    for key, labels in all_labels.items():
        if READING in labels and READING not in axes:  # the file has the runs of the first reading only
            continue
        by_label.setdefault(tuple(labels.get(axis, "") for axis in shared), []).append(key)
    by_repetition: dict[tuple[str, int], dict[str, float]] = {}
    for row in table.to_dict("records"):
        seconds = {n: row[n] for n in table.columns if n.startswith("seconds_") and not math.isnan(row[n])}
        for key in by_label.get(tuple(row[axis] for axis in shared), []):
            by_repetition[key, int(row["repetition"])] = seconds
    return by_repetition


def _read_seconds(folder: Path) -> pd.DataFrame:
    """Return the measured seconds of a figure, with the axes as text, ``repetition``, and the seconds as numbers."""
    table = pd.read_csv(folder / SECONDS, dtype=str, keep_default_na=False)
    place = list(table.columns).index("repetition")
    for name in table.columns[:place]:
        table[name] = unquoted(table[name])
    for name in table.columns[place:]:
        table[name] = pd.to_numeric(table[name])
    return table


def machines(folder: Path) -> list[dict[str, Any]]:
    """Return the kinds of machines that made a figure's repetitions, starting with the latest; empty if unknown."""
    made = read_json(folder / ENVIRONMENT)
    kinds = [kind_of_machine(of) for of in [made, *made.get("adopted_from", [])]] if made else []
    return [kind for place, kind in enumerate(kinds) if kind not in kinds[:place]]
