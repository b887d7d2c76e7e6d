"""The effect of reporting only repetitions that are selected by the results of one method.

For n requested repetitions the rule is to run int(1.6 n) repetitions, to sort them by one method's final value, and to
report for all methods the n repetitions after the two lowest. The rule is in run.py of the public code of cdt from
4711c87 (2023-01-25) until 2e998d5 (2023-03-17). Whether published numbers were made in this way is unknown.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field
from scipy import special

from bench.errors import ConfigError
from bench.report.plot import Look, Panel, Plot
from bench.report.results import Labels, Results
from bench.report.rows import Rows
from bench.report.style import CHARCOAL
from bench.report.tables import by_experiment
from bench.stats import Array

DROPPED = 2
"""Number of the lowest repetitions that are left out."""
_REACH = 0.975
_SETS = 4_000
_ROW, _WIDTH = 0.5, 4.4
_TICK = Look(CHARCOAL, "none", "|", size=11, edge_width=1.4)
_FILLED, _OPEN = "chosen repetitions", "all repetitions"
_RANGE = "where 95 % of such means lie"
_NUMBERS = ("mean", "low", "high", "std", "covers", "lowest")
_COLUMNS = ("n", *_NUMBERS, *(f"chosen_{name}" for name in _NUMBERS), "printed")


class Selection(Rows):
    """Means that would be printed from all repetitions of a set, or from repetitions selected by one method's results.

    Sets are drawn from our repetitions. Of the repetitions run, ``size`` are reported, selected by the results of the
    method ``ranked_by``.
    """

    ranked_by: str
    size: Annotated[int, Field(ge=2, strict=True)]

    def check(self, results: Results) -> None:
        super().check(results)
        if self.ranked_by not in results.labels("method"):
            methods = ", ".join(results.labels("method"))
            raise ConfigError(f"{self.where}, key 'ranked_by': found '{self.ranked_by}', expected one of: {methods}")

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        """Return a row for each experiment, computed from sets drawn from our runs.

        `low` and `high` are the ends of the central 95 % of the printed means, `std` is the mean printed deviation,
        `covers` is the share of printed 95 % intervals that contain the true mean, and `lowest` is the share of sets in
        which the method has the lowest mean. Columns that begin with `chosen_` are the same after selection. `printed`
        is the paper's number.
        """
        rows = []
        for panel in results.groups(results.panel_axes(), [{}]):
            keys = [key for key in results.select(panel) if len(results.column(key, self.column))]
            methods = [results.as_dict(key)["method"] for key in keys]
            values = results.complete(keys, self.column)
            if self.ranked_by in methods and len(values) > 1:
                rows += self._rows(results, keys, values, methods.index(self.ranked_by))
        return {"table": pd.DataFrame(rows, columns=[*results.axes, *_COLUMNS]).astype({"printed": float})}

    def _rows(self, results: Results, keys: list[Labels], values: Array, by: int) -> list[dict[str, Any]]:
        beside = {} if results.is_surrogate else results.published_means()
        sets, true = resampled(values, number_run(self.size), _SETS, np.random.default_rng(0)), values.mean(axis=0)
        samples = {"": printed(sets, self.size, None, true), "chosen_": printed(sets, self.size, by, true)}
        rows = []
        for place, key in enumerate(keys):
            row: dict[str, Any] = results.as_dict(key) | {"n": len(values)}
            for stem, sample in samples.items():
                means = sample.mean[:, place]
                ends = np.quantile(means, (0.025, 0.975))
                shares = sample.covers[:, place].mean(), sample.lowest[place]
                numbers = (sample.mean.mean(axis=0)[place], *ends, sample.std[:, place].mean(), *shares)
                row |= zip((stem + name for name in _NUMBERS), numbers, strict=True)
            rows.append(row | {"printed": beside[key].value if key in beside else np.nan})
        return rows

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        """Return a plot with a row per method.

        A row has an open mark without selection, a filled mark with selection, and the printed number.
        """
        rows = by_experiment(tables["table"], results)
        plot = self.blank(results, self.names(results))
        for panel, keys in self.panels_of_rows(results, plot):
            for name, (row, key) in keys.items():
                if key in rows:
                    _put_pair(panel, row, name, plot.look(name), rows[key])
                    if np.isfinite(number := rows[key]["printed"]):
                        panel.add_in_row(row, name, number, _TICK, part="published")
            if panel.marks:
                self.scale(plot, panel)
        plot.explain(_OPEN, Look(CHARCOAL, "none", "o", size=6, fill="none"))
        plot.explain(_FILLED, Look(CHARCOAL, "none", "o", size=6))
        plot.explain(_RANGE, Look(CHARCOAL, width=1.6))
        if any(mark.part == "published" for mark in plot.marks()):
            plot.explain("published", _TICK)
        if rows:
            ranked_key = next(key for key in results.experiments if self.ranked_by in key)
            ranked = results.series_name(ranked_key, results.panel_axes())
            plot.caption = [
                f"Of {number_run(self.size)} repetitions all methods report the {self.size} with the ranks "
                f"{DROPPED + 1} to {DROPPED + self.size} by {ranked}'s own {self.column}, beside {self.size} "
                "repetitions that are not chosen. "
                "Whether published numbers were made so is not known.",
                f"{_SETS:,} sets, drawn with replacement from our repetitions.",
            ]
        self.fit(plot, _WIDTH, _ROW)
        return plot


def _put_pair(panel: Panel, row: int, name: str, look: Look, numbers: Mapping[Any, Any]) -> None:
    """Add the marks of a method without and with the selection."""
    dot = replace(look, dash="none", marker="o", size=6.0, order=5)
    for stem, words, shown, below in (("", _OPEN, replace(dot, fill="none"), -0.1), ("chosen_", _FILLED, dot, 0.1)):
        ends = {"low": numbers[f"{stem}low"], "high": numbers[f"{stem}high"], "interval": "segment"}
        panel.add_in_row(row + below, name, numbers[f"{stem}mean"], shown, part=words, **ends)


class Printed(NamedTuple):
    """The numbers that would be printed of each method from several sets of repetitions, shape (sets, methods)."""

    mean: Array
    std: Array
    covers: Array
    """Whether mean -+ t std / sqrt(n) contains the true mean."""

    @property
    def lowest(self) -> Array:
        """The share of the sets in which each method has the lowest mean, shape (methods,)."""
        return np.asarray(np.bincount(self.mean.argmin(axis=1), minlength=self.mean.shape[1]) / len(self.mean))


def number_run(size: int) -> int:
    """Return the number of repetitions that are run if ``size`` repetitions are requested."""
    return int(size * 1.6)


def kept(ranked_by: Array, size: int) -> np.ndarray:
    """Return the positions of the reported repetitions, shape (..., size); ``ranked_by`` has shape (..., run)."""
    return np.argsort(ranked_by, axis=-1, kind="stable")[..., DROPPED : DROPPED + size]


def printed(sets: Array, size: int, ranked_by: int | None, true: Array) -> Printed:
    """Return the printed numbers of sets, shape (sets, repetitions run, methods), with ``true`` means (methods,).

    ``ranked_by`` is the position of the method by which repetitions are selected; None: the first ``size`` are
    reported.
    """
    reported = sets[:, :size]
    if ranked_by is not None:
        reported = np.take_along_axis(sets, kept(sets[:, :, ranked_by], size)[:, :, None], axis=1)
    mean, std = reported.mean(axis=1), reported.std(axis=1, ddof=1)
    reach = float(special.stdtrit(size - 1, _REACH)) / np.sqrt(size) * std
    return Printed(mean, std, np.abs(mean - true) <= reach)


def resampled(values: Array, run: int, n_sets: int, rng: np.random.Generator) -> Array:
    """Return sets of repetitions drawn with replacement from ``values`` (repetitions, methods)."""
    return np.asarray(values[rng.integers(len(values), size=(n_sets, run))])
