"""Final values of methods as dots with their intervals, a row per method, a panel per case."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict

from bench.report.experiments import Experiments, Key
from bench.report.labels import matches, selection
from bench.report.plot import RANDOM, Look, Panel, Plot, level, look_of
from bench.report.random_arms import FAR, RANDOM_CAPTION
from bench.report.results import Results
from bench.report.rows import Rows, in_row, repetitions
from bench.report.style import RANDOM_ARMS
from bench.report.tables import by_experiment, summary
from bench.stats import MEAN_INTERVAL

_ROW, _WIDTH = 0.36, 3.9
# With more repetitions than this, single ones are not drawn: the row would be a smear.
_FEW = 25
_DARK = "#333333"
_ONE, _PUBLISHED = "one repetition", "published"
_SMALL: dict[str, Any] = {"dash": "none", "marker": "o", "size": 3.2, "edge_width": 0.0}
# Larger than the measured mean, so that it can be seen around it.
_DIAMOND = Look(_DARK, "none", "D", size=8.5, fill="none", edge_width=1.2, order=4)


class Limits(BaseModel):
    """Columns whose means are drawn as a thin whisker, its name, and the experiments that have them."""

    model_config = ConfigDict(extra="forbid")

    low: str
    high: str
    label: str = "limits"
    only: dict[str, Any] = {}


class Dots(Rows):
    """Final means with intervals, single repetitions where there are at most 25, and published means.

    For columns of regret, uniformly random arms are a dashed grey line.

    Parameters
    ----------
    limits
        A second whisker.
    """

    limits: Limits | None = None

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        """Return the table of final values."""
        return {"table": summary(self, results)}

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        """Return the dots."""
        data = results.data
        rows = by_experiment(tables["table"], data)
        printed = {} if results.is_surrogate else self._published_means(data)
        plot = Plot(self.heading, "", [])
        plot.explain("mean", Look(_DARK, "none", "o", size=6.5))
        speaks_of_random = False
        for panel, _, keys in self.panels_of_rows(results):
            plot.panels.append(panel)
            for name, (row, key) in keys.items():
                self._row(panel, row, name or self.column, results, key, rows[key])
                if key in printed:
                    published = in_row(panel, row, name or self.column, [printed[key]], _DIAMOND, part="published")
                    panel.marks.append(replace(published, what="published"))
            if not panel.marks:
                continue
            if results.has_random_arms(self.column):
                random = results.random_arms([key for _, key in keys.values()])
                speaks_of_random |= math.isfinite(random)
                if random <= FAR * max(mark.drawn.max() for mark in panel.marks):
                    panel.marks.append(level(random, RANDOM_ARMS, panel.title, RANDOM, number="x"))
                    plot.explain(RANDOM_ARMS, RANDOM)
                elif math.isfinite(random):
                    panel.subtitle = f"random arms: {random:,.0f}, right of this axis"
            self.scale(plot, panel)
        parts = {mark.part for mark in plot.marks()}
        has_intervals = any(len(mark.low) for mark in plot.marks())
        if has_intervals:
            plot.explain(MEAN_INTERVAL, Look(_DARK, width=2.2))
        if self.limits and "limits" in parts:
            plot.explain(self.limits.label, Look(_DARK, "-", "|", 9, 1.0))
        if "repetitions" in parts:
            plot.explain(_ONE, Look(_DARK, **{**_SMALL, "alpha": 0.4}))
        if "published" in parts:
            plot.explain(_PUBLISHED, replace(_DIAMOND, size=7.5))
        plot.put_last(self.reference_name, RANDOM_ARMS)
        plot.caption = ["Marks: mean over repetitions of the final value."]
        plot.caption += [] if has_intervals else ["No intervals: they need two repetitions."]
        plot.caption += [RANDOM_CAPTION] if speaks_of_random else []
        plot.panel_size = self.panel_size(plot, _WIDTH, _ROW)
        return plot

    def _row(self, panel: Panel, row: int, name: str, results: Results, key: Key, found: Mapping[Any, Any]) -> None:
        """Add mean, interval, single repetitions and limits of an experiment."""
        look = look_of(name)
        values = results.column(key, self.column)
        if len(values):
            ends = [np.array([found[end]], dtype=float) for end in ("ci_low", "ci_high")]
            ends = ends if all(map(np.isfinite, ends)) else [np.empty(0), np.empty(0)]
            dot = replace(look, dash="none", marker=look.marker or "o", size=6.5, edge="white", edge_width=0.6, order=5)
            more: dict[str, Any] = {"low": ends[0], "high": ends[1], "interval": "segment", "n": [len(values)]}
            panel.marks.append(in_row(panel, row, name, [found["mean"]], dot, **more))
        if 1 < len(values) <= _FEW:
            panel.marks.append(repetitions(panel, row, name, values, replace(look, **_SMALL, alpha=0.32, order=2)))
        if self.limits and matches(results.data.as_dict(key), selection(self.limits.only)):
            means = [results.column(key, column) for column in (self.limits.low, self.limits.high)]
            if all(map(len, means)):
                whisker = replace(look, dash="-", marker="|", size=9, width=1.0, order=2.5)
                own = in_row(panel, row, name, [own.mean() for own in means], whisker, part="limits")
                panel.marks.append(replace(own, what=self.limits.label))

    def _published_means(self, data: Experiments) -> dict[Key, float]:
        """Return the published mean of every experiment that has one."""
        means: dict[Key, float] = {}
        for labels, what, value, *_ in self.published_numbers(data):
            if what == "mean":
                means |= {key: value for key in data.keys if labels.items() <= data.as_dict(key).items()}
        return means
