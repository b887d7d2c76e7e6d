"""Tables for supervised learning: read from CSV files with every cell checked, and made of numbers."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.errors import DataError

MISSING = ("", "NA", "None")
"""What stands for a missing value: what pandas, which the papers' authors use, takes for one."""

_TOO_LARGE = 1e150  # the squares of smaller numbers are finite


@dataclass(frozen=True, eq=False)
class Table:
    """Features and what is to be predicted from them.

    Parameters
    ----------
    features
        float64, shape (rows, features); categories are coded.
    target
        Classes as int64, or numbers as float64; shape (rows,).
    names
        Names of the features.
    """

    features: np.ndarray
    target: np.ndarray
    names: tuple[str, ...]


class Columns:
    """The columns of a CSV file whose first line names them; quoted fields may hold commas and line ends.

    Parameters
    ----------
    path
        The file, in UTF-8.
    names
        The columns that are wanted; others are left out.

    Raises
    ------
    DataError
        If the file cannot be read, is not text, holds no rows or lacks a column, or a row has another number of fields
        than the first line. The message names file and line or column.
    """

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self.path = path
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DataError(f"{path}: found no way to read it ({error.strerror}), expected a CSV file") from None
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            found = f"found the byte 0x{content[error.start]:02x}, expected text in UTF-8"
            raise DataError(f"{path}, line {line}: {found}") from None
        if "\0" in text:  # which arrays of texts drop at the end
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
                if row:  # blank lines don't count
                    rows.append(row)
                    self._lines.append(line)
                line = reader.line_num + 1
        except csv.Error as error:
            raise DataError(f"{path}, line {reader.line_num}: found no CSV ({error}), expected fields") from None
        if not rows:
            raise DataError(f"{path}: found no rows below the first line, expected some")
        self._texts = {name: [row[header.index(name)].strip() for row in rows] for name in names}

    def missing(self, name: str) -> np.ndarray:
        """Return where the column has no value, bool, shape (rows,)."""
        return np.array([text in MISSING for text in self._texts[name]])

    def texts(self, name: str) -> list[str]:
        """Return the column as it stands in the file."""
        return self._texts[name]

    def numbers(self, name: str) -> np.ndarray:
        """Return a column of numbers, float64, shape (rows,), NaN for missing ones.

        Raises
        ------
        DataError
            Naming file, line and column of a field that is no finite number.
        """
        return np.array([self._number(name, row, text) for row, text in enumerate(self._texts[name])])

    def _number(self, name: str, row: int, text: str) -> float:
        if text in MISSING:
            return np.nan
        try:
            value = float(text) if text.isascii() and "_" not in text else np.nan  # Python takes 1_0 and other digits
        except ValueError:
            value = np.nan
        if not abs(value) < _TOO_LARGE:
            raise self.error(name, row, f"a number below {_TOO_LARGE:g}")
        return value

    def error(self, name: str, row: int, expected: str) -> DataError:
        """Return the error that a field is not what was expected."""
        found = self._texts[name][row][:30]
        return DataError(f"{self.path}, line {self._lines[row]}, column '{name}': found {found!r}, expected {expected}")


def encoded(texts: Sequence[str]) -> np.ndarray:
    """Return texts as the numbers 0, 1, ... of their sorted different values, float64."""
    return np.unique(np.asarray(texts, dtype=np.str_), return_inverse=True)[1].astype(np.float64)


def most_frequent(texts: Sequence[str]) -> str:
    """Return the most frequent text, of several the first in order."""
    return min(Counter(texts).items(), key=lambda item: (-item[1], item[0]))[0]
