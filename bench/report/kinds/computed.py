"""A table that was computed, not run: drawn unchanged."""

import textwrap
from collections.abc import Mapping
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
        """Return the table; `ConfigError` if there is no such function."""
        if self.compute not in COMPUTATIONS:
            names = ", ".join(COMPUTATIONS)
            raise ConfigError(f"{self.where}, key 'compute': found {self.compute!r}, expected one of: {names}")
        return COMPUTATIONS[self.compute]()

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        return {self.compute: self.calculate()}

    def table_titles(self) -> dict[str, str]:
        return {self.compute: "Table"}

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        """Return the table in a panel that measures inches from the upper left corner."""
        table = tables[self.compute]
        heads = [str(name).replace("_", " ") for name in table.columns]
        rows = [[_text(value) for value in row] for row in table.itertuples(index=False)]
        longest = [max(map(len, cells)) for cells in zip(heads, *rows, strict=True)]
        limits = [_WIDEST] * (len(heads) - 1) + [_LAST_WIDEST]
        letters = [min(pair) for pair in zip(limits, longest, strict=True)]
        left = [sum(_GAP + _LETTER * count for count in letters[:i]) for i in range(len(letters) + 1)]
        panel, bottom, group = Panel(is_table=True), _ROOM + 2 * _LINE, ""
        for row in rows:
            cells = [textwrap.wrap(cell, count) or [""] for cell, count in zip(row, letters, strict=True)]
            is_new = row[0] != group
            panel.lines[bottom] = "#999999" if is_new else "#E4E4E4"
            for x, head, cell in list(zip(left, heads, cells, strict=False))[not is_new :]:
                panel.texts.append(_cell(x, bottom, head if x else "", "\n".join(cell)))
            bottom += _ROOM + _LINE * max(map(len, cells))
            group = row[0]
        if rows:
            how = {"va": "center", "fontsize": 8.0, "fontweight": "bold"}
            panel.texts[:0] = [Text(x, _LINE, head, how=how) for x, head in zip(left, heads, strict=False)]
            panel.x, panel.y = Axis(low=-0.05, high=left[-2] + _LETTER * letters[-1] + 0.05), Axis(low=bottom, high=0)
        size, caption = (left[-1] + 0.3, max(bottom + 0.15, 1.2)), [self.caption] if self.caption else []
        return Plot(self.heading, panels=[panel], caption=caption, panel_size=size)


def _cell(x: float, top: float, head: str, text: str) -> Text:
    """Return a cell below ``top``; without a head it names a group."""
    how: dict[str, Any] = {"va": "top", "fontsize": 7.5, "linespacing": 1.25}
    if not head:
        how["fontweight"] = "bold"
    elif head == "verdict" and text in _COLOURS:
        how |= {"color": _COLOURS[text], "fontweight": "bold"}
    return Text(x, top + 0.5 * _ROOM + 0.02, text, how=how)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "–" if pd.isna(value) else f"{value:.4g}"
    return str(value)
