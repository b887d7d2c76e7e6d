"""Final values less those of one method in the same repetition, a row for each panel of a figure."""

from dataclasses import replace
from typing import Any

import numpy as np

from bench.report.figure import Figure
from bench.report.labels import Selection, describe, panel_title
from bench.report.plot import LINE_BETWEEN, REFERENCE, Axis, Panel, Plot, level, look_of
from bench.report.results import Results
from bench.report.rows import in_row
from bench.stats import MEAN_INTERVAL, mean_interval

_WIDTH, _ROW, _AXIS = 6.4, 0.42, 0.8
_ROOM = 0.5
"""The share of a row that its methods take."""


def differences(figure: Figure, results: Results, against: Selection) -> Plot:
    """Return means of paired differences with their intervals."""
    data, axes = results.data, figure.panel_axes(results.data)
    panels = data.groups(axes, [{}])
    label = f"{figure.y_label or figure.column} at the last round, less that of {describe(against)}"
    panel = Panel(x=Axis(label), rows=True, lines=dict.fromkeys(np.arange(1, len(panels)) - 0.5, LINE_BETWEEN))
    names = [panel_title(chosen) for chosen in panels]
    panel.y = Axis(ticks=range(len(panels)), names=names, low=len(panels) - 0.5, high=-0.5)
    plot = Plot(figure.heading, panels=[panel], panel_size=(_WIDTH, _AXIS + _ROW * len(panels)))
    for row, chosen in enumerate(panels):
        keys = data.select(chosen)
        base = next((key for key in keys if key in data.select(against)), None)
        others = [key for key in keys if key != base]
        for place, key in enumerate(others):
            if base is None:
                continue
            gaps = (results.series(key, figure.column) - results.series(base, figure.column)).dropna()
            if len(gaps) < 2:
                continue
            own, name = mean_interval(gaps.to_numpy(dtype=float)), data.series_name(key, axes)
            look = look_of(name, dash="none", size=6.0, order=5)
            ends: dict[str, Any] = {"low": np.array([own.low]), "high": np.array([own.high]), "interval": "segment"}
            mark = in_row(panel, row, name, [own.estimate], look, n=[own.n], what="mean difference", **ends)
            height = row + _ROOM * ((place + 0.5) / len(others) - 0.5)
            panel.marks.append(replace(mark, case=names[row], y=np.array([height])))
            plot.explain(name, look)
    if panel.marks:
        panel.marks.append(level(0.0, "no difference", "", REFERENCE, number="x", part="reference"))
    plot.caption = [f"Marks: mean of the difference within repetitions; lines: {MEAN_INTERVAL}."]
    return plot
