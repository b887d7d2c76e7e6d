"""A plot as part of a page: panels that flow, a legend that hides and isolates, and numbers to be pointed at."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Bbox

from bench.report.drawing import draw_panel
from bench.report.parts import read_part_id
from bench.report.plot import Look, Mark, Panel, Plot, Sample
from bench.report.style import RANDOM_ARMS, applied

# Inches: of a panel's own space, less what its labels take on a page of panels; room around it on the canvas.
_LABELS, _ROOM = (0.75, 0.72), 4.0
_POINTS = 72.0
# Wider panels would have to be scrolled sideways on a phone: of the axes in inches, of all in points.
_WIDEST, _PHONE = 3.6, 344.0
# Points around a panel.
_PAD = 3.0
# A legend's sample, in points.
_WIDTH, _HEIGHT = 34.0, 17.0
_DASHES: dict[str, tuple[float, ...]] = {"-": (), ":": (1.0, 1.65)}
_CODES = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}


class Entry(NamedTuple):
    """A line of the legend: its words, a sample as SVG and a colour, or ""; whether parts of the picture bear it."""

    name: str
    sample: str
    colour: str
    is_part: bool


@dataclass(frozen=True)
class View:
    """A panel: its SVG, its width in points, its title, and its marks with numbers and positions, as for JSON."""

    svg: str
    width: float
    title: str
    marks: list[dict[str, Any]]


@dataclass(frozen=True)
class Picture:
    """Panels, legend, and the sentences below."""

    panels: list[View]
    legend: list[Entry]
    caption: list[str]


def picture(plot: Plot, prefix: str) -> Picture:
    """Return a plot as part of a page; ``prefix`` tells its ids from those of other plots there."""
    with applied():
        canvases = [_canvas(panel, plot.panel_size) for panel in plot.panels]
        # All panels get the same space around their axes, so that they line up.
        room = np.max([_room(axes, box) for axes, box in canvases], axis=0) if canvases else np.zeros(4)
        views = [
            _view(panel, axes, room, f"{prefix}{number}-")
            for number, (panel, (axes, _)) in enumerate(zip(plot.panels, canvases, strict=True))
        ]
    sentences = [part.rstrip(".") + "." for part in (plot.note, *plot.caption) if part]
    return Picture(views, _legend(plot), sentences)


def _canvas(panel: Panel, size: Sequence[float]) -> tuple[Axes, Bbox]:
    """Return a panel on a canvas of its own, and the box that holds all of it, in points."""
    width, height = (max(1.0, whole - labels) for whole, labels in zip(size, _LABELS, strict=True))
    if panel.is_table:
        return _sized(panel, width, height)
    axes, box = _sized(panel, min(width, _WIDEST), height)
    over = (box.width - _PHONE) / _POINTS
    return _sized(panel, max(min(width, _WIDEST) - over, 1.2), height) if over > 0 else (axes, box)


def _sized(panel: Panel, width: float, height: float) -> tuple[Axes, Bbox]:
    """Return a panel with axes of a size in inches, and the box that holds all of it."""
    whole = width + 2 * _ROOM, height + 2 * _ROOM
    figure = Figure(figsize=whole, dpi=_POINTS)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((_ROOM / whole[0], _ROOM / whole[1], width / whole[0], height / whole[1]))
    draw_panel(axes, panel)
    box = axes.get_tightbbox(canvas.get_renderer())
    assert box is not None
    return axes, box


def _room(axes: Axes, box: Bbox) -> list[float]:
    own = axes.bbox
    return [max(0.0, room) + _PAD for room in (own.x0 - box.x0, box.x1 - own.x1, own.y0 - box.y0, box.y1 - own.y1)]


def _view(panel: Panel, axes: Axes, room: Any, prefix: str) -> View:
    figure: Any = axes.figure
    height = float(figure.bbox.height)
    own = axes.bbox
    left, top = own.x0 - room[0], height - own.y1 - room[3]
    size = own.width + room[0] + room[1], own.height + room[2] + room[3]
    file = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": prefix}):
        figure.savefig(file, format="svg", transparent=True)
    box = f"{left:.1f} {top:.1f} {size[0]:.1f} {size[1]:.1f}"
    svg = f'<svg viewBox="{box}" role="img" aria-label="{escape(panel.title or "picture")}">{_body(file, prefix)}</svg>'
    marks = [_placed(mark, axes, height) for mark in panel.marks if mark.number and len(mark.numbers)]
    return View(svg, round(float(size[0]), 1), panel.title, [mark for mark in marks if mark["points"]])


def _body(file: io.StringIO, prefix: str) -> str:
    """Return what a file draws: ids of parts as data, other ids only where they are used, numbers shortened."""
    text = file.getvalue()
    text = re.sub(r"<!--.*?-->", "", text[text.index('<g id="figure_1">') : text.rindex("</svg>")], flags=re.DOTALL)
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', text))

    def name(match: re.Match[str]) -> str:
        part = read_part_id(match[1])
        if part is not None:
            return f' data-part="{escape(part[0])}" data-name="{escape(part[2])}"'
        return f' id="{prefix}{match[1]}"' if match[1] in used else ""

    def shorten(match: re.Match[str]) -> str:
        numbers = re.sub(r"-?\d+\.\d{2,}", lambda number: f"{float(number[0]):.4g}", match[2])
        return f'{match[1]}{" ".join(numbers.split())}"'

    text = re.sub(r' id="([^"]*)"', name, text)
    text = re.sub(r'xlink:href="#', f'href="#{prefix}', text).replace("url(#", f"url(#{prefix}")
    text = re.sub(r'( (?:d|x|y|transform)=")([^"]*)"', shorten, text)
    return re.sub(r">\s+<", "><", text).replace("'DejaVu Sans'", "'DejaVu Sans', sans-serif")


def _placed(mark: Mark, axes: Axes, height: float) -> dict[str, Any]:
    """Return a mark's words and its points: place, number, ends, repetitions, and where they are in the SVG."""
    count = len(mark.numbers)
    x, y = (np.full(count, axes.viewLim.p0[i]) if own is None else own for i, own in enumerate((mark.x, mark.y)))
    spots = axes.transData.transform(np.column_stack([x, y]).astype(float))
    points = []
    for point, (across, up) in zip(mark.points(), spots, strict=True):
        if point[1] is not None:  # what is missing is not drawn
            at = [None if mark.x is None else _short(across, 4), None if mark.y is None else _short(height - up, 4)]
            points.append([_short(value) for value in point] + at)
    words = {"part": mark.part, "name": mark.name, "case": mark.case, "what": mark.what, "x": mark.places_are}
    words["ends"] = mark.ends
    found: dict[str, Any] = {key: word for key, word in words.items() if word} | {"points": points}
    if mark.shape in ("box", "tick", "cell"):
        half = mark.half
        low, high = (mark.low[0], mark.high[0]) if mark.shape == "box" else (x[0], x[0])
        ends = [(low, y[0] - half), (high, y[0] + half)]
        if mark.shape == "cell":
            ends = [(x[0], y[0]), (x[0] + 1, y[0] + 1)]
        corners = axes.transData.transform(np.array(ends, dtype=float))
        across, down = np.sort(corners[:, 0]), np.sort(height - corners[:, 1])
        found["box"] = [round(float(edge), 1) for edge in (*across, *down)]
    return found


def _legend(plot: Plot) -> list[Entry]:
    """Return the legend: methods, then random arms and other lines, then what only explains a sign."""
    colours: dict[str, str] = {}
    for mark in plot.marks():
        if mark.name:
            colours[mark.name] = colours.get(mark.name) or (mark.look.color if mark.part == "line" else "")
    samples = {name: sample_svg(sample) for name, sample in plot.legend.items()}
    ordered = [*(name for name in samples if name in colours), *(name for name in colours if name not in samples)]
    names = sorted(ordered, key=lambda name: (name == RANDOM_ARMS, not colours[name]))
    entries = [Entry(name, samples.get(name, ""), colours[name], True) for name in names]
    return entries + [Entry(name, sample, "", False) for name, sample in samples.items() if name not in colours]


def sample_svg(sample: Sample) -> str:
    """Return what stands for a name in the legend, as SVG."""
    look, parts = sample.look, []
    if sample.is_box:
        parts.append(f'<path d="M6 3H28V14H6Z" fill="{look.color}" stroke="{look.edge or look.color}"/>')
    elif look.dash != "none":
        width = look.width or 1.5
        lengths = _DASHES[look.dash] if isinstance(look.dash, str) else look.dash[1]
        dashes = " ".join(f"{length * width:.3g}" for length in lengths)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        parts.append(f'<path d="M1 8.5H33" fill="none" stroke="{look.color}" stroke-width="{width:g}"{dashed}/>')
    if look.marker:
        parts.append(_marker(look))
    opacity = f' opacity="{look.alpha:g}"' if look.alpha < 1 else ""
    body = "".join(parts)
    return f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" class="sample" aria-hidden="true"{opacity}>{body}</svg>'


def _marker(look: Look) -> str:
    style = MarkerStyle(look.marker)
    size = min(look.size or 5.0, 12.0)
    transform = Affine2D(style.get_transform().get_matrix()).scale(size, -size).translate(_WIDTH / 2, _HEIGHT / 2)
    path = style.get_path().transformed(transform)
    pieces = []
    for points, code in path.iter_segments(curves=True, simplify=False):
        numbers = "" if code == Path.CLOSEPOLY else " ".join(f"{number:.2f}" for number in points)
        pieces.append(f"{_CODES[code]}{numbers}")
    fill = (look.fill or look.color) if style.is_filled() else "none"
    width = 1.0 if look.edge_width is None else look.edge_width
    return f'<path d="{"".join(pieces)}" fill="{fill}" stroke="{look.edge or look.color}" stroke-width="{width:g}"/>'


def _short(value: Any, digits: int = 5) -> Any:
    """Return a number with few digits, None for a missing one, text as it is."""
    if isinstance(value, str) or value is None:
        return value
    number = float(f"{float(value):.{digits}g}")
    return int(number) if number == int(number) else number
