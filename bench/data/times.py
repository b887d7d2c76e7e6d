"""Conversion of a column of times to sortable values."""

import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.data.read import Files

if TYPE_CHECKING:  # slow to import
    import pandas as pd

DATE = re.compile(r"\d{4}-?\d{2}-?\d{2}(?:[ T]\d{1,2}:?\d{2}.*)?")
_ZONE = re.compile(r"[ T].*(?:Z|[+-]\d{2}(?::?\d{2})?)$", re.IGNORECASE)
_EXPECTED = "a number, or a date and time such as 2026-01-31 14:05:00"


def times(table: Files, column: str) -> "pd.Series":
    """Return a column of times, with text converted to numbers or dates, because 10:00 precedes 9:00 as text.

    Raises DataError if a time is missing or infinite, is neither a number nor a date, or has another kind than the
    first time, such as a number among dates, or a date with a time zone among dates without a time zone.
    """
    import pandas as pd

    values = table.single(column)
    table.refuse(column, values.isna(), "a time in each row")
    if values.dtype.kind in "mM":
        return values
    if values.dtype.kind == "b":
        table.refuse(column, ~values.isna(), _EXPECTED)
    if values.dtype.kind in "iuf":
        table.refuse(column, ~np.isfinite(values.to_numpy(np.float64)), "a finite number")
        return values
    codes, found = pd.factorize(values.astype(object))
    kinds = np.array([_kind(value) for value in found], dtype=object)[codes]
    table.refuse(column, kinds == "", _EXPECTED)
    table.refuse(column, kinds != kinds[0], f"{kinds[0]}, as in {table.place(0)}: write all times of the log alike")
    if kinds[0] == "a number":
        numbers = pd.to_numeric(values, errors="coerce").astype(np.float64)
        table.refuse(column, ~np.isfinite(numbers.to_numpy()), "a finite number")
        return numbers
    read = pd.to_datetime(values.astype(str), format="ISO8601", utc=True, errors="coerce")
    table.refuse(column, read.isna(), _EXPECTED)
    return read


def _kind(value: Any) -> str:
    """Return the kind of a time, or "" for another value."""
    if isinstance(value, datetime):
        return "a date without a time zone" if value.tzinfo is None else "a date with a time zone"
    if isinstance(value, date):
        return "a date without a time zone"
    try:
        float(value)
    except (TypeError, ValueError):
        text = str(value).strip()
        if not DATE.match(text):
            return ""
        return "a date with a time zone" if _ZONE.search(text[10:]) else "a date without a time zone"
    return "a number"
