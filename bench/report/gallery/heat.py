"""Methods against families of tasks as a table of a page: shaded, sorted and filtered there."""

import math
from typing import Any, NamedTuple

import pandas as pd

from bench.report.tasks import FAMILY, METHOD
from bench.report.text import interval

_LESS = {0.95: "l1", 0.8: "l2", 0.6: "l3", 0.4: "l4", 0.25: "l5", 0.15: "l6", 0.1: "l7"}
_MORE = {1.05: "m1", 1.2: "m2", 1.5: "m3"}
STEPS = [("l7", "under 0.1"), ("l6", "0.1"), ("l5", "0.15"), ("l4", "0.25"), ("l3", "0.4"), ("l2", "0.6"),
         ("l1", "0.8"), ("", "as the reference"), ("m1", "1.05"), ("m2", "1.2"), ("m3", "over 1.5")]  # fmt: skip


class Row(NamedTuple):
    """A method: its mean rank, in words, with its interval and where that lies in percent; its cells."""

    name: str
    value: str
    interval: str
    spot: tuple[float, float, float] | None
    cells: list[tuple[str, str, str]]


class Heat(NamedTuple):
    """Rows, what the column of means is called, the ends of its axis, families, and the steps of the shades."""

    rows: list[Row]
    last: str
    ends: tuple[float, float]
    families: list[str]
    steps: list[tuple[str, str]]


def heat(values: pd.DataFrame, means: pd.DataFrame, *, has_ranks: bool) -> Heat | None:
    """Return the table of values by family and means over families; None if there is none.

    Parameters
    ----------
    values, means
        The tables ``table`` and ``ranks`` of `bench.report.kinds.ranking.Ranking`.
    has_ranks
        Whether the means are ranks.
    """
    if not {FAMILY, METHOD, "relative"} <= set(values) or METHOD not in means:
        return None
    names = ("mean_rank", "ci_low", "ci_high") if has_ranks else ("relative", "relative_low", "relative_high")
    families = list(dict.fromkeys(values[FAMILY]))
    cells = {(row[METHOD], row[FAMILY]): row for row in values.to_dict("records")}
    numbers = means[list(names)].to_numpy(float)
    known = numbers[pd.notna(numbers).all(axis=1)]
    ends = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    rows = []
    for method, (value, low, high) in zip(means[METHOD], numbers.tolist(), strict=True):
        spot = None
        if all(map(math.isfinite, (value, low, high))):
            left, right, dot = (
                round(4 + 92 * (end - ends[0]) / ((ends[1] - ends[0]) or 1), 1) for end in (low, high, value)
            )
            spot = left, right, dot
        shown = [_cell(cells.get((method, family))) for family in families]
        words = f"{value:.{1 if has_ranks else 2}f}" if math.isfinite(value) else "–"
        rows.append(Row(method, words, interval(low, high), spot, shown))
    return Heat(rows, "mean rank" if has_ranks else "mean", ends, families, STEPS)


def shade(relative: float) -> str:
    """Return the shade of a value relative to the reference's, in steps of its logarithm; "" near 1."""
    less = [step for limit, step in _LESS.items() if relative < limit]
    more = [step for limit, step in _MORE.items() if relative > limit]
    return (less or more or [""])[-1]


def _cell(row: Any) -> tuple[str, str, str]:
    """Return the shade of a cell, its number and its interval."""
    if row is None or not math.isfinite(row["relative"]):
        return "", "", ""
    value = row["relative"]
    return (
        shade(value),
        f"{value:.2f}" if value < 10 else f"{value:.0f}",
        interval(row["relative_low"], row["relative_high"]),
    )
