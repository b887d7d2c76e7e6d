"""Mean curves over rounds, with a panel per environment or algorithm and a line per method."""

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from bench.columns import column_of, is_measured, is_regret
from bench.errors import ConfigError
from bench.regret_bounds import regret_bound
from bench.report.claims.judgement import MIN_REPETITIONS
from bench.report.figure import MAX_ROUNDS, Figure, evenly
from bench.report.labels import Selection, panel_title, selection
from bench.report.limits import (
    BEST_BY_STRETCH,
    STRETCH_CAPTION,
    Limits,
    by_stretch,
    closed_gaps,
    limits_of,
)
from bench.report.limits import CAPTION as LIMIT_CAPTION
from bench.report.plot import (
    RANDOM_ARMS,
    RANDOM_CAPTION,
    REFERENCE,
    Axis,
    Look,
    Panel,
    Plot,
    end_without,
    start_at_zero,
)
from bench.report.results import RANDOM_REGRET, Labels, Results
from bench.report.style import BLACK, GREY
from bench.report.tasks import BEST_FIXED, METHOD
from bench.stats import MEAN_INTERVAL
from bench.trace import MAX_ROWS

_MARKS_PER_LINE = 6
_MANY = 12
"""Number of lines above which only the first and the best of each panel are drawn strongly."""
_THIN: dict[str, Any] = {"marker": "", "width": 0.8}
_ALONE: dict[str, Any] = {"dash": "-", "marker": "", "width": 0.4, "alpha": 0.5, "order": 2.0}
_BOUND = "Bound, in the colour of its method"
_DOTS: dict[str, Any] = {"dash": (0, (2, 2)), "marker": "", "width": 1.1, "order": 2.5}
_EARLY, _WIDER = 0.1, 1.0
"""Share of the rounds in which a band may leave the picture, if its excess is above this many heights of the rest."""
_EARLY_CAPTION = "Bands of the first rounds go beyond the picture."
_MANY_CAPTION = "Thick: the first line and the best of each panel; the others are thin and have no bands."
_LIMITS = {
    BEST_FIXED: Look(BLACK, width=1.1, order=3.5),
    BEST_BY_STRETCH: Look(BLACK, (0, (1, 1.5)), width=1.3, order=3.5),
}


class MethodBound(BaseModel):
    """A bound of `bench.regret_bounds` on the experiments that ``measured`` selects."""

    model_config = ConfigDict(extra="forbid")

    measured: dict[str, Any]
    formula: dict[str, Any]


class Curves(Figure):
    """Mean curves with their bands.

    For columns of regret, uniformly random arms are a dashed grey line. `limits` adds runs of fixed configurations and
    draws the best of these configurations, which is known only afterwards. `rounds` is the number of rounds that are
    kept of a curve; a trace has up to 500. With `show_individual` each repetition is also drawn as a thin line.
    """

    y_scale: Literal["linear", "log"] = "linear"
    x_scale: Literal["linear", "log"] = "linear"
    rounds: Annotated[int, Field(ge=2, le=MAX_ROWS)] = MAX_ROUNDS
    bounds: tuple[MethodBound, ...] = ()
    limits: Limits | None = None
    show_individual: bool = False

    def curve_columns(self) -> list[str]:
        return [*(self.unfold.labels.values() if self.unfold else [self.column]), RANDOM_REGRET]

    def individual_columns(self) -> list[str]:
        return self.curve_columns()[:-1] if self.show_individual else []  # without random arms

    def kept_rounds(self, rounds: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
        return evenly(rounds, self.rounds)

    def check(self, results: Results) -> None:
        super().check(results)
        for column, place in self.trace_columns().items():
            if column in self.curve_columns() and (column == "rounds" or is_measured(column)):
                raise ConfigError(
                    f"{place}: found '{column}', which has no curve, expected another, or in a figure's file kind: dots"
                )
        self._formulas(results)
        if self.limits:
            self.limits.check(results, results.panel_axes(), self.where)

    def limit_runs(self) -> Limits | None:
        return self.limits

    def is_limit(self, labels: Mapping[str, str]) -> bool:
        return labels.get(METHOD, "") in self._limit_names

    @cached_property
    def _limit_names(self) -> frozenset[str]:
        return self.limits.names(["panel"] if self.panels is None else self.panels) if self.limits else frozenset()

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        tables = super().tables(results)
        if self.limits:
            panels = results.groups(results.panel_axes(), [{}])
            gaps = closed_gaps(results, self.limits, self.column, panels)
            tables |= {"limits": gaps} if len(gaps) else {}
        return tables

    def table_titles(self) -> dict[str, str]:
        title = "Share of the gap from random configurations to the best fixed one that a method closes"
        return super().table_titles() | ({"limits": title} if self.limits else {})

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        axes, constants = results.panel_axes(), self._constants(results)
        names = (self._name(results, key) for key in results.experiments)
        plot = self.blank(results, (name for name in names if name not in constants))
        has_random = has_early = False
        counts: set[int] = set()
        for chosen in results.groups(axes, [{}]):
            panel = Panel(panel_title(chosen), x=Axis(self.x_label or "round"), y=Axis(self.y_label or self.column))
            plot.panels.append(panel)
            keys = results.select(chosen)
            lines = {key: rows for key in keys if len(rows := results.curve(key, self.column))}
            if not lines:
                continue
            self._put_lines(plot, panel, results, lines, constants)
            counts |= self._put_limits(plot, panel, results, chosen)
            numbers, random = _settled(panel), self._random(results, keys)
            bottom, top = start_at_zero(numbers.min(), numbers.max()), None
            if len(numbers) < len(panel.every_number):
                has_early = True
                room = 0.05 * float(np.ptp(numbers))
                bottom, top = float(numbers.min()) - room if bottom is None else bottom, float(numbers.max()) + room
            if random is not None:
                last_of, has_random = float(random.iloc[-1]), True
                end = end_without(last_of, bottom or numbers.min(), numbers.max(), is_log=self.y_scale == "log")
                if end is None:
                    plot.put_random(panel, x=random.index, y=random)
                else:
                    panel.mention_random_arms(last_of)
                    top = end
            is_log, first = self.x_scale == "log", min(rows["round"].min() for rows in lines.values())
            last = max(rows["round"].max() for rows in lines.values())
            panel.x = Axis(panel.x.label, log=is_log, low=first if is_log else 0, high=1.02 * last)
            panel.y = Axis(panel.y.label, low=bottom, high=top)
            if self.y_scale == "log":
                panel.y = _logarithmic(panel.y.label, numbers, lines.values())
        plot.put_last(*map(plot.beside, (*constants.values(), *_LIMITS, RANDOM_ARMS)), _BOUND)
        has_bands = any(np.isfinite(mark.low).any() for mark in plot.marks())
        needed = f"they need {MIN_REPETITIONS} repetitions: with fewer, an interval may exceed all possible values"
        bands = f"Bands: pointwise {MEAN_INTERVAL}." if has_bands else f"No bands: {needed}."
        plot.caption = [f"Lines: mean over repetitions. {bands}", *[RANDOM_CAPTION] * has_random]
        plot.caption += ["Thin lines: single repetitions."] * self.show_individual
        plot.caption += [_EARLY_CAPTION] * has_early + [_MANY_CAPTION] * (len(plot.methods) > _MANY)
        if counts:
            plot.caption.append(LIMIT_CAPTION.format(n=" or ".join(map(str, sorted(counts)))))
        plot.caption += [STRETCH_CAPTION] * any(mark.part == "stretches" for mark in plot.marks())
        return plot

    def _put_lines(
        self,
        plot: Plot,
        panel: Panel,
        results: Results,
        lines: Mapping[Labels, pd.DataFrame],
        constants: dict[str, str],
    ) -> None:
        formulas, names = self._formulas(results), {key: self._name(results, key) for key in lines}
        ends = {names[key]: float(rows["mean"].iloc[-1]) for key, rows in lines.items()}
        best = (min if column_of(self.column).better == "less" else max)(ends, key=ends.__getitem__)
        strong = {*plot.methods[:1], best} if len(plot.methods) > _MANY else {*ends}
        for place, (key, rows) in enumerate(lines.items()):
            if (name := names[key]) in constants:  # one grey line across the panel
                level, look = plot.beside(constants[name]), Look(GREY, width=1.1, order=REFERENCE.order)
                if all(mark.name != level for mark in panel.marks):
                    number = float(rows["mean"].iloc[0])
                    plot.put(panel, constants[name], look, role="reference", y=number, part="reference")
                continue
            # Markers of different lines are at different rounds, so that coinciding curves stay visible.
            step = max(1, len(rows) // _MARKS_PER_LINE)
            every = (((place + 1) * max(1, step // 6)) % step, step)
            low, high = (rows[end].where(rows["n"] >= MIN_REPETITIONS) for end in ("ci_low", "ci_high"))
            band: dict[str, Any] = {"low": low, "high": high, "interval": "band"} if name in strong else {}
            plot.explain(name, plot.look(name))
            for column, own in results.curve(key, f"{self.column}@*").groupby("column"):
                part = f"repetition {str(column).rpartition('@')[2]}"
                plot.put(panel, name, plot.look(name, **_ALONE), x=own["round"], y=own["mean"], part=part)
            look = plot.look(name, **({} if name in strong else _THIN))
            plot.put(panel, name, look, x=rows["round"], y=rows["mean"], every=every, **band)
            if key in formulas:
                values, look = regret_bound(formulas[key], rows["round"].to_numpy(float)), plot.look(name, **_DOTS)
                plot.put(panel, name, look, x=rows["round"], y=values, part="bound")
                plot.explain(_BOUND, Look(GREY, **_DOTS))

    def _put_limits(self, plot: Plot, panel: Panel, results: Results, chosen: Selection) -> set[int]:
        """Add the limits of a panel, if there are any, and return the number of their repetitions."""
        limits = limits_of(results, self._limit_names, chosen, self.column)
        if limits is None or self.limits is None:
            return set()
        rows = results.curve(limits.best, self.column)
        lines: dict[str, tuple[Any, Any]] = {BEST_FIXED: (rows["round"], rows["mean"])}
        stretches = [self.limits.stretches[label] for (label,) in chosen.values() if label in self.limits.stretches]
        if stretches:
            lines[BEST_BY_STRETCH] = by_stretch(results, limits, self.column, stretches[0])
        for name, (x, y) in lines.items():
            part = "limit" if name == BEST_FIXED else "stretches"
            plot.put(panel, name, _LIMITS[name], role="limit", x=x, y=y, part=part)
        return {limits.n}

    def _name(self, results: Results, key: Labels) -> str:
        return results.series_name(key, results.panel_axes()) or self.column

    def _constants(self, results: Results) -> dict[str, str]:
        """Return the lines that are constant and equal in all panels, with the name of their common grey line.

        The name consists of the labels that all these lines share, such as "logging policy" of each method.
        """
        values: dict[str, set[float]] = {}
        labels: dict[str, list[str]] = {}
        axes = results.panel_axes()
        for key in results.experiments:
            labels[self._name(results, key)] = [la for axis, la in results.as_dict(key).items() if axis not in axes]
            if len(rows := results.curve(key, self.column)):
                numbers = np.round(rows[["mean", "ci_low", "ci_high"]].to_numpy(), 9).ravel()
                values.setdefault(self._name(results, key), set()).update(numbers[~np.isnan(numbers)])
        flat = {name: numbers for name, numbers in values.items() if len(numbers) == 1}
        if len(flat) in (0, len(values)) or len(set.union(*flat.values())) > 1:
            return {}
        first, *others = flat
        shared = ", ".join(one for one in labels[first] if one and all(one in labels[other] for other in others))
        return dict.fromkeys(flat, shared or first)

    def _formulas(self, results: Results) -> dict[Labels, Mapping[str, Any]]:
        """Return the formula of every experiment that has a bound."""
        formulas: dict[Labels, Mapping[str, Any]] = {}
        for number, bound in enumerate(self.bounds, start=1):
            where, chosen = f"{self.where}, bound {number}", selection(bound.measured)
            results.check(chosen, where)
            try:
                regret_bound(bound.formula, [1])
            except ConfigError as error:
                raise ConfigError(f"{where}, {error}") from None
            formulas |= dict.fromkeys(results.select(chosen), bound.formula)
        return formulas

    def _random(self, results: Results, keys: Iterable[Labels]) -> "pd.Series[float] | None":
        """Return the mean regret of random arms by round, over all experiments of a panel."""
        curves = [rows for key in keys if len(rows := results.curve(key, RANDOM_REGRET))]
        if not is_regret(self.column) or not curves:
            return None
        return pd.concat(curves).groupby("round")["mean"].mean().sort_index()


def _settled(panel: Panel) -> npt.NDArray[np.float64]:
    """Return the numbers that an axis must show.

    These are all numbers except the ends of early bands that are far wider than later bands.

    A mean over the rounds so far begins with few rounds, and the interval of this mean may exceed the range of possible
    values.
    """
    ends = np.concatenate([mark.numbers for mark in panel.marks if mark.number])
    late, early = [ends[np.isfinite(ends)]], []
    for mark in panel.marks:
        if mark.interval == "band" and mark.x is not None and len(mark.low):
            is_late = mark.x >= _EARLY * mark.x.max()
            late += [end[is_late & np.isfinite(end)] for end in (mark.low, mark.high)]
            early += [end[~is_late & np.isfinite(end)] for end in (mark.low, mark.high)]
    kept, others = np.concatenate(late), np.concatenate([*early, np.empty(0)])
    reach = _WIDER * np.ptp(kept)
    is_far = bool(len(others)) and (others.max() > kept.max() + reach or others.min() < kept.min() - reach)
    return kept if is_far else panel.every_number


def _logarithmic(label: str, numbers: np.ndarray, lines: Iterable[pd.DataFrame]) -> Axis:
    """Return a logarithmic axis from the lines' values after 1 % of the rounds, because sums grow from near 0.

    The axis is linear around 0 if numbers lie on both sides of 0.
    """
    if numbers.min() < 0:
        return Axis(label, log=True, linear=10.0 ** math.floor(math.log10(np.median(np.abs(numbers[numbers != 0])))))
    starts = [rows.loc[(rows["round"] >= 0.01 * rows["round"].max()) & (rows["mean"] > 0), "mean"] for rows in lines]
    lowest = min((float(start.min()) for start in starts if len(start)), default=math.nan)
    return Axis(label, log=True, low=lowest / 1.5 if math.isfinite(lowest) else None)
