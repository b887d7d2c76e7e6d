"""Columns of a table as features: numbers standardised, words one-hot, and what was done said."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from bench.data.read import Files
from bench.errors import ConfigError, DataError

MAX_WORDS = 100
"""Different words of a column that are made features of their own."""

MAX_FEATURES = 2000

_MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class Features:
    """``values``, shape (rows, features), float64, each row of norm 1; ``names``; ``notes`` for the user."""

    values: np.ndarray
    names: tuple[str, ...]
    notes: tuple[str, ...]


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def match(patterns: str | Sequence[str], names: Sequence[str], key: str, besides: Sequence[str] = ()) -> list[str]:
    """Return the columns that names or patterns such as ``user_*`` name, but those ``besides``, in the table's order.

    Raises ConfigError, naming the key, if one names none.
    """
    patterns = [patterns] if isinstance(patterns, str) else list(patterns)
    chosen: set[str] = set()
    for pattern in patterns:
        found = [name for name in names if name == pattern or fnmatchcase(name, pattern)]
        if not found:
            raise ConfigError(f"{key}: found '{pattern}', expected a column or a pattern of: {', '.join(names)[:300]}")
        if pattern in besides:
            raise ConfigError(f"{key}: found '{pattern}', which another key already uses, expected another column")
        chosen.update(found)
    return [name for name in names if name in chosen and name not in besides]


def encode(table: Files, columns: Sequence[str]) -> Features:
    """Return the columns as features, with a constant after them, each row divided by its length.

    Numbers are standardised, with the mean in place of a missing one; true and false are 1 and 0. Words have a feature
    each, as has a missing word. A constant column is left out. Raises DataError for an infinite number, a few words
    among numbers, times, or more than 100 words.
    """
    blocks, names, notes = [], [], []
    for column in columns:
        values, found, note = _column(table, column)
        notes += note
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
    return Features(matrix, (*names, "constant"), tuple(notes))


def _column(table: Files, column: str) -> tuple[np.ndarray | None, list[str], list[str]]:
    import pandas as pd

    values = table.single(column)
    table.refuse_times(column, "numbers or words")
    if isinstance(values.dtype, pd.CategoricalDtype) or values.dtype.kind not in "biuf":
        numbers = pd.to_numeric(values, errors="coerce")
        known = values.notna()
        share = float(numbers.notna().sum() / max(int(known.sum()), 1))
        if share < 0.5:
            return _words(table, column)
        table.refuse(column, numbers.isna() & known, f"a number, as in {share:.0%} of the rows")
        values = numbers
    return _numbers(table, column, values.to_numpy(np.float64, na_value=np.nan))


def _numbers(table: Files, column: str, values: np.ndarray) -> tuple[np.ndarray | None, list[str], list[str]]:
    table.refuse(column, np.isinf(values) | (np.abs(values) > 1e150), "a finite number")
    missing = np.isnan(values)
    if missing.all():
        raise DataError(f"{table.parts[0][0]}, {column}: found no value in the whole column, expected at least one")
    mean, std = float(values[~missing].mean()), float(values[~missing].std())
    if std <= 1e-12 * abs(mean) or std == 0:
        return None, [], [f"{column}: left out, as all its values are {mean:g}"]
    values = (values - mean) / std
    values[missing] = 0.0
    n_missing = counted(int(missing.sum()), "missing value")
    notes = [f"{column}: {n_missing}, replaced by the mean {mean:g}"] if missing.any() else []
    return values[:, None], [column], notes


def _words(table: Files, column: str) -> tuple[np.ndarray | None, list[str], list[str]]:
    values = table.frame[column]
    missing = values.isna().to_numpy()
    words, codes = np.unique(values.astype(object).where(~missing, _MISSING).astype(str), return_inverse=True)
    if len(words) > MAX_WORDS:
        raise DataError(
            f"{table.parts[0][0]}, {column}: found {len(words):,} different words, expected at most {MAX_WORDS}, as "
            "each is made a feature: leave the column out, or group them"
        )
    n_missing = counted(int(missing.sum()), "missing value")
    notes = [f"{column}: {n_missing}, treated as one more word"] if missing.any() else []
    if len(words) == 1:
        return None, [], [*notes, f"{column}: left out, as all its values are '{words[0]}'"]
    one_hot = np.zeros((len(codes), len(words)), dtype=np.float32)
    one_hot[np.arange(len(codes)), codes] = 1.0
    return one_hot, [f"{column}={word}" for word in words], notes
