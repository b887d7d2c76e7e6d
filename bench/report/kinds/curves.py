"""Mean curves over rounds, a panel per environment or algorithm, a line per method."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from bench.errors import ConfigError
from bench.report.differences import differences
from bench.report.experiments import Experiments, Key
from bench.report.figure import Figure
from bench.report.labels import Selection, panel_title, selection
from bench.report.limits import (
    BEST_BY_STRETCH,
    STRETCH_CAPTION,
    Limits,
    by_stretch,
    closed_gaps,
    configuration,
    limits_of,
)
from bench.report.limits import CAPTION as LIMIT_CAPTION
from bench.report.lines import start_at_zero
from bench.report.plot import RANDOM, RANDOM_CAPTION, REFERENCE, Axis, Look, Mark, Panel, Plot, level, look_of
from bench.report.regret_bounds import regret_bound
from bench.report.results import RANDOM_REGRET, Results
from bench.report.style import BLACK, GREY, RANDOM_ARMS
from bench.report.tasks import BEST_FIXED
from bench.stats import MEAN_INTERVAL

_MARKS_PER_LINE = 6
_BOUND = "Bound, in the colour of its method"
_BOUND_STYLE: dict[str, Any] = {"dash": (0, (2, 2)), "marker": "", "width": 1.1, "order": 2.5}
_LIMITS = {
    BEST_FIXED: Look(BLACK, width=1.1, order=3.5),
    BEST_BY_STRETCH: Look(BLACK, (0, (1, 1.5)), width=1.3, order=3.5),
}


class MethodBound(BaseModel):
    """A bound of `bench.report.regret_bounds` on the experiments that ``measured`` selects."""

    model_config = ConfigDict(extra="forbid")

    measured: dict[str, Any]
    formula: dict[str, Any]


class Curves(Figure):
    """Mean curves with their bands; `reference_line` is a level line, `reference_label` its name.

    For columns of regret, uniformly random arms are a dashed grey line. `limits` adds runs of fixed configurations, and
    draws the best of them, known only afterwards. With ``against``, which selects a method, final values are drawn
    instead, less that method's in the same repetition: curves that differ by little would coincide.
    """

    y_scale: Literal["linear", "log"] = "linear"
    bounds: tuple[MethodBound, ...] = ()
    against: dict[str, Any] = Field(default_factory=dict)
    reference_line: float | None = None
    reference_label: str = ""
    limits: Limits | None = None

    def curve_columns(self) -> list[str]:
        return [*(self.unfold.labels.values() if self.unfold else [self.column]), RANDOM_REGRET]

    def check(self, data: Experiments) -> None:
        super().check(data)
        self._formulas(data)
        if self.limits:
            self.limits.check(data, self.panel_axes(data), self.where)

    def limit_runs(self) -> Limits | None:
        return self.limits

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        tables = super().tables(results)
        if self.limits:
            panels = results.data.groups(self.panel_axes(results.data), [{}])
            gaps = closed_gaps(results, self.column, panels, self.limits.stretches)
            tables |= {"limits": gaps} if len(gaps) else {}
        return tables

    def table_titles(self) -> dict[str, str]:
        title = "Share of the gap from random configurations to the best fixed one that a method closes"
        return super().table_titles() | ({"limits": title} if self.limits else {})

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        if self.against:
            return differences(self, results, selection(self.against))
        axes, formulas = self.panel_axes(results.data), self._formulas(results.data)
        constants = self._constants(results, axes)
        plot = Plot(self.heading)
        has_bands = speaks_of_random = False
        for chosen in results.data.groups(axes, [{}]):
            panel = Panel(panel_title(chosen), x=Axis(self.x_label or "round"), y=Axis(self.y_label or self.column))
            plot.panels.append(panel)
            lines = {key: rows for key in results.data.select(chosen) if len(rows := results.curve(key, self.column))}
            if not lines:
                continue
            for place, (key, rows) in enumerate(lines.items()):
                name = results.data.series_name(key, axes) or self.column
                if name in constants:
                    self._level(plot, panel, constants[name], float(rows["mean"].iloc[0]))
                    continue
                panel.marks.append(self._line(panel, rows, name, place))
                plot.explain(name, look_of(name))
                has_bands |= bool(rows["ci_low"].notna().any())
                if key in formulas:
                    panel.marks.append(self._bound(panel, rows["round"], name, formulas[key]))
                    plot.explain(_BOUND, Look(GREY, **{**_BOUND_STYLE, "marker": ""}))
            self._add_limits(plot, panel, results, chosen)
            drawn = panel.drawn
            bottom = start_at_zero(drawn.min(), drawn.max())
            random = self._random(results, chosen)
            top = None
            if random is not None:
                speaks_of_random = True
                top = panel.leaves_out(
                    bottom or drawn.min(), drawn.max(), float(random.iloc[-1]), self.y_scale == "log"
                )
                if top is None:
                    panel.marks.append(self._curve(panel, random.index, random, "line", RANDOM_ARMS, RANDOM))
                    plot.explain(RANDOM_ARMS, RANDOM)
            panel.x = Axis(panel.x.label, low=0, high=1.02 * max(rows["round"].max() for rows in lines.values()))
            panel.y = Axis(panel.y.label, low=bottom, high=top)
            if self.y_scale == "log":
                panel.y = _logarithmic(panel.y.label, drawn, lines.values())
            if self.reference_line is not None:
                self._level(plot, panel, self.reference_label or f"{self.reference_line:g}", self.reference_line)
        _put_bundles_last(plot)
        plot.put_last(*constants.values(), *_LIMITS, RANDOM_ARMS, _BOUND)
        bands = f"Bands: pointwise {MEAN_INTERVAL}." if has_bands else "No bands: they need two repetitions."
        plot.caption = [f"Lines: mean over repetitions. {bands}", *([RANDOM_CAPTION] if speaks_of_random else [])]
        plot.caption += self._limit_captions(plot)
        return plot

    def _add_limits(self, plot: Plot, panel: Panel, results: Results, chosen: Selection) -> None:
        limits = limits_of(results, chosen, self.column) if self.limits else None
        if limits is None or self.limits is None:
            return
        rows = results.curve(limits.best, self.column)
        lines: dict[str, tuple[Any, Any]] = {BEST_FIXED: (rows["round"], rows["mean"])}
        stretches = [self.limits.stretches[label] for (label,) in chosen.values() if label in self.limits.stretches]
        if stretches:
            lines[BEST_BY_STRETCH] = by_stretch(results, limits, self.column, stretches[0])
        for name, (x, y) in lines.items():
            what = f"mean of {configuration(results, limits.best)}" if name == BEST_FIXED else ""
            more: dict[str, Any] = {"what": what, "n": [limits.n] * len(x)}
            panel.marks.append(self._curve(panel, x, y, "limit", name, _LIMITS[name], **more))
            plot.explain(name, _LIMITS[name])

    def _limit_captions(self, plot: Plot) -> list[str]:
        marks = [mark for mark in plot.marks() if mark.part == "limit"]
        numbers = sorted({int(mark.n[0]) for mark in marks})
        captions = [LIMIT_CAPTION.format(n=" or ".join(map(str, numbers)))] if marks else []
        return captions + [STRETCH_CAPTION] * any(mark.name == BEST_BY_STRETCH for mark in marks)

    def _constants(self, results: Results, axes: list[str]) -> dict[str, str]:
        """Return the lines that are one number, the same in all panels, and the name by which one grey line shows them.

        A label that several of them share, such as "logging policy" of each method, is the name.
        """
        values: dict[str, set[float]] = {}
        for key in results.data.keys:
            if len(rows := results.curve(key, self.column)):
                name = results.data.series_name(key, axes) or self.column
                values.setdefault(name, set()).update(
                    np.round(rows[["mean", "ci_low", "ci_high"]].to_numpy(), 9).ravel()
                )
        flat = {name: only for name, own in values.items() if len(only := own - {math.nan}) == 1}
        if len(flat) in (0, len(values)) or len(set.union(*flat.values())) > 1:
            return {}
        return {name: name.rpartition(", ")[2] for name in flat}

    def _level(self, plot: Plot, panel: Panel, name: str, value: float) -> None:
        """Add a grey line across a panel, once."""
        look = Look(GREY, width=1.1, order=REFERENCE.order)
        if all(mark.name != name for mark in panel.marks):
            panel.marks.append(level(value, name, panel.title, look, part="reference"))
            plot.explain(name, look)

    def _line(self, panel: Panel, rows: pd.DataFrame, name: str, place: int) -> Mark:
        # Markers of different lines stand at different rounds, or curves that coincide would hide each other's.
        step = max(1, len(rows) // _MARKS_PER_LINE)
        every = (((place + 1) * max(1, step // 6)) % step, step)
        low, high = (rows[end].to_numpy(dtype=float) for end in ("ci_low", "ci_high"))
        return self._curve(
            panel, rows["round"], rows["mean"], "line", name, look_of(name),
            low=low, high=high, interval="band", n=rows["n"].to_numpy(), every=every,
        )  # fmt: skip

    def _bound(self, panel: Panel, rounds: Any, name: str, formula: Mapping[str, Any]) -> Mark:
        values = regret_bound(formula, rounds.to_numpy(dtype=float))
        look = look_of(name, **_BOUND_STYLE)
        return self._curve(panel, rounds, values, "bound", name, look, what="bound", text=f"bound of {name}")

    def _curve(self, panel: Panel, x: Any, y: Any, part: str, name: str, look: Look, **more: Any) -> Mark:
        across: dict[str, Any] = {"places": [int(round_) for round_ in x], "places_are": panel.x.label}
        xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        return Mark(part=part, name=name, case=panel.title, x=xs, y=ys, look=look, **across, **more)

    def _formulas(self, data: Experiments) -> dict[Key, Mapping[str, Any]]:
        """Return the formula of every experiment that has a bound."""
        formulas: dict[Key, Mapping[str, Any]] = {}
        for number, bound in enumerate(self.bounds, start=1):
            where, chosen = f"{self.where}, bound {number}", selection(bound.measured)
            data.check(chosen, where)
            try:
                regret_bound(bound.formula, [1])
            except ConfigError as error:
                raise ConfigError(f"{where}, {error}") from None
            formulas |= dict.fromkeys(data.select(chosen), bound.formula)
        return formulas

    def _random(self, results: Results, chosen: Selection) -> "pd.Series[float] | None":
        """Return the mean regret of random arms by round, over all experiments of a panel."""
        if "regret" not in self.column:
            return None
        rows = [one for key in results.data.select(chosen) if len(one := results.curve(key, RANDOM_REGRET))]
        return pd.concat(rows).groupby("round")["mean"].mean().sort_index() if rows else None


def _start(lines: Iterable[pd.DataFrame]) -> float | None:
    """Return where a logarithmic axis starts: where the lines are after 1 % of the rounds, as sums grow from near 0."""
    starts = [rows.loc[(rows["round"] >= 0.01 * rows["round"].max()) & (rows["mean"] > 0), "mean"] for rows in lines]
    lowest = min((float(start.min()) for start in starts if len(start)), default=math.nan)
    return lowest / 1.5 if math.isfinite(lowest) else None


def _logarithmic(label: str, drawn: np.ndarray, lines: Iterable[pd.DataFrame]) -> Axis:
    """Return a logarithmic axis, which is linear around 0 where numbers lie on both sides of it."""
    if drawn.min() >= 0:
        return Axis(label, log=True, low=_start(lines))
    return Axis(label, log=True, linear=10.0 ** math.floor(math.log10(np.median(np.abs(drawn[drawn != 0])))))


def _put_bundles_last(plot: Plot) -> None:
    """Move panels in which no method can be told from another behind those in which some can.

    It is done where titles say two things, such as "SGD-TS, simulation", and if the first has several such panels.
    """
    heads = [panel.title.rpartition(", ")[0] for panel in plot.panels]
    telling = {head for head, panel in zip(heads, plot.panels, strict=True) if _tells(panel)}
    if all(head and heads.count(head) > 1 for head in heads):
        plot.panels.sort(key=lambda panel: panel.title.rpartition(", ")[0] not in telling)


def _tells(panel: Panel) -> bool:
    """Whether the intervals of two methods are apart at the end."""
    ends = [(mark.low[-1], mark.high[-1]) for mark in panel.marks if mark.interval == "band" and len(mark.low)]
    return len(ends) < 2 or max(low for low, _ in ends) > min(high for _, high in ends)
