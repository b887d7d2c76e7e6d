"""A plot as part of a page: each panel drawn with matplotlib, and where its numbers lie, for the pointer."""

import io
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
from markupsafe import Markup, escape
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from bench.report.drawing import sample
from bench.report.page import draw
from bench.report.plot import Mark, Panel, Plot, Sample
from bench.report.style import applied
from bench.report.typeset import in_unicode

_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_POINTS = 72.0
_BETWEEN = 3.0
"""Dots between numbers of an axis: of those that would lie on another one is left out."""
_HEADS = 0.9
"""Inches that a table needs for its heads, which stand slantwise in print."""
_ROWS = 0.7
"""Panels of rows are as high as this share of those in print."""
_SAMPLE = (34 / _POINTS, 17 / _POINTS)
_NO_PREFIX = "\0"


class Entry(NamedTuple):
    """A line of the legend: its words, its sample, and whether marks bear its name."""

    name: str
    svg: Markup
    is_part: bool


class PanelView(NamedTuple):
    """A panel: its title, its picture, and as for JSON its ``frame`` and ``marks``, in points of the picture."""

    title: str
    svg: Markup
    numbers: dict[str, Any]


class Picture(NamedTuple):
    """Panels, the least width of each in pixels, the legend, and the sentences below."""

    panels: list[PanelView]
    width: int
    legend: list[Entry]
    caption: list[str]


def picture(plot: Plot, key: str = "") -> Picture:
    """Return a plot as part of a page; ``key`` tells it from others on the page."""
    plot = plot.spelled()
    is_table = any(panel.is_table for panel in plot.panels)
    has_rows = any(panel.rows for panel in plot.panels)
    width = 600 if is_table else 380 if has_rows or len(plot.panels) < 7 else 290
    note = plot.note[:1].upper() + plot.note[1:]  # it begins with what the numbers rest on
    sentences = [part.rstrip(".") + "." for part in map(in_unicode, (note, *plot.caption)) if part]
    panels = [_panel(plot, panel, f"{key}-{i}-") for i, panel in enumerate(plot.panels)]
    return Picture(panels, width, _legend(plot, key), sentences)


def _panel(plot: Plot, panel: Panel, prefix: str) -> PanelView:
    width, height = plot.panel_size
    size = width, height * (_ROWS if panel.rows else 1.0) + (_HEADS if panel.is_table else 0.0)
    figure = draw(replace(plot, panels=[panel], panel_size=size, legend={}, mark=""), "column")
    (axes,) = figure.axes
    for before, artist in pairwise(axes.get_children()):
        if isinstance(artist, LineCollection) and (before.get_gid() or "").startswith("box:"):
            artist.set_gid(before.get_gid())  # the median within a box
    end = -math.inf
    for label in [] if panel.is_table else axes.get_xticklabels():
        box = label.get_window_extent()
        label.set_visible(box.x0 > end)
        end = max(end, box.x1 + _BETWEEN) if label.get_visible() else end
    scale, height = _POINTS / figure.dpi, _POINTS * figure.get_figheight()
    (x0, y0), (x1, y1) = axes.bbox.get_points() * scale
    frame = [round(float(value), 1) for value in (x0, height - y1, x1, height - y0)]
    marks = [_mark(mark, axes, scale, height) for mark in panel.marks if mark.number]
    title = in_unicode(". ".join(filter(None, (panel.title, panel.subtitle))))
    return PanelView(title, _svg(figure, prefix), {"frame": frame, "marks": marks})


def _mark(mark: Mark, axes: Axes, scale: float, height: float) -> dict[str, Any]:
    """Return a mark: words, its points as place, number, ends and repetitions, and where each lies; of boxes corners.

    A line across the panel has None for one of the coordinates.
    """

    def spots(x: Any, y: Any) -> list[list[float | None]]:
        with np.errstate(all="ignore"):
            places = axes.transData.transform(np.column_stack([x, y])) * scale
        places[:, 1] = height - places[:, 1]
        return [[_short(round(float(value), 1)) for value in place] for place in places]

    words = {"part": mark.part, "name": mark.name, "case": mark.case, "what": mark.what, "label": mark.places_are}
    words["ends"] = mark.ends if len(mark.low) else ""
    known: dict[str, Any] = {key: in_unicode(word) for key, word in words.items() if word}
    known["points"] = [[_short(value) for value in point] for point in mark.points()]
    if mark.x is None or mark.y is None:
        is_level = mark.x is None
        [[x, y]] = spots([1.0], mark.y) if is_level else spots(mark.x, [1.0])
        return known | {"at": [[None, y] if is_level else [x, None]], "across": True}
    if mark.shape in ("box", "tick", "cell"):
        low, high = (mark.low, mark.high) if mark.shape == "box" else (mark.x, mark.x + (mark.shape == "cell"))
        below, above = (0, 1) if mark.shape == "cell" else (-mark.half, mark.half)
        (x0, y0), (x1, y1) = spots([low[0], high[0]], [mark.y[0] + below, mark.y[0] + above])
        return known | {"box": [x0, x1, *sorted((y0, y1), key=float)], "at": []}  # type: ignore[arg-type]
    return known | {"at": spots(mark.x, mark.y)}


def _legend(plot: Plot, key: str) -> list[Entry]:
    """Return the legend: methods, then random arms and other lines, then what only explains a sign."""
    marks = [] if any(panel.is_table for panel in plot.panels) else sorted(plot.marks(), key=lambda m: m.part != "line")
    looks: dict[str, Sample] = {}
    for mark in (mark for mark in marks if mark.name):
        looks.setdefault(mark.name, Sample(mark.look))
    methods = {mark.name for mark in marks if mark.part == "line"}
    entries: Mapping[str, Sample] = plot.legend | {
        name: look for name, look in looks.items() if name not in plot.legend
    }
    order = sorted(
        entries, key=lambda name: (name not in looks, entries[name].role == "reference", name not in methods)
    )
    return [
        Entry(in_unicode(name), _sample(entries[name], f"{key}-s{i}-"), name in looks) for i, name in enumerate(order)
    ]


def _sample(given: Sample, prefix: str) -> Markup:
    return Markup(_drawn(given).replace(_NO_PREFIX, escape(prefix)))


@cache
def _drawn(given: Sample) -> Markup:
    """Return a sample, which many figures share, with `_NO_PREFIX` before its ids."""
    with applied():
        figure = Figure(figsize=_SAMPLE)
        artist: Artist = sample(given)
        if isinstance(artist, Line2D):
            artist.set(data=([0.03, 0.5, 0.97], [0.5, 0.5, 0.5]), markevery=[1])
        elif isinstance(artist, Rectangle):
            artist.set_bounds(0.18, 0.24, 0.64, 0.52)
        artist.set_transform(figure.transFigure)
        figure.add_artist(artist, clip=False)
        return _svg(figure, _NO_PREFIX)


def _svg(figure: Figure, prefix: str) -> Markup:
    """Return a figure as a part of a page, where parts of marks say what they are, and ids begin with a prefix."""
    file = io.StringIO()
    for axes in figure.axes:
        axes.set_facecolor("none")
    with applied():
        figure.savefig(file, format="svg", facecolor="none", metadata=_METADATA)
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", file.getvalue(), flags=re.DOTALL)
    svg = svg[svg.index("<svg") :].replace("font-family: 'DejaVu Sans'; ", "").replace("xlink:href", "href")
    svg = re.sub(r'^<svg [^>]*(viewBox="[^"]*")[^>]*>', r"<svg \1>", svg)
    svg = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), svg)
    svg = re.sub(r'<g id="([^":]*):[^":]*:([^":]*)"', _named, svg)
    svg = re.sub(r'(id="|href="#|url\(#)([mp][0-9a-f]{10})', rf"\g<1>{escape(prefix)}\2", svg)
    svg = re.sub(r' id="[\w.]+_\d+"', "", svg)
    return Markup(re.sub(r"\s+", " ", svg))


def _named(match: re.Match[str]) -> str:
    part, name = (escape(in_unicode(unquote(word))) for word in match.groups())
    return f'<g data-part="{part}" data-name="{name}"'


def _short(value: Any) -> Any:
    """Return a number with five digits, None for a missing one, text as it is."""
    if isinstance(value, str) or value is None:
        return value
    if not math.isfinite(value):
        return None
    number = float(f"{float(value):.5g}")
    return int(number) if number == int(number) else number
