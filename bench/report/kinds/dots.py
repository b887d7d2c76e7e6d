"""Final values of methods as dots with intervals or quantiles, with a row per method and a panel per case."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from bench.errors import ConfigError
from bench.report.claims.check import claims_of
from bench.report.labels import describe, matches, selection
from bench.report.plot import FAR, RANDOM_ARMS, RANDOM_CAPTION, Look, Panel, Plot, Text
from bench.report.results import Labels, Results
from bench.report.rows import Rows, add_repetitions
from bench.report.style import CHARCOAL
from bench.report.tables import by_experiment
from bench.stats import MEAN_INTERVAL, Array

_ROW, _WIDTH = (0.36, 0.62), (3.9, 4.3)
"""Height of a row and width of a panel, without and with quantiles."""
# Largest number of repetitions that are drawn singly; more would blur the row.
_FEW = 25
# With quantiles all are drawn, faded, so that the density is visible.
_FAINTEST, _MANY = 0.12, 12.5
_UPPER = 0.95
# Mean and upper quantile are numbers this many points right of the panel.
_COLUMNS = ((33.0, "mean"), (66.0, "95 %"))
_ONE, _PUBLISHED = "one repetition", "published"
_SMALL: dict[str, Any] = {"dash": "none", "marker": "o", "edge_width": 0.0}
# Larger than the measured mean, so that it can be seen around it.
_DIAMOND = Look(CHARCOAL, "none", "D", size=8.5, fill="none", edge_width=1.2, order=4)


class Whiskers(BaseModel):
    """The columns whose means are drawn as a thin whisker, the name of the whisker, and its experiments."""

    model_config = ConfigDict(extra="forbid")

    low: str
    high: str
    label: str = "whiskers"
    only: dict[str, Any] = {}


class Dots(Rows):
    """Final means with intervals, single repetitions if there are at most 25, and published means.

    For columns of regret, uniformly random arms are a dashed grey line. ``whiskers`` are drawn with thin lines; with
    ``quantiles`` every repetition, the quartiles, the mean and the 95 % quantile are drawn, and the last two are also
    written as numbers.

    ``better`` selects a method, such as ``{method: CIR-HPO}``, and ``in_column`` names a trace column. The values are
    then the percentages by which the mean of this method exceeds the mean of the row, with paired repetitions. The
    number of a repetition is the linearisation of the ratio, 100 (r - 1 + (a - r b) / mean(b)) with r = mean(a) /
    mean(b). The mean of these numbers is 100 (r - 1), and their standard error is the standard error of the ratio
    (delta method).
    """

    whiskers: Whiskers | None = None
    quantiles: bool = False
    better: dict[str, Any] = Field(default_factory=dict)
    in_column: str = ""

    def check(self, results: Results) -> None:
        super().check(results)
        if bool(self.better) != bool(self.in_column):
            raise ConfigError(f"{self.where}: found only one of the keys 'better' and 'in_column', expected both")
        if self.better:
            self._better(results)
            for claim in claims_of(results):
                if getattr(claim, "column", "") == self.column:
                    place = f"{self.where}, claim '{claim.id}', key 'column'"
                    raise ConfigError(f"{place}: found '{self.column}', expected one of runs, such as {self.in_column}")
        if self.whiskers:
            results.check(selection(self.whiskers.only), f"{self.where}, key 'whiskers.only'")

    def trace_columns(self) -> dict[str, str]:
        named = super().trace_columns()
        if self.better:  # whose values are computed
            named.pop(self.column, None)
            named |= {self.in_column: f"{self.where}, key 'in_column'"}
        for end in ("low", "high") if self.whiskers else ():
            named |= {getattr(self.whiskers, end): f"{self.where}, key 'whiskers.{end}'"}
        return named

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        return super().tables(self._improvements(results))

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        results = self._improvements(results)
        rows = by_experiment(tables["table"], results)
        plot = self.blank(results, self.names(results, self.column))
        (self._plot_quantiles if self.quantiles else self._plot_means)(plot, results, rows)
        self.fit(plot, _WIDTH[self.quantiles], _ROW[self.quantiles])
        return plot

    def _plot_means(self, plot: Plot, results: Results, rows: Mapping[Labels, Mapping[Any, Any]]) -> None:
        printed = {} if results.is_surrogate else results.published_means()
        plot.explain("mean", Look(CHARCOAL, "none", "o", size=6.5))
        speaks_of_random = False
        for panel, keys in self.panels_of_rows(results, plot):
            for name, (row, key) in keys.items():
                name = name or self.column
                self._put_row(panel, row, name, plot.look(name), results, key, rows[key])
                if key in printed:
                    panel.add_in_row(row, name, printed[key].value, _DIAMOND, part="published")
            if not panel.marks:
                continue
            if results.has_random_arms(self.column):
                random = results.random_arms([key for _, key in keys.values()])
                speaks_of_random |= math.isfinite(random)
                if random <= FAR * panel.every_number.max():
                    plot.put_random(panel, x=random)
                elif math.isfinite(random):
                    panel.subtitle = f"random arms: {random:,.0f}, right of this axis"
            self.scale(plot, panel)
        parts = {mark.part for mark in plot.marks()}
        has_intervals = any(len(mark.low) for mark in plot.marks())
        samples = {
            MEAN_INTERVAL: (has_intervals, Look(CHARCOAL, width=2.2)),
            self.whiskers.label if self.whiskers else "": ("whiskers" in parts, Look(CHARCOAL, "-", "|", 9, 1.0)),
            _ONE: ("repetitions" in parts, Look(CHARCOAL, **_SMALL, size=3.2, alpha=0.4)),
            _PUBLISHED: ("published" in parts, replace(_DIAMOND, size=7.5)),
        }
        for name, (is_drawn, look) in samples.items():
            if is_drawn:
                plot.explain(name, look)
        plot.put_last(*map(plot.beside, (self.reference_name, RANDOM_ARMS)))
        marked = f"how many per cent the mean of {describe(selection(self.better))} is above the row's."
        plot.caption = [f"Marks: {marked if self.better else 'mean over repetitions of the final value.'}"]
        plot.caption += ["No intervals: they need two repetitions."] * (not has_intervals)
        plot.caption += [RANDOM_CAPTION] * speaks_of_random

    def _put_row(
        self, panel: Panel, row: int, name: str, look: Look, results: Results, key: Labels, numbers: Mapping[Any, Any]
    ) -> None:
        """Add the mean with its interval, the single repetitions and the whiskers of an experiment."""
        values = results.column(key, self.column)
        if len(values):
            low, high = float(numbers["ci_low"]), float(numbers["ci_high"])
            ends = {"low": low, "high": high} if math.isfinite(low + high) else {}
            dot = _dot(look, size=6.5, edge_width=0.6)
            panel.add_in_row(row, name, numbers["mean"], dot, interval="segment", **ends)
        if 1 < len(values) <= _FEW:
            small = replace(look, **_SMALL, size=3.2, alpha=0.32, order=2)
            add_repetitions(panel, row, name, values, small)
        if self.whiskers and matches(results.as_dict(key), selection(self.whiskers.only)):
            columns = [results.column(key, column) for column in (self.whiskers.low, self.whiskers.high)]
            if all(map(len, columns)):
                whisker = replace(look, dash="-", marker="|", size=9, width=1.0, order=2.5)
                means = [values.mean() for values in columns]
                panel.add_in_row(row, name, means, whisker, part="whiskers")

    def _plot_quantiles(self, plot: Plot, results: Results, rows: Mapping[Labels, Mapping[Any, Any]]) -> None:
        plot.explain(_ONE, Look(CHARCOAL, **_SMALL, size=3.4, alpha=0.6))
        plot.explain("quartiles and median", Look("#CCCCCC", edge=CHARCOAL, is_box=True))
        plot.explain("mean", Look(CHARCOAL, "none", "o", size=7.5))
        plot.explain("95 % quantile", Look(CHARCOAL, "none", "|", size=11, edge_width=2.2))
        counts: set[int] = set()
        for panel, keys in self.panels_of_rows(results, plot):
            values = {row: results.column(key, self.column) for row, key in keys.values()}
            values = {row: numbers for row, numbers in values.items() if len(numbers)}
            for name, (row, key) in keys.items():
                if row in values:
                    name = name or self.column
                    _put_quantiles(panel, row, name, plot.look(name), values[row], rows[key])
            if values:
                counts |= set(map(len, values.values()))
                panel.texts += _numbers_beside(values)
                self.scale(plot, panel)
        if counts:
            each = " or ".join(f"{count:,}" for count in sorted(counts))
            plot.caption = [
                f"{each} final values per row, one per repetition; their height within the row has no meaning."
            ]

    def _better(self, results: Results) -> Labels:
        keys = results.select(selection(self.better))
        if results.is_declared and len(keys) != 1:
            raise ConfigError(f"{self.where}, key 'better': fits {len(keys)} experiments, expected one")
        return keys[0]

    def _improvements(self, results: Results) -> Results:
        """Return the results of all experiments except the better method, with the column of improvements."""
        if not self.better:
            return results
        better = self._better(results)
        top = results.rows(better).set_index("repetition")
        finals = results.finals.assign(**{self.column: np.nan})
        for key in results.experiments:
            rows = results.rows(key)
            if key == better or rows.empty or top.empty:
                continue
            b = rows[self.in_column].to_numpy(dtype=np.float64)
            a = top[self.in_column].reindex(rows["repetition"]).to_numpy(dtype=np.float64)
            finite = np.isfinite(a) & np.isfinite(b)
            if b[finite].sum() > 0:
                ratio = a[finite].mean() / b[finite].mean()
                values = 100 * (ratio - 1 + (a - ratio * b) / b[finite].mean())
                finals.loc[rows.index, self.column] = np.where(finite, values, np.nan)
        others = Results(self, results.given_curves, finals, results.provenance)
        others.experiments.remove(better)
        return others


def _dot(look: Look, **keys: Any) -> Look:
    return replace(look, dash="none", marker=look.marker or "o", edge="white", order=5, **keys)


def _put_quantiles(panel: Panel, row: int, name: str, look: Look, values: Array, numbers: Mapping[Any, Any]) -> None:
    low, middle, high, upper = np.quantile(values, (0.25, 0.5, 0.75, _UPPER))
    box: dict[str, Any] = {"low": low, "high": high, "half": 0.3}
    small = replace(look, **_SMALL, size=3.4, alpha=min(0.5, max(_FAINTEST, _MANY / len(values))), order=3)
    tail: dict[str, Any] = {"part": "quantile", "shape": "tick", "half": 0.36}
    ends = {"low": numbers["ci_low"], "high": numbers["ci_high"]}
    panel.add_in_row(row, name, middle, replace(look, alpha=0.2, order=2), part="box", shape="box", **box)
    add_repetitions(panel, row, name, values, small)
    panel.add_in_row(row, name, upper, Look(CHARCOAL, width=2.2, order=4), **tail)
    panel.add_in_row(row, name, numbers["mean"], _dot(look, size=7.5, edge_width=0.8), **ends)


def _numbers_beside(rows: Mapping[int, Array]) -> list[Text]:
    """Return means and 95 % quantiles as text beside the panel, with three digits for the largest number."""
    columns = [[float(values.mean()) for values in rows.values()]]
    columns.append([float(np.quantile(values, _UPPER)) for values in rows.values()])
    largest = max(map(abs, columns[0] + columns[1]))
    decimals = min(max(2 - math.floor(math.log10(largest)), 0), 6) if largest > 0 else 0
    look: dict[str, Any] = {"ha": "right", "fontsize": 7.5, "color": CHARCOAL}
    texts = []
    for (points, head), numbers in zip(_COLUMNS, columns, strict=True):
        texts.append(Text(1, -0.55, head, "x", points, {**look, "va": "bottom"}))
        for row, number in zip(rows, numbers, strict=True):
            texts.append(Text(1, row, f"{number:,.{decimals}f}", "x", points, {**look, "va": "center"}))
    return texts
