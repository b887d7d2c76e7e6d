"""Final values of methods as dots with their intervals, or with their quantiles: a row per method, a panel per case."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from bench.errors import ConfigError
from bench.report.experiments import Experiments, Key
from bench.report.labels import describe, matches, selection
from bench.report.plot import FAR, RANDOM, RANDOM_CAPTION, Look, Panel, Plot, Sample, Text, level, look_of, one
from bench.report.results import Results
from bench.report.rows import Rows, in_row, repetitions
from bench.report.style import RANDOM_ARMS
from bench.report.tables import by_experiment
from bench.stats import MEAN_INTERVAL, Array

_ROW, _WIDTH = (0.36, 0.62), (3.9, 4.3)
"""Height of a row and width of a panel, without and with quantiles."""
# With more repetitions than this, single ones are not drawn: the row would be a smear.
_FEW = 25
# With quantiles all are, but fade, so that a crowd of them shows where it is densest.
_FAINTEST, _MANY = 0.12, 12.5
_UPPER = 0.95
# Mean and upper quantile stand as numbers this many points right of the panel.
_COLUMNS = ((33.0, "mean"), (66.0, "95 %"))
_DARK = "#333333"
_ONE, _PUBLISHED = "one repetition", "published"
_SMALL: dict[str, Any] = {"dash": "none", "marker": "o", "edge_width": 0.0}
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
    quantiles
        Whether to draw every repetition, quartiles, mean and 95 % quantile, the last two as numbers too. The values
        themselves are drawn, not a density: its bandwidth would decide how heavy a tail of 25 values looks.
    better, in_column
        Selects a method, such as ``{method: CIR-HPO}``, and names a trace column. Then the values are by how many per
        cent that method's mean is above the row's, repetitions paired: a repetition's number is the ratio's
        linearisation, 100 (r - 1 + (a - r b) / mean(b)) with r = mean(a) / mean(b). Their mean is 100 (r - 1), and
        their standard error that of the ratio (delta method).
    """

    limits: Limits | None = None
    quantiles: bool = False
    better: dict[str, Any] = Field(default_factory=dict)
    in_column: str = ""

    @property
    def number_label(self) -> str:
        """What the published numbers are numbers of; the column of improvements says no unit."""
        return self.x_label if self.better else super().number_label

    def check(self, data: Experiments) -> None:
        super().check(data)
        if bool(self.better) != bool(self.in_column):
            raise ConfigError(f"{self.where}: found only one of the keys 'better' and 'in_column', expected both")
        if self.better:
            self._better(data)

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        return super().tables(self._improvements(results))

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        results = self._improvements(results)
        rows = by_experiment(tables["table"], results.data)
        plot = Plot(self.heading)
        (self._plot_quantiles if self.quantiles else self._plot_means)(plot, results, rows)
        self.fit(plot, _WIDTH[self.quantiles], _ROW[self.quantiles])
        return plot

    def _plot_means(self, plot: Plot, results: Results, rows: Mapping[Key, Mapping[Any, Any]]) -> None:
        printed = {} if results.is_surrogate else self.published_means(results.data)
        plot.explain("mean", Look(_DARK, "none", "o", size=6.5))
        speaks_of_random = False
        for panel, keys in self.panels_of_rows(results, plot):
            for name, (row, key) in keys.items():
                self._row(panel, row, name or self.column, results, key, rows[key])
                if key in printed:
                    how: dict[str, Any] = {"part": "published", "what": "published"}
                    panel.marks.append(in_row(panel, row, name or self.column, [printed[key].value], _DIAMOND, **how))
            if not panel.marks:
                continue
            if results.has_random_arms(self.column):
                random = results.random_arms([key for _, key in keys.values()])
                speaks_of_random |= math.isfinite(random)
                if random <= FAR * panel.drawn.max():
                    panel.marks.append(level(random, RANDOM_ARMS, panel.title, RANDOM, number="x"))
                    plot.explain(RANDOM_ARMS, RANDOM)
                elif math.isfinite(random):
                    panel.subtitle = f"random arms: {random:,.0f}, right of this axis"
            self.scale(plot, panel)
        has_intervals = any(len(mark.low) for mark in plot.marks())
        self._explain(plot, has_intervals)
        marked = f"how many per cent the mean of {describe(selection(self.better))} is above the row's."
        plot.caption = [f"Marks: {marked if self.better else 'mean over repetitions of the final value.'}"]
        plot.caption += [] if has_intervals else ["No intervals: they need two repetitions."]
        plot.caption += [RANDOM_CAPTION] if speaks_of_random else []

    def _explain(self, plot: Plot, has_intervals: bool) -> None:
        parts = {mark.part for mark in plot.marks()}
        if has_intervals:
            plot.explain(MEAN_INTERVAL, Look(_DARK, width=2.2))
        if self.limits and "limits" in parts:
            plot.explain(self.limits.label, Look(_DARK, "-", "|", 9, 1.0))
        if "repetitions" in parts:
            plot.explain(_ONE, Look(_DARK, **_SMALL, size=3.2, alpha=0.4))
        if "published" in parts:
            plot.explain(_PUBLISHED, replace(_DIAMOND, size=7.5))
        plot.put_last(self.reference_name, RANDOM_ARMS)

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
            small = replace(look, **_SMALL, size=3.2, alpha=0.32, order=2)
            panel.marks.append(repetitions(panel, row, name, values, small))
        if self.limits and matches(results.data.as_dict(key), selection(self.limits.only)):
            columns = [results.column(key, column) for column in (self.limits.low, self.limits.high)]
            if all(map(len, columns)):
                whisker = replace(look, dash="-", marker="|", size=9, width=1.0, order=2.5)
                means = in_row(panel, row, name, [values.mean() for values in columns], whisker, part="limits")
                panel.marks.append(replace(means, what=self.limits.label))

    def _plot_quantiles(self, plot: Plot, results: Results, rows: Mapping[Key, Mapping[Any, Any]]) -> None:
        plot.explain(_ONE, Look(_DARK, **_SMALL, size=3.4, alpha=0.6))
        plot.explain("quartiles and median", Sample(Look("#CCCCCC", edge=_DARK), is_box=True))
        plot.explain("mean", Look(_DARK, "none", "o", size=7.5))
        plot.explain("95 % quantile", Look(_DARK, "none", "|", size=11, edge_width=2.2))
        counts = set()
        for panel, keys in self.panels_of_rows(results, plot):
            values = {name: results.column(key, self.column) for name, (_, key) in keys.items()}
            by_row = {keys[name][0]: own for name, own in values.items() if len(own)}
            for name, (row, key) in keys.items():
                if row in by_row:
                    _add_quantiles(panel, row, name or self.column, by_row[row], rows[key])
            if by_row:
                counts |= set(map(len, by_row.values()))
                _write_numbers(panel, by_row)
                self.scale(plot, panel)
        if counts:
            each = " or ".join(f"{count:,}" for count in sorted(counts))
            plot.caption = [
                f"{each} final values per row, one per repetition; their height within the row has no meaning."
            ]

    def _better(self, data: Experiments) -> Key:
        keys = data.select(selection(self.better))
        if data.is_declared and len(keys) != 1:
            raise ConfigError(f"{self.where}, key 'better': fits {len(keys)} experiments, expected one")
        return keys[0]

    def _improvements(self, results: Results) -> Results:
        """Return results of all experiments but the better one, whose final values have the column of improvements."""
        if not self.better:
            return results
        data = results.data
        better = self._better(data)
        top = data.rows(better).set_index("repetition")
        finals = data.finals.assign(**{self.column: np.nan})
        for key in data.keys:
            rows = data.rows(key)
            if key == better or rows.empty or top.empty:
                continue
            b = rows[self.in_column].to_numpy(dtype=np.float64)
            a = top[self.in_column].reindex(rows["repetition"]).to_numpy(dtype=np.float64)
            known = np.isfinite(a) & np.isfinite(b)
            if b[known].sum() > 0:
                ratio = a[known].mean() / b[known].mean()
                values = 100 * (ratio - 1 + (a - ratio * b) / b[known].mean())
                finals.loc[rows.index, self.column] = np.where(known, values, np.nan)
        improved = Results(self, results.curves, finals, results.provenance)
        improved.data.keys.remove(better)
        return improved


def _add_quantiles(panel: Panel, row: int, name: str, values: Array, found: Mapping[Any, Any]) -> None:
    look, n = look_of(name), [len(values)]
    low, middle, high, upper = np.quantile(values, (0.25, 0.5, 0.75, _UPPER))
    box: dict[str, Any] = {"low": one(low), "high": one(high), "what": "median", "ends": "quartiles", "n": n}
    small = replace(look, **_SMALL, size=3.4, alpha=min(0.5, max(_FAINTEST, _MANY / len(values))), order=3)
    dot = replace(look, dash="none", marker=look.marker or "o", size=7.5, edge="white", edge_width=0.8, order=5)
    ends: dict[str, Any] = {"low": one(found["ci_low"]), "high": one(found["ci_high"])}
    tail = Look(_DARK, width=2.2, order=4)
    panel.marks += [
        in_row(panel, row, name, [middle], replace(look, alpha=0.2, order=2), part="box", shape="box", half=0.3, **box),
        repetitions(panel, row, name, values, small),
        in_row(panel, row, name, [upper], tail, part="quantile", shape="tick", half=0.36, what="95 % quantile", n=n),
        in_row(panel, row, name, [found["mean"]], dot, what="mean", n=n, **ends),
    ]


def _write_numbers(panel: Panel, rows: Mapping[int, Array]) -> None:
    """Write mean and 95 % quantile right of the panel, all with the same decimals: three digits of the largest."""
    pairs = {row: (float(values.mean()), float(np.quantile(values, _UPPER))) for row, values in rows.items()}
    largest = max(abs(number) for pair in pairs.values() for number in pair)
    decimals = min(max(2 - math.floor(math.log10(largest)), 0), 6) if largest > 0 else 0
    how: dict[str, Any] = {"ha": "right", "fontsize": 7.5, "color": _DARK}
    for column, (points, head) in enumerate(_COLUMNS):
        panel.texts.append(Text(1, -0.55, head, "x", points, {**how, "va": "bottom"}))
        for row, pair in pairs.items():
            words = f"{pair[column]:,.{decimals}f}"
            panel.texts.append(Text(1, row, words, "x", points, {**how, "va": "center"}))
