"""A figure as a file says it, checked: its keys, its axes, its claims and its published numbers."""

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, ValidationError

import bench.report.kinds
from bench.columns import column_of
from bench.errors import ConfigError
from bench.report.claims.check import claims_of, complaint
from bench.report.claims.origin import Sourced
from bench.report.labels import labels_of
from bench.report.limits import Limits
from bench.report.plot import Plot
from bench.report.reading import READING, Reading
from bench.report.results import Results
from bench.report.tables import summary

MAX_ROUNDS = 60
"""Rounds of a curve that are kept, the first and the last among them."""
_TABLE_COLUMNS = ("column", "round", "repetition", "n", "rounds", "mean", "std", "ci_low", "ci_high", "random_arms")


class Scale(BaseModel):
    """What a figure does otherwise at one scale.

    With ``until_decided``, repetitions are added until the claims are decided, up to that number, unless the command
    says how many; under readings after the first up to ``readings_up_to``, by default as many as under the first.
    """

    model_config = ConfigDict(extra="forbid")

    max_horizon: PositiveInt | None = None
    max_repetitions: PositiveInt | None = None
    until_decided: PositiveInt | None = None
    readings_up_to: PositiveInt | None = None
    overrides: list[str] = []
    leave_out: dict[str, list[Any]] = {}


class Unfold(BaseModel):
    """An axis made of trace columns: label -> column, and what the values are called."""

    model_config = ConfigDict(extra="forbid")

    axis: str
    column: str
    labels: dict[str, str]


class Figure(Sourced, BaseModel):
    """A figure's configuration; each kind is a subclass in `bench.report.kinds`, named as its module.

    A kind declares keys of its own, says what it needs of the raw runs, makes the tables, and turns them into a `Plot`.

    ``column`` is the trace column that is drawn, and that claims are about unless they name another; labels of the axes
    ``panels`` make the panels, by default of `panel`; ``runs`` are blocks of axes: axis -> label -> overrides, see
    `docs/extend.md`. A published number is the mean of ``published_repetitions``, by default `repetitions` or the
    paper's; ``deviation`` says whether published ones have the divisor n - 1, as ours do, or n. ``repetitions_of``
    names the figure of the paper whose committed repetitions it is drawn from, all of them or those that have its
    labels. ``sources`` say of a setting whether it is stated, code or assumed, and the place; the first of the
    ``readings`` is the figure unchanged; the ``note``, a line below the title, is not shown beside surrogate data;
    ``colors`` are by label, as matplotlib knows them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    source: ClassVar[Literal["runs", "timing", "formula"]] = "runs"
    """Where the numbers come from: traces of runs, runs timed apart from other work, or a function."""
    published_whats: ClassVar[tuple[str, ...]] = ("mean", "std")
    """What a published number can be."""
    claim_kinds: ClassVar[dict[str, type[Any]]] = {}
    """Kinds of claims that this kind of figure alone has."""
    draws_finals: ClassVar[bool] = True
    """Whether it is drawn from final values; if not, from its tables and curves alone."""

    name: str = "?"
    paper: str = "none"
    title: str = ""
    kind: str
    column: str
    x_label: str = ""
    y_label: str = ""
    panels: list[str] | None = None
    runs: list[dict[str, Annotated[dict[str, list[str]], BeforeValidator(labels_of)]]] = []
    common: list[str] = []
    scales: dict[str, Scale] = {}
    horizon: PositiveInt | None = None
    repetitions: PositiveInt | None = None
    repetitions_of: str = ""
    unfold: Unfold | None = None
    published: list[dict[str, Any]] = []
    published_repetitions: PositiveInt | None = None
    deviation: Literal["sample", "population"] = "sample"
    claims: list[Any] = []
    sources: dict[str, Annotated[list[str], Field(min_length=2, max_length=2)]] = {}
    readings: list[Reading] = []
    note: str = ""
    colors: dict[str, str] = {}

    def given(self) -> dict[str, Any]:
        """Return what its file says, as plain containers that can be read again."""
        return self.model_dump(mode="json", exclude_unset=True)

    @property
    def where(self) -> str:
        return f"figure '{self.name}'"

    @property
    def heading(self) -> str:
        return self.title or self.name

    @property
    def number_label(self) -> str:
        """What the figure's published numbers are numbers of, with the unit: the label of their axis."""
        return column_of(self.column).label

    # What a kind may say otherwise

    def curve_columns(self) -> list[str]:
        """Return the trace columns, or patterns of them, that need curves; empty means final values only."""
        return []

    def kept_rounds(self, rounds: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
        """Return the positions in ``rounds`` of those that curves keep."""
        return evenly(rounds)

    def calculate(self) -> pd.DataFrame:
        """Return the numbers of a figure whose source is a formula."""
        raise NotImplementedError

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        """Return all tables by file name; the main one is called ``table``."""
        return {"table": summary(results)}

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot | None:
        """Return what is drawn, all its numbers read from ``tables`` or ``results``; None if tables say it all."""
        return None

    def further(self, results: Results, labels: Mapping[str, str], what: str, size: int) -> tuple[float, float] | None:
        """Return the 95 % prediction interval of a published number from a further ``size`` repetitions.

        None where it is a mean or deviation in one experiment, of which `bench.audit.agreement` knows the interval.
        """
        return None

    def limit_runs(self) -> Limits | None:
        """Return the fixed configurations that are run beside those that it declares, if any."""
        return None

    def table_titles(self) -> dict[str, str]:
        """Return what a page calls the tables, by file name, in its order."""
        return {"table": "Table"}

    def check(self, results: Results) -> None:
        """Check, without results, axes, labels, claims and published numbers; `ConfigError` names figure and key."""
        for axis in results.axes:
            if axis in (*_TABLE_COLUMNS, self.column):
                raise ConfigError(
                    f"{self.where}: an axis is called '{axis}', as a column of its tables is, rename it", at=[axis]
                )
        results.panel_axes()
        known = {label for axis in results.axes for label in results.labels(axis)}
        for label in self.colors:
            if label not in known:
                raise ConfigError(
                    f"{self.where}: colors: found '{label}', expected one of: {', '.join(sorted(known))}", at=[label]
                )
        results.published_numbers()
        self.check_readings(results)
        claims_of(results)

    def check_readings(self, results: Results) -> None:
        """Check the readings' names, axes and labels, and that the first is the figure unchanged."""
        names = [reading.name for reading in self.readings]
        for number, reading in enumerate(self.readings):
            where = f"{self.where}, reading '{reading.name}'"
            if names.count(reading.name) > 1:
                raise ConfigError(
                    f"{where}: this name is used twice, names must differ within a figure", at=[reading.name]
                )
            if number == 0 and reading.overrides:
                raise ConfigError(
                    f"{where}: found overrides, expected none: the first reading is the figure unchanged",
                    at=[reading.name],
                )
            if self.source != "runs":
                raise ConfigError(
                    f"{where}: a figure of kind '{self.kind}' has no readings, they need ordinary runs", at=["readings"]
                )
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


def _kind(name: Any, where: str) -> type[Figure]:
    """Return a kind of figure by the name of its module, or a class by its dotted path; `ConfigError` without one."""
    if name in kinds():
        name = f"bench.report.kinds.{name}.{name.title().replace('_', '')}"
    module, _, class_name = str(name).rpartition(".")
    try:
        found = getattr(importlib.import_module(module), class_name)
    except (ImportError, AttributeError, ValueError):
        found = None
    if not (isinstance(found, type) and issubclass(found, Figure)):
        choices = f"choose from {', '.join(kinds())}, or name a class: module.Class"
        raise ConfigError(f"{where}: unknown kind {name!r}, {choices}", at=[name, "kind"])
    return found


def read_figure(given: Mapping[str, Any] | Figure) -> Figure:
    """Return what a file says, as plain containers, as a figure of its kind, checked as far as results are not needed.

    `ConfigError` names what is unknown, missing or not as expected.
    """
    if isinstance(given, Figure):
        return given
    where = f"figure '{given.get('name', '?')}'"
    figure_class = _kind(given.get("kind"), where)
    try:
        figure = figure_class.model_validate(dict(given))
    except ValidationError as error:
        raise complaint(where, figure_class, error) from None
    if figure.runs:
        figure.check(Results(figure))
    return figure
