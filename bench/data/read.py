"""Functions to read users' Parquet or CSV tables; `read` also records the files that each module has read.

Files read here become part of the data's fingerprint automatically: if a file changes, runs on it are repeated.
"""

import csv
import glob
import gzip
import hashlib
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.data.files import reading, stamp_of
from bench.data.spelling import PLAINLY, is_number_written_otherwise
from bench.errors import DataError, either

if TYPE_CHECKING:  # slow to import
    import pandas as pd

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")
"""Texts in a CSV file that mean a missing value."""

_INDEX = re.compile(r"__index_level_\d+__|Unnamed: \d+(_level_\d+)?(\.\d+)*")
"""Names that pandas gives the index of a table in a file."""

_EXACT = 2.0**53
"""From this size on, floats cannot represent all whole numbers."""

_KINDS = "a Parquet file (.parquet) or a CSV file (.csv, .csv.gz)"
_read_by: dict[str, set[Path]] = {}


def read(path: str | Path | Sequence[str | Path], columns: Sequence[str] | None = None) -> "pd.DataFrame":
    """Return a table from Parquet or CSV files.

    Several files, or the files of a pattern such as ``log-*.csv``, are concatenated. An unnamed index written by pandas
    is left out, unless ``columns`` names it. Raises DataError with the file and line if there is no file, a file is
    damaged, or a column is missing or occurs twice.
    """
    caller = str(sys._getframe(1).f_globals.get("__name__", ""))
    files = files_of(path)
    _read_by.setdefault(caller, set()).update(file.resolve() for file in files)
    if columns is None:
        columns = [name for name in column_names(files) if not _INDEX.fullmatch(name)]
    return read_files(files, columns).frame


def files_read_by(modules: Iterable[str]) -> list[Path]:
    """Return the files that the given ``modules`` have read in this process, in order."""
    return sorted(set().union(*(_read_by.get(name, ()) for name in modules)))


def files_of(path: str | Path | Sequence[str | Path], key: str = "path") -> list[Path]:
    """Return the files of a path, of a pattern, or of several paths and patterns; a pattern gives its files in order.

    Raises DataError, with the name ``key`` of the setting, if there are no files, or a file is named twice.
    """
    files: list[Path] = []
    for text in [path] if isinstance(path, str | Path) else path:
        try:
            expanded = Path(text).expanduser()
        except RuntimeError:  # ``~name`` of an unknown user
            expanded = Path(text)
        found = [expanded] if expanded.is_file() else [Path(name) for name in sorted(glob.glob(str(expanded)))]
        if not text or not found or not all(file.is_file() for file in found):
            kind = "a folder" if expanded.is_dir() else "no such file"
            raise DataError(f"{key}: found {str(text)!r}, {kind} in {Path.cwd()}, expected {_KINDS}")
        files += found
    if not files:
        raise DataError(f"{key}: found none, expected {_KINDS}")
    seen = set[Path]()
    for file in files:
        if (place := file.resolve()) in seen:
            raise DataError(f"{key}: found '{file}' twice, expected each file once: its rows would count twice")
        seen.add(place)
    return files


def digest(files: Iterable[Path]) -> str:
    """Return one sha256 of the files' contents, in order. A file is read again only if its size or time has changed."""
    total = hashlib.sha256()
    for file in files:
        with reading(file, _KINDS):
            total.update(_digest(*stamp_of(file)))
    return total.hexdigest()


@lru_cache(maxsize=256)
def _digest(path: Path, size: int, mtime_ns: int) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


@dataclass(frozen=True, eq=False)
class Files:
    """A table, with the files that it was read from and the number of rows of each file."""

    frame: "pd.DataFrame"
    parts: tuple[tuple[Path, int], ...]

    def refuse(self, column: str, wrong: Any, expected: str) -> None:
        """Raise DataError for the first row in which ``wrong``, shape (rows,), is true, if any."""
        wrong = np.asarray(wrong, dtype=bool)
        if wrong.any():
            row = int(np.argmax(wrong))
            value = self.frame[column].iloc[row]
            is_missing = value is None or (np.ndim(value) == 0 and value != value)
            single = value if np.ndim(value) else getattr(value, "item", lambda value=value: value)()
            found = "no value" if is_missing else repr(single)
            raise DataError(f"{self.place(row)}, {column}: found {found[:60]}, expected {expected}")

    def single(self, column: str) -> "pd.Series":
        """Return a column.

        Raises DataError for the first value that is a list, a mapping or bytes, as in Parquet files.
        """
        values = self.frame[column]
        if values.dtype == object:
            wrong = [isinstance(value, bytes | dict | list | np.ndarray) for value in values]
            self.refuse(column, wrong, "a single number or word: write each part as a column of its own")
        return values

    def refuse_times(self, column: str, expected: str) -> None:
        """Raise DataError if a column has dates or times."""
        values = self.frame[column]
        known = values[values.notna()]
        if values.dtype.kind in "mM" or (len(known) and isinstance(known.iloc[0], date | time | timedelta)):
            raise DataError(f"{self.place(0)}, {column}: found the time {values.iloc[0]}, expected {expected}")

    def texts(self, column: str) -> "pd.Series":
        """Return a column of labels as text.

        Whole numbers have no decimal point, and a missing value is None. Raises DataError for a value that is not
        single, or a float that is too large to identify one number.
        """
        import pandas as pd

        values = self.single(column)
        if values.dtype.kind == "f":
            expected = "whole numbers or words: floats of this size do not tell whole numbers apart"
            self.refuse(column, values.abs() >= _EXACT, expected)
        codes, found = pd.factorize(values)
        return pd.Series(np.array([*map(_text, found.tolist()), None], dtype=object)[codes])  # the last column

    def place(self, row: int) -> str:
        part = 0
        while row >= self.parts[part][1]:
            row -= self.parts[part][1]
            part += 1
        path = self.parts[part][0]
        return f"{path}, row {row + 1}" if path.suffix == ".parquet" else f"{path}, line {row + 2}"

    def numbers(self, column: str, expected: str = "a finite number") -> np.ndarray:
        """Return a column as float64. Raises DataError for the first value that is missing or not a finite number."""
        import pandas as pd

        values = self.single(column)
        self.refuse_times(column, expected)
        found = pd.to_numeric(values, errors="coerce").to_numpy(np.float64, na_value=np.nan)
        wrong = ~np.isfinite(found)
        first = values.iloc[int(np.argmax(wrong))]
        otherwise = isinstance(first, str) and is_number_written_otherwise(first)
        self.refuse(column, wrong, PLAINLY if otherwise else expected)
        return found


def column_names(files: Sequence[Path]) -> list[str]:
    """Return the names of the columns. Raises DataError if a name occurs twice, or the files have different names."""
    names = _names(files[0])
    for file in files[1:]:
        if sorted(_names(file)) != sorted(names):
            raise DataError(f"{file}: found the columns {', '.join(_names(file))}, expected those of {files[0]}")
    return names


def index_columns(files: Sequence[Path]) -> set[str]:
    """Return the index columns written by pandas, which a pattern of features leaves out.

    Row numbers may reveal the target.
    """
    return {name for file in files for name in _names(file) if _INDEX.fullmatch(name)}.union(*map(_pandas_index, files))


def _pandas_index(file: Path) -> set[str]:
    """Return the index that the metadata of a Parquet file names."""
    import pyarrow.parquet

    if file.suffix != ".parquet":
        return set()
    with reading(file, "a Parquet file"):
        found = (pyarrow.parquet.read_schema(file).pandas_metadata or {}).get("index_columns", [])
    return {name for name in found if isinstance(name, str)}


def read_files(files: Sequence[Path], columns: Sequence[str] | None = None, labels: Sequence[str] = ()) -> Files:
    """Return the columns, by default all, of concatenated files; raises DataError as `read` does.

    The columns ``labels`` are read as text, so that different spellings of a label remain different (see
    `bench.data.labels`).
    """
    import pandas as pd

    names = column_names(files)
    for name in columns or ():
        if name not in names:
            raise DataError(f"{files[0]}: found no column '{name}', expected one of: {either(names)[:300]}")
    wanted = list(dict.fromkeys(columns if columns is not None else names))
    frames = [_kind(file)[1](file, wanted, labels) for file in files]
    parts = tuple((file, len(frame)) for file, frame in zip(files, frames, strict=True))
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    if frame.empty:
        raise DataError(f"{files[0]}: found no rows, expected at least one")
    return Files(frame, parts)


def _names(file: Path) -> list[str]:
    names = _kind(file)[0](file)
    for name in names:
        if not name:
            raise DataError(
                f"{file}, line 1: found a column without a name, expected names with commas between them; if it is the "
                "index that pandas writes, to_csv(..., index=False) leaves it out"
            )
        if names.count(name) > 1:
            raise DataError(f"{file}, line 1: found the column '{name}' twice, expected every name once")
    return names


_Read = Callable[[Path, list[str], Sequence[str]], "pd.DataFrame"]


def _kind(file: Path) -> tuple[Callable[[Path], list[str]], _Read]:
    if file.suffix == ".parquet":
        return _parquet_names, _read_parquet
    if file.suffixes[-1:] == [".csv"] or file.suffixes[-2:] == [".csv", ".gz"]:
        return _csv_names, _read_csv
    raise DataError(f"{file}: found the ending '{file.suffix}', expected {_KINDS}")


def _parquet_names(file: Path) -> list[str]:
    import pyarrow.parquet

    with reading(file, "a Parquet file"):
        return list(pyarrow.parquet.read_schema(file).names)


def _read_parquet(file: Path, columns: list[str], labels: Sequence[str]) -> "pd.DataFrame":
    import pyarrow.parquet

    with reading(file, "a Parquet file"):
        table = pyarrow.parquet.read_table(file, columns=columns)
        exact = table.select(list(labels)).to_pandas(ignore_metadata=True, integer_object_nulls=True)
        frame = table.to_pandas(ignore_metadata=True, self_destruct=True)
    for name in labels:
        frame[name] = Files(exact, ((file, len(exact)),)).texts(name)
    return frame


def _csv_names(file: Path) -> list[str]:
    opened = gzip.open if file.suffix == ".gz" else open
    with reading(file, "a table of comma-separated values in UTF-8"), opened(file, "rb") as content:
        header = content.readline().decode("utf-8-sig")
    if not header.strip():
        raise DataError(f"{file}: found {'no' if not header else 'an empty'} first line, expected names of columns")
    if "\r" in header.rstrip("\r\n"):
        raise DataError(
            f"{file}: found lines that end in a carriage return only, expected line feeds: save it again with them"
        )
    names = [name.strip() for name in next(csv.reader([header]))]
    other = next((mark for mark in ";\t|" if mark in names[0]), None)
    if len(names) == 1 and other:
        kind = {"\t": "tabs", ";": "semicolons", "|": "bars"}[other]
        raise DataError(f"{file}, line 1: found {kind} between the columns, expected commas: write it with commas")
    return names


def _read_csv(file: Path, columns: list[str], labels: Sequence[str]) -> "pd.DataFrame":
    import pandas as pd

    names = _csv_names(file)
    missing = {name: ("",) if name in labels else MISSING for name in names}
    with reading(file, "a table of comma-separated values in UTF-8"):
        frame = pd.read_csv(  # without usecols, which would hide excess values in a line
            file, names=names, skiprows=1, encoding="utf-8-sig", low_memory=False, skipinitialspace=True,
            keep_default_na=False, na_values=missing, dtype=dict.fromkeys(labels, str),
        )  # fmt: skip
    if not isinstance(frame.index, pd.RangeIndex):  # pandas takes excess values for an index
        raise DataError(f"{file}, line 2: found more values than the {len(names)} columns, expected as many")
    expected = "a label: this text means that there is none; if it is one, write it otherwise"
    for name in labels:
        is_none = frame[name].str.strip().isin(MISSING)
        Files(frame, ((file, len(frame)),)).refuse(name, is_none, expected)
    return frame[columns]


def _text(value: Any) -> str:
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)
