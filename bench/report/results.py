"""The experiments of a figure, with their available results."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, reduce
from typing import Any, Generic, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from typing_extensions import TypeVar

from bench.columns import is_regret
from bench.errors import ConfigError, DataError
from bench.report.figure_keys import FigureKeys
from bench.report.labels import ANY, Selection, canonical, describe, is_allowed, said
from bench.report.provenance import Provenance
from bench.stats import Array

F = TypeVar("F", bound=FigureKeys, default=FigureKeys, covariant=True)
_PUBLISHED_KEYS = ("what", "value", "note", "cell")

Labels = tuple[str, ...]
"""An experiment: its label on every axis, "" where it has none."""


class PublishedNumber(NamedTuple):
    """A number printed in a paper, with the name ``cell`` in every figure that shows the number."""

    labels: dict[str, str]
    what: str
    value: float
    note: str
    cell: str


RANDOM_REGRET = "random_regret"
_NOTHING = pd.DataFrame()


class Results(Generic[F]):
    """A figure's experiments by their axis labels, with their available results.

    The figure's `runs` list the experiments; other experiments in ``finals`` are left out. Without `runs`, the
    experiments are those in ``finals``. ``finals`` has one row per experiment and repetition, with the axes' columns,
    `repetition`, `rounds` and final values; it may be empty or lack experiments. ``curves`` have the axes' columns,
    `column`, `round`, `mean`, `std`, `ci_low`, `ci_high` and `n`. Raises DataError if ``finals`` have columns but no
    `repetition`, or have a repetition twice.
    """

    def __init__(
        self,
        figure: F,
        curves: pd.DataFrame = _NOTHING,
        finals: pd.DataFrame = _NOTHING,
        provenance: Provenance = Provenance(),  # noqa: B008, it is frozen
    ) -> None:
        self.figure, self.name, self.provenance = figure, figure.name, provenance
        self.is_surrogate = bool(provenance.surrogate)
        columns = [str(column) for column in finals.columns]
        if columns and "repetition" not in columns:
            raise DataError(f"figure '{self.name}': finals lack the column 'repetition', found: {', '.join(columns)}")
        blocks = [{axis: list(labels) for axis, labels in block.items()} for block in figure.runs]
        found_axes = columns[: columns.index("repetition")] if columns else []
        self.axes: tuple[str, ...] = tuple(dict.fromkeys([axis for block in blocks for axis in block] + found_axes))
        self.is_declared = bool(blocks)
        expected = [
            tuple(dict(zip(block, labels, strict=True)).get(axis, "") for axis in self.axes)
            for block in blocks
            for labels in itertools.product(*block.values())
        ]
        self.given_finals, self.given_curves = finals, curves
        self.finals = self._labelled(finals)
        self._no_rows = self.finals.iloc[:0]
        self._ends: dict[tuple[Labels, str], tuple[npt.NDArray[np.int64], Array]] = {}
        self._mean_curves: dict[tuple[Labels, str], pd.DataFrame] = {}
        self._known: dict[Any, Any] = {}
        self._rows: dict[Labels, pd.DataFrame] = {(): self.finals} if len(finals) else {}
        if self.axes and len(finals):
            groups: Any = self.finals.groupby(list(self.axes), sort=False)  # labels are tuples, also for one axis
            self._rows = {tuple(labels): rows for labels, rows in groups}
        for key, rows in self._rows.items():
            twice = rows["repetition"][rows["repetition"].duplicated()]
            if len(twice):
                raise DataError(
                    f"figure '{self.name}': finals have repetition {twice.iloc[0]} of {self.text(key)} twice"
                )
        self.experiments: list[Labels] = list(dict.fromkeys(expected if self.is_declared else self._rows))

    def _labelled(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return a table with canonical labels."""
        table = table.copy()
        for axis in self.axes:
            values = table[axis].tolist() if axis in table.columns else [""] * len(table)
            table[axis] = pd.Series(list(map(canonical, values)), index=table.index, dtype=object)
        return table

    # The experiments

    def labels(self, axis: str) -> list[str]:
        """Return the labels of an axis in the figure's order, without the empty label."""
        return [label for label in self._by_label.get(axis, ()) if label]

    @cached_property
    def _by_label(self) -> dict[str, dict[str, list[Labels]]]:
        """The experiments by axis and label, in the figure's order."""
        found: dict[str, dict[str, list[Labels]]] = {axis: {} for axis in self.axes}
        for key in self.experiments:
            for axis, label in zip(self.axes, key, strict=True):
                found[axis].setdefault(label, []).append(key)
        return found

    def as_dict(self, key: Labels) -> dict[str, str]:
        return dict(zip(self.axes, key, strict=True))

    def text(self, key: Labels) -> str:
        return describe({axis: (label,) for axis, label in self.as_dict(key).items() if label})

    def series_name(self, key: Labels, without: Iterable[str]) -> str:
        """Return an experiment's name within a panel, made of its labels on all axes except the axes in ``without``."""
        shown = {axis: label for axis, label in self.as_dict(key).items() if label and axis not in set(without)}
        return ", ".join(said(axis, label) for axis, label in shown.items())

    def select(self, chosen: Selection) -> list[Labels]:
        few = self.experiments  # each of many cases selects a few
        for axis, labels in chosen.items():
            if len(labels) == 1 and ANY not in labels:
                few = min(few, self._by_label.get(axis, {}).get(labels[0], few), key=len)
        return self._matching(few, chosen)

    def undeclared(self, chosen: Selection) -> list[Labels]:
        """Return the experiments beyond those that the figure declares, which claims and tables ignore."""
        declared = set(self.experiments)
        return self._matching((key for key in self._rows if key not in declared), chosen)

    def _matching(self, keys: Iterable[Labels], chosen: Selection) -> list[Labels]:
        """Return the experiments that satisfy a selection.

        For many experiments this is faster than calls of `matches`.
        """
        for axis, allowed in chosen.items():
            if axis in self.axes:
                place = self.axes.index(axis)
                keys = [key for key in keys if is_allowed(key[place], allowed)]
            elif not is_allowed("", allowed):
                return []
        return list(keys)

    def groups(self, per: Iterable[str], selections: Iterable[Selection]) -> list[Selection]:
        """Return the cases of a claim or the panels of a figure, which are combinations of labels on the axes ``per``.

        A case counts if every selection has an experiment in the case. Without the figure's `runs`, an experiment of
        one selection is enough, and the other selections are missing results.
        """
        axes = list(per)
        if not axes:
            return [{}]
        if not set(axes) <= set(self.axes):
            return []
        positions = tuple(self.axes.index(axis) for axis in axes)
        selected = [{tuple(key[i] for i in positions) for key in self.select(chosen)} for chosen in selections]
        enough = all if self.is_declared else any
        found = self.once(
            positions, lambda: dict.fromkeys(tuple(key[i] for i in positions) for key in self.experiments)
        )
        cases = [labels for labels in found if all(labels) and enough(labels in group for group in selected)]
        return [{axis: (label,) for axis, label in zip(axes, labels, strict=True)} for labels in cases]

    def check(self, chosen: Selection, where: str) -> None:
        """Check the axes of a selection and, if the figure declares its runs, the labels.

        Errors begin with ``where``.
        """
        for axis, labels in chosen.items():
            self.check_axis(axis, where)
            known = self.labels(axis)
            for label in labels:
                if self.is_declared and label not in (*known, ANY, ""):
                    raise ConfigError(f"{where}: axis '{axis}' has no label '{label}', valid ones: {', '.join(known)}")

    def check_axis(self, axis: str, where: str) -> None:
        """Check that the figure has an axis; the error begins with ``where``."""
        if self.axes and axis not in self.axes:
            raise ConfigError(f"{where}: the figure has no axis '{axis}', its axes are: {', '.join(self.axes)}")

    def panel_axes(self) -> list[str]:
        """Return the axes whose labels make the panels. Raises ConfigError if an axis is unknown."""
        for axis in self.figure.panels or ():
            self.check_axis(axis, f"{self.figure.where}, key 'panels'")
        return [axis for axis in (["panel"] if self.figure.panels is None else self.figure.panels) if axis in self.axes]

    def published_numbers(self) -> list[PublishedNumber]:
        """Return the published numbers.

        Raises ConfigError if an entry has no number, or names an unknown axis or label.
        """
        entries = []
        for number, entry in enumerate(self.figure.published, start=1):
            where = f"{self.figure.where}, published entry {number}"
            for key in ("what", "value"):
                if key not in entry:
                    raise ConfigError(f"{where}: key '{key}' is missing")
            what, value = entry["what"], entry["value"]
            if what not in self.figure.published_whats:
                raise ConfigError(
                    f"{where}, key 'what': unknown {what!r}, choose from {', '.join(self.figure.published_whats)}"
                )
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ConfigError(f"{where}, key 'value': expected a number, found {value!r}")
            labels = {str(axis): canonical(label) for axis, label in entry.items() if axis not in _PUBLISHED_KEYS}
            self.check({axis: (label,) for axis, label in labels.items()}, where)
            cell = entry.get("cell") or ": ".join([self.figure.name, *labels.values(), str(what)])
            entries.append(PublishedNumber(labels, str(what), float(value), str(entry.get("note", "")), cell))
        return entries

    def published_means(self) -> dict[Labels, PublishedNumber]:
        """Return the published mean of every experiment that has a published mean."""
        means = [number for number in self.published_numbers() if number.what == "mean"]
        return {
            key: mean for mean in means for key in self.experiments if mean.labels.items() <= self.as_dict(key).items()
        }

    def once(self, name: Any, make: Callable[[], Any]) -> Any:
        """Return the result of ``make``, which is called once and shared by many cases."""
        if name not in self._known:
            self._known[name] = make()
        return self._known[name]

    # The available results

    def notes(self) -> list[str]:
        """Return the notes below a title: the provenance, and the figure's own note."""
        note = self.figure.note
        return [self.provenance.words(), *([note] if note and not self.is_surrogate else [])]

    def rows(self, key: Labels) -> pd.DataFrame:
        """Return the final values of an experiment, one row per repetition; empty if there are none."""
        return self._rows.get(key, self._no_rows)

    def ends(self, key: Labels, column: str) -> tuple[npt.NDArray[np.int64], Array]:
        """Return the repetitions of an experiment that have a final value, in order, and the final values."""
        if (key, column) not in self._ends:
            rows = self.rows(key)
            if column not in rows or not len(rows):
                return np.empty(0, dtype=np.int64), np.empty(0)
            values, numbers = rows[column].to_numpy(dtype=np.float64), rows["repetition"].to_numpy(dtype=np.int64)
            kept = np.flatnonzero(np.isfinite(values))
            kept = kept[np.argsort(numbers[kept], kind="stable")]
            self._ends[key, column] = numbers[kept], values[kept]
        return self._ends[key, column]

    def series(self, key: Labels, column: str) -> "pd.Series[float]":
        """Return the available final values of an experiment by repetition, in order."""
        numbers, values = self.ends(key, column)
        return pd.Series(values, index=numbers)

    def column(self, key: Labels, column: str) -> Array:
        """Return the final values of an experiment, without repetitions that lack the value; the array may be empty."""
        return self.ends(key, column)[1]

    def matched(self, keys: Iterable[Labels], column: str) -> dict[Labels, Array]:
        """Return by experiment the final values of the repetitions that all experiments have."""
        ends = {key: self.ends(key, column) for key in keys}
        first, *others = (numbers for numbers, _ in ends.values())
        if all(np.array_equal(first, numbers) for numbers in others):
            return {key: values for key, (_, values) in ends.items()}
        shared = reduce(np.intersect1d, others, first)
        return {key: values[np.searchsorted(numbers, shared)] for key, (numbers, values) in ends.items()}

    def complete(self, keys: Sequence[Labels], column: str) -> Array:
        """Return the final values of the repetitions that all experiments have, shape (repetitions, experiments)."""
        matched = self.matched(keys, column) if keys else {}
        return np.array([matched[key] for key in keys]).T if keys else np.empty((0, 0))

    @cached_property
    def curves(self) -> pd.DataFrame:
        return self._labelled(self.given_curves)

    def curve(self, key: Labels, column: str) -> pd.DataFrame:
        """Return an experiment's mean curve of a column, or of all columns that match a pattern such as ``probe_*``.

        The table is empty if there is no curve.
        """
        if "column" not in self.curves.columns:
            return self.curves.iloc[:0]
        if (key, column) not in self._mean_curves:
            of_key = self._places.get(key, {})
            places = [at for name, at in of_key.items() if name == column or fnmatchcase(str(name), column)]
            rows = self.curves.iloc[sorted(itertools.chain(*places))]
            self._mean_curves[key, column] = rows.sort_values("round")
        return self._mean_curves[key, column]

    @cached_property
    def _places(self) -> dict[Labels, dict[Any, list[int]]]:
        """The rows of the mean curves by experiment and column."""
        places: dict[Labels, dict[Any, list[int]]] = {}
        labels = zip(*(self.curves[axis] for axis in self.axes), strict=True) if self.axes else ()
        for at, (key, name) in enumerate(itertools.zip_longest(labels, self.curves["column"], fillvalue=())):
            places.setdefault(key, {}).setdefault(name, []).append(at)
        return places

    def random_arms(self, keys: Sequence[Labels]) -> float:
        """Return the mean final regret of uniformly random arms over the experiments ``keys``, or NaN if unknown."""
        values = np.concatenate([self.column(key, RANDOM_REGRET) for key in keys] or [np.empty(0)])
        return float(values.mean()) if len(values) else math.nan

    def has_random_arms(self, column: str) -> bool:
        """Return whether a column is a regret that is also known for uniformly random arms."""
        return is_regret(column) and RANDOM_REGRET in self.finals.columns
