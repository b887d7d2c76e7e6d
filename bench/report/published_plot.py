"""Pictures of a paper's numbers: ours against printed."""

from typing import Any

import numpy as np
import pandas as pd

from bench.report.plot import REFERENCE, Axis, Look, Mark, Panel, Plot, look_of
from bench.report.reading import READING

_FURTHER = "95 % interval of a further set of the paper's size"
_EQUAL = "ours as printed"
_ROOM = 1.25


def scatter(rows: pd.DataFrame, title: str) -> Plot:
    """Return our numbers against the printed ones on logarithmic axes, a panel for each reading, all to one scale.

    Parameters
    ----------
    rows
        As `bench.report.published.Published.rows`, of one paper. Best values on a grid are left out, and
        numbers that are not above 0.
    """
    is_shown = (rows["what"] != "best") & (rows["published"] > 0) & (rows["estimate"] > 0)
    shown = rows[is_shown]
    plot = Plot(title, panel_size=(4.4, 4.0))
    both = shown[["published", "estimate"]].to_numpy(float)
    if not len(both):
        return plot
    ends = both.min() / _ROOM, both.max() * _ROOM
    for reading, under in shown.groupby(READING, sort=False):
        axes = [Axis(label, log=True, low=ends[0], high=ends[1], few=True) for label in ("printed", "ours")]
        panel = Panel(str(reading), x=axes[0], y=axes[1])
        equal = Mark(part="bound", name=_EQUAL, case="", x=np.array(ends), y=np.array(ends), look=REFERENCE, number="")
        methods = [mark for name, rows in under.groupby("method") for mark in _of_method(str(name), rows, ends[0])]
        panel.marks = [equal, *methods]
        plot.panels.append(panel)
    for method in dict.fromkeys(shown["method"]):
        plot.explain(method, look_of(method, dash="none"))
    plot.explain(_EQUAL, REFERENCE)
    plot.caption = [f"Bars: {_FURTHER}."]
    return plot


def _of_method(method: str, rows: pd.DataFrame, lowest: float) -> list[Mark]:
    """Return the numbers of a method, and their intervals, which end at the foot of a logarithmic axis."""
    printed, ours, low, high = (
        rows[name].to_numpy(float) for name in ("published", "estimate", "further_low", "further_high")
    )
    places = [f"{panel or table}, printed {value:g}" for panel, table, value in
              zip(rows["panel"], rows["table"], printed, strict=True)]  # fmt: skip
    look, gap = look_of(method, dash="none", size=4.0), np.full(len(rows), np.nan)
    across = np.column_stack([printed, printed, gap]).ravel()
    up = np.column_stack([np.maximum(low, lowest), high, gap]).ravel()
    how: dict[str, Any] = {"name": method, "case": ""}
    bars = Mark(part="further", x=across, y=up, look=Look(look.color, width=0.8, order=2.5), number="", **how)
    points = Mark(
        part="line", x=printed, y=ours, look=look, low=low, high=high, n=rows["n"].tolist(), ends=_FURTHER,
        what="ours", places=places, **how,
    )  # fmt: skip
    return [bars, points]
