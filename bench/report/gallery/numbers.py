"""What the page of published numbers says of a paper."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from bench.report.gallery.claims import spot_of
from bench.report.gallery.picture import Picture, picture
from bench.report.published import VERDICTS, Published
from bench.report.published_plot import scatter
from bench.report.published_text import LEVELS, PLACEBO, reached, within_any
from bench.report.readings import POSSIBLE
from bench.report.text import readable

_NO_METHODS = ("reading", "pairs decided", "in printed order", "share")


class Level(NamedTuple):
    """Ours / printed of a method: in which panels, under the first reading, and under that which is nearest to 1."""

    method: str
    panels: str
    first: str
    nearest: str
    reading: str
    tried: int


class NumbersView(NamedTuple):
    """Counts in words, what is reached and what differs, the picture under the paper's readings, tables."""

    counts: dict[str, int]
    reached: list[str]
    differs: list[Level]
    first: Picture | None
    levels: list[tuple[str, dict[str, Any], list[str]]]
    placebo: tuple[dict[str, Any], list[str]]


def view(published: Published, paper: str) -> NumbersView | None:
    """Return what the page shows of a paper; None if no number of it stands beside ours."""
    rows = published.rows[published.rows["paper"] == paper]
    if rows.empty:
        return None
    plot = scatter(rows[rows["is_of_paper"]], paper)
    placebo = published.placebo[published.placebo["paper"] == paper].drop(columns="paper")
    groups = {group: table for (name, group), table in published.levels.items() if name == paper}
    levels = [
        (f"Ours / printed{f', {group}' if group else ''}", readable(table), LEVELS if group == list(groups)[-1] else [])
        for group, table in groups.items()
    ]
    return NumbersView(
        counted(published, paper),
        reached(published, paper),
        differs(groups),
        picture(plot, paper) if plot.panels else None,
        levels,
        (readable(placebo), PLACEBO),
    )


def differs(groups: Mapping[str, pd.DataFrame]) -> list[Level]:
    """Return for each method and group of panels by how much our numbers differ, and under which reading least."""
    levels = []
    for group, table in groups.items():
        for method in (str(name) for name in table if name not in _NO_METHODS):
            cells = {str(row["reading"]): str(row[method]) for row in table.to_dict("records") if row[method] != "–"}
            nearest = min(cells, key=lambda reading: abs(math.log(float(cells[reading].split()[0]))))
            levels.append(Level(method, group, str(table[method].iloc[0]), cells[nearest], nearest, len(cells)))
    return sorted(levels, key=lambda level: [other.method for other in levels].index(level.method))


def counted(published: Published, paper: str) -> dict[str, int]:
    """Return how many of a paper's published numbers came to what, in words; empty if nothing stands beside any."""
    if paper not in set(published.rows["paper"]):
        return {}
    verdicts = list(published.numbers.loc[published.numbers["paper"] == paper, "verdict"])
    words = {word: word for word in VERDICTS}
    words[POSSIBLE] = "possible ({} lie within the intervals of any reading, {} if swapped)".format(
        *within_any(published, paper)
    )
    return {words[word]: verdicts.count(word) for word in VERDICTS if word in verdicts}


def ratio_of(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return ours / printed of a number, and where it lies in percent between half and twice; None where unknown."""
    printed, numbers = row["published"], [row.get(key, math.nan) for key in ("ours", "low", "high")]
    if not (printed > 0 and all(value is not None and math.isfinite(value) for value in numbers) and numbers[0] > 0):
        return {"ratio": math.nan, "spot": None}
    dot, left, right = (50 + 46 * math.log2(max(value / printed, 1e-9)) for value in numbers)
    return {"ratio": numbers[0] / printed, "spot": spot_of(dot, left, right)}
