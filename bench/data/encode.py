"""Columns of a table as features, with numbers standardised, strings one-hot encoded, and a note about each step."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from bench.data.read import Files
from bench.data.spelling import PLAINLY, alike, folded, is_number_written_otherwise, shown
from bench.data.times import DATE
from bench.errors import ConfigError, DataError

MAX_WORDS = 100
"""Largest number of different words of a column; each becomes a feature."""

MAX_FEATURES = 2000

NO_INDEX: Set[str] = frozenset()
_MISSING = "(missing)"
_ALONE, _LISTED = 8, 5
"""Largest number of columns of a kind with a note each, and of names in a note."""
_MANY = 20
"""Smallest number of different values that may be row numbers, or numbers with units."""
_SPARSE = 10
"""Largest range of row numbers, in numbers of rows, of a table that may be a sample of a longer one."""


@dataclass(frozen=True, eq=False)
class Features:
    """Features of a table, with ``names``, and with ``notes`` for the user.

    ``values`` has shape (rows, features) and type float64, and each row has norm 1.
    """

    values: np.ndarray
    names: tuple[str, ...]
    notes: tuple[str, ...]


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def listed(words: Sequence[str]) -> str:
    """Return the first of ``words`` as a list, with the number of the remaining words."""
    more = f" and {len(words) - _LISTED:,} more" if len(words) > _LISTED else ""
    return ", ".join(words[:_LISTED]) + more


def match(
    patterns: str | Sequence[str],
    names: Sequence[str],
    key: str,
    besides: Sequence[str] = (),
    index: Set[str] = NO_INDEX,
) -> list[str]:
    """Return the columns that match names or patterns such as ``user_*``, except ``besides``, in the table's order.

    A pattern leaves out the columns of an ``index``. Raises ConfigError with the ``key`` if a pattern matches no
    column, or is both the name of a column and a pattern of other columns.
    """
    patterns = [patterns] if isinstance(patterns, str) else list(patterns)
    chosen: set[str] = set()
    for pattern in patterns:
        fitting = [name for name in names if fnmatchcase(name, pattern) and name != pattern and name not in index]
        if pattern in names and fitting:
            single = "".join(f"[{c}]" if c in "*?[" else c for c in pattern)
            raise ConfigError(
                f"{key}: found '{pattern}', the name of a column and a pattern of {listed(fitting)}, expected one of "
                f"these: '{single}' is the column alone; list the others by their names"
            )
        found = [pattern] if pattern in names else fitting
        if not found:
            form = next((name for name in names if folded(name) == folded(pattern)), "")
            other = f"; {form!a} is not {pattern!a}" if form else ""
            known = ", ".join(names)[:300]
            raise ConfigError(f"{key}: found '{pattern}', expected a column or a pattern of: {known}{other}")
        if pattern in besides:
            raise ConfigError(f"{key}: found '{pattern}', which another key already uses, expected another column")
        chosen.update(found)
    return [name for name in names if name in chosen and name not in besides]


def left_out(patterns: str | Sequence[str], index: Set[str], used: Sequence[str], key: str) -> list[str]:
    """Return notes on the columns of an index that ``patterns`` would match."""
    patterns = [patterns] if isinstance(patterns, str) else list(patterns)
    names = [name for name in sorted(index - {*used}) if any(fnmatchcase(name, pattern) for pattern in patterns)]
    return [f"{name}: left out, as it is the index that pandas wrote; name it in {key} to use it" for name in names]


def encode(table: Files, columns: Sequence[str]) -> Features:
    """Return the columns as features, followed by a constant, with each row divided by its length.

    Numbers are standardised, and a missing number is replaced by the mean; true and false are 1 and 0. Each distinct
    string becomes a feature, and so does a missing string. A constant column is left out. The notes name the type of
    each column. Raises DataError for an infinite number, a few strings among numbers, a number with a decimal comma,
    separators or signs, times, or more than 100 distinct strings.
    """
    blocks, names, taken, notes = [], [], [], []
    for column in columns:
        values, found, kind, more = _column(table, column)
        taken.append((column, kind))
        notes += more
        if values is not None:
            blocks.append(values)
            names += found
    n_features = sum(block.shape[1] for block in blocks) + 1
    if n_features > MAX_FEATURES:
        raise DataError(f"{table.parts[0][0]}: found {n_features:,} features, expected at most {MAX_FEATURES:,}")
    matrix = np.empty((len(table.frame), n_features))
    at = 0
    while blocks:
        block = blocks.pop(0)
        matrix[:, at : at + block.shape[1]] = block
        at += block.shape[1]
    matrix[:, -1] = 1.0
    matrix /= np.sqrt(np.einsum("ij,ij->i", matrix, matrix))[:, None]
    return Features(matrix, (*names, "constant"), (*_lines(taken), *notes))


class Taken(NamedTuple):
    """The type of a column as text, and the rest of its note."""

    kind: str
    more: str = ""


def _lines(taken: list[tuple[str, Taken]]) -> list[str]:
    """Return a note for each column, or one note for all columns of a type if there are many."""
    kinds = Counter(found.kind for _, found in taken)
    together = [kind for kind, number in kinds.items() if number > _ALONE]
    lines = [f"{column}: {found.kind}{found.more}" for column, found in taken if found.kind not in together]
    for kind in together:
        lines.append(f"{listed([column for column, found in taken if found.kind == kind])}: {kind}")
    return lines


_Column = tuple[np.ndarray | None, list[str], Taken, list[str]]
"""Features and their names (none for an omitted column), the column's type, and notes."""


def _column(table: Files, column: str) -> _Column:
    import pandas as pd

    values = table.single(column)
    table.refuse_times(column, "numbers or words")
    if isinstance(values.dtype, pd.CategoricalDtype) or values.dtype.kind not in "biuf":
        values = values.astype(object)
        numbers = pd.to_numeric(values, errors="coerce")
        known = values.notna()
        codes, found = pd.factorize(values)
        otherwise = np.array([isinstance(x, str) and is_number_written_otherwise(x) for x in found] + [False])[codes]
        share = float((numbers.notna() | otherwise).sum() / max(int(known.sum()), 1))
        if share < 0.5:
            return _words(table, column)
        table.refuse(column, otherwise, PLAINLY)
        table.refuse(column, numbers.isna() & known, f"a number, as in {share:.0%} of the rows")
        values = numbers
    return _numbers(table, column, values.to_numpy(np.float64, na_value=np.nan))


def _numbers(table: Files, column: str, values: np.ndarray) -> _Column:
    table.refuse(column, np.isinf(values), "a finite number")
    table.refuse(column, np.abs(values) > 1e150, "a number of at most 1e150 in size")
    missing = np.isnan(values)
    if missing.all():
        raise DataError(f"{table.parts[0][0]}, {column}: found no value in the whole column, expected at least one")
    known = values[~missing]
    mean, std = float(known.mean()), float(known.std())
    low, high = float(known.min()), float(known.max())
    if low == high:
        return None, [], Taken("left out", f", as all its values are {mean:g}"), []
    if std <= 1e-12 * abs(mean):
        return None, [], Taken("left out", f", as floats hardly distinguish its values, all about {mean:g}"), []
    taken = (
        Taken("0 or 1")
        if {*np.unique(known[:1000])} <= {0, 1} and {low, high} == {0, 1} and _whole(known)
        else (Taken("numbers", f" from {low:.6g} to {high:.6g}"))
    )
    notes = []
    if missing.any():
        n_missing = counted(int(missing.sum()), "missing value")
        notes.append(f"{column}: {n_missing}, replaced by the mean {mean:g}")
    if len(known) >= _MANY and high - low < _SPARSE * len(known) and _whole(known) and _all_differ(known):
        notes.append(
            f"{column}: whole numbers from {low:.0f} to {high:.0f}, all different; if they number the rows of this "
            "table or of a larger one, leave it out"
        )
    values = (values - mean) / std
    values[missing] = 0.0
    return values[:, None], [column], taken, notes


def _all_differ(values: np.ndarray) -> bool:
    return len(np.unique(values)) == len(values)


def _whole(values: np.ndarray) -> bool:
    return bool((values == np.floor(values)).all())


def _words(table: Files, column: str) -> _Column:
    values = table.frame[column]
    missing = values.isna().to_numpy()
    words, codes = np.unique(values.astype(object).where(~missing, _MISSING).astype(str), return_inverse=True)
    known = [str(word) for word in words if word != _MISSING]
    if known and all(map(DATE.fullmatch, known)):
        table.refuse(column, ~missing, "numbers or words: a date is neither")
    if len(words) > MAX_WORDS:
        raise DataError(
            f"{table.parts[0][0]}, {column}: found {len(words):,} different words, expected at most {MAX_WORDS}, as "
            "each is made a feature: leave the column out, or group them"
        )
    if len(words) == 1:
        notes = [f"{column}: {counted(int(missing.sum()), 'missing value')}"] if missing.any() else []
        return None, [], Taken("left out", f", as all its values are '{words[0]}'"), notes
    notes = []
    if missing.any():
        notes.append(f"{column}: {counted(int(missing.sum()), 'missing value')}, treated as one more word")
    for pair in alike(known):
        one, two = shown(*pair)
        notes.append(f"{column}: {one} and {two} are two words, and differ only in blanks, letter case or Unicode form")
    if len(known) >= _MANY and sum(word[:1].isdigit() for word in known) > len(known) / 2:
        notes.append(f"{column}: most of its words begin with a digit; if they are numbers, write them like 1234.5")
    one_hot = np.zeros((len(codes), len(words)), dtype=np.float32)
    one_hot[np.arange(len(codes)), codes] = 1.0
    taken = Taken("words, each a feature", f": {listed([str(word) for word in words])}")
    return one_hot, [f"{column}={word}" for word in words], taken, notes
