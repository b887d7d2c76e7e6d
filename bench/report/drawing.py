"""Drawing of a panel with matplotlib, with marks, axes and their numbers."""

import math
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import Formatter, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from bench.report.plot import Axis, Look, Mark, Panel, wrapped
from bench.report.rows import TITLE_LETTERS
from bench.report.style import SETTINGS
from bench.report.typeset import typeset

# Ratios of the ends from which a logarithmic axis shows 1 and 3, or only 1, of each power of ten.
_SEVERAL_TIMES, _MANY_TIMES = 20.0, 1e3
# Ratio from which the numbers of such an axis are written as powers.
_POWERS = 1e5
# A logarithmic axis that spans less than this has linear steps, because 1, 2, 5 would leave it bare.
_NARROW = 5.0
_STEPS = [1, 2, 2.5, 5, 10]
# Ends that differ by no more are equal up to rounding.
_ALIKE = 1e-9
# Numbers of this length or more have little room on a horizontal axis, less in a panel of few letters.
_LONG, _NARROW_PANEL = 10_000, 30
_LETTERS = 48
# Share of the width of a panel of rows beside its names.
_BESIDE_NAMES = 0.55


def draw_panel(
    axes: Axes, panel: Panel, *, is_left: bool = True, is_bottom: bool = True, letters: tuple[int, int] | None = None
) -> None:
    """Draw a panel.

    The `y` label is drawn only at the left of a page, and the `x` label unless the panel below has the same label.
    ``letters`` is the width and height of the panel in letters, by default of the usual size.
    """
    across, up = letters or (TITLE_LETTERS if panel.rows else _LETTERS, 0)
    subtitle = wrapped(panel.subtitle, across) if letters else panel.subtitle
    # At a given height no free place is sought: only numbers on top could overlap, and measuring them is slow
    at: dict[str, Any] = {} if panel.is_table else {"y": 1.0}
    axes.set_title("\n".join(filter(None, (_set(panel.title, across), subtitle))), loc="left", **at)
    if is_bottom or (panel.rows and not panel.title):
        axes.set_xlabel(_set(panel.x.label, int(across * (_BESIDE_NAMES if panel.rows else 1)) if letters else 0))
    if is_left:
        axes.set_ylabel(_set(panel.y.label, up))
    if panel.rows:
        _name_rows(axes, panel, is_left)
        axes.grid(False, axis="y")
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
    if not panel.is_table:
        _number(axes, "x", panel.x, panel, across)
        _number(axes, "y", panel.y, panel, across)
    if panel.rows and not panel.marks:
        axes.set_xticks([])
    for text in panel.texts:
        coordinates: Any = {"x": ("axes fraction", "data"), "xy": "axes fraction"}[text.on]
        how = {"xycoords": coordinates, "textcoords": "offset points", "annotation_clip": False, **text.how}
        how |= {"fontsize": mpl.rcParams["ytick.labelsize"]} if letters else {}
        axes.annotate(text.words, (text.x, text.y), xytext=(text.offset, 0), **how)


def _set(words: str, letters: int = 0) -> str:
    """Return text in lines of up to ``letters`` letters (0: one line), with mathematics as formulas."""
    return "\n".join(map(typeset, (wrapped(words, letters) if letters else words).split("\n")))


def sample(look: Look) -> Artist:
    """Return the sample of a name in the legend."""
    if look.is_box:
        return Rectangle((0, 0), 1, 1, facecolor=look.color, edgecolor=look.edge or look.color, alpha=look.alpha)
    return Line2D([], [], **_line_style(look))


def _draw_mark(axes: Axes, mark: Mark) -> None:
    """Draw a mark, whose parts in an SVG have ids made of the kind of part, the case and the name."""
    look = mark.look

    def gid(part: str) -> str:
        return ":".join(quote(text, safe="") for text in (part, mark.case, mark.name))

    if mark.shape == "line":
        _draw_line(axes, mark, gid)
        return
    x, y = (float(place[0]) for place in (mark.x, mark.y) if place is not None)
    ends = (y - mark.half, y + mark.half)
    if mark.shape == "text":
        axes.text(x, y, mark.text, va="center", fontsize=8.0, gid=gid(mark.part))
    elif mark.shape == "cell":
        style: dict[str, Any] = {"facecolor": look.color, "edgecolor": look.edge, "linewidth": 1.0}
        axes.add_patch(Rectangle((x, y), 1, 1, gid=gid(mark.part), **style))
        how: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8.0, "color": mark.ink}
        axes.text(x + 0.5, y + 0.5, mark.text, gid=gid("number"), **how)
    elif mark.shape == "box":
        style = {"facecolor": look.color, "edgecolor": look.color, "alpha": look.alpha, "linewidth": 1.0}
        corner, width = (float(mark.low[0]), ends[0]), float(mark.high[0] - mark.low[0])
        axes.add_patch(Rectangle(corner, width, 2 * mark.half, zorder=look.order, gid=gid(mark.part), **style))
        axes.vlines(x, *ends, color=look.color, linewidth=1.0, zorder=2.5)
    else:
        axes.vlines(x, *ends, color=look.color, linewidth=look.width, zorder=look.order, gid=gid(mark.part))


def _draw_line(axes: Axes, mark: Mark, gid: Any) -> None:
    look, style = mark.look, {**_line_style(mark.look), "zorder": mark.look.order, "gid": gid(mark.part)}
    has_ends = mark.interval and np.isfinite(mark.low).any()
    band: dict[str, Any] = {"color": look.color, "linewidth": 0, "gid": gid("band")}
    if mark.x is None or mark.y is None:
        line, span = (axes.axhline, axes.axhspan) if mark.x is None else (axes.axvline, axes.axvspan)
        kept = ("color", "linestyle", "linewidth", "zorder", "gid")
        line(float(mark.numbers[0]), **{key: style[key] for key in kept if key in style})
        if has_ends:
            span(mark.low[0], mark.high[0], alpha=0.1, zorder=1, **band)
        return
    if mark.interval == "bars":
        below, above = np.nan_to_num(mark.y - mark.low), np.nan_to_num(mark.high - mark.y)
        del style["gid"]
        made = axes.errorbar(mark.x, mark.y, yerr=[below, above], capsize=2, elinewidth=1, **style)
        for part, artist in zip((mark.part, "low", "high", "bars"), made.get_children(), strict=False):
            artist.set_gid(gid(part))
        return
    if has_ends and mark.interval == "band":
        axes.fill_between(mark.x, mark.low, mark.high, alpha=0.15, zorder=look.order - 1, **band)
    elif has_ends:
        is_own = mark.part == "line"
        ends = np.column_stack([mark.low, mark.high, np.full(len(mark.y), np.nan)]).ravel()[:-1]
        bars: dict[str, Any] = {"color": look.color, "linewidth": look.width or 2.2, "solid_capstyle": "butt"}
        bars |= {"zorder": look.order - 2 + 0.5 * is_own, "gid": gid("bars" if is_own else f"{mark.part} bars")}
        axes.plot(ends, np.repeat(mark.y, 3)[:-1], **bars)
    axes.plot(mark.x, mark.y, markevery=mark.every, **style)


def _line_style(look: Look) -> dict[str, Any]:
    size = look.size * mpl.rcParams["lines.markersize"] / SETTINGS["lines.markersize"]  # smaller in print
    wanted = {"linewidth": look.width, "markersize": size, "markerfacecolor": look.fill, "markeredgecolor": look.edge}
    style: dict[str, Any] = {"color": look.color, "linestyle": look.dash, "marker": look.marker}
    style |= {key: value for key, value in wanted.items() if value}
    if look.alpha != 1.0:
        style["alpha"] = look.alpha
    if look.edge_width is not None:
        style["markeredgewidth"] = look.edge_width
    if look.dash == "-":
        style["solid_capstyle"] = "butt" if look.width == 2.2 else "projecting"
    return style


def _number(axes: Axes, which: str, axis: Axis, panel: Panel, across: int) -> None:
    """Set the ends of an axis, and write its numbers or the names at its ticks; ``across`` letters fit."""
    target, set_ends = (axes.xaxis, axes.set_xlim) if which == "x" else (axes.yaxis, axes.set_ylim)
    if axis.low is not None or axis.high is not None:
        set_ends(axis.low, axis.high)
    if panel.rows and which == "y":
        return
    low, high = target.get_view_interval()
    if axis.log and not axis.linear and high <= (1 + _ALIKE) * low:  # Matplotlib's own ends of it have no width
        low, high = low / 2, high * 2
        set_ends(low, high)
    if axis.log and not axis.linear and not (axis.few and axis.low is not None and high <= _NARROW * low):
        is_wide = high > _MANY_TIMES * low
        steps = (1.0,) if is_wide else (1.0, 3.0) if high > _SEVERAL_TIMES * low else (1.0, 2.0, 5.0)
        target.set_major_locator(LogLocator(subs=steps, numticks=12 if is_wide else None))
        target.set_minor_formatter(NullFormatter())
        power = FuncFormatter(lambda value, _: f"$10^{{{round(math.log10(value))}}}$")
        target.set_major_formatter(power if is_wide and high >= _POWERS else _Numbers())
        return
    if axis.linear or axis.few:
        target.set_minor_locator(NullLocator())
    if axis.few and not axis.linear:
        target.set_major_locator(MaxNLocator(nbins=5, steps=_STEPS))
    elif not axis.linear and _is_whole(panel, which):
        few = 3 if across < _NARROW_PANEL else 5
        target.set_major_locator(MaxNLocator(few if high >= _LONG else "auto", steps=_STEPS, integer=True))
    if axis.ticks is not None:
        target.set_ticks(list(axis.ticks))
    target.set_major_formatter(_Numbers())


class _Numbers(Formatter):
    """Numbers of an axis, with thousands separated, and enough digits to distinguish them."""

    def __call__(self, value: float, pos: int | None = None) -> str:
        return in_digits([value])[0]

    def format_ticks(self, values: Any) -> list[str]:
        return in_digits([float(value) for value in values])


def in_digits(values: Sequence[float]) -> list[str]:
    """Return the numbers as text with six digits, or more if six digits do not distinguish them."""
    texts: list[str] = []
    for digits in range(6, 18):
        texts = [f"{value:,.0f}" if value == round(value) else f"{value:.{digits}g}" for value in values]
        if len(set(texts)) == len(set(values)):
            break
    return texts


def _is_whole(panel: Panel, which: str) -> bool:
    """Return whether all numbers along an axis are whole, so that the axis shows only whole numbers."""
    places = [getattr(mark, which) for mark in panel.marks]
    numbers = np.concatenate([place for place in places if place is not None] or [np.array([0.5])])
    return bool(len(numbers)) and bool((np.mod(numbers[np.isfinite(numbers)], 1) == 0).all())


def _name_rows(axes: Axes, panel: Panel, is_left: bool) -> None:
    """Write the names of the rows, with the first row on top, in panels at the left."""
    axes.set_yticks(list(panel.y.ticks or ()), [_set(name) for name in panel.y.names or ()])
    axes.tick_params(axis="y", length=0, labelleft=is_left)
    axes.set_ylim(panel.y.low, panel.y.high)


def _table(axes: Axes, panel: Panel, is_left: bool, *, is_narrow: bool) -> None:
    axes.set_xlim(panel.x.low, panel.x.high)
    how: dict[str, Any] = {"rotation": 40, "ha": "left", "rotation_mode": "anchor"} if is_narrow else {}
    names = [name.replace("\n", " ") if is_narrow else name for name in panel.x.names or ()]
    axes.set_xticks(list(panel.x.ticks or ()), names, **how)
    _name_rows(axes, panel, is_left)
    axes.tick_params(length=0, labelbottom=False, labeltop=True)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _say_no_results(axes: Axes, panel: Panel) -> None:
    place: dict[str, Any] = {"ha": "center", "va": "center", "bbox": {"facecolor": "white", "edgecolor": "none"}}
    axes.text(0.5, 0.5, "no results yet", transform=axes.transAxes, color="#777777", **place)
    axes.set_xticks([])
    axes.grid(False)
    if not panel.rows:
        axes.set_yticks([])
