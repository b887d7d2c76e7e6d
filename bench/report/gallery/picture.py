"""A plot as part of a page: panels that flow, a legend that hides and isolates, and numbers to be pointed at."""

import io
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bench.report.drawing import draw_panel
from bench.report.drawing import sample as handle_of
from bench.report.gallery.colours import as_tokens
from bench.report.parts import read_part_id
from bench.report.plot import Mark, Panel, Plot, Sample
from bench.report.style import RANDOM_ARMS, applied

_POINTS = 72.0
# Wider panels would have to be scrolled sideways on a phone, in inches.
_PHONE = 4.6
# A legend's sample, in inches.
_SAMPLE = (34 / _POINTS, 17 / _POINTS)
_NOTHING = dict.fromkeys(("Date", "Creator", "Format", "Type"))
_CLEAR: Any = {"figure.facecolor": "none", "axes.facecolor": "none"}


class Entry(NamedTuple):
    """A line of the legend: its words, a sample as SVG and a colour, or ""; whether parts of the picture bear it."""

    name: str
    sample: str
    colour: str
    is_part: bool


class View(NamedTuple):
    """A panel: its SVG, its title, and its marks with numbers and positions, as for JSON."""

    svg: str
    title: str
    marks: list[dict[str, Any]]


@dataclass(frozen=True)
class Picture:
    """Panels, each as wide as given in points, legend, and the sentences below."""

    panels: list[View]
    width: float
    legend: list[Entry]
    caption: list[str]


class _Writer(RendererSVG):
    """Names parts of marks by data in place of ids, of which a page with several pictures must have none twice."""

    def open_group(self, s: str, gid: str | None = None) -> None:
        part = read_part_id(gid or "")
        self.writer.start("g", attrib={"data-part": part[0], "data-name": part[2]} if part else {})


def picture(plot: Plot, prefix: str) -> Picture:
    """Return a plot as part of a page; ``prefix`` tells its ids from those of other plots there."""
    is_table = any(panel.is_table for panel in plot.panels)
    width = plot.panel_size[0] if is_table else min(plot.panel_size[0], _PHONE)
    with applied():
        mpl.rcParams.update(_CLEAR)
        views = [
            _view(panel, (width, plot.panel_size[1]), f"{prefix}{number}") for number, panel in enumerate(plot.panels)
        ]
        entries = _legend(plot, prefix)
    sentences = [part.rstrip(".") + "." for part in (plot.note, *plot.caption) if part]
    return Picture(views, round(_POINTS * width, 1), entries, sentences)


def _view(panel: Panel, size: tuple[float, float], salt: str) -> View:
    figure = Figure(figsize=size, dpi=_POINTS, layout="constrained")
    axes = figure.add_subplot()
    draw_panel(axes, replace(panel, title="", subtitle=""))  # the page says them
    axes.xaxis.label.set_wrap(True)
    svg = _svg(figure, salt)
    marks = [_placed(mark, axes) for mark in panel.marks if mark.number and len(mark.numbers)]
    title = ". ".join(filter(None, (panel.title, panel.subtitle)))
    return View(svg, title, [mark for mark in marks if mark["points"]])


def _svg(figure: Figure, salt: str) -> str:
    """Return a figure as an element of a page; ``salt`` makes its ids differ from those of other figures there."""
    file = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": salt}):
        writer = _Writer(*figure.bbox.size, file, image_dpi=_POINTS, metadata=dict(_NOTHING))
        figure.draw(writer)
        writer.finalize()
    return as_tokens("<svg" + file.getvalue().partition("<svg")[2])


def _placed(mark: Mark, axes: Axes) -> dict[str, Any]:
    """Return a mark's words and its points: place, number, ends, repetitions, and where they are in the SVG."""
    height, count = float(axes.figure.bbox.height), len(mark.numbers)
    x, y = (np.full(count, axes.viewLim.p0[i]) if own is None else own for i, own in enumerate((mark.x, mark.y)))
    spots = axes.transData.transform(np.column_stack([x, y]).astype(float))
    points = []
    for point, (across, up) in zip(mark.points(), spots, strict=True):
        if point[1] is not None:  # what is missing is not drawn
            at = [None if mark.x is None else _short(across, 4), None if mark.y is None else _short(height - up, 4)]
            points.append([_short(value) for value in point] + at)
    words = {"part": mark.part, "name": mark.name, "case": mark.case, "what": mark.what, "x": mark.places_are}
    words["ends"] = mark.ends
    placed: dict[str, Any] = {key: word for key, word in words.items() if word} | {"points": points}
    if mark.shape in ("box", "tick", "cell"):
        low, high = (mark.low[0], mark.high[0]) if mark.shape == "box" else (x[0], x[0])
        corners = [(low, y[0] - mark.half), (high, y[0] + mark.half)]
        if mark.shape == "cell":
            corners = [(x[0], y[0]), (x[0] + 1, y[0] + 1)]
        ends = axes.transData.transform(np.array(corners, dtype=float))
        across, down = np.sort(ends[:, 0]), np.sort(height - ends[:, 1])
        placed["box"] = [round(float(edge), 1) for edge in (*across, *down)]
    return placed


def _legend(plot: Plot, prefix: str) -> list[Entry]:
    """Return the legend: methods, then random arms and other lines, then what only explains a sign."""
    colours: dict[str, str] = {}
    for mark in plot.marks():
        if mark.name:
            colours[mark.name] = colours.get(mark.name) or (mark.look.color if mark.part == "line" else "")
    samples = {name: _sample(sample, f"{prefix}{name}") for name, sample in plot.legend.items()}
    ordered = [*(name for name in samples if name in colours), *(name for name in colours if name not in samples)]
    names = sorted(ordered, key=lambda name: (name == RANDOM_ARMS, not colours[name]))
    entries = [Entry(name, samples.get(name, ""), colours[name], True) for name in names]
    return entries + [Entry(name, sample, "", False) for name, sample in samples.items() if name not in colours]


def _sample(sample: Sample, salt: str) -> str:
    """Return what stands for a name in the legend, as SVG."""
    figure = Figure(figsize=_SAMPLE, dpi=_POINTS)
    handle: Any = handle_of(sample)
    if isinstance(handle, Line2D):
        handle.set(data=([0.03, 0.5, 0.97], [0.5] * 3), markevery=[1])
    else:
        handle.set_bounds(0.18, 0.18, 0.64, 0.64)
    figure.add_artist(handle)
    return _svg(figure, salt)


def _short(value: Any, digits: int = 5) -> Any:
    """Return a number with few digits, None for a missing one, text as it is."""
    if isinstance(value, str) or value is None:
        return value
    number = float(f"{float(value):.{digits}g}")
    return int(number) if number == int(number) else number
