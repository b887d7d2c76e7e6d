"""Seconds of runs beside the published ones, and how many times those of a reference they are."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from bench.errors import ConfigError
from bench.report.experiments import Experiments, Key
from bench.report.figure import Figure
from bench.report.labels import canonical, describe, matches, panel_title, selection
from bench.report.plot import GREY, LINE_BETWEEN, Axis, Look, Mark, Panel, Plot, level, look_of, wrapped
from bench.report.results import Results
from bench.report.tables import check_column

_ROW_HEIGHT, _WIDTH = 0.5, 4.9
_ROOM = 0.64
# Beyond this share of the time the processor was with other work.
_BUSY = 0.1


class Timing(Figure):
    """Median seconds with their range, and medians divided by the reference's; a row per panel.

    Parameters
    ----------
    reference
        Selects the experiment of each panel that the others are compared with, such as ``{method: TL}``.
    part
        What is timed: the whole ``run``, or the ``tuner``'s ask and tell alone.
    """

    source: ClassVar[Literal["runs", "timing", "formula"]] = "timing"
    published_whats: ClassVar[tuple[str, ...]] = ("mean",)

    reference: dict[str, Any]
    part: Literal["run", "tuner"] = "run"

    def check(self, data: Experiments) -> None:
        super().check(data)
        self._references(data)
        self._published(data)

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        """Return one row per experiment, those without measurements included (n = 0).

        Returns
        -------
        DataFrame
            The axes, then `n`, `rounds`, `seconds` (the median), `fastest`, `slowest`, `relative` (the median divided
            by the reference's); and `published_seconds`, `published_relative` and `published_note` where there are any.
        """
        data = results.data
        check_column(self, data)
        beside = {} if results.is_surrogate else self._published(data)
        references = self._references(data)
        rows = []
        for key in data.keys:
            values, own = results.column(key, self.column), data.rows(key)
            known = len(values) > 0
            row: dict[str, Any] = dict(data.as_dict(key))
            row |= {"n": len(values), "rounds": float(own["rounds"].mean()) if known else math.nan}
            row |= {"seconds": _median(values)}
            row |= {"fastest": values.min() if known else math.nan, "slowest": values.max() if known else math.nan}
            reference = references.get(key)
            by = results.column(reference, self.column) if reference is not None else np.empty(0)
            row["relative"] = row["seconds"] / _median(by)
            if beside:
                value, note = beside.get(key, (math.nan, ""))
                per = beside.get(reference, (math.nan, ""))[0] if reference is not None else math.nan
                row |= {"published_seconds": value, "published_relative": value / per, "published_note": note}
            rows.append(row)
        table = pd.DataFrame(rows)
        if "published_note" in table and not table["published_note"].any():
            del table["published_note"]
        return {"table": table}

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        data, table = results.data, tables["table"]
        panels = data.groups(self.panel_axes(data), [{}])
        names = [wrapped(panel_title(chosen), 24) for chosen in panels]
        between = dict.fromkeys((row - 0.5 for row in range(1, len(names))), LINE_BETWEEN)
        rows = Axis(ticks=range(len(names)), names=names, low=len(names) - 0.5, high=-0.5)
        left = Panel(x=Axis(self.x_label or "seconds per run", log=True, few=True), y=rows, rows=True, lines=between)
        by = f"seconds divided by those of {describe(selection(self.reference))}"
        right = Panel(x=Axis(by), y=rows, rows=True, lines=between)
        size = (_WIDTH, max(1.8, 0.7 + _ROW_HEIGHT * max(len(panels), 1)))
        has_published = "published_seconds" in table
        # Seconds of another machine are no measure: beside published ones only ratios are drawn.
        shown = [(right, "relative")] if has_published else [(left, "seconds"), (right, "relative")]
        plot = Plot(self.heading, panels=[panel for panel, _ in shown], panel_size=size)
        if not table["n"].any():
            return plot
        points: dict[str, list[tuple[float, str, Any]]] = {}
        every = [({axis: canonical(row[axis]) for axis in data.axes}, row) for row in table.to_dict("records")]
        for place, chosen in enumerate(panels):
            own = [(labels, row) for labels, row in every if matches(labels, chosen)]
            for number, (labels, row) in enumerate(own):
                name = data.series_name(tuple(labels[axis] for axis in data.axes), chosen)
                height = place + _ROOM * ((number + 0.5) / len(own) - 0.5)
                points.setdefault(name, []).append((height, panel_title(chosen), row))
        for name, found in points.items():
            look = look_of(name, dash="none", size=4.5, width=1.5)
            plot.explain(name, look)
            for panel, value in shown:
                panel.marks += _marks(name, found, value, look, has_published)
        if has_published:
            plot.explain("published", Look("#333333", "none", "o", fill="none"))
        right.marks.append(level(1.0, "", "relative", Look(GREY, width=1, order=1), number="x", part="one"))
        bars = "" if has_published else "; bars: the fastest to the slowest"
        plot.caption = [f"Full marks: median of the measurements, one process, one thread{bars}."]
        if has_published:
            plot.caption.append("Open marks: published, measured on another machine: only ratios can be compared.")
        seconds = data.finals
        if self.part == "tuner":
            plot.caption.append("Timed are ask and tell alone, with the rewards of a run that was played before.")
        share = 1 - seconds["cpu_seconds"].sum() / seconds["seconds"].sum() if "cpu_seconds" in seconds else math.nan
        if np.isfinite(share) and share > _BUSY:
            plot.caption.append(
                f"For {100 * share:.0f} % of the time the processor was not with the run: it had other work."
            )
        return plot

    def _published(self, data: Experiments) -> dict[Key, tuple[float, str]]:
        found = {}
        for labels, what, value, note, _ in self.published_numbers(data):
            keys = data.select({axis: (label,) for axis, label in labels.items()})
            if len(keys) != 1:
                raise ConfigError(
                    f"{self.where}, published {what} {value:g}: fits {len(keys)} experiments, expected the mean "
                    "seconds of one"
                )
            found[keys[0]] = (value, note)
        return found

    def _references(self, data: Experiments) -> dict[Key, Key]:
        """Return the reference of every experiment: the one of the same panel that the key `reference` selects."""
        where, chosen = f"{self.where}, key 'reference'", selection(self.reference)
        data.check(chosen, where)
        references: dict[Key, Key] = {}
        for panel in data.groups(self.panel_axes(data), [{}]):
            keys = data.select(panel)
            fitting = [key for key in keys if matches(data.as_dict(key), chosen)]
            if len(fitting) > 1:
                raise ConfigError(f"{where}: fits {len(fitting)} experiments of a panel, expected one")
            references |= {key: fitting[0] for key in keys if fitting}
        return references


def _marks(name: str, points: list[tuple[float, str, Any]], value: str, look: Look, has_published: bool) -> list[Mark]:
    """Return the measured and the published points of a method."""
    rows = [row for _, _, row in points]
    how: dict[str, Any] = {
        "name": name,
        "case": value,
        "y": np.array([height for height, _, _ in points]),
        "number": "x",
    }
    how["places"] = [place for _, place, _ in points]

    def column(key: str) -> np.ndarray:
        return np.array([row[key] for row in rows], dtype=float)

    own: dict[str, Any] = {"n": [row["n"] for row in rows]}
    if value == "seconds":
        own |= {"low": column("fastest"), "high": column("slowest"), "interval": "segment"}
        own |= {"ends": "fastest and slowest"}
    own["what"] = "median" if value == "seconds" else "ratio of medians"
    marks = [Mark(part="line", x=column(value), look=look, **how, **own)]
    if has_published:
        open_ = replace(look, fill="none", order=2)
        marks.append(Mark(part="published", x=column(f"published_{value}"), look=open_, what="published", **how))
    return marks


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if len(values) else math.nan
