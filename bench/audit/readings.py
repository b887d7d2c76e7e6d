"""Claims and published numbers of a figure under each of its readings."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from bench.audit.agreement import Intervals, of_mean, of_std, rounding
from bench.columns import names_of, readings_columns
from bench.report.figure import Figure
from bench.report.labels import Selection, canonical, matches, selection
from bench.report.reading import READING
from bench.report.results import Results

NUMBERS = names_of("numbers")
EXACT, INSIDE, POSSIBLE, OUTSIDE = "exact", "inside", "possible", "outside"
AS_PRINTED = "as printed"
"""Name of the only reading of a figure without readings."""


def claims_table(verdicts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the verdicts under all readings, one row for each case of a claim and reading."""
    parts = [table.assign(**{READING: name}) for name, table in verdicts.items()]
    return pd.concat(parts, ignore_index=True).reindex(columns=list(readings_columns()))


def numbers_table(results: Mapping[str, Results[Figure]], size: int) -> pd.DataFrame:
    """Return every published number with our number under each reading.

    A number is `exact` if our first repetitions, as many as in the paper, reproduce it under a reading with the
    authors' random draws. Otherwise the number is `inside` if our 95 % interval contains it under the paper's reading,
    which is the first reading unless that is the authors' code. Otherwise the number is `possible` if the 95 %
    prediction interval of further repetitions of the paper's size contains it under any reading; many false numbers are
    possible too. All other numbers are `outside`. An interval contains a number if the interval reaches to within half
    a unit of the number's last digit.

    ``results`` are by reading, in order; a figure without readings has one reading, `AS_PRINTED`. ``size`` is the
    paper's number of repetitions. The columns are the axes, then `NUMBERS`: `first` is our number from as many
    repetitions as in the paper, for a reading with the authors' draws; `inside` and `predicted` (yes, no, or "" without
    results) belong to one reading, and `verdict` belongs to the number. The table is empty without published numbers,
    for a packaged sample, and for runs to which the numbers do not apply.
    """
    rows: list[dict[str, Any]] = []
    whole = next(iter(results.values()))
    figure = whole.figure
    same_draws = {reading.name: selection(reading.same_draws) for reading in figure.readings if reading.same_draws}
    for reading, under in results.items():
        if not (under.provenance.packaged or under.provenance.other_than_published):  # no evidence
            ours = _with_all_repetitions(under, whole)
            rows += [{READING: reading} | row for row in _rows(ours, size, same_draws.get(reading))]
    if not rows:
        return pd.DataFrame(columns=list(NUMBERS))
    table = pd.DataFrame(rows)
    labelled = [str(name) for name in table if name not in NUMBERS]
    groups = table.groupby([*labelled, "what"], sort=False, dropna=False)
    for _, same in groups:
        table.loc[same.index, "verdict"] = verdict(same, same[READING] == of_paper(figure))
    in_order = np.argsort(groups.ngroup().to_numpy(), kind="stable")
    return table.iloc[in_order][[*labelled, *NUMBERS]].reset_index(drop=True)


def _rows(results: Results[Figure], in_print: int, same: Selection | None) -> Iterator[dict[str, Any]]:
    """Yield every published number with ours; ``same`` selects the runs with the authors' draws, if any."""
    figure, published, finals = results.figure, results.published_numbers(), results.finals
    few = Results(figure, results.curves, finals[finals["repetition"] < in_print], results.provenance)
    firsts = figure.tables(few) if same is not None else {}
    for name, table in figure.tables(results).items():
        whats = [str(column)[len("published_") :] for column in table if str(column).startswith("published_")]
        for place, row in enumerate(table.to_dict("records")):
            labels = {axis: canonical(row[axis]) for axis in results.axes if axis in row}
            for what in whats:
                value = row[f"published_{what}"]
                if what == "note" or not math.isfinite(value):
                    continue
                cell = next(n.cell for n in published if n.what == what and n.labels.items() <= labels.items())
                entry = {"what": what, "cell": cell, "published": value, "first": math.nan}
                if same is not None and matches(labels, same) and firsts[name].iloc[place]["n"] == in_print:
                    entry["first"] = _as_printed(figure, firsts[name].iloc[place][what], what, in_print)
                yield labels | entry | _beside(results, labels, row, what, in_print)


def of_paper(figure: Figure) -> str:
    """Return the name of the paper's own reading, the first reading, or "" if that is the authors' code."""
    if not figure.readings:
        return AS_PRINTED
    return "" if figure.readings[0].source[0] == "code" else figure.readings[0].name


def verdict(rows: pd.DataFrame, is_of_paper: "pd.Series[bool]") -> str:
    """Return the verdict on a number from its rows in `numbers_table`.

    ``is_of_paper`` states whether a row is under the paper's reading.
    """
    if is_exact(rows).any():
        return EXACT
    if ((rows["inside"] == "yes") & is_of_paper).any():
        return INSIDE
    return POSSIBLE if (rows["predicted"] == "yes").any() else OUTSIDE


def is_exact(rows: pd.DataFrame) -> "pd.Series[bool]":
    return (rows["first"] - rows["published"]).abs() <= rows["published"].map(rounding)


def _with_all_repetitions(results: Results[Figure], of_first: Results[Figure]) -> Results[Figure]:
    """Return a reading's results, in which unchanged experiments have all repetitions of the first reading.

    A reading may stop after fewer repetitions, but equal runs must give the same number under both readings.
    """
    figure, taken, less = results.figure, [], []
    for key in results.experiments:
        few, many = results.rows(key), of_first.rows(key)
        if len(few) and len(few) < len(many):
            same = many[many["repetition"].isin(few["repetition"])]
            if all(
                np.array_equal(few[name].to_numpy(), same[name].to_numpy(), equal_nan=name == figure.column)
                for name in ("repetition", figure.column)
            ):
                taken.append(many)
                less += few.index.tolist()
    if not taken:
        return results
    return Results(figure, results.curves, pd.concat([results.finals.drop(index=less), *taken]), results.provenance)


def _beside(
    results: Results[Figure], labels: Mapping[str, str], row: Mapping[Any, Any], what: str, size: int
) -> dict[str, Any]:
    """Return our number for a published one, with its intervals."""
    figure, n, estimate = results.figure, int(row.get("n", 0)), float(row.get(what, math.nan))
    value = float(row[f"published_{what}"])
    stem = what.removesuffix("mean").removesuffix("std")
    std = math.nan if what == "best" else float(row.get(f"{stem}std", math.nan))
    if what == "best":
        intervals = Intervals(float(row["best_low"]), float(row["best_high"]), math.nan, math.nan)
    elif what.endswith("std"):
        intervals = of_std(std, n, size)
        low, high = (_as_printed(figure, end, what, size) for end in intervals[2:])
        intervals = intervals._replace(further_low=low, further_high=high)
    else:
        intervals = of_mean(estimate, std, n, size)
    if (ends := figure.further(results, labels, what, size)) is not None:
        intervals = intervals._replace(further_low=ends[0], further_high=ends[1])
    half_unit = rounding(value)
    inside, predicted = (
        "" if math.isnan(low) else "yes" if low - half_unit <= value <= high + half_unit else "no"
        for low, high in (intervals[:2], intervals[2:])
    )  # fmt: skip
    columns = dict(zip(("ci_low", "ci_high", "further_low", "further_high"), intervals, strict=True))
    return {"estimate": estimate, "std": std, "n": n, **columns, "inside": inside, "predicted": predicted}


def _as_printed(figure: Figure, value: float, what: str, size: int) -> float:
    """Return our number as the paper would print it; a standard deviation may have the divisor n, which is ``size``."""
    is_less = what.endswith("std") and figure.deviation == "population"
    return value * math.sqrt((size - 1) / size) if is_less else value
