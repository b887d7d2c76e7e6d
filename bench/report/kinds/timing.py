"""Seconds of runs beside the published ones, and how many times those of a reference they are."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from bench.report.experiments import Experiments
from bench.report.grid_axis import panel_axes
from bench.report.kinds.page import Page, is_surrogate, readable_logarithm, readable_numbers, say_no_results, wrapped
from bench.report.kinds.series import panel_title, series_name
from bench.report.labels import describe, matches, selection
from bench.report.parts import part_id
from bench.report.style import GREY, line_style
from bench.report.timings import timings

_ROW_HEIGHT, _WIDTH = 0.5, 4.9
_ROOM = 0.64
# From this ratio of the ends on, a logarithmic axis has room for the powers of ten only.
_WIDE = 1000.0
# Beyond this share of the time the processor was with other work.
_BUSY = 0.1


def timing(figure: Mapping[str, Any], frame: pd.DataFrame, finals: pd.DataFrame, note: str) -> Figure:
    """Draw median seconds with their range, and medians divided by the reference's; a row per panel.

    Keys of the figure used here: `title`, `column`, `x_label`, `reference`, `panels` (axes that make the rows, default
    `panel`), `published` (`mean`; not shown beside surrogate data).
    """
    data = Experiments(figure, finals)
    table = timings(figure, finals, surrogate=is_surrogate(note))
    panels = data.groups(panel_axes(figure, data), [{}])
    page = Page(
        str(figure.get("title", data.name)), note, 2, (_WIDTH, max(1.8, 0.7 + _ROW_HEIGHT * max(len(panels), 1)))
    )
    left, right = page.axes
    reference = describe(selection(figure["reference"]))
    left.set_xlabel(str(figure.get("x_label", "seconds per run")))
    right.set_xlabel(f"seconds divided by those of {reference}")
    if not table["n"].any():
        say_no_results(left)
        say_no_results(right)
        return page.finish({}, [])
    lines: dict[str, list[tuple[float, Any]]] = {}
    for row, panel in enumerate(panels):
        own = [one for one in table.to_dict("records") if matches({axis: one[axis] for axis in data.axes}, panel)]
        for place, one in enumerate(own):
            name = series_name(data, tuple(one[axis] for axis in data.axes), list(panel))
            height = row + _ROOM * ((place + 0.5) / len(own) - 0.5)
            lines.setdefault(name, []).append((height, one))
    has_published = "published_seconds" in table
    handles: dict[str, Artist] = {}
    for name, points in lines.items():
        _draw(left, name, points, "seconds", has_published)
        _draw(right, name, points, "relative", has_published)
        style = line_style(name)
        handles[name] = Line2D([], [], color=style.color, marker=style.marker, linestyle="none")
    if has_published:
        handles["published"] = Line2D([], [], marker="o", markerfacecolor="none", color="#333333", linestyle="none")
    right.axvline(1.0, color=GREY, linewidth=1.0, zorder=1)
    left.set_xscale("log")
    readable_logarithm(left, "x")
    if left.get_xlim()[1] > _WIDE * left.get_xlim()[0]:
        left.xaxis.set_major_locator(LogLocator(numticks=12))
    readable_numbers(right, "x")
    for axes in (left, right):
        axes.set_yticks(range(len(panels)), [wrapped(panel_title(panel), 24) for panel in panels])
        axes.set_ylim(len(panels) - 0.5, -0.5)
        axes.grid(False, axis="y")
        for row in range(1, len(panels)):
            axes.axhline(row - 0.5, color="#E4E4E4", linewidth=0.8, zorder=0.5)
    right.tick_params(labelleft=False)
    return page.finish(handles, _caption(finals, has_published))


def _draw(axes: Axes, name: str, points: list[tuple[float, Any]], value: str, has_published: bool) -> None:
    style = line_style(name)
    heights = [height for height, _ in points]
    mark: dict[str, Any] = {"marker": style.marker, "color": style.color, "linestyle": "none", "markersize": 4.5}
    own = part_id("line", value, name)
    axes.plot([one[value] for _, one in points], heights, zorder=3, gid=own, **mark)
    if value == "seconds":
        fastest, slowest = ([one[end] for _, one in points] for end in ("fastest", "slowest"))
        axes.hlines(heights, fastest, slowest, color=style.color, linewidth=1.5, gid=part_id("bars", value, name))
    if has_published:
        numbers = [one[f"published_{value}"] for _, one in points]
        axes.plot(numbers, heights, zorder=2, gid=part_id("published", value, name), **mark, markerfacecolor="none")


def _caption(finals: pd.DataFrame, has_published: bool) -> list[str]:
    caption = ["Full marks: median of the measurements, one process, one thread; bars: the fastest to the slowest."]
    if has_published:
        caption.append("Open marks: published, measured on another machine: what can be compared is the right side.")
    share = 1 - finals["cpu_seconds"].sum() / finals["seconds"].sum() if "cpu_seconds" in finals else math.nan
    if np.isfinite(share) and share > _BUSY:
        caption.append(f"For {100 * share:.0f} % of the time the processor was not with the run: it had other work.")
    return caption
