"""A panel drawn small, straight from its marks: a thumbnail without words, or a card's picture with a few."""

import math
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench.report.gallery.text import number
from bench.report.plot import Array, Axis, Mark, Panel

_PAD = 0.04
_TEXT = "#444"
# Letters of a name at the end of its line, and of a row's name.
_LETTERS = 18


class _Scale(NamedTuple):
    """From data to pixels along one axis."""

    low: float
    high: float
    log: bool
    start: float
    end: float

    def __call__(self, values: npt.ArrayLike) -> Array:
        low, high = self._on(self.low), self._on(self.high)
        shares = (self._on(values) - low) / ((high - low) or 1.0)
        return np.asarray(self.start + np.clip(shares, -0.02, 1.02) * (self.end - self.start))

    def _on(self, values: npt.ArrayLike) -> Array:
        own = np.asarray(values, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log10(own) if self.log else own


def small(panel: Panel, width: int = 200, height: int = 110, *, words: bool = False) -> str:
    """Return a panel as an SVG file.

    Parameters
    ----------
    panel
        What is drawn.
    width, height
        In pixels.
    words
        Whether the ends of the axes and the lines are named.
    """
    left, right, top, bottom = (46, 118, 24, 34) if words and not panel.is_table else (4, 4, 4, 4)
    if words and panel.rows:
        left, right = 128, 12
    x = _scale(panel.x, [value for mark in panel.marks for value in _reach(mark, "x")], left, width - right)
    y = _scale(panel.y, [value for mark in panel.marks for value in _reach(mark, "y")], height - bottom, top)
    parts = [f'<rect width="{width}" height="{height}" fill="#fff"/>']
    if not panel.is_table:
        parts.append(_path([(left, top), (left, height - bottom), (width - right, height - bottom)], "#999", 1))
    for mark in sorted(panel.marks, key=lambda mark: mark.look.order):
        parts += _drawn(mark, x, y)
    if words and not panel.is_table:
        parts += _words(panel, x, y, width, height)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    font = 'font-family="system-ui, sans-serif" font-size="12"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>{"".join(parts)}</svg>\n'


def _reach(mark: Mark, axis: str) -> Iterable[float]:
    """Return what an axis has to show of a mark."""
    own = mark.x if axis == "x" else mark.y
    parts = [] if own is None else [own]
    if mark.number == axis:
        parts += [mark.low, mark.high]
    if mark.shape == "cell" and own is not None:
        parts.append(own + 1)
    found = np.concatenate(parts).astype(float) if parts else np.empty(0)
    return [float(value) for value in found[np.isfinite(found)]]


def _scale(axis: Axis, values: list[float], start: float, end: float) -> _Scale:
    if axis.log:
        values = [value for value in values if value > 0]
    low, high = min(values, default=0.0), max(values, default=1.0)
    low = low if axis.low is None else float(axis.low)
    high = high if axis.high is None else float(axis.high)
    if axis.log and low <= 0:
        low = min(values, default=1.0)
    if not axis.log:
        pad = _PAD * (high - low)
        low, high = (low if axis.low is not None else low - pad), (high if axis.high is not None else high + pad)
    return _Scale(low, high, axis.log, start, end)


def _drawn(mark: Mark, x: _Scale, y: _Scale) -> list[str]:
    look, shape = mark.look, mark.shape
    colour, opacity = escape(str(look.color)), f' opacity="{look.alpha:g}"' if look.alpha < 1 else ""
    if mark.x is None or mark.y is None:
        if mark.y is not None:
            at = float(y(mark.y).flat[0])
            return [_path([(x.start, at), (x.end, at)], colour, 1, "4 3")]
        if mark.x is not None:
            at = float(x(mark.x).flat[0])
            return [_path([(at, y.start), (at, y.end)], colour, 1, "4 3")]
        return []
    if shape == "text":
        return []
    if shape in ("cell", "box", "tick"):
        corners = _corners(mark)
        (x0, x1), (y0, y1) = np.sort(x(corners[0])), np.sort(y(corners[1]))
        if shape == "tick":
            return [_path([(x0, y0), (x0, y1)], colour, 1.5)]
        size = f'x="{x0:.1f}" y="{y0:.1f}" width="{x1 - x0:.1f}" height="{y1 - y0:.1f}"'
        edge = f' stroke="{escape(str(look.edge))}"' if look.edge and shape == "box" else ""
        return [f'<rect {size} fill="{colour}"{edge}{opacity}/>']
    across, down = x(mark.x), y(mark.y)
    parts = []
    if len(mark.low) and mark.interval:
        scale = y if mark.number == "y" else x
        low, high = scale(mark.low), scale(mark.high)
        if mark.interval == "band":
            spots = [*zip(across, low, strict=True), *reversed([*zip(across, high, strict=True)])]
            parts.append(_path(spots, "none", 0, fill=colour, opacity=0.15))
        else:
            for i in range(len(low)):
                ends = [(across[i], low[i]), (across[i], high[i])]
                parts.append(
                    _path(ends if mark.number == "y" else [(low[i], down[i]), (high[i], down[i])], colour, 1.2)
                )
    if look.dash != "none":
        parts.append(_path([*zip(across, down, strict=True)], colour, 1.8, "" if look.dash == "-" else "5 3"))
    elif look.marker:
        radius = min(max((look.size or 5.0) / 2, 1.2), 3.0)
        fill = "#fff" if look.fill == "none" else colour
        for at, of in zip(across, down, strict=True):
            if math.isfinite(at + of):
                own = f'cx="{at:.1f}" cy="{of:.1f}" r="{radius:.1f}"'
                parts.append(f'<circle {own} fill="{fill}" stroke="{colour}"{opacity}/>')
    return parts


def _corners(mark: Mark) -> tuple[list[float], list[float]]:
    assert mark.x is not None
    assert mark.y is not None
    x, y = float(mark.x[0]), float(mark.y[0])
    if mark.shape == "cell":
        return [x, x + 1], [y, y + 1]
    ends = [float(mark.low[0]), float(mark.high[0])] if mark.shape == "box" else [x, x]
    return ends, [y - mark.half, y + mark.half]


def _path(
    spots: list[tuple[float, float]], stroke: str, width: float, dash: str = "", fill: str = "none", opacity: float = 1
) -> str:
    known = [f"{x:.1f} {y:.1f}" for x, y in spots if math.isfinite(x + y)]
    if len(known) < 2:
        return ""
    more = (f' stroke-dasharray="{dash}"' if dash else "") + (f' opacity="{opacity:g}"' if opacity < 1 else "")
    return f'<path d="M{"L".join(known)}" fill="{fill}" stroke="{stroke}" stroke-width="{width:g}"{more}/>'


def _words(panel: Panel, x: _Scale, y: _Scale, width: int, height: int) -> list[str]:
    """Return the title, the ends of the axes, and the names of lines or rows."""
    parts = [_text(x.start if not panel.rows else 4, 15, panel.title, "start", "#111")]
    foot = height - 20
    parts += [_text(x.start, foot, _end(x.low), "start"), _text(x.end, foot, _end(x.high), "end")]
    parts.append(_text((x.start + x.end) / 2, height - 6, panel.x.label, "middle"))
    if panel.rows:
        for at, name in zip(panel.y.ticks or (), panel.y.names or (), strict=True):
            parts.append(_text(x.start - 6, float(y(at)) + 4, name[:_LETTERS], "end"))
        return parts
    parts += [_text(x.start - 4, y.end + 9, _end(y.high), "end")]
    parts += [_text(x.start - 4, y.start, _end(y.low), "end")]
    ends = []
    for mark in panel.marks:
        if mark.part == "line" and mark.x is not None and mark.y is not None and len(mark.y):
            at = float(y(mark.y)[-1])
            if math.isfinite(at):
                ends.append((at, mark.name, str(mark.look.color)))
    last = -math.inf
    spread = []
    for at, name, colour in sorted(ends):
        last = max(at + 4, last + 13)
        spread.append((last, name, colour))
    over = max(0.0, spread[-1][0] - (height - 34)) if spread else 0.0
    return parts + [_text(x.end + 5, at - over, name[:_LETTERS], "start", colour) for at, name, colour in spread]


def _end(value: float) -> str:
    """Return the end of an axis to two digits, from a million on in millions, since space is short."""
    short = float(f"{value:.2g}")
    return f"{short / 1e6:,g}M" if abs(short) >= 1e6 else number(short)


def _text(x: float, y: float, words: str, anchor: str, colour: str = _TEXT) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{escape(colour)}">{escape(words)}</text>'
