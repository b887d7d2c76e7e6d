"""Columns of labels, such as actions and classes, with a check for two spellings of one label."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from bench.data.read import Files
from bench.data.spelling import folded, shown
from bench.errors import DataError

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?")


class Labels(NamedTuple):
    """Labels in order, with ``names`` as they are spelled.

    ``values`` are exact numbers if all labels are numbers, or else the names. ``codes``, shape (rows,), are the indices
    of the rows' labels.
    """

    names: list[str]
    values: list[Decimal] | list[str]
    codes: np.ndarray

    @property
    def are_numbers(self) -> bool:
        return isinstance(self.values[0], Decimal)


def labels_in(table: Files, column: str, one: str, several: str, most: int) -> Labels:
    """Return the labels in a text column of `read_files`; ``one`` and ``several`` name their meaning in messages.

    Raises DataError for a row without a label, for more than ``most`` labels, and for two spellings of one value, such
    as 7 and 007 in a column of numbers: only the user knows whether they are one label or two.
    """
    import pandas as pd

    values = table.frame[column]
    table.refuse(column, values.isna(), f"{one} in each row")
    codes, found = pd.factorize(values)
    spelled = [str(text) for text in found]
    if len(spelled) > most:
        number = f"{len(spelled):,} {several}"
        raise DataError(f"{table.parts[0][0]}, {column}: found {number}, expected at most {most:,}: each is an arm")
    places: dict[Any, int] = {}
    seen: dict[Any, int] = {}
    for code, value in enumerate(_values(spelled)):
        places[value] = code
        if (other := seen.setdefault(folded(value) if isinstance(value, str) else value, code)) != code:
            first, second = (int(np.argmax(codes == each)) for each in (other, code))
            one, two = shown(spelled[code], spelled[other])
            raise DataError(
                f"{table.place(second)}, {column}: found {one}, and {two} in "
                f"{table.place(first)}, expected one spelling of each label: write both in the same way, or, if "
                "they are two labels, put a letter before each"
            )
    ordered = sorted(places)
    place = np.empty(len(ordered), dtype=np.int32)
    place[[places[value] for value in ordered]] = np.arange(len(ordered), dtype=np.int32)
    names = [spelled[places[value]].strip() for value in ordered]
    return Labels(names, ordered if isinstance(ordered[0], Decimal) else names, place[codes])


def _values(labels: Sequence[str]) -> Sequence[Decimal] | Sequence[str]:
    """Return the values of labels: numbers or booleans if all labels are such, or else strings without outer space."""
    words = [label.strip() for label in labels]
    if all(map(_NUMBER.fullmatch, words)):
        return [Decimal(word) for word in words]
    lower = [word.lower() for word in words]
    return lower if {*lower} <= {"true", "false"} else words
