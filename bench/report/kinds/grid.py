"""Final values against a numeric hyper-parameter, with its theoretical setting."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict

from bench.errors import ConfigError
from bench.regret_bounds import regret_bound
from bench.report.claims.best_on_grid import best_value
from bench.report.figure import Figure
from bench.report.labels import ANY, Selection, is_number, matches, panel_title, same_numbers
from bench.report.plot import RANDOM_ARMS, RANDOM_CAPTION, Axis, Look, Panel, Plot, end_without, start_at_zero
from bench.report.results import Labels, Results
from bench.report.style import BLACK, BLUE, CHARCOAL, DASHES, GREY, VERMILION
from bench.report.tables import by_experiment, put_beside, summary, table_of
from bench.stats import MEAN_INTERVAL, SEED, mean_interval, standard_deviation

_MEASURED, _BEST, _PUBLISHED = "mean on the grid", "best on the grid", "published best"
_GRID = Look(BLUE, "-", "o", size=4.0)
_DASHES = ((2.0, 2.0), (6.0, 2.0, 1.0, 2.0), (1.0, 1.0), (10.0, 2.0))
_BOUNDS = [Look(GREY, (0, dashes), width=1.3, order=1.8) for dashes in _DASHES]
_STAR = Look(VERMILION, "none", "*", size=12, edge="white", edge_width=0.6, order=5)
_DIAMOND = Look(CHARCOAL, "none", "D", size=6, fill="white", order=4)
_THEORY = Look(BLACK, DASHES["--"], width=1.2, order=2.5)
_DOTTED = Look(CHARCOAL, ":", width=1.3, order=1.8)  # type: ignore[arg-type]
_FURTHER_SETS = 4000
_GIVEN = re.compile(r"\+*(horizon|seed|repetitions|env|task)[.=]")
"""Overrides of settings that are given, not chosen for their low value."""
FEW = 8
"""Largest number of places on an axis at which each is numbered, and lines are drawn side by side."""
_DODGE = 0.012
"""Distance between these lines, as a share of the axis."""


class GridBound(BaseModel):
    """A bound of `bench.regret_bounds` as a function of the axis, and its name."""

    model_config = ConfigDict(extra="forbid")

    label: str
    formula: dict[str, Any]


class Grid(Figure):
    """Final means with intervals along a numeric axis, with a mark on the best mean.

    ``best`` is ``lowest``, ``highest`` or ``none``. The default is ``lowest``, or ``none`` if the axis sets the horizon
    or a setting of the environment or the task. ``bounds`` are drawn for regret if the axis is the horizon.
    """

    published_whats: ClassVar[tuple[str, ...]] = ("mean", "std", "best", "theory_mean", "theory_std")

    axis: str
    best: Literal["", "lowest", "highest", "none"] = ""
    x_scale: Literal["linear", "log"] = "linear"
    y_scale: Literal["linear", "log"] = "linear"
    bounds: tuple[GridBound, ...] = ()

    @property
    def marked(self) -> Literal["lowest", "highest", "none"]:
        """The kind of value that is marked as the best."""
        words = [word for block in self.runs for of_label in block.get(self.axis, {}).values() for word in of_label]
        is_given = any(map(_GIVEN.match, words))
        return self.best or ("none" if is_given else "lowest")

    def check(self, results: Results) -> None:
        super().check(results)
        results.check_axis(self.axis, f"{self.where}, key 'axis'")
        labels = results.labels(self.axis)
        if words := [label for label in labels if not is_number(label)]:
            raise ConfigError(f"{self.where}, key 'axis': '{self.axis}' has the label '{words[0]}', expected numbers")
        if same := same_numbers(labels):
            raise ConfigError(f"{self.where}: axis '{self.axis}' has {' and '.join(same)} at the same place")

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        # The published numbers are of the best value.
        every = {"table": summary(results, beside=False)}
        return every if self.marked == "none" else every | {"best": self.best_table(results)}

    def table_titles(self) -> dict[str, str]:
        return super().table_titles() if self.marked == "none" else {"best": "Best on the grid", "table": "Whole grid"}

    def best_table(self, results: Results) -> pd.DataFrame:
        """Return one row per line, with the best grid value and the panel's theoretical setting.

        `best` is followed by `best_low` and `best_high`, the range of values that may be the best (95 %), by its `mean`
        and `std`, and by published numbers with ratios. A line without complete results has n = 0.
        """
        axis, panels = self.axis, results.panel_axes()
        rows = []
        for chosen in results.groups(panels, [{}]):
            theory = _theory(results, axis, chosen)
            for line, keys in _lines(results, chosen, axis, panels).items():
                labels = {name: only[0] for name, only in chosen.items()} | dict(line)
                row: dict[str, Any] = labels | self._best(results, keys, axis)
                values = results.column(theory, self.column) if theory else np.empty(0)
                row |= {"theory_mean": mean_interval(values).estimate, "theory_std": standard_deviation(values)}
                if results.has_random_arms(self.column):
                    row["random_arms"] = results.random_arms(keys)
                for number in [] if results.is_surrogate else results.published_numbers():
                    if number.labels == labels:
                        put_beside(row, number, results)
                rows.append(row)
        return table_of(rows, results.axes)

    def _best(self, results: Results, keys: list[Labels], axis: str) -> dict[str, Any]:
        numbers = results.complete(keys, self.column)
        row: dict[str, Any] = {"n": 0} | dict.fromkeys(("best", "best_low", "best_high", "mean", "std"), math.nan)
        if len(numbers):
            grid = np.array([_x(results, key, axis) for key in keys])
            best = best_value(grid, numbers, self.marked)
            values = numbers[:, int(np.flatnonzero(grid == best.estimate)[0])]
            row |= {"n": len(values), "best": best.estimate, "best_low": best.low, "best_high": best.high}
            row |= {"mean": values.mean(), "std": standard_deviation(values)}
        return row

    def further(self, results: Results, labels: Mapping[str, str], what: str, size: int) -> tuple[float, float] | None:
        """Return the prediction interval of the best value of few repetitions.

        The ends are quantiles over resampled repetitions.
        """
        if what not in ("best", "mean", "std"):
            return None
        axis = self.axis
        chosen: Selection = {name: (label,) for name, label in labels.items()}
        keys = [key for key in results.select(chosen) if results.as_dict(key)[axis]]
        keys.sort(key=lambda key: _x(results, key, axis))
        numbers = results.complete(keys, self.column)
        if len(numbers) < 2:
            return math.nan, math.nan
        sets = numbers[np.random.default_rng(SEED).integers(0, len(numbers), size=(_FURTHER_SETS, size))]
        means, each = sets.mean(axis=1), np.arange(len(sets))
        places = (means if self.marked == "lowest" else -means).argmin(axis=1)
        if what == "best":
            values = np.array([_x(results, key, axis) for key in keys])[places]
        else:
            of_sets = means if what == "mean" else sets.std(axis=1, ddof=1 if self.deviation == "sample" else 0)
            values = of_sets[each, places]
        low, high = np.quantile(values, (0.025, 0.975), method="inverted_cdf")
        return float(low), float(high)

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        axis, axes = self.axis, results.panel_axes()
        rows = by_experiment(tables["table"], results)
        names = (results.series_name(key, [*axes, axis]) for key in results.select({axis: (ANY,)}))
        plot = self.blank(results, filter(None, names))
        for chosen in results.groups(axes, [{}]):
            x = Axis(self.x_label or axis.replace("_", " "), log=self.x_scale == "log")
            panel = Panel(panel_title(chosen), x=x, y=Axis(self.y_label or self.column, log=self.y_scale == "log"))
            plot.panels.append(panel)
            lines, places = list(_lines(results, chosen, axis, axes).values()), set[float]()
            for place, keys in enumerate(lines):
                name = results.series_name(keys[0], [*axes, axis])
                points = {_x(results, key, axis): rows[key] for key in keys if rows[key]["n"]}
                if points:
                    places |= set(points)
                    look, name = (plot.look(name, size=4.0), name) if name else (_GRID, _MEASURED)
                    aside = place - (len(lines) - 1) / 2
                    self._put_line(plot, panel, points, name, look, aside)
            if panel.marks:
                self._put_beside(plot, panel, chosen, results, rows, sorted(places))
        theory = dict.fromkeys(mark.name for mark in plot.marks() if mark.part == "theory")
        plot.put_last(_BEST, *theory, *map(plot.beside, (_PUBLISHED, RANDOM_ARMS)))
        band = f" and the band of {', '.join(theory)}" if theory else ""
        plot.caption = [f"Points: mean over repetitions of the final value, bars{band}: {MEAN_INTERVAL}."]
        plot.caption += [RANDOM_CAPTION] if results.has_random_arms(self.column) else []
        return plot

    def _put_line(self, plot: Plot, panel: Panel, points: Any, name: str, look: Look, aside: float) -> None:
        """Add the rows of a table, shifted slightly along the axis so that the bars of lines do not coincide."""
        places, means = list(points), [float(row["mean"]) for row in points.values()]
        moved = np.array(places)
        if self.x_scale != "log" and 1 < len(places) <= FEW:
            moved = moved + aside * _DODGE * float(np.ptp(moved))
        plot.put(panel, name, look, x=moved, y=means, interval="bars", **_interval(*points.values()))

    def _put_beside(
        self,
        plot: Plot,
        panel: Panel,
        chosen: Selection,
        results: Results,
        rows: Mapping[Labels, Mapping[Any, Any]],
        places: Sequence[float],
    ) -> None:
        """Add the theoretical setting and references to a panel, and scale its axes."""
        lowest, tops = panel.every_number.min(), [panel.every_number.max()]
        if self.marked != "none":
            for line in list(panel.marks):  # the lowest or highest point, marked
                at = int(line.numbers.argmin() if self.marked == "lowest" else line.numbers.argmax())
                point = {"x": np.asarray(line.x)[at], "y": line.numbers[at], "low": line.low[at], "high": line.high[at]}
                panel.add(line.name, _STAR, part="best", **point)
            plot.explain(_BEST, _STAR)
        for bound, look in zip(self.bounds, itertools.cycle(_BOUNDS), strict=False):
            values = [float(regret_bound(bound.formula, [x])[0]) for x in places]
            plot.put(panel, bound.label, look, role="reference", x=places, y=values, part="bound")
            tops.append(max(values))
        theory = _theory(results, self.axis, chosen)
        if theory is not None and rows[theory]["n"]:
            name, numbers = results.series_name(theory, results.panel_axes()), _interval(rows[theory])
            numbers |= {"y": rows[theory]["mean"], "interval": "band", "role": "reference", "part": "theory"}
            tops.append(plot.put(panel, name, _THEORY, **numbers).every_number.max())
        tops += self._put_published(plot, panel, chosen, results)
        low = None if panel.y.log else start_at_zero(lowest, max(tops))
        high = self._put_random(plot, panel, chosen, results, (lowest if low is None else low, max(tops)))
        ticks = places if len(places) <= FEW and not panel.x.log else None
        panel.x = Axis(panel.x.label, panel.x.log, ticks=ticks)
        panel.y = Axis(panel.y.label, panel.y.log, low=low, high=high)

    def _put_published(self, plot: Plot, panel: Panel, chosen: Selection, results: Results) -> list[float]:
        """Add the published best value with its mean, and return the mean."""
        entries = [entry for entry in results.published_numbers() if matches(entry.labels, chosen)]
        numbers = {entry.what: entry.value for entry in entries}
        if "best" not in numbers or results.is_surrogate:
            return []
        if "mean" in numbers:
            plot.explain(_PUBLISHED, Look(CHARCOAL, ":", "D", fill="white"))  # type: ignore[arg-type]
        plot.put(panel, _PUBLISHED, _DOTTED, role="reference", x=numbers["best"], part="published line")
        if "mean" in numbers:
            at = {"x": [numbers["best"]], "y": [numbers["mean"]]}
            plot.put(panel, _PUBLISHED, _DIAMOND, role="reference", **at, part="published")
        return [numbers.get("mean", 0.0)]

    def _put_random(
        self, plot: Plot, panel: Panel, chosen: Selection, results: Results, ends: tuple[float, float]
    ) -> float | None:
        """Add random arms, or return the upper end of the axis if their regret is too far above the other numbers."""
        if not results.has_random_arms(self.column):
            return None
        if self.axis == "horizon":
            places = {float(x): results.select({**chosen, self.axis: (x,)}) for x in results.labels(self.axis)}
            regrets = {x: results.random_arms(keys) for x, keys in places.items()}
            regrets = {x: regret for x, regret in regrets.items() if math.isfinite(regret)}
            plot.put_random(panel, x=list(regrets), y=list(regrets.values()))
            return None
        random = results.random_arms(results.select(chosen))
        high = end_without(random, *ends, is_log=panel.y.log)
        if high is not None:
            panel.mention_random_arms(random)
        elif math.isfinite(random):
            plot.put_random(panel, y=random)
        return high


def _interval(*rows: Mapping[Any, Any]) -> dict[str, Any]:
    return {"low": [row["ci_low"] for row in rows], "high": [row["ci_high"] for row in rows]}


def _lines(
    results: Results, chosen: Selection, axis: str, panels: Sequence[str]
) -> dict[tuple[tuple[str, str], ...], list[Labels]]:
    """Return the experiments with a grid value by their labels on the other axes, in the grid's order."""
    lines: dict[tuple[tuple[str, str], ...], list[Labels]] = {}
    for key in results.select(chosen):
        labels = results.as_dict(key)
        if labels[axis]:
            others = tuple((name, label) for name, label in labels.items() if label and name not in (axis, *panels))
            lines.setdefault(others, []).append(key)
    return {line: sorted(keys, key=lambda key: _x(results, key, axis)) for line, keys in lines.items()}


def _theory(results: Results, axis: str, panel: Selection) -> Labels | None:
    """Return the theoretical setting of a panel, which is the experiment without a grid value."""
    return next((key for key in results.select(panel) if not results.as_dict(key)[axis]), None)


def _x(results: Results, key: Labels, axis: str) -> float:
    return float(results.as_dict(key)[axis])
