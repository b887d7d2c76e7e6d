"""Measured regret beside its bound, a row per case."""

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from bench.errors import ConfigError
from bench.report.claims.base import Case
from bench.report.claims.bound import Bound as BoundClaim
from bench.report.claims.bound import Measured
from bench.report.claims.check import read
from bench.report.claims.judgement import Unmeasured
from bench.report.experiments import Experiments
from bench.report.figure import Figure
from bench.report.labels import describe
from bench.report.plot import Axis, Look, Mark, Panel, Plot, Text, one, wrapped
from bench.report.results import Results
from bench.report.style import BLACK, GREY, RANDOM_ARMS, line_style
from bench.stats import MEAN_INTERVAL, Interval

_ROW_HEIGHT, _WIDTH = 0.46, 8.4
# Beyond this ratio of the largest to the smallest number the axis is logarithmic.
_MANY_TIMES = 20
_RING = Look(GREY, "none", "o", size=8, fill="none")
_CROSS = Look(GREY, "none", "x")


class Bound(Figure):
    """The measured mean, its bound and the best candidate, for every case of every claim of kind `bound`.

    Parameters
    ----------
    x_scale
        ``linear`` or ``log``; default: log if the numbers differ by more than a factor of 20.
    """

    x_scale: Literal["linear", "log"] | None = None

    def check(self, data: Experiments) -> None:
        super().check(data)
        self._bounds(data)

    def _bounds(self, data: Experiments) -> list[BoundClaim]:
        claims = [claim for claim in read(self, data) if isinstance(claim, BoundClaim)]
        if not claims:
            raise ConfigError(f"{self.where}: kind 'bound' draws the claims of kind 'bound', there are none")
        return claims

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        data, claims = results.data, self._bounds(results.data)
        cases = [(claim, Case(claim, results, labels)) for claim in claims for labels in claim.cases(data)]
        panel = Panel(x=Axis(self.x_label or claims[0].column), rows=True)
        plot = Plot(self.heading, panels=[panel], panel_size=(_WIDTH, max(1.6, 0.7 + _ROW_HEIGHT * len(cases))))
        names = []
        for row, (claim, case) in enumerate(cases):
            tuner = describe(claim.measured)
            names.append(wrapped(f"{tuner}: {case.name}" if case.labels else tuner, 34))
            try:
                sides = claim.sides(case)
            except Unmeasured as reason:
                how = {"va": "center", "fontsize": 8.0, "color": GREY}
                panel.texts.append(Text(0.01, row, f"open: {reason}", "x", how=how))
                continue
            panel.marks += _row(row, sides)
            if results.has_random_arms(self.column):
                random = results.random_arms(case.keys["measured"])
                panel.marks += [_mark(row, _text(sides), RANDOM_ARMS, one(random), _CROSS)] * math.isfinite(random)
        panel.y = Axis(ticks=range(len(cases)), names=names, low=len(cases) - 0.4, high=-0.6)
        if not panel.marks:
            return plot
        self._scale(panel)
        self._explain(plot, results.has_random_arms(self.column), any(claim.candidates for claim in claims))
        return plot

    def _scale(self, panel: Panel) -> None:
        low, high = float(panel.drawn.min()), float(panel.drawn.max())
        is_wide = low > 0 and high > _MANY_TIMES * low
        if (self.x_scale or ("log" if is_wide else "linear")) == "log" and low > 0:
            panel.x = Axis(panel.x.label, True, low / 1.3, high * 1.3)
        else:
            panel.x = Axis(panel.x.label, False, min(0.0, low), 1.05 * high)

    def _explain(self, plot: Plot, has_random: bool, has_candidates: bool) -> None:
        plot.explain("measured mean", Look("#333333", marker="o", width=2.2))
        plot.caption = [f"Thick lines: {MEAN_INTERVAL}."]
        if has_candidates:
            plot.explain("best candidate", _RING)
            plot.caption = [
                f"Thick lines: {MEAN_INTERVAL}, and of the bound, the best candidate taken anew in each resample.",
                "Price of tuning: sum over hyper-parameters of 2 sqrt((e-1) n T ln n), n candidates, T rounds.",
            ]
        name = "bound: best candidate + price of tuning" if has_candidates else "bound"
        plot.explain(name, Look(BLACK, "none", "|", size=12, edge_width=2))
        if has_random:
            plot.explain(RANDOM_ARMS, _CROSS)
            plot.caption.append(
                "Random arms: expected regret of uniformly random arms; a bound above it is no evidence."
            )


def _row(row: int, sides: Measured) -> list[Mark]:
    """Return the marks of a case."""
    name = sides.experiment.get("method", next(filter(None, sides.experiment.values()), ""))
    case, color = _text(sides), line_style(name).color
    gap = np.array([sides.measured.estimate, sides.bound.estimate])
    look = Look("#D0D0D0", width=1, order=1)
    own = Look(color, "none", "o", size=5, width=2.2, order=4)
    tick = Look(BLACK, "none", "|", size=16, width=2.2, edge_width=2)
    marks = [
        Mark(part="gap", name=name, case=case, x=gap, y=np.full(2, float(row)), look=look, number=""),
        _interval(row, case, name, sides.bound, tick, part="bound", what="bound"),
        _interval(row, case, name, sides.measured, own, part="line", what="measured"),
    ]
    if sides.best is not None:
        best = _interval(row, case, name, sides.best, _RING, part="best", what="best candidate", interval="")
        marks.insert(2, best)
    return marks


def _interval(row: int, case: str, name: str, own: Interval, look: Look, **more: Any) -> Mark:
    is_sure = own.low == own.high or not math.isfinite(own.low)
    ends = {} if is_sure else {"low": one(own.low), "high": one(own.high)}
    return _mark(row, case, name, one(own.estimate), look, **({"interval": "segment", "n": [own.n]} | ends | more))


def _mark(row: int, case: str, name: str, x: np.ndarray, look: Look, **more: Any) -> Mark:
    return Mark(**({"part": "line"} | more), name=name, case=case, x=x, y=one(row), look=look, number="x")


def _text(sides: Measured) -> str:
    return describe({axis: (label,) for axis, label in sides.experiment.items() if label})
