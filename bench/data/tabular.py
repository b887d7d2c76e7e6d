"""Tables for supervised learning, read from CSV files with every cell checked."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from bench.data.dataset import Dataset
from bench.data.files import data_in_use, unreadable
from bench.errors import DataError

MISSING = ("", "NA", "None")
"""Fields that mean a missing value, as in pandas, which the papers' authors use."""

_TOO_LARGE = 1e150  # the squares of smaller numbers are finite


@dataclass(frozen=True, eq=False)
class Table:
    """Features, float64, shape (rows, features), categories as codes, and the target to predict, shape (rows,).

    The target is int64 for classes, float64 for numbers.
    """

    features: np.ndarray
    target: np.ndarray
    names: tuple[str, ...]


class Columns:
    """Columns of a CSV file in UTF-8 with a header; quoted fields may contain commas and line breaks.

    Raises DataError, naming file and line or column, if the file cannot be read, is not text, has no rows or lacks a
    column of ``names``, or a row does not have as many fields as the header.
    """

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self.path = path
        try:
            content = path.read_bytes()
        except OSError as error:
            raise unreadable(path, error, "a CSV file") from None
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            found = f"found the byte 0x{content[error.start]:02x}, expected text in UTF-8"
            raise DataError(f"{path}, line {line}: {found}") from None
        if "\0" in text:  # string arrays drop it at the end
            line = content.count(b"\n", 0, content.index(b"\0")) + 1
            raise DataError(f"{path}, line {line}: found the byte 0x00, expected text in UTF-8")
        reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        self._lines: list[int] = []
        rows = []
        try:
            header = next(reader, [])
            for name in names:
                if header.count(name) != 1:
                    raise DataError(
                        f"{path}, line 1: found the column '{name}' {header.count(name)} times, expected it once"
                    )
            line = reader.line_num + 1
            for row in reader:
                if row and len(row) != len(header):
                    raise DataError(f"{path}, line {line}: found {len(row)} field(s), expected {len(header)}")
                if row:  # blank lines are skipped
                    rows.append(row)
                    self._lines.append(line)
                line = reader.line_num + 1
        except csv.Error as error:
            raise DataError(f"{path}, line {reader.line_num}: found invalid CSV ({error}), expected fields") from None
        if not rows:
            raise DataError(f"{path}: found no rows below the header, expected at least one")
        self._texts = {name: [row[header.index(name)].strip() for row in rows] for name in names}

    def missing(self, name: str) -> np.ndarray:
        """Return in which rows the column has no value, bool, shape (rows,)."""
        return np.array([text in MISSING for text in self._texts[name]])

    def texts(self, name: str) -> list[str]:
        return self._texts[name]

    def numbers(self, name: str) -> np.ndarray:
        """Return a column as float64, NaN for missing ones. Raises DataError if a field is not a finite number."""
        return np.array([self._number(name, row, text) for row, text in enumerate(self._texts[name])])

    def _number(self, name: str, row: int, text: str) -> float:
        if text in MISSING:
            return np.nan
        try:
            value = float(text) if text.isascii() and "_" not in text else np.nan  # float() accepts 1_0, other scripts
        except ValueError:
            value = np.nan
        if not abs(value) < _TOO_LARGE:
            raise self.error(name, row, f"a number below {_TOO_LARGE:g}")
        return value

    def refuse(self, name: str, wrong: np.ndarray, expected: str) -> None:
        """Raise DataError for the first row in which a column is ``wrong``, bool, shape (rows,), if there is any."""
        if wrong.any():
            raise self.error(name, int(np.argmax(wrong)), expected)

    def error(self, name: str, row: int, expected: str) -> DataError:
        found = self._texts[name][row][:30]
        return DataError(f"{self.path}, line {self._lines[row]}, column '{name}': found {found!r}, expected {expected}")


def encoded(texts: Sequence[str]) -> np.ndarray:
    """Return texts as codes 0, 1, ... in alphabetical order, float64."""
    return np.unique(np.asarray(texts, dtype=np.str_), return_inverse=True)[1].astype(np.float64)


def most_frequent(texts: Sequence[str]) -> str:
    """Return the most frequent text, the alphabetically first on a tie."""
    return min(Counter(texts).items(), key=lambda item: (-item[1], item[0]))[0]


def load_table(dataset: Dataset, read: Callable[[Path], Table], substitute: str) -> Table:
    """Return the table that ``read`` makes of the data set's file, or one of scikit-learn's if there is no file.

    ``substitute`` is the function of ``sklearn.datasets`` that loads it. Raises DataError if the file is damaged.
    """
    return _load(*data_in_use(dataset), read, substitute)


@lru_cache(maxsize=4)
def _load(path: Path | None, identity: str, read: Callable[[Path], Table], substitute: str) -> Table:
    if path is not None:
        return read(path)
    import sklearn.datasets

    found = getattr(sklearn.datasets, substitute)()
    return Table(found.data, found.target, tuple(map(str, found.feature_names)))
