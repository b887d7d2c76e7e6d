"""A table that was computed, not run: drawn unchanged."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import pandas as pd

from bench.errors import ConfigError
from bench.report.computed import COMPUTATIONS
from bench.report.figure import Figure
from bench.report.plot import Axis, Panel, Plot, Text
from bench.report.results import Results
from bench.report.style import BLUE, VERMILION

# Inches. Text is broken where it would not fit its column.
_LETTER, _LINE, _GAP, _ROOM = 0.066, 0.145, 0.16, 0.09
_WIDEST, _LAST_WIDEST = 40, 64
# What stands out in a column of verdicts; any other word is written as it is.
_COLOURS = {"right": BLUE, "slip": VERMILION, "inherited": "#8C564B"}


class Computed(Figure):
    """A table of text and numbers; what repeats in the first column is written once and makes a group.

    Verdicts (column `verdict`: right, inherited, slip) are coloured. The table is made by the function `compute`, one
    of `bench.report.computed`; `caption` is a line below it.
    """

    source: ClassVar[Literal["runs", "timing", "formula"]] = "formula"

    column: str = ""
    compute: str
    caption: str = ""

    def calculate(self) -> pd.DataFrame:
        """Return the table.

        Raises
        ------
        ConfigError
            If there is no such function.
        """
        if self.compute not in COMPUTATIONS:
            known = ", ".join(COMPUTATIONS)
            raise ConfigError(f"{self.where}, key 'compute': found {self.compute!r}, expected one of: {known}")
        return COMPUTATIONS[self.compute]()

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        return {self.compute: self.calculate()}

    def table_titles(self) -> dict[str, str]:
        return {self.compute: "Table"}

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        table = tables[self.compute]
        heads = [str(name).replace("_", " ") for name in table.columns]
        rows = [[_text(value) for value in row] for row in table.itertuples(index=False)]
        longest = [max(len(cell) for cell in cells) for cells in zip(heads, *rows, strict=True)]
        widths = [min(_WIDEST, letters) for letters in longest[:-1]]
        widths += [min(_LAST_WIDEST, letters) for letters in longest[-1:]]
        panel = Panel(is_table=True)
        height = _write(panel, heads, rows, widths) if rows else 0.0
        width = sum(_GAP + _LETTER * letters for letters in widths) + 0.3
        size, caption = (width, max(height + 0.15, 1.2)), [self.caption] if self.caption else []
        return Plot(self.heading, panels=[panel], caption=caption, panel_size=size, is_words=True)


def _write(panel: Panel, heads: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> float:
    """Write the table into a panel that measures inches from the upper left corner; return its height."""
    left = [sum(_GAP + _LETTER * letters for letters in widths[:i]) for i in range(len(widths))]
    panel.texts = [
        Text(x, _LINE, head, how={"va": "center", "fontsize": 8.0, "fontweight": "bold"})
        for x, head in zip(left, heads, strict=True)
    ]
    bottom = _ROOM + 2 * _LINE
    above: Sequence[str] = ("",)
    for row in rows:
        cells = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
        is_new = row[0] != above[0]
        panel.lines[bottom] = "#999999" if is_new else "#E4E4E4"
        for place, (x, cell, head) in enumerate(zip(left, cells, heads, strict=True)):
            text = "\n".join(cell)
            how: dict[str, Any] = {"va": "top", "fontsize": 7.5, "linespacing": 1.25}
            if place == 0:
                how["fontweight"] = "bold"
            elif head == "verdict" and text in _COLOURS:
                how |= {"color": _COLOURS[text], "fontweight": "bold"}
            if place or is_new:
                panel.texts.append(Text(x, bottom + 0.5 * _ROOM + 0.02, text, how=how))
        bottom += _ROOM + _LINE * max(len(cell) for cell in cells)
        above = row
    panel.x = Axis(low=-0.05, high=left[-1] + _LETTER * widths[-1] + 0.05)
    panel.y = Axis(low=bottom, high=0)
    return bottom


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "–" if pd.isna(value) else f"{value:.4g}"
    return str(value)
