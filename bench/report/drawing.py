"""Draw a plot with matplotlib: title and note above the panels, legend and caption below, nothing on top of another."""

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from bench.report.parts import part_id
from bench.report.plot import Axis, Look, Mark, Panel, Plot, Sample, wrapped
from bench.report.rows import TITLE_LETTERS
from bench.report.style import SURROGATE_COLOUR, applied

# Inches, and inches per letter at the font sizes used here.
_MIN_WIDTH = 7.0
_MARGIN = 0.12
_TITLE_LINE, _NOTE_LINE, _CAPTION_LINE, _LEGEND_LINE = 0.24, 0.17, 0.16, 0.21
_TITLE_LETTER, _SMALL_LETTER, _LEGEND_LETTER = 0.098, 0.066, 0.069
_LEGEND_HANDLE = 0.7
# From these ratios of the ends on, a logarithmic axis shows 1 and 3, or 1 alone, of each power of ten.
_SEVERAL_TIMES, _MANY_TIMES = 20.0, 1e3
# A logarithmic axis that spans less than this has its numbers at steps of a linear one: 1, 2, 5 would leave it bare.
_NARROW = 5.0
_FEW_TICKS: dict[str, Any] = {"nbins": 5, "steps": [1, 2, 2.5, 5, 10]}


def draw(plot: Plot) -> Figure:
    """Return a plot as a page of panels, built without matplotlib's global state."""
    with applied():
        return _Page(plot).figure


def draw_panel(axes: Axes, panel: Panel, *, is_left: bool = True, is_bottom: bool = True) -> None:
    """Draw a panel; its label of `y` only at the left of a page, that of `x` only where none below says the same."""
    title = wrapped(panel.title, TITLE_LETTERS if panel.rows else 48)
    axes.set_title("\n".join(filter(None, (title, panel.subtitle))), loc="left")
    if is_bottom or (panel.rows and not panel.title):
        axes.set_xlabel(panel.x.label)
    if is_left:
        axes.set_ylabel(panel.y.label)
    if panel.rows:
        _name_rows(axes, panel, is_left)
    if panel.is_empty:
        _say_no_results(axes, panel)
        return
    if panel.is_table:
        _table(axes, panel)
    for height, colour in panel.lines.items():
        axes.axhline(height, color=colour, linewidth=0.8, zorder=0.5)
    axes.set(**{f"{which}scale": "log" for which, axis in (("x", panel.x), ("y", panel.y)) if axis.log})
    for mark in panel.marks:
        _draw_mark(axes, mark)
    for which, axis in (("x", panel.x), ("y", panel.y)):
        if not panel.is_table:
            _number(axes, which, axis, is_named=panel.rows and which == "y")
    if panel.rows and not panel.marks:
        axes.set_xticks([])
    for text in panel.texts:
        coordinates: Any = {"": "data", "x": ("axes fraction", "data"), "xy": "axes fraction"}[text.on]
        place: dict[str, Any] = {"xycoords": coordinates, "textcoords": "offset points", "annotation_clip": False}
        axes.annotate(text.words, (text.x, text.y), xytext=(text.offset, 0), **place, **text.how)


def sample(given: Sample) -> Artist:
    """Return what stands for a name in the legend."""
    look = given.look
    if given.is_box:
        return Rectangle((0, 0), 1, 1, facecolor=look.color, edgecolor=look.edge or look.color, alpha=look.alpha)
    return Line2D([], [], **_line_style(look))


def _draw_mark(axes: Axes, mark: Mark) -> None:
    look = mark.look

    def gid(part: str) -> str:
        return part_id(part, mark.case, mark.name)

    if mark.shape == "text":
        at = (float(mark.x[0]), float(mark.y[0]))  # type: ignore[index]
        axes.text(*at, mark.text, va="center", fontsize=8.0, gid=gid(mark.part))
    elif mark.shape == "cell":
        x, y = float(mark.x[0]), float(mark.y[0])  # type: ignore[index]
        axes.add_patch(
            Rectangle((x, y), 1, 1, facecolor=look.color, edgecolor=look.edge, linewidth=1.0, gid=gid(mark.part))
        )
        how: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8.0, "color": mark.ink}
        axes.text(x + 0.5, y + 0.5, mark.text, gid=gid("number"), **how)
    elif mark.shape == "box":
        row, low = float(mark.y[0]), float(mark.low[0])  # type: ignore[index]
        box = Rectangle((low, row - mark.half), float(mark.high[0]) - low, 2 * mark.half, zorder=look.order)
        box.set(facecolor=look.color, edgecolor=look.color, alpha=look.alpha, linewidth=1.0, gid=gid(mark.part))
        axes.add_patch(box)
        axes.vlines(mark.x, row - mark.half, row + mark.half, color=look.color, linewidth=1.0, zorder=2.5)  # type: ignore[arg-type]
    elif mark.shape == "tick":
        row = float(mark.y[0])  # type: ignore[index]
        ends, style = (row - mark.half, row + mark.half), {"color": look.color, "linewidth": look.width}
        axes.vlines(mark.x, *ends, zorder=look.order, gid=gid(mark.part), **style)  # type: ignore[arg-type]
    else:
        _draw_line(axes, mark, gid)


def _draw_line(axes: Axes, mark: Mark, gid: Any) -> None:
    look, own = mark.look, {**_line_style(mark.look), "zorder": mark.look.order, "gid": gid(mark.part)}
    has_ends = mark.interval and np.isfinite(mark.low).any()
    if mark.x is None or mark.y is None:
        value = float(mark.numbers[0])
        across = {key: own[key] for key in ("color", "linestyle", "linewidth", "zorder", "gid") if key in own}
        (axes.axhline if mark.x is None else axes.axvline)(value, **across)
        if has_ends:
            band: dict[str, Any] = {"color": look.color, "alpha": 0.1, "linewidth": 0, "zorder": 1, "gid": gid("band")}
            (axes.axhspan if mark.x is None else axes.axvspan)(mark.low[0], mark.high[0], **band)
        return
    if mark.interval == "bars":
        below, above = np.nan_to_num(mark.y - mark.low), np.nan_to_num(mark.high - mark.y)
        del own["gid"]
        drawn = axes.errorbar(mark.x, mark.y, yerr=[below, above], capsize=2, elinewidth=1, **own)
        for part, artist in zip((mark.part, "low", "high", "bars"), drawn.get_children(), strict=False):
            artist.set_gid(gid(part))
        return
    if has_ends and mark.interval == "band":
        band = {"color": look.color, "alpha": 0.15, "linewidth": 0, "zorder": look.order - 1, "gid": gid("band")}
        axes.fill_between(mark.x, mark.low, mark.high, **band)
    elif has_ends:
        part = "bars" if mark.part == "line" else f"{mark.part} bars"
        bars: dict[str, Any] = {"color": look.color, "linewidth": look.width or 2.2, "gid": gid(part)}
        gaps = np.full(len(mark.y), np.nan)
        ends = np.column_stack([mark.low, mark.high, gaps]).ravel()[:-1]
        order = look.order - 2 + (mark.part == "line") * 0.5
        axes.plot(ends, np.repeat(mark.y, 3)[:-1], zorder=order, solid_capstyle="butt", **bars)
    axes.plot(mark.x, mark.y, markevery=mark.every, **own)


def _line_style(look: Look) -> dict[str, Any]:
    """Return a look in matplotlib's words."""
    style: dict[str, Any] = {"color": look.color, "linestyle": look.dash, "marker": look.marker, "alpha": look.alpha}
    if look.alpha == 1.0:
        del style["alpha"]
    for key, value in (("linewidth", look.width), ("markersize", look.size), ("markerfacecolor", look.fill)):
        if value:
            style[key] = value
    if look.edge:
        style["markeredgecolor"] = look.edge
    if look.edge_width is not None:
        style["markeredgewidth"] = look.edge_width
    if look.dash == "-":
        style["solid_capstyle"] = "butt" if look.width == 2.2 else "projecting"
    return style


def _number(axes: Axes, which: str, axis: Axis, is_named: bool) -> None:
    """Set the ends of an axis and write its numbers, or the names at its ticks."""
    own = axes.xaxis if which == "x" else axes.yaxis
    if axis.low is not None or axis.high is not None:
        ends = (axis.low, axis.high)
        axes.set_xlim(*ends) if which == "x" else axes.set_ylim(*ends)
    if is_named:
        return
    low, high = own.get_view_interval()
    if axis.log and not (axis.few and axis.low is not None and high <= _NARROW * low):
        is_wide = high > _MANY_TIMES * low
        steps = (1.0,) if is_wide else (1.0, 3.0) if high > _SEVERAL_TIMES * low else (1.0, 2.0, 5.0)
        own.set_major_locator(LogLocator(subs=steps, numticks=12 if is_wide else None))
        own.set_minor_formatter(NullFormatter())
        own.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
        return
    if axis.few:
        own.set_minor_locator(NullLocator())
        own.set_major_locator(MaxNLocator(**_FEW_TICKS))
    if axis.ticks is not None:
        own.set_ticks(list(axis.ticks))
    own.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value == round(value) else f"{value:g}"))


def _name_rows(axes: Axes, panel: Panel, is_left: bool) -> None:
    """Write the names beside the rows, first row on top; only in panels at the left."""
    axes.set_yticks(list(panel.y.ticks or ()), list(panel.y.names or ()))
    axes.tick_params(axis="y", length=0, labelleft=is_left)
    axes.set_ylim(panel.y.low, panel.y.high)
    axes.grid(False, axis="y")


def _table(axes: Axes, panel: Panel) -> None:
    """Prepare axes for cells or words."""
    axes.set_xlim(panel.x.low, panel.x.high)
    axes.set_ylim(panel.y.low, panel.y.high)
    if not panel.names_on_top:
        axes.set_axis_off()
        return
    axes.set_xticks(list(panel.x.ticks or ()), list(panel.x.names or ()))
    axes.set_yticks(list(panel.y.ticks or ()), list(panel.y.names or ()))
    axes.tick_params(length=0, labelbottom=False, labeltop=True)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _say_no_results(axes: Axes, panel: Panel) -> None:
    """Mark a panel that has nothing to show yet, and leave the names of its rows."""
    place: dict[str, Any] = {"ha": "center", "va": "center", "bbox": {"facecolor": "white", "edgecolor": "none"}}
    axes.text(0.5, 0.5, "no results yet", transform=axes.transAxes, color="#777777", **place)
    axes.set_xticks([])
    axes.grid(False)
    if not panel.rows:
        axes.set_yticks([])


class _Page:
    """A page of panels, laid out in a grid."""

    def __init__(self, plot: Plot) -> None:
        count = max(len(plot.panels), 1)
        self._columns = count if count <= 3 else math.ceil(count / math.ceil(count / (2 if count == 4 else 3)))
        rows = math.ceil(count / self._columns)
        self._width = max(_MIN_WIDTH, self._columns * plot.panel_size[0])
        body = rows * plot.panel_size[1]
        # Beside the title stands the mark of surrogate data.
        title = self._lines(plot.title, _TITLE_LETTER, 1.6 if plot.mark else 0.0) or [""]
        note, caption = self._lines(plot.note, _SMALL_LETTER), self._lines(" ".join(plot.caption), _SMALL_LETTER)
        columns = self._legend_columns([len(label) for label in plot.legend])
        header = _MARGIN + len(title) * _TITLE_LINE + len(note) * _NOTE_LINE + 0.06
        legend = math.ceil(len(plot.legend) / columns) * _LEGEND_LINE
        footer = _MARGIN + len(caption) * _CAPTION_LINE + legend + 0.16
        self._height = header + body + footer
        self.figure = Figure(figsize=(self._width, self._height))
        FigureCanvasAgg(self.figure)
        cells = self.figure.subplots(rows, self._columns, squeeze=False).ravel()
        for number, axes in enumerate(cells):
            if number >= count:
                axes.remove()
            elif plot.panels:
                below = plot.panels[number + self._columns] if number + self._columns < count else None
                is_left = number % self._columns == 0
                is_bottom = below is None or below.x.label != plot.panels[number].x.label
                draw_panel(axes, plot.panels[number], is_left=is_left, is_bottom=is_bottom)
        layout = ConstrainedLayoutEngine(
            rect=(0, footer / self._height, 1, body / self._height), w_pad=0.08, h_pad=0.06, hspace=0.04, wspace=0.03
        )
        self.figure.set_layout_engine(layout)
        self._write_header(title, note, plot.mark)
        self._write_caption(caption)
        if plot.legend:
            bottom = _MARGIN + len(caption) * _CAPTION_LINE + 0.06
            self.figure.legend(
                [sample(one) for one in plot.legend.values()], list(plot.legend), loc="lower center",
                bbox_to_anchor=(0.5, bottom / self._height), ncol=columns, columnspacing=1.4, handlelength=2.8,
                borderaxespad=0, borderpad=0.2, labelspacing=0.35,
            )  # fmt: skip
        # The layout moves a little each time it is computed: fixed here, a figure can be saved twice alike.
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")
        for axes in self.figure.axes:  # the last bits depend on what the process has drawn before
            left, bottom, width, height = (round(float(v), 9) for v in axes.get_position(original=True).bounds)
            axes.set_position((left, bottom, width, height))

    def _write_header(self, title: Sequence[str], note: Sequence[str], mark: str) -> None:
        left, top = _MARGIN / self._width, self._height - _MARGIN
        for line in title:
            self._text(left, top / self._height, line, va="top", fontsize=11.5, fontweight="bold")
            top -= _TITLE_LINE
        for line in note:
            self._text(left, top / self._height, line, va="top", fontsize=8.0, color="#444444")
            top -= _NOTE_LINE
        if mark:
            box = {"facecolor": SURROGATE_COLOUR, "edgecolor": "none", "boxstyle": "round,pad=0.3"}
            how: dict[str, Any] = {"ha": "right", "va": "top", "fontsize": 9.0, "fontweight": "bold", "color": "white"}
            corner = 1 - _MARGIN / self._width, 1 - _MARGIN / self._height
            self._text(*corner, mark, bbox=box, **how)

    def _write_caption(self, lines: Sequence[str]) -> None:
        bottom = _MARGIN
        for line in reversed(lines):
            at = _MARGIN / self._width, bottom / self._height
            self._text(*at, line, va="bottom", fontsize=7.5, color="#444444")
            bottom += _CAPTION_LINE

    def _text(self, x: float, y: float, line: str, **how: Any) -> None:
        # The layout would make room for the text; its room is set aside already.
        self.figure.text(x, y, line, **how).set_in_layout(False)

    def _lines(self, text: str, letter: float, reserved: float = 0.0) -> list[str]:
        letters = int((self._width - 2 * _MARGIN - reserved) / letter)
        return textwrap.wrap(text, max(20, letters), break_on_hyphens=False)

    def _legend_columns(self, letters: Sequence[int]) -> int:
        """Return the number of columns, each as wide as its longest label, that fits the page in the fewest rows."""
        room = self._width - 2 * _MARGIN
        for rows in range(1, len(letters)):
            longest = [max(letters[start : start + rows]) for start in range(0, len(letters), rows)]
            if sum(_LEGEND_HANDLE + _LEGEND_LETTER * count for count in longest) <= room:
                return len(longest)
        return 1
