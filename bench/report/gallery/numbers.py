"""What a paper's page says of its published numbers."""

from typing import Any, NamedTuple

from bench.report.gallery.picture import Picture, picture
from bench.report.published import VERDICTS, Published
from bench.report.published_plot import scatter
from bench.report.published_text import LEVELS, PLACEBO, reached, within_any
from bench.report.readings import POSSIBLE
from bench.report.text import readable


class NumbersView(NamedTuple):
    """Counts in words, what is reached, pictures of the paper's reading and of others, tables with title and notes."""

    counts: dict[str, int]
    reached: list[str]
    first: Picture | None
    others: Picture | None
    tables: list[tuple[str, dict[str, Any], list[str]]]


def view(published: Published, paper: str) -> NumbersView | None:
    """Return what the paper's page shows; None if no number of it stands beside ours."""
    rows = published.rows[published.rows["paper"] == paper]
    if rows.empty:
        return None
    plots = [scatter(rows[rows["is_of_paper"] == own], paper) for own in (True, False)]
    first, others = (picture(plot, f"{name}-") if plot.panels else None
                     for name, plot in zip(("first", "others"), plots, strict=True))  # fmt: skip
    placebo = published.placebo[published.placebo["paper"] == paper].drop(columns="paper")
    tables = [("Does a reading reach more than false numbers?", readable(placebo), PLACEBO)]
    groups = {group: table for (name, group), table in published.levels.items() if name == paper}
    for group, table in groups.items():
        notes = LEVELS if group == list(groups)[-1] else []
        tables.append((f"Ours / printed{f', {group}' if group else ''}", readable(table), notes))
    return NumbersView(counted(published, paper), reached(published, paper), first, others, tables)


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
