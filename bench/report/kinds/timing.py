"""Seconds of runs, beside published seconds, and as multiples of the seconds of a reference."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from bench.errors import ConfigError
from bench.report.figure import Figure
from bench.report.labels import describe, matches, panel_title, selection
from bench.report.plot import GREY, Axis, Look, Panel, Plot, row_panel, wrapped
from bench.report.results import Labels, Results
from bench.report.style import CHARCOAL
from bench.report.tables import by_experiment, check_column

_ROW_HEIGHT, _WIDTH = 0.5, 4.9
_ROOM = 0.64
# Share of the time on other work from which a measurement is reported.
_BUSY = 0.1


class Timing(Figure):
    """Median seconds with their range, and medians divided by the median of the reference, with a row per panel.

    ``reference`` selects the experiment of each panel that the other experiments are compared with, such as ``{method:
    TL}``. ``part`` is the timed part: the whole ``run``, or only the ``tuner``'s ask and tell.
    """

    source: ClassVar[Literal["runs", "timing", "formula"]] = "timing"
    published_whats: ClassVar[tuple[str, ...]] = ("mean",)

    reference: dict[str, Any]
    part: Literal["run", "tuner"] = "run"

    def check(self, results: Results) -> None:
        super().check(results)
        for column, place in self.trace_columns().items():
            if column not in ("seconds", "cpu_seconds"):
                raise ConfigError(f"{place}: found '{column}', expected seconds or cpu_seconds")
        self._references(results)

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        """Return one row per experiment with medians and their ratios.

        Experiments without measurements are included (n = 0).
        """
        check_column(results)
        published = {} if results.is_surrogate else results.published_means()
        references = self._references(results)
        rows = []
        for key in results.experiments:
            values, reference = results.column(key, self.column), references.get(key, ())
            row: dict[str, Any] = results.as_dict(key) | {"n": len(values), "rounds": math.nan}
            row |= {"seconds": _median(values), "fastest": math.nan, "slowest": math.nan}
            if len(values):
                row |= {"rounds": float(results.rows(key)["rounds"].mean())}
                row |= {"fastest": values.min(), "slowest": values.max()}
            row["relative"] = row["seconds"] / _median(results.column(reference, self.column))
            if published:
                value, per = (published[one].value if one in published else math.nan for one in (key, reference))
                row |= {"published_seconds": value, "published_relative": value / per}
                row |= {"published_note": published[key].note if key in published else ""}
            rows.append(row)
        table = pd.DataFrame(rows)
        if "published_note" in table and not table["published_note"].any():
            del table["published_note"]
        return {"table": table}

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        table = tables["table"]
        groups = results.groups(results.panel_axes(), [{}])
        names = [wrapped(panel_title(chosen), 24) for chosen in groups]
        by = f"seconds divided by those of {describe(selection(self.reference))}"
        panels = {"seconds": row_panel("", "", names), "relative": row_panel("", by, names)}
        panels["seconds"].x = Axis(self.x_label or "seconds per run", log=True, few=True)
        has_published = "published_seconds" in table
        if has_published:  # seconds of another machine are not comparable: with published ones only ratios are drawn
            del panels["seconds"]
        size = (_WIDTH, max(1.8, 0.7 + _ROW_HEIGHT * max(len(groups), 1)))
        lines = (results.series_name(key, results.panel_axes()) for key in results.experiments)
        plot = replace(self.blank(results, lines), panels=list(panels.values()), panel_size=size)
        if not table["n"].any():
            return plot
        points: dict[str, list[dict[Any, Any]]] = {}
        rows = by_experiment(table, results)
        for place, chosen in enumerate(groups):
            keys = results.select(chosen)
            for number, key in enumerate(keys):
                height = place + _ROOM * ((number + 0.5) / len(keys) - 0.5)
                points.setdefault(results.series_name(key, chosen), []).append({**rows[key], "height": height})
        for name, rows_of in points.items():
            look = plot.look(name, dash="none", size=4.5, width=1.5)
            plot.explain(name, look)
            for value, panel in panels.items():
                _put_points(panel, name, pd.DataFrame(rows_of), value, look, has_published)
        if has_published:
            plot.explain("published", Look(CHARCOAL, "none", "o", fill="none"))
        panels["relative"].add("", Look(GREY, width=1, order=1), case="relative", x=1.0, part="one")
        plot.caption = self._caption(results, has_published)
        return plot

    def _caption(self, results: Results, has_published: bool) -> list[str]:
        bars = "" if has_published else "; bars: the fastest to the slowest"
        caption = [f"Full marks: median of the measurements, one process, one thread{bars}."]
        if has_published:
            caption.append("Open marks: published, measured on another machine: only ratios can be compared.")
        if self.part == "tuner":
            caption.append("Timed are ask and tell alone, with the rewards of a run that was played before.")
        seconds = results.finals
        share = 1 - seconds["cpu_seconds"].sum() / seconds["seconds"].sum() if "cpu_seconds" in seconds else math.nan
        if np.isfinite(share) and share > _BUSY:
            caption.append(f"For {100 * share:.0f} % of the time the processor was busy with other work.")
        return caption

    def _references(self, results: Results) -> dict[Labels, Labels]:
        """Return the reference of every experiment, which the key `reference` selects in the same panel."""
        where, chosen = f"{self.where}, key 'reference'", selection(self.reference)
        results.check(chosen, where)
        references: dict[Labels, Labels] = {}
        for panel in results.groups(results.panel_axes(), [{}]):
            keys = results.select(panel)
            fitting = [key for key in keys if matches(results.as_dict(key), chosen)]
            if len(fitting) > 1:
                raise ConfigError(f"{where}: fits {len(fitting)} experiments of a panel, expected one")
            references |= {key: fitting[0] for key in keys if fitting}
        return references


def _put_points(panel: Panel, name: str, points: pd.DataFrame, value: str, look: Look, has_published: bool) -> None:
    """Add the measured and the published points of a method."""
    shown: dict[str, Any] = {"y": points["height"], "number": "x", "case": value}
    range_: dict[str, Any] = {}
    if value == "seconds":
        range_ = {"low": points["fastest"], "high": points["slowest"], "interval": "segment"}
    panel.add(name, look, x=points[value], **shown, **range_)
    if has_published:
        open_ = replace(look, fill="none", order=2)
        panel.add(name, open_, x=points[f"published_{value}"], part="published", **shown)


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if len(values) else math.nan
