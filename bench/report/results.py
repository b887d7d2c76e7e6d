"""Aggregated results of a figure, as kinds turn them into tables and pictures."""

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from bench.report.experiments import Experiments, Key
from bench.report.labels import canonical
from bench.report.provenance import Provenance
from bench.stats import Array

if TYPE_CHECKING:
    from bench.report.figure import Figure

RANDOM_REGRET = "random_regret"


class Results:
    """Final values and mean curves of a figure's experiments, as `bench.report.render.render` takes them."""

    def __init__(self, figure: "Figure", curves: pd.DataFrame, finals: pd.DataFrame, provenance: Provenance) -> None:
        self.data = Experiments(figure, finals)
        self.provenance = provenance
        self._curves = curves
        self._series: dict[tuple[Key, str], pd.Series[float]] = {}

    @property
    def is_surrogate(self) -> bool:
        """Whether any of the data was generated in place of the real."""
        return bool(self.provenance.surrogate)

    @cached_property
    def curves(self) -> pd.DataFrame:
        """The mean curves, with labels written as everywhere."""
        curves = self._curves.copy()
        for axis in self.data.axes:
            values = curves[axis] if axis in curves.columns else [""] * len(curves)
            curves[axis] = pd.Series([canonical(value) for value in values], index=curves.index, dtype=object)
        return curves

    def curve(self, key: Key, column: str) -> pd.DataFrame:
        """Return an experiment's mean curve of a column, or of all like ``probe_*``; empty if there is none."""
        if "column" not in self.curves.columns:
            return self.curves.iloc[:0]
        is_own = self.curves["column"].map(lambda name: name == column or fnmatchcase(str(name), column))
        for axis, label in self.data.as_dict(key).items():
            is_own &= self.curves[axis] == label
        return self.curves[is_own].sort_values("round")

    def column(self, key: Key, column: str) -> Array:
        """Return the final values of an experiment, one per repetition that has one; empty if there are none."""
        rows = self.data.rows(key)
        if column not in rows.columns:
            return np.empty(0)
        values = rows.sort_values("repetition")[column].to_numpy(dtype=np.float64)
        return np.asarray(values[np.isfinite(values)])

    def series(self, key: Key, column: str) -> "pd.Series[float]":
        """Return the final values of an experiment by repetition; empty if it has no such column."""
        if (key, column) not in self._series:
            rows = self.data.rows(key)
            values = rows.set_index("repetition")[column] if column in rows else pd.Series()
            self._series[key, column] = values.astype(np.float64)
        return self._series[key, column]

    def complete(self, keys: Sequence[Key], column: str) -> Array:
        """Return the final values of the repetitions that all experiments have, shape (repetitions, experiments)."""
        if not keys:
            return np.empty((0, 0))
        values = pd.concat([self.series(key, column) for key in keys], axis=1).dropna()
        return np.asarray(values.sort_index(), dtype=np.float64)

    def random_arms(self, keys: Sequence[Key]) -> float:
        """Return the mean final regret of uniformly random arms over some experiments, NaN if there is none."""
        values = np.concatenate([self.column(key, RANDOM_REGRET) for key in keys] or [np.empty(0)])
        return float(values.mean()) if len(values) else math.nan

    def has_random_arms(self, column: str) -> bool:
        """Return whether a column is a regret, and that of uniformly random arms is known."""
        return "regret" in column and RANDOM_REGRET in self.data.finals.columns
