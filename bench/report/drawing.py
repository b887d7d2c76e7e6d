"""Draw a panel with matplotlib: its marks, its axes and their numbers."""

import math
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from bench.report.parts import part_id
from bench.report.plot import Axis, Look, Mark, Panel, Sample, wrapped
from bench.report.rows import TITLE_LETTERS
from bench.report.style import SETTINGS
from bench.report.typeset import typeset

# From these ratios of the ends on, a logarithmic axis shows 1 and 3, or 1 alone, of each power of ten.
_SEVERAL_TIMES, _MANY_TIMES = 20.0, 1e3
# From here on the numbers of such an axis are written as powers.
_POWERS = 1e5
# A logarithmic axis that spans less than this has its numbers at steps of a linear one: 1, 2, 5 would leave it bare.
_NARROW = 5.0
_STEPS = [1, 2, 2.5, 5, 10]
# Numbers from here on are so long that few have room on a horizontal axis, fewer still in a panel of so few letters.
_LONG, _NARROW_PANEL = 10_000, 30
_LETTERS = 48
# The share of a panel of rows that its names leave.
_BESIDE_NAMES = 0.55


def draw_panel(
    axes: Axes, panel: Panel, *, is_left: bool = True, is_bottom: bool = True, letters: tuple[int, int] | None = None
) -> None:
    """Draw a panel; its label of `y` only at the left of a page, that of `x` only where none below says the same.

    ``letters`` is how many have room across and up; default: as many as a panel of the usual size has.
    """
    across, up = letters or (TITLE_LETTERS if panel.rows else _LETTERS, 0)
    subtitle = wrapped(panel.subtitle, across) if letters else panel.subtitle
    axes.set_title("\n".join(filter(None, (_set(panel.title, across), subtitle))), loc="left")
    if is_bottom or (panel.rows and not panel.title):
        axes.set_xlabel(_set(panel.x.label, int(across * (_BESIDE_NAMES if panel.rows else 1)) if letters else 0))
    if is_left:
        axes.set_ylabel(_set(panel.y.label, up))
    if panel.rows:
        _name_rows(axes, panel, is_left)
    if panel.is_empty:
        _say_no_results(axes, panel)
        return
    if panel.is_table:
        _table(axes, panel, is_left, is_narrow=letters is not None)
    for height, colour in panel.lines.items():
        axes.axhline(height, color=colour, linewidth=0.8, zorder=0.5)
    for set_scale, axis in ((axes.set_xscale, panel.x), (axes.set_yscale, panel.y)):
        if axis.log:
            set_scale("symlog", linthresh=axis.linear) if axis.linear else set_scale("log")
    for mark in panel.marks:
        _draw_mark(axes, mark)
    for which, axis in (("x", panel.x), ("y", panel.y)):
        if not panel.is_table:
            _number(axes, which, axis, panel, 3 if across < _NARROW_PANEL else 5)
    if panel.rows and not panel.marks:
        axes.set_xticks([])
    for text in panel.texts:
        coordinates: Any = {"": "data", "x": ("axes fraction", "data"), "xy": "axes fraction"}[text.on]
        place: dict[str, Any] = {"xycoords": coordinates, "textcoords": "offset points", "annotation_clip": False}
        how = text.how | ({"fontsize": mpl.rcParams["ytick.labelsize"]} if letters else {})
        axes.annotate(text.words, (text.x, text.y), xytext=(text.offset, 0), **place, **how)


def _set(words: str, letters: int) -> str:
    """Return words in lines of so many letters, 0: in one, with their mathematics set."""
    return "\n".join(map(typeset, (wrapped(words, letters) if letters else words).split("\n")))


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
    size = look.size * mpl.rcParams["lines.markersize"] / SETTINGS["lines.markersize"]  # smaller in print
    for key, value in (("linewidth", look.width), ("markersize", size), ("markerfacecolor", look.fill)):
        if value:
            style[key] = value
    if look.edge:
        style["markeredgecolor"] = look.edge
    if look.edge_width is not None:
        style["markeredgewidth"] = look.edge_width
    if look.dash == "-":
        style["solid_capstyle"] = "butt" if look.width == 2.2 else "projecting"
    return style


def _number(axes: Axes, which: str, axis: Axis, panel: Panel, few: int) -> None:
    """Set the ends of an axis and write its numbers, or the names at its ticks."""
    own = axes.xaxis if which == "x" else axes.yaxis
    if axis.low is not None or axis.high is not None:
        ends = (axis.low, axis.high)
        axes.set_xlim(*ends) if which == "x" else axes.set_ylim(*ends)
    if panel.rows and which == "y":
        return
    low, high = own.get_view_interval()
    plain = FuncFormatter(lambda value, _: f"{value:,.0f}" if value == round(value) else f"{value:g}")
    if axis.log and axis.linear:
        own.set_minor_locator(NullLocator())
    elif axis.log and not (axis.few and axis.low is not None and high <= _NARROW * low):
        is_wide = high > _MANY_TIMES * low
        steps = (1.0,) if is_wide else (1.0, 3.0) if high > _SEVERAL_TIMES * low else (1.0, 2.0, 5.0)
        own.set_major_locator(LogLocator(subs=steps, numticks=12 if is_wide else None))
        own.set_minor_formatter(NullFormatter())
        power = FuncFormatter(lambda value, _: f"$10^{{{round(math.log10(value))}}}$")
        small = FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
        own.set_major_formatter(power if is_wide and high >= _POWERS else small)
        return
    elif axis.few:
        own.set_minor_locator(NullLocator())
        own.set_major_locator(MaxNLocator(nbins=5, steps=_STEPS))
    elif _is_whole(panel, which):
        own.set_major_locator(MaxNLocator(few if high >= _LONG else "auto", steps=_STEPS, integer=True))
    if axis.ticks is not None:
        own.set_ticks(list(axis.ticks))
    own.set_major_formatter(plain)


def _is_whole(panel: Panel, which: str) -> bool:
    """Whether all numbers along an axis are whole, so that it needs no others."""
    places = [getattr(mark, which) for mark in panel.marks]
    given = [place for place in places if place is not None and len(place)]
    return bool(given) and all((np.mod(place[np.isfinite(place)], 1) == 0).all() for place in given)


def _name_rows(axes: Axes, panel: Panel, is_left: bool) -> None:
    """Write the names beside the rows, first row on top; only in panels at the left."""
    axes.set_yticks(list(panel.y.ticks or ()), [_set(name, 0) for name in panel.y.names or ()])
    axes.tick_params(axis="y", length=0, labelleft=is_left)
    axes.set_ylim(panel.y.low, panel.y.high)
    axes.grid(False, axis="y")


def _table(axes: Axes, panel: Panel, is_left: bool, *, is_narrow: bool) -> None:
    """Prepare axes for cells or words."""
    axes.set_xlim(panel.x.low, panel.x.high)
    axes.set_ylim(panel.y.low, panel.y.high)
    if not panel.names_on_top:
        axes.set_axis_off()
        return
    how: dict[str, Any] = {"rotation": 40, "ha": "left", "rotation_mode": "anchor"} if is_narrow else {}
    names = [name.replace("\n", " ") if is_narrow else name for name in panel.x.names or ()]
    axes.set_xticks(list(panel.x.ticks or ()), names, **how)
    axes.set_yticks(list(panel.y.ticks or ()), [_set(name, 0) for name in panel.y.names or ()])
    axes.tick_params(length=0, labelbottom=False, labeltop=True, labelleft=is_left)
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
