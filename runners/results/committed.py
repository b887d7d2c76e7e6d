"""Repetitions that lie beside a figure, so that a later reproduction need not run them again."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bench.errors import StoreError
from bench.report.reading import READING
from runners.results.aggregate import Kept, is_measured
from runners.results.capture import kind_of_machine
from runners.results.store import write_bytes

FILE = "repetitions.parquet"
SECONDS = "seconds.csv"
_KEYS = ("run_id", "repetition", "round")


class CommittedRepetitions:
    """What `write_repetitions` has written beside a figure, in one or several folders.

    Parameters
    ----------
    folders
        Where to look; a folder without the file, or whose file was written for other curves, counts for nothing.
    needs
        What a figure keeps of a repetition, see `write_repetitions`.
    labels
        The figure's labels of each run, by its name; only these runs are read.

    Raises
    ------
    StoreError
        When a file is damaged.
    """

    def __init__(self, folders: Sequence[Path], needs: str, labels: Mapping[str, Mapping[str, str]]) -> None:
        self._found: dict[tuple[str, int], Kept] = {}
        self._done: dict[str, set[int]] = {}
        self.machines: list[dict[str, Any]] = []
        """The kinds of machines that made the repetitions, see `runners.results.capture.kind_of_machine`."""
        self.carried: list[dict[str, Any]] = []
        """The proofs by which repetitions of earlier code count as those of today's, see `runners.execute.carry`."""
        self.mean_seconds: dict[str, float] = {}
        """By run, for those whose repetitions have no seconds of their own (other readings, rankings)."""
        for folder in folders:
            if (folder / FILE).is_file():
                found = _read(folder, needs, labels)
                if found.keys() - self._found.keys():
                    self.machines += [kind for kind in machines(folder) if kind not in self.machines]
                    self.carried += _environment(folder).get("carried", [])
                self._found = found | self._found
                self.mean_seconds = _mean_seconds(folder) | self.mean_seconds

    def get(self, run_id: str, repetition: int) -> Kept | None:
        """Return a repetition, None if it is not there."""
        return self._found.get((run_id, repetition))

    def without_seconds(self, seconds: str) -> None:
        """Forget the repetitions whose column ``seconds`` of measured seconds is not known."""
        self._found = {key: one for key, one in self._found.items() if seconds in one.seconds}
        self._done.clear()

    def done(self, run_id: str) -> set[int]:
        """Return the numbers of the repetitions of a run."""
        if not self._done:
            for name, repetition in self._found:
                self._done.setdefault(name, set()).add(repetition)
        return set(self._done.get(run_id, ()))


def write_repetitions(
    folder: Path, needs: str, run_ids: Sequence[str], done: Sequence[Sequence[int]], own: Sequence[Sequence[Kept]]
) -> None:
    """Write what a figure keeps of its repetitions, exactly, into one file.

    A row is a round of a repetition: ``run_id``, ``repetition``, ``round``, the columns of which there are curves, and
    in a repetition's last row also the last values of all others. Numbers are stored by bytes of equal weight, which
    makes curves a quarter smaller; pages have checksums.

    Parameters
    ----------
    folder
        The figure's folder.
    needs
        What is kept of a repetition, in words: a file that was written for other needs is not read.
    run_ids, done, own
        Of each experiment its name, its repetitions and what is kept of them. Experiments that several labels share
        are written once.

    Raises
    ------
    StoreError
        When it cannot be written.
    """
    rows: dict[tuple[str, int], Kept] = {}
    for run_id, numbers, kept in zip(run_ids, done, own, strict=True):
        rows |= {(run_id, number): one for number, one in zip(numbers, kept, strict=True)}
    curves = list(dict.fromkeys(name for one in rows.values() for name in one.curves))
    columns: dict[str, Any] = {
        "run_id": pa.array([run_id for (run_id, _), one in rows.items() for _ in one.rounds], pa.string()),
        "repetition": pa.array([number for (_, number), one in rows.items() for _ in one.rounds], pa.int32()),
        "round": pa.array([round_ for one in rows.values() for round_ in one.rounds.tolist()], pa.int64()),
    }
    for name in dict.fromkeys(name for one in rows.values() for name in one.finals):
        values: list[Any] = []
        for one in rows.values():
            if name in one.curves:
                values += one.curves[name].tolist()
            else:
                values += [None] * (len(one.rounds) - 1) + [one.finals.get(name)]
        is_word = any(isinstance(value, str) for value in values)
        texts = [value if isinstance(value, str) else None for value in values] if is_word else values
        columns[name] = pa.array(texts, pa.string() if is_word else pa.float64(), from_pandas=False)
    _write(folder / FILE, pa.table(columns).replace_schema_metadata({"needs": needs, "curves": json.dumps(curves)}))


def _write(path: Path, table: pa.Table) -> None:
    numbers = [name for name in table.column_names if pa.types.is_floating(table.schema.field(name).type)]
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        compression="zstd",
        compression_level=9,
        use_dictionary=["run_id"],
        column_encoding=dict.fromkeys(numbers, "BYTE_STREAM_SPLIT"),
        write_statistics=False,
        write_page_checksum=True,
    )
    write_bytes(path, sink.getvalue().to_pybytes())


def rename_runs(folder: Path, names: Mapping[str, str]) -> None:
    """Give runs among a figure's repetitions other names, by the present ones; all else stays as it is."""
    path = folder / FILE
    table = _table(path)
    run_ids = [names.get(run_id, run_id) for run_id in table.column("run_id").to_pylist()]
    _write(path, table.set_column(0, "run_id", pa.array(run_ids, pa.string())))


def _read(folder: Path, needs: str, wanted: Mapping[str, Mapping[str, str]]) -> dict[tuple[str, int], Kept]:
    table = _table(folder / FILE)
    metadata = table.schema.metadata or {}
    if metadata.get(b"needs", b"").decode() != needs:
        return {}
    curves = json.loads(metadata[b"curves"])
    run_ids = table.column("run_id").combine_chunks().dictionary_encode()
    numbers_of = table.column("repetition").to_numpy()
    values = {name: table.column(name) for name in table.column_names if name not in _KEYS}
    numbers = {name: values[name].to_numpy() for name in curves}
    there = {name: values[name].is_valid().to_numpy() for name in curves}
    seconds = _seconds(folder, wanted)
    rounds = table.column("round").to_numpy()
    changes = (np.diff(run_ids.indices.to_numpy(), prepend=-1) != 0) | (np.diff(numbers_of, prepend=-1) != 0)
    starts = np.flatnonzero(changes).tolist()
    ends = np.array([*starts[1:], len(table)], dtype=np.intp)
    lasts = {name: column.take(pa.array(ends - 1)).to_pylist() for name, column in values.items()} if starts else {}
    for name, last in lasts.items():
        if pa.types.is_string(values[name].type):  # a setting without a value, among words
            lasts[name] = [math.nan if value is None else value for value in last]
    names = run_ids.take(pa.array(starts, pa.int64())).to_pylist()
    found = {}
    for place, (name, start, end) in enumerate(zip(names, starts, ends.tolist(), strict=False)):
        key = name, int(numbers_of[start])
        if name in wanted:
            drawn = {curve: numbers[curve][start:end] for curve in curves if there[curve][start]}
            finals = {final: last[place] for final, last in lasts.items() if last[place] is not None}
            found[key] = Kept(rounds[start:end], drawn, finals, seconds.get(key, {}))
    return found


def _table(path: Path) -> pa.Table:
    try:
        return pq.ParquetFile(path, page_checksum_verification=True).read()
    except (OSError, pa.ArrowException, ValueError) as error:
        line = str(error).partition("\n")[0]
        raise StoreError(
            f"{path}: cannot be read ({line}), expected repetitions; delete it to run them again"
        ) from None


def _seconds(folder: Path, wanted: Mapping[str, Mapping[str, str]]) -> dict[tuple[str, int], dict[str, float]]:
    """Return the measured seconds of repetitions, as far as they are known."""
    try:
        table = pd.read_csv(folder / SECONDS, keep_default_na=False, low_memory=False)
    except (OSError, ValueError):
        return {}
    by_label: dict[tuple[str, ...], list[str]] = {}
    axes = [name for name in table.columns if name != "repetition" and not is_measured(name)]
    shared = [axis for axis in axes if any(axis in labels for labels in wanted.values())]
    for run_id, labels in wanted.items():
        if READING in labels:  # the file has the runs of the first reading alone
            continue
        by_label.setdefault(tuple(labels.get(axis, "") for axis in shared), []).append(run_id)
    found: dict[tuple[str, int], dict[str, float]] = {}
    for row in table.to_dict("records"):
        seconds = {n: float(row[n]) for n in table.columns if n.startswith("seconds_") and row[n] != ""}
        for run_id in by_label.get(tuple(str(row[axis]) for axis in shared), []):
            found[run_id, int(row["repetition"])] = seconds
    return found


def machines(folder: Path) -> list[dict[str, Any]]:
    """Return the kinds of machines that made a figure's repetitions, that of the latest first; empty if not known."""
    made = _environment(folder)
    kinds = [kind_of_machine(one) for one in [made, *made.get("adopted_from", [])]] if made else []
    return [kind for place, kind in enumerate(kinds) if kind not in kinds[:place]]


def _mean_seconds(folder: Path) -> dict[str, float]:
    """Return the mean seconds of a repetition of each run of a figure, as far as they are known."""
    seconds: dict[str, float] = _environment(folder).get("seconds_per_repetition", {})
    return seconds


def _environment(folder: Path) -> dict[str, Any]:
    """Return with what a figure was made; empty if it is not known."""
    try:
        made: dict[str, Any] = json.loads((folder / "environment.json").read_text())
    except (OSError, ValueError):
        return {}
    return made
