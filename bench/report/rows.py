"""Panels with a row per method, the common part of the kinds `dots` and `selection`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from bench.report.figure import Figure
from bench.report.labels import panel_title
from bench.report.plot import REFERENCE, Array, Axis, Look, Panel, Plot, row_panel, wrapped
from bench.report.results import Labels, Results

_LABEL_LETTERS, TITLE_LETTERS = 22, 44
_TITLE_LINE, _AXIS_HEIGHT = 0.17, 0.62
_LEAST = 0.2
"""Least share of a common scale that a panel's numbers fill."""
_JITTER = 0.5 * (5**0.5 - 1)


class Rows(Figure):
    """Final values with a row per method and a panel per case.

    ``x_scale: log`` needs positive numbers. ``reference_line`` is a vertical line with the name ``reference_label``.
    """

    x_scale: Literal["linear", "log"] = "linear"
    reference_line: float | None = None
    reference_label: str = ""

    @property
    def reference_name(self) -> str:
        """The reference line's name in the legend, or "" if there is no line."""
        return "" if self.reference_line is None else self.reference_label or f"{self.reference_line:g}"

    def names(self, results: Results, otherwise: str = "") -> list[str]:
        """Return the names of all rows; the name of a row without labels is ``otherwise``."""
        axes = results.panel_axes()
        return [results.series_name(key, axes) or otherwise for key in results.experiments]

    def panels_of_rows(self, results: Results, plot: Plot) -> Iterator[tuple[Panel, dict[str, tuple[int, Labels]]]]:
        """Add empty panels to ``plot``, and yield each panel with its rows and experiments by name."""
        axes = results.panel_axes()
        panels = results.groups(axes, [{}])
        names = list(dict.fromkeys(results.series_name(key, axes) for panel in panels for key in results.select(panel)))
        shown = [wrapped(name, _LABEL_LETTERS) for name in names]
        for chosen in panels:
            panel = row_panel(panel_title(chosen), self.x_label or self.column, shown, 0.55)
            plot.panels.append(panel)
            keys = {results.series_name(key, axes): key for key in results.select(chosen)}
            yield panel, {name: (names.index(name), key) for name, key in keys.items()}

    def scale(self, plot: Plot, panel: Panel) -> None:
        """Add the reference line, and give the axis room for all numbers."""
        if self.reference_line is not None:
            look = replace(REFERENCE, order=1)
            plot.put(panel, self.reference_name, look, role="reference", x=self.reference_line, part="reference")
        low, high = float(panel.every_number.min()), float(panel.every_number.max())
        is_log = self.x_scale == "log" and low > 0
        if is_log:
            room = (high / low) ** 0.06 if high > low else 1.1
            low, high = low / room, high * room
        else:
            room = 0.06 * (high - low) or 0.06 * abs(high) or 1.0
            low, high = low - room, high + room
        panel.x = Axis(panel.x.label, is_log, low, high, few=True)

    def fit(self, plot: Plot, width: float, row: float) -> None:
        """Set the size of panels with rows of at least ``row`` inches, and higher rows for long names.

        Panels that show columns of the same runs share a scale, unless the numbers of one panel would fill too little
        of the scale.
        """
        axes = [panel.x for panel in plot.panels]
        ends = [(axis.low, axis.high) for axis in axes if axis.low is not None and axis.high is not None]
        if self.unfold and len(ends) > 1 and not any(axis.log for axis in axes):
            low, high = min(low for low, _ in ends), max(high for _, high in ends)
            if all(end - start >= _LEAST * (high - low) for start, end in ends):
                for panel in plot.panels:
                    panel.x = replace(panel.x, low=low, high=high)
        names = [name for panel in plot.panels[:1] for name in panel.y.names or ()]
        lines = max((name.count("\n") + 1 for name in names), default=1)
        titles = [wrapped(panel.title, TITLE_LETTERS) for panel in plot.panels if panel.title]
        title = max((title.count("\n") + 1 for title in titles), default=0)
        height = _AXIS_HEIGHT + _TITLE_LINE * title + max(row, 0.15 * lines + 0.06) * len(names)
        plot.panel_size = width, max(1.4, height)


def add_repetitions(panel: Panel, row: int, name: str, values: Array, look: Look) -> None:
    """Add single values, spread evenly over half the height of a row so that neighbours are far from each other."""
    heights = row + 0.5 * (np.arange(1, len(values) + 1) * _JITTER % 1.0 - 0.5)
    panel.add_in_row(row, name, values, look, part="repetitions", y=heights)
