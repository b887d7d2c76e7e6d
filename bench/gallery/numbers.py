"""The page of published numbers of a paper."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bench.audit.published import LEVELS, NUMBER_VERDICTS, PLACEBO, PublishedOverview, reached, within_any
from bench.audit.readings import POSSIBLE
from bench.gallery.claims import spot_of
from bench.gallery.picture import Picture
from bench.report.pictures import content, draw
from bench.report.plot import REFERENCE, Axis, Look, Mark, Panel, Plot, mark
from bench.report.reading import READING
from bench.report.style import Looks, Palette
from bench.report.typeset import readable

NO_LOOKS = Looks()
_NO_METHODS = ("reading", "pairs decided", "in printed order", "share")


class Level(NamedTuple):
    """Ratios ours / printed of a method: the panels, the ratio under the first reading, and the ratio nearest to 1."""

    method: str
    panels: str
    first: str
    nearest: str
    reading: str
    tried: int


class NumbersView(NamedTuple):
    """Counts as text, agreement and differences, the picture under the paper's readings, tables."""

    counts: dict[str, int]
    reached: list[str]
    differs: list[Level]
    first: Picture | None
    levels: list[tuple[str, dict[str, Any], list[str]]]
    placebo: tuple[dict[str, Any], list[str]]


def view(published: PublishedOverview, paper: str, looks: Looks = NO_LOOKS) -> NumbersView | None:
    """Return the page's content for a paper; None if none of its numbers has a counterpart of ours."""
    rows = published.rows[published.rows["paper"] == paper]
    if rows.empty:
        return None
    plot = scatter(rows[rows["is_of_paper"]], paper, looks)
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
        Picture.inline(content(draw(plot), "svg")) if plot.panels else None,
        levels,
        (readable(placebo), PLACEBO),
    )


def differs(groups: Mapping[str, pd.DataFrame]) -> list[Level]:
    """Return our numbers' ratio, and the reading with the least difference, for each method and group of panels."""
    levels = []
    for group, table in groups.items():
        for method in (str(name) for name in table if name not in _NO_METHODS):
            cells = {str(row["reading"]): str(row[method]) for row in table.to_dict("records") if row[method] != "–"}
            nearest = min(cells, key=lambda reading: abs(math.log(float(cells[reading].split()[0]))))
            levels.append(Level(method, group, str(table[method].iloc[0]), cells[nearest], nearest, len(cells)))
    return sorted(levels, key=lambda level: [other.method for other in levels].index(level.method))


def counted(published: PublishedOverview, paper: str) -> dict[str, int]:
    """Return the counts of a paper's published numbers by verdict, as text; empty without counterparts."""
    if paper not in set(published.rows["paper"]):
        return {}
    verdicts = list(published.numbers.loc[published.numbers["paper"] == paper, "verdict"])
    words = {word: word for word in NUMBER_VERDICTS}
    words[POSSIBLE] = "possible ({} lie within the intervals of any reading, {} if swapped)".format(
        *within_any(published, paper)
    )
    return {words[word]: verdicts.count(word) for word in NUMBER_VERDICTS if word in verdicts}


def ratio_of(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the ratio ours / printed, and its position in percent from half to twice; None if unknown."""
    printed, numbers = row["published"], [row.get(key, math.nan) for key in ("ours", "low", "high")]
    if not (printed > 0 and all(value is not None and math.isfinite(value) for value in numbers) and numbers[0] > 0):
        return {"ratio": math.nan, "spot": None}
    dot, left, right = (50 + 46 * math.log2(max(value / printed, 1e-9)) for value in numbers)
    return {"ratio": numbers[0] / printed, "spot": spot_of(dot, left, right)}


_FURTHER = "95 % interval of a further set of the paper's size"
_EQUAL = "ours as printed"
_ROOM = 1.25


def scatter(rows: pd.DataFrame, title: str, looks: Looks = NO_LOOKS) -> Plot:
    """Return our numbers against the printed ones on logarithmic axes of equal scale, a panel for each reading.

    Of a paper's `Published.rows`, best values on a grid and numbers that are not positive are left out.
    """
    is_shown = (rows["what"] != "best") & (rows["published"] > 0) & (rows["estimate"] > 0)
    shown = rows[is_shown]
    methods = tuple(dict.fromkeys(shown["method"]))
    palette = Palette(looks, {}, methods)
    plot = Plot(title, panel_size=(4.4, 4.0), methods=methods, palette=palette, words=looks.words)
    both = shown[["published", "estimate"]].to_numpy(float)
    if not len(both):
        return plot
    ends = both.min() / _ROOM, both.max() * _ROOM
    for reading, under in shown.groupby(READING, sort=False):
        axes = [Axis(label, log=True, low=ends[0], high=ends[1], few=True) for label in ("printed", "ours")]
        panel = Panel(str(reading), x=axes[0], y=axes[1])
        equal = mark(_EQUAL, "", REFERENCE, role="reference", part="bound", x=ends, y=ends, number="")
        panel.marks = [equal]
        for name, rows in under.groupby("method"):
            panel.marks += _of_method(str(name), rows, ends[0], plot.look(str(name), dash="none", size=4.0))
        plot.panels.append(panel)
    for method in methods:
        plot.explain(method, plot.look(method, dash="none"))
    plot.explain(_EQUAL, REFERENCE)
    plot.caption = [f"Bars: {_FURTHER}."]
    return plot


def _of_method(method: str, rows: pd.DataFrame, lowest: float, look: Look) -> list[Mark]:
    """Return the numbers of a method, and their intervals, which end at the lower end of a logarithmic axis."""
    printed, ours, low, high = (
        rows[name].to_numpy(float) for name in ("published", "estimate", "further_low", "further_high")
    )
    gap = np.full(len(rows), np.nan)
    across = np.column_stack([printed, printed, gap]).ravel()
    up = np.column_stack([np.maximum(low, lowest), high, gap]).ravel()
    how: dict[str, Any] = {"name": method, "case": ""}
    bars = Mark(part="further", x=across, y=up, look=Look(look.color, width=0.8, order=2.5), number="", **how)
    points = Mark(part="line", x=printed, y=ours, look=look, low=low, high=high, **how)
    return [bars, points]
