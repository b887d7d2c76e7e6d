"""Tables of final values, for people (Markdown) and for programs (CSV)."""

import csv
import io
import math
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench.columns import NUMBERS
from bench.errors import ConfigError, DataError
from bench.report.labels import canonical, describe, is_number, is_plain, selection
from bench.report.results import Labels, PublishedNumber, Results
from bench.stats import mean_interval, standard_deviation

DIGITS = 10
"""Significant digits of numbers in CSV."""

_FIRST = ("repetition", "column", "n")
"""First column after the labels: in final values, in curves, and in all other tables."""
_FORMULA, _QUOTED = re.compile(r"'*[=+\-@\t\r]"), re.compile(r"''*[=+\-@\t\r]")
_COUNTS = ("n", "rounds")
# The order in which published numbers stand
_WHATS = ("best", "mean", "std", "theory_mean", "theory_std")


def summary(results: Results, *, beside: bool = True) -> pd.DataFrame:
    """Return one row per experiment of a figure, including those without results (n = 0).

    A row has the mean of the figure's column with its 95 % interval and, for regret, `random_arms`, the regret of
    uniformly random arms. With ``beside``, unless results are surrogate, `published_mean` with `ratio_mean` (measured /
    published) and so on are added. Raises DataError if no result has the column, and ConfigError if a published number
    fits no experiment, or several experiments.
    """
    figure = results.figure
    check_column(results)
    rows = {}
    for key in results.experiments:
        values, of_key = results.column(key, figure.column), results.rows(key)
        interval = mean_interval(values)
        has_rounds = len(of_key) and "rounds" in of_key
        row: dict[str, Any] = {"n": interval.n, "rounds": float(of_key["rounds"].mean()) if has_rounds else math.nan}
        row |= {"mean": interval.estimate, "std": standard_deviation(values)}
        row |= {"ci_low": interval.low, "ci_high": interval.high}
        if results.has_random_arms(figure.column):
            row["random_arms"] = results.random_arms([key])
        rows[key] = results.as_dict(key) | row
    for number in results.published_numbers() if beside and not results.is_surrogate else ():
        labels, what, value, *_ = number
        same = [key for key in rows if labels.items() <= results.as_dict(key).items()]
        if len(same) > 1 or (results.is_declared and not same):
            raise ConfigError(
                f"{figure.where}, published {what} {value:g} of {describe(selection(labels))}: fits {len(same)} "
                f"experiments, expected one; the axes are: {', '.join(results.axes)}"
            )
        for key in same:
            put_beside(rows[key], number, results)
    return table_of(list(rows.values()), results.axes)


def check_column(results: Results) -> None:
    """Raise DataError if there are results without the figure's column."""
    figure = results.figure
    if len(results.finals) and figure.column not in results.finals.columns:
        start = list(results.finals.columns).index("repetition") + 1
        names = ", ".join(str(name) for name in results.finals.columns[start:])
        raise DataError(f"{figure.where}: the results have no column '{figure.column}', they have: {names}")


def put_beside(row: dict[str, Any], number: PublishedNumber, results: Results) -> None:
    """Add a published number to a row of measured numbers, with the ratio unless it was published for other runs."""
    what, value = number.what, number.value
    row[f"published_{what}"] = value
    # The best grid value is a setting, not a size: a ratio has no meaning, and it may be 0.
    if what != "best" and not results.provenance.other_than_published:
        row[f"ratio_{what}"] = row[what] / value if value else math.nan
    if number.note:
        row["published_note"] = "; ".join(filter(None, [row.get("published_note", ""), number.note]))


def experiments_of(table: pd.DataFrame, results: Results) -> list[Labels]:
    return [tuple(canonical(row.get(axis)) for axis in results.axes) for row in table.to_dict("records")]


def by_experiment(table: pd.DataFrame, results: Results) -> dict[Labels, dict[Any, Any]]:
    return dict(zip(experiments_of(table, results), table.to_dict("records"), strict=True))


def table_of(rows: list[dict[str, Any]], axes: Sequence[str]) -> pd.DataFrame:
    """Return ``rows`` as a table, with published numbers last and numeric axes as numbers."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    beside = [f"{kind}_{what}" for what in _WHATS for kind in ("published", "ratio")] + ["published_note"]
    ordered = [name for name in names if name not in beside] + [name for name in beside if name in names]
    table = pd.DataFrame(rows, columns=ordered)
    for axis in set(axes) & set(ordered):
        table[axis] = _numbers(table[axis])
    if "published_note" in ordered:
        table["published_note"] = table["published_note"].fillna("")
    return table


def to_markdown(table: pd.DataFrame, title: str = "", notes: Sequence[str] = ()) -> str:
    """Return a table as Markdown below ``title``, with rounded numbers and a dash for missing values."""
    lines = [f"## {title}", ""] if title else []
    columns = {str(name): cells_of(str(name), table[name]) for name in table.columns}
    lines.append("| " + " | ".join(name.replace("_", " ") for name in columns) + " |")
    lines.append("|" + "|".join(" ---: " if numeric else " --- " for _, numeric in columns.values()) + "|")
    for row in zip(*(cells for cells, _ in columns.values()), strict=True):
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    if notes:
        lines += ["", *(f"- {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def to_csv(table: pd.DataFrame, digits: int = DIGITS) -> str:
    """Return a table as CSV with ``digits`` significant digits, and the same bytes for the same numbers.

    Strings that a spreadsheet would take for a formula begin with an apostrophe, as OWASP advises.
    """
    written = table.copy()
    for name in _of_words(table):
        written[name] = table[name].map({word: _no_formula(word) for word in table[name].unique()})
    return str(written.to_csv(index=False, float_format=f"%.{digits}g", lineterminator="\n"))


def from_csv(source: Path | str, *words: str) -> pd.DataFrame:
    """Read a table written by `to_csv` from a file or its content; the columns ``words`` stay text.

    Only an empty cell is a missing value; a name such as None, NA or nan is not. Columns before the first column in
    `_FIRST` may hold labels. Labels are converted to numbers only if the numbers give back the written text. Raises
    ParserWarning if a row has more values than there are columns, which pandas would shift.
    """
    text = source if isinstance(source, str) else source.read_text(encoding="utf-8")
    heads = next(csv.reader([text.partition("\n")[0]]), [])
    until = min((heads.index(name) for name in _FIRST if name in heads), default=0)
    first = [name for name in heads[:until] if name not in NUMBERS]
    options: dict[str, Any] = {
        "dtype": dict.fromkeys([*first, *words], str),
        "keep_default_na": False,
        "na_values": [""],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        table = pd.read_csv(io.StringIO(text), low_memory=False, index_col=False, **options)
    for name in _of_words(table) if "'" in text else ():
        table[name] = unquoted(table[name])
    for name in set(first) - set(words):
        table[name] = _numbers(table[name])
    return table


def unquoted(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column of words without the apostrophes that `to_csv` added."""
    bare = {word: word[1:] if _QUOTED.match(str(word)) else word for word in column.unique()}
    return column.map(bare).astype(column.dtype)  # an empty column stays text


def _of_words(table: pd.DataFrame) -> list[Any]:
    return [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]


def _no_formula(word: Any) -> Any:
    return f"'{word}" if isinstance(word, str) and _FORMULA.match(word) and not is_number(word) else word


def _numbers(labels: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column of labels, as numbers if all are numbers that can be written back unchanged."""
    known = labels.dropna().unique()
    return labels.astype(float) if len(labels) and all(map(is_plain, known)) else labels


def cells_of(name: str, column: "pd.Series[Any]") -> tuple[list[str], bool]:
    """Return a column's cells as text, rounded for reading, and whether the column is numeric."""
    if not pd.api.types.is_numeric_dtype(column):
        return [canonical(value) or "–" for value in column], False
    numbers = column.to_numpy(dtype=np.float64)
    finite = np.abs(numbers[np.isfinite(numbers)])
    largest = finite.max() if len(finite) else 1.0
    if name in _COUNTS or (len(finite) and (finite == np.round(finite)).all()):
        form = ",.0f"
    elif all(float(f"{value:.4g}") == value for value in finite):
        form = ".4g"  # settings, such as grid values, are short and not rounded
    else:  # four digits of the largest set the decimals of the whole column, so that its numbers are comparable by eye
        form = f",.{min(max(3 - math.floor(math.log10(largest)), 0), 8)}f"
    return ["–" if math.isnan(value) else format(value, form) for value in numbers], True
