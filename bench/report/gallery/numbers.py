"""What the page of published numbers says of a paper."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from bench.report.gallery.forest import spot_of
from bench.report.gallery.picture import Picture, picture
from bench.report.published import VERDICTS, Published
from bench.report.published_plot import scatter
from bench.report.published_text import LEVELS, PLACEBO, reached, within_any
from bench.report.readings import POSSIBLE
from bench.report.text import readable


class NumbersView(NamedTuple):
    """Counts in words, what is reached, pictures of the paper's reading and of others, tables with their notes."""

    counts: dict[str, int]
    reached: list[str]
    first: Picture | None
    others: Picture | None
    levels: list[tuple[str, dict[str, Any], list[str]]]
    placebo: tuple[dict[str, Any], list[str]]


def view(published: Published, paper: str) -> NumbersView | None:
    """Return what the page shows of a paper; None if no number of it stands beside ours."""
    rows = published.rows[published.rows["paper"] == paper]
    if rows.empty:
        return None
    plots = [scatter(rows[rows["is_of_paper"] == own], paper) for own in (True, False)]
    first, others = (picture(plot) if plot.panels else None for plot in plots)
    placebo = published.placebo[published.placebo["paper"] == paper].drop(columns="paper")
    groups = {group: table for (name, group), table in published.levels.items() if name == paper}
    levels = [
        (f"Ours / printed{f', {group}' if group else ''}", readable(table), LEVELS if group == list(groups)[-1] else [])
        for group, table in groups.items()
    ]
    return NumbersView(
        counted(published, paper), reached(published, paper), first, others, levels, (readable(placebo), PLACEBO)
    )


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
