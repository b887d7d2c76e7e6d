"""A checked figure: its keys, its axes, its claims and its published numbers."""

import importlib
import pkgutil
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import ValidationError

import bench.report.kinds
from bench.columns import TABLE_COLUMNS, is_measured
from bench.errors import ConfigError, either
from bench.report.claims.base import CaseClaim
from bench.report.claims.check import claims_of, complaint
from bench.report.figure_keys import FigureKeys
from bench.report.limits import Limits
from bench.report.plot import Plot
from bench.report.reading import READING
from bench.report.results import Results
from bench.report.style import looks_of
from bench.report.tables import summary

MAX_ROUNDS = 60
"""Rounds of a curve that are kept, the first and the last among them."""
MOST_PANELS = 100
"""Number of panels that are drawn: more would take minutes, and gigabytes."""


class Figure(FigureKeys):
    """A figure's configuration; each kind is a subclass in a module of `bench.report.kinds` with the kind's name.

    A kind of figure declares its own keys and the data that it needs from the raw runs. It makes the tables and, from
    the tables, a `Plot`.
    """

    def blank(self, results: Results, names: Iterable[str]) -> Plot:
        """Return a plot without panels for methods with these ``names``, with the note on the provenance."""
        methods, note = tuple(dict.fromkeys(names)), ". ".join(results.notes())
        looks, mark = looks_of(methods, self.looks, self.colors), results.provenance.mark
        words = self.looks.words
        return Plot(self.heading, note, mark=mark, methods=methods, looks=looks, colors=self.colors, words=words)

    def picture(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot | None:
        """Return `plot` with at most `MOST_PANELS` panels, and with a note if there are more."""
        panels = results.groups(results.panel_axes(), [{}])
        if len(panels) <= MOST_PANELS:
            return self.plot(results, tables)
        drawn = Results(self, results.given_curves, results.given_finals, results.provenance)
        drawn.experiments = [key for chosen in panels[:MOST_PANELS] for key in results.select(chosen)]
        plot = self.plot(drawn, tables)
        if plot:
            plot.note = f"The first {MOST_PANELS} of {len(panels):,} panels; the tables have all. {plot.note}"
        return plot

    # Methods that a kind may override

    def curve_columns(self) -> list[str]:
        """Return the trace columns, or patterns of their names, whose curves the figure needs.

        The list is empty if the figure needs only final values.
        """
        return []

    def individual_columns(self) -> list[str]:
        """Return the entries of `curve_columns` whose curves of single repetitions are kept.

        The columns of these curves have names such as ``regret@3``.
        """
        return []

    def trace_columns(self) -> dict[str, str]:
        """Return the trace columns that tables and claims need, with the place in the file that names each column."""
        claims = [claim for claim in claims_of(Results(self)) if isinstance(claim, CaseClaim)]
        named = {claim.column: f"{self.where}, claim '{claim.id}', key 'column'" for claim in reversed(claims)}
        named |= {self.column: f"{self.where}, key 'column'"}
        if self.unfold:
            named.pop(self.unfold.column, None)
            named |= dict.fromkeys(self.unfold.labels.values(), f"{self.where}, key 'unfold.labels'")
        return named

    @property
    def is_timed(self) -> bool:
        """Whether tables or claims need measured seconds, which must come from runs on one kind of machine."""
        return any(map(is_measured, self.trace_columns()))

    def kept_rounds(self, rounds: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
        """Return the positions in ``rounds`` that curves keep."""
        return evenly(rounds)

    def restrict(self, given: dict[str, Any], labels: Collection[str]) -> dict[str, Any]:
        """Return the file's content for the part of the figure with the given ``labels``."""
        return given

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        """Return all tables by file name; the main table is called ``table``.

        Raises BenchError if the results do not fit the figure.
        """
        return {"table": summary(results)}

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot | None:
        """Return the plot, or None if the figure only has tables.

        All numbers of the plot are read from ``tables`` or ``results``.
        """
        return None

    def further(self, results: Results, labels: Mapping[str, str], what: str, size: int) -> tuple[float, float] | None:
        """Return the 95 % prediction interval of a published number that is computed from ``size`` further repetitions.

        The result is None for a mean or a deviation of one experiment, whose interval `bench.audit.agreement` computes.
        """
        return None

    def limit_runs(self) -> Limits | None:
        """Return the fixed configurations that are run in addition to the declared experiments, if any."""
        return None

    def is_limit(self, labels: Mapping[str, str]) -> bool:
        """Return whether an experiment is one of `limit_runs`, not a method."""
        return False

    def table_titles(self) -> dict[str, str]:
        """Return the titles of the tables on a page by file name, in order."""
        return {"table": "Table"}

    def check(self, results: Results) -> None:
        """Check the axes, the labels, the claims and the published numbers, which does not require any runs.

        Raises ConfigError with the figure and the key.
        """
        for axis in results.axes:
            if axis in (*TABLE_COLUMNS, self.column):
                raise ConfigError(f"{self.where}: an axis is called '{axis}', like a column of its tables: rename it")
        if (unfolded := self.unfold.column if self.unfold else self.column) != self.column:
            raise ConfigError(f"{self.where}, key 'unfold.column': found '{unfolded}', expected '{self.column}'")
        results.panel_axes()
        known = {label for axis in results.axes for label in results.labels(axis)}
        for label in self.colors:
            if label not in known:
                raise ConfigError(f"{self.where}: colors: found '{label}', expected one of: {either(sorted(known))}")
        results.published_numbers()
        self.check_readings(results)
        claims_of(results)

    def check_readings(self, results: Results) -> None:
        """Check the names, axes and labels of the readings, and that the first reading is the figure unchanged."""
        names = [reading.name for reading in self.readings]
        for number, reading in enumerate(self.readings):
            where = f"{self.where}, reading '{reading.name}'"
            if names.count(reading.name) > 1:
                raise ConfigError(f"{where}: this name is used twice, but names must differ within a figure")
            if number == 0 and reading.overrides:
                raise ConfigError(
                    f"{where}: found overrides, expected none: the first reading is the figure unchanged, so put one "
                    "without overrides before it"
                )
            if self.source != "runs":
                raise ConfigError(f"{where}: a figure of kind '{self.kind}' has no readings, which need ordinary runs")
            for key, chosen in reading.selections():
                results.check(chosen, f"{where}, key '{key}'")
        if self.readings and READING in results.axes:
            raise ConfigError(f"{self.where}: an axis is called '{READING}', which the figure's readings need")


def evenly(rounds: npt.NDArray[np.int64], most: int = MAX_ROUNDS) -> npt.NDArray[np.intp]:
    """Return up to ``most`` evenly spaced positions, among them the first and the last."""
    return np.unique(np.linspace(0, len(rounds) - 1, min(len(rounds), most)).round().astype(np.intp))


def kinds() -> list[str]:
    """Return the names of all kinds, which are the modules of `bench.report.kinds`."""
    return sorted(module.name for module in pkgutil.iter_modules(bench.report.kinds.__path__))


def _kind(name: str, where: str, *, is_own: bool) -> type[Figure]:
    """Return a kind of figure by the name of its module, or a class by its dotted path.

    Only a user's own configuration may name a class, because a result must not cause an import. Raises ConfigError if
    there is no such kind or class.
    """
    path = f"bench.report.kinds.{name}.{name.title().replace('_', '')}" if name in kinds() else name
    module, _, class_name = path.rpartition(".")
    found = None
    if is_own or module.startswith(("bench.report.kinds.", "bench.papers.")):
        with suppress(ImportError, AttributeError, ValueError):
            found = getattr(importlib.import_module(module), class_name)
    if not (isinstance(found, type) and issubclass(found, Figure)):
        choices = f"choose from {', '.join(kinds())}"
        more = ", or name a class: module.Class" if is_own else "; a class is named in a figure's own file"
        raise ConfigError(f"{where}: unknown kind {name!r}, {choices}{more}")
    return found


def read_figure(given: Mapping[str, Any] | Figure, *, is_own: bool = False) -> Figure:
    """Return a checked figure of its kind from the content of a file, given as plain containers.

    Results are not needed. ``is_own`` states whether the content is a user's configuration, whose kind may be a class
    of any module; the kind of a result must belong to the suite. Raises ConfigError with the unknown, missing or
    invalid key.
    """
    if isinstance(given, Figure):
        return given
    where = f"figure '{given.get('name', '?')}'"
    figure_class = _kind(str(given.get("kind")), where, is_own=is_own)
    try:
        figure = figure_class.model_validate(dict(given))
    except ValidationError as error:
        raise complaint(where, figure_class, error) from None
    if figure.runs:
        figure.check(Results(figure))
    return figure
