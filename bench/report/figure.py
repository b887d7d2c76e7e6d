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
    """A figure's configuration; each kind is a subclass in `bench.report.kinds`, named as its module.

    A kind declares keys of its own and the data that it needs from the raw runs, makes the tables, and turns them into
    a `Plot`.
    """

    def blank(self, results: Results, names: Iterable[str]) -> Plot:
        """Return a plot without panels, for methods of these names, with the note on its provenance."""
        methods, note = tuple(dict.fromkeys(names)), ". ".join(results.notes())
        looks, mark = looks_of(methods, self.looks, self.colors), results.provenance.mark
        words = self.looks.words
        return Plot(self.heading, note, mark=mark, methods=methods, looks=looks, colors=self.colors, words=words)

    def picture(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot | None:
        """Return `plot` of at most `MOST_PANELS` panels, with a note if there are more."""
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
        """Return the trace columns, or patterns of them, that need curves; empty means final values only."""
        return []

    def individual_columns(self) -> list[str]:
        """Return the entries of `curve_columns` whose curves of single repetitions are kept, as column ``regret@3``."""
        return []

    def trace_columns(self) -> dict[str, str]:
        """Return the columns of traces that tables and claims need, each with the place in the file that names it."""
        claims = [claim for claim in claims_of(Results(self)) if isinstance(claim, CaseClaim)]
        named = {claim.column: f"{self.where}, claim '{claim.id}', key 'column'" for claim in reversed(claims)}
        named |= {self.column: f"{self.where}, key 'column'"}
        if self.unfold:
            named.pop(self.unfold.column, None)
            named |= dict.fromkeys(self.unfold.labels.values(), f"{self.where}, key 'unfold.labels'")
        return named

    @property
    def is_timed(self) -> bool:
        """Whether tables or claims need measured seconds of runs, which only one kind of machine may have made."""
        return any(map(is_measured, self.trace_columns()))

    def kept_rounds(self, rounds: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
        """Return the positions in ``rounds`` that curves keep."""
        return evenly(rounds)

    def restrict(self, given: dict[str, Any], labels: Collection[str]) -> dict[str, Any]:
        """Return the file's content for the part of the figure with these labels."""
        return given

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        """Return all tables by file name; the main one is called ``table``.

        Raises BenchError if results do not fit.
        """
        return {"table": summary(results)}

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot | None:
        """Return the plot, all its numbers read from ``tables`` or ``results``; None if the figure only has tables."""
        return None

    def further(self, results: Results, labels: Mapping[str, str], what: str, size: int) -> tuple[float, float] | None:
        """Return the 95 % prediction interval for a number published from ``size`` further repetitions.

        None for a mean or deviation in one experiment, whose interval `bench.audit.agreement` computes.
        """
        return None

    def limit_runs(self) -> Limits | None:
        """Return the fixed configurations that are run in addition to the declared experiments, if any."""
        return None

    def is_limit(self, labels: Mapping[str, str]) -> bool:
        """Return whether an experiment is one of `limit_runs`, not a method."""
        return False

    def table_titles(self) -> dict[str, str]:
        """Return the titles of the tables on a page, by file name, in order."""
        return {"table": "Table"}

    def check(self, results: Results) -> None:
        """Check, without results, axes, labels, claims and published numbers; ConfigError names figure and key."""
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
        """Check the readings' names, axes and labels, and that the first is the figure unchanged."""
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
    """Return up to ``most`` positions, evenly spaced, the first and the last among them."""
    return np.unique(np.linspace(0, len(rounds) - 1, min(len(rounds), most)).round().astype(np.intp))


def kinds() -> list[str]:
    """Return the names of all kinds: the modules of `bench.report.kinds`."""
    return sorted(module.name for module in pkgutil.iter_modules(bench.report.kinds.__path__))


def _kind(name: str, where: str, *, is_own: bool) -> type[Figure]:
    """Return a kind of figure by the name of its module, or a class by its dotted path; ConfigError without one.

    Only a user's own configuration may name a class: a result must not cause an import.
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
    """Return a checked figure of its kind from a file's content, as plain containers; results are not needed.

    ``is_own``: whether it is configuration, whose kind may be a class of any module; the kind of a result is one of the
    suite's. ConfigError names the unknown, missing or invalid key.
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
