"""A table that was computed, not run: drawn as it stands."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.report.kinds.page import Page, say_no_results
from bench.report.style import BLUE, VERMILION

# Inches. Text is broken where it would not fit its column.
_LETTER, _LINE, _GAP, _ROOM = 0.066, 0.145, 0.16, 0.09
_WIDEST, _LAST_WIDEST = 40, 64
# What stands out in a column of verdicts; any other word is written as it is.
_COLOURS = {"right": BLUE, "slip": VERMILION, "inherited": "#8C564B"}


def computed(figure: Mapping[str, Any], frame: pd.DataFrame, finals: pd.DataFrame, note: str) -> Figure:
    """Draw a table of text and numbers; what repeats in the first column is written once and makes a group.

    Keys of the figure used here: `title`, `caption` (below the table). Verdicts (column `verdict`: right, inherited,
    slip) are coloured.
    """
    title = str(figure.get("title", figure.get("name", "?")))
    heads = [str(name).replace("_", " ") for name in finals.columns]
    rows = [[_text(value) for value in row] for row in finals.itertuples(index=False)]
    longest = [max(len(cell) for cell in cells) for cells in zip(heads, *rows, strict=True)]
    widths = [min(_WIDEST, letters) for letters in longest[:-1]] + [
        min(_LAST_WIDEST, letters) for letters in longest[-1:]
    ]
    lines = [[textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)] for row in rows]
    heights = [_ROOM + _LINE * max(len(cell) for cell in row) for row in lines]
    body = _ROOM + 2 * _LINE + sum(heights)
    width = sum(_GAP + _LETTER * letters for letters in widths) + 0.3
    page = Page(title, note, 1, (width, max(body + 0.15, 1.2)))
    axes = page.axes[0]
    if rows:
        _write(axes, heads, rows, lines, widths, heights)
    else:
        say_no_results(axes)
    return page.finish({}, [str(figure["caption"])] if figure.get("caption") else [])


def _write(
    axes: Axes,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    lines: Sequence[Sequence[Sequence[str]]],
    widths: Sequence[int],
    heights: Sequence[float],
) -> None:
    """Write the table into axes that measure inches from the upper left corner."""
    left = [sum(_GAP + _LETTER * letters for letters in widths[:i]) for i in range(len(widths))]
    right = left[-1] + _LETTER * widths[-1]
    bottom = _ROOM + 2 * _LINE
    axes.set_axis_off()
    axes.set_xlim(-0.05, right + 0.05)
    axes.set_ylim(bottom + sum(heights), 0)
    for x, head in zip(left, heads, strict=True):
        axes.text(x, _LINE, head, va="center", fontsize=8.0, fontweight="bold")
    above: Sequence[str] = ("",)
    for row, cells, height in zip(rows, lines, heights, strict=True):
        is_new = row[0] != above[0]
        axes.axhline(bottom, color="#999999" if is_new else "#E4E4E4", linewidth=0.8, zorder=0.5)
        for place, (x, cell, head) in enumerate(zip(left, cells, heads, strict=True)):
            if place == 0 and not is_new:
                continue
            text = "\n".join(cell)
            how: dict[str, Any] = {"fontweight": "bold"} if place == 0 else {}
            if head == "verdict" and text in _COLOURS:
                how = {"color": _COLOURS[text], "fontweight": "bold"}
            axes.text(x, bottom + 0.5 * _ROOM + 0.02, text, va="top", fontsize=7.5, linespacing=1.25, **how)
        bottom += height
        above = row


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "–" if pd.isna(value) else f"{value:.4g}"
    return str(value)
