"""The page of what is running, from what the processes say of themselves and panels as they stand."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from bench.report.gallery.build import environment
from bench.report.gallery.small import small
from bench.report.gallery.text import number
from bench.report.plot import Plot


class Sketch(NamedTuple):
    """A panel: its title, an SVG, and for each line its name, last value, interval, and number of repetitions."""

    title: str
    svg: str
    rows: list[tuple[str, str, str, str]]


def sketches(plot: Plot) -> list[Sketch]:
    """Return a plot's panels drawn small, those that are empty left out."""
    found = []
    for panel in plot.panels:
        rows = []
        for mark in panel.marks:
            points = [point for point in mark.points() if point[1] is not None]
            if mark.part == "line" and points and points[-1][4] is not None:
                _, value, low, high, n = points[-1]
                ends = "" if low is None or high is None else f"[{number(low)}, {number(high)}]"
                rows.append((mark.name, number(value), ends, number(n)))
        if panel.marks:
            found.append(Sketch(panel.title or plot.title, small(panel, 360, 220, words=True), rows))
    return found


def script(name: str) -> str:
    """Return a script of the pages."""
    return environment().get_template(name).render()


def page(processes: Sequence[tuple[Any, Sequence[tuple[Any, Sequence[Sketch] | str]]]], run: Any = None) -> str:
    """Return the page.

    Parameters
    ----------
    processes
        For each process that runs repetitions its status (`runners.execute.live.Status`), and its groups with their
        panels, or with a word on why there are none.
    run
        In place of processes a single run: its group, its panels, and its settings as text.
    """
    return environment().get_template("live.html.j2").render(processes=processes, run=run)
