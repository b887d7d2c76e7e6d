"""Floats of LaTeX from tables of text that is escaped already: in columns and rows that fit a page."""

import math
import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

COLUMN, TEXT = 234.0, 486.0
"""Points that have room in a column, and across both."""
_GAP = 8.0
"""Points between columns."""
_WIDTHS = ((r"[A-ZmwÀ-Þ%±]", 6.0), (r"[a-ln-vx-z0-9–]", 4.25), (r"[ .,:;()'|-]", 2.8))
_BOLD = 1.16
"""Points of letters of \\footnotesize, and how much wider bold ones are."""
_LINES = 56
"""Lines of a table; further rows are a table of their own."""


def floats(blocks: Sequence[pd.DataFrame], caption: str, label: str) -> str:
    """Return a float, or several where there are more rows than a page has lines, across both columns if need be."""
    widths = [[width_of(block.iloc[:, i]) for i in range(block.shape[1])] for block in blocks]
    is_wide = max(map(sum, widths)) > COLUMN
    parts: list[list[str]] = [[]]
    left = _LINES
    for block, own in zip(blocks, widths, strict=True):
        cap, start = _cap(own, TEXT if is_wide else COLUMN), 0
        for row in range(len(block)):
            lines = max(1, *(math.ceil(_points(cell) / cap) for cell in block.iloc[row]))
            if left < lines:
                parts[-1] += [_tabular(block.iloc[start:row], own, cap)] * (row > start)
                parts.append([])
                left, start = _LINES, row
            left -= lines
        parts[-1].append(_tabular(block.iloc[start:], own, cap))
        left -= 2
    return "% \\usepackage{booktabs}\n" + "".join(
        _float(part, caption if number == 1 else f"{caption.partition('. ')[0]}, continued.", name, star="*" * is_wide)
        for number, part in enumerate(parts, start=1)
        for name in [label if number == 1 else f"{label}-{number}"]
    )


def _float(tabulars: Sequence[str], caption: str, label: str, *, star: str) -> str:
    lines = [
        rf"\begin{{table{star}}}",
        r"\centering\footnotesize\setlength{\tabcolsep}{4pt}",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{re.sub('[^A-Za-z0-9-]+', '-', label)}}}",
        *(f"\\par\\medskip\n{tabular}" for tabular in tabulars),
        rf"\end{{table{star}}}",
    ]
    return "\n".join(lines) + "\n"


def _tabular(table: pd.DataFrame, widths: Sequence[float], cap: float) -> str:
    """Return rows as LaTeX; numbers at the right, text that is too long broken into lines."""
    formats = []
    for i, width in enumerate(widths):
        is_number = i > 0 and table.iloc[:, i].str.fullmatch(r"[^A-Za-z]*|.*\\pm.*|.*\\textbf.*").all()
        text = "l" if width <= cap else f"p{{{cap - _GAP:.0f}pt}}"
        formats.append("r" if is_number and width <= cap else text)
    return str(table.style.hide(axis="index").to_latex(hrules=True, column_format="".join(formats))).rstrip()


def width_of(column: "pd.Series[Any]") -> float:
    """Return about how many points a column needs, its head included."""
    return _GAP + max(map(_points, map(str, (column.name, *column))))


def _points(cell: str) -> float:
    """Return about how many points wide a cell is printed."""
    text = re.sub(r"\\[a-z]+\b|[{}$\\]", "", cell.replace(r"\pm", "±"))
    width = sum(points * len(re.findall(letters, text)) for letters, points in _WIDTHS)
    return width * (_BOLD if r"\textbf" in cell else 1.0)


def _cap(widths: Sequence[float], room: float) -> float:
    """Return the width to which the widest columns are cut, their text broken, so that all fit."""
    for count, width in enumerate(sorted(widths), start=0):
        narrower = sorted(widths)[:count]
        if sum(narrower) + width * (len(widths) - count) > room:
            return (room - sum(narrower)) / (len(widths) - count)
    return math.inf
