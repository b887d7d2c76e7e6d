"""Final values less those of one method in the same repetition, a row for each panel of a figure."""

from bench.report.figure import Figure
from bench.report.labels import Selection, describe, panel_title
from bench.report.plot import REFERENCE, Plot, look_of, mark, row_panel
from bench.report.results import Results
from bench.stats import MEAN_INTERVAL, mean_interval

_WIDTH, _ROW, _AXIS = 6.4, 0.42, 0.8
_ROOM = 0.5
"""The share of a row that its methods take."""


def differences(figure: Figure, results: Results, against: Selection) -> Plot:
    """Return means of paired differences with their intervals."""
    data, axes = results.data, figure.panel_axes(results.data)
    panels = data.groups(axes, [{}])
    label = f"{figure.y_label or figure.column} at the last round, less that of {describe(against)}"
    panel = row_panel("", label, [panel_title(chosen) for chosen in panels])
    plot = Plot(figure.heading, panels=[panel], panel_size=(_WIDTH, _AXIS + _ROW * len(panels)))
    for row, chosen in enumerate(panels):
        keys = data.select(chosen)
        base = next((key for key in keys if key in data.select(against)), None)
        if base is None:
            continue
        others = [key for key in keys if key != base]
        for place, key in enumerate(others):
            gaps = results.series(key, figure.column).sub(results.series(base, figure.column)).dropna()
            if len(gaps) > 1:
                difference, name = mean_interval(gaps.to_numpy(dtype=float)), data.series_name(key, axes)
                look, height = look_of(name, dash="none", size=6.0, order=5), (place + 0.5) / len(others) - 0.5
                panel.marks.append(
                    mark(
                        name, panel_title(chosen), look, x=difference.estimate, y=row + _ROOM * height, number="x",
                        low=difference.low, high=difference.high, interval="segment", n=[difference.n],
                        what="mean difference",
                    )
                )  # fmt: skip
                plot.explain(name, look)
    if panel.marks:
        panel.marks.append(mark("no difference", "", REFERENCE, x=0.0, part="reference"))
    plot.caption = [f"Marks: mean of the difference within repetitions; lines: {MEAN_INTERVAL}."]
    return plot
