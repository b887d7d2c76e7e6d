"""Measured regret beside its bound, a row per case."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import pandas as pd

from bench.errors import ConfigError
from bench.report.claims.base import Case
from bench.report.claims.bound import Bound as BoundClaim
from bench.report.claims.bound import Measured
from bench.report.claims.check import read
from bench.report.claims.judgement import Unmeasured
from bench.report.figure import Figure
from bench.report.labels import describe
from bench.report.plot import Axis, Look, Mark, Panel, Plot, Text, mark, row_panel, wrapped
from bench.report.results import Experiments, Results
from bench.report.style import BLACK, GREY, RANDOM_ARMS, line_style
from bench.stats import MEAN_INTERVAL, Interval

_ROW_HEIGHT, _WIDTH = 0.46, 8.4
# Beyond this ratio of the largest to the smallest number the axis is logarithmic.
_MANY_TIMES = 20
_RING = Look(GREY, "none", "o", size=8, fill="none")
_CROSS = Look(GREY, "none", "x")
_TICK: dict[str, Any] = {"dash": "none", "marker": "|", "edge_width": 2}


class Bound(Figure):
    """The measured mean, its bound and the best candidate, for every case of every claim of kind `bound`.

    The axis is by default logarithmic if the numbers differ by more than a factor of 20.
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
        names = [": ".join(filter(None, (describe(c.measured), case.name if case.labels else ""))) for c, case in cases]
        panel = row_panel("", self.x_label or claims[0].column, [wrapped(name, 34) for name in names], 0.6)
        panel.lines.clear()
        plot = Plot(self.heading, panels=[panel], panel_size=(_WIDTH, max(1.6, 0.7 + _ROW_HEIGHT * len(cases))))
        has_random = results.has_random_arms(self.column)
        for row, (claim, case) in enumerate(cases):
            try:
                sides = claim.sides(case)
            except Unmeasured as reason:
                look = {"va": "center", "fontsize": 8.0, "color": GREY}
                panel.texts.append(Text(0.01, row, f"open: {reason}", "x", how=look))
                continue
            panel.marks += _row(row, sides)
            random = results.random_arms(case.keys["measured"]) if has_random else math.nan
            if math.isfinite(random):
                panel.marks.append(mark(RANDOM_ARMS, _text(sides), _CROSS, x=random, y=row, number="x"))
        if panel.marks:
            self._scale(panel)
            _explain(plot, has_random, any(claim.candidates for claim in claims))
        return plot

    def _scale(self, panel: Panel) -> None:
        low, high = float(panel.drawn.min()), float(panel.drawn.max())
        is_wide = low > 0 and high > _MANY_TIMES * low
        if (self.x_scale or ("log" if is_wide else "linear")) == "log" and low > 0:
            panel.x = Axis(panel.x.label, True, low / 1.3, high * 1.3)
        else:
            panel.x = Axis(panel.x.label, False, min(0.0, low), 1.05 * high)


def _explain(plot: Plot, has_random: bool, has_candidates: bool) -> None:
    plot.explain("measured mean", Look("#333333", marker="o", width=2.2))
    plot.caption = [f"Thick lines: {MEAN_INTERVAL}."]
    if has_candidates:
        plot.explain("best candidate", _RING)
        plot.caption = [
            f"Thick lines: {MEAN_INTERVAL}, and of the bound, the best candidate taken anew in each resample.",
            "Price of tuning: sum over hyper-parameters of 2 sqrt((e-1) n T ln n), n candidates, T rounds.",
        ]
    name = "bound: best candidate + price of tuning" if has_candidates else "bound"
    plot.explain(name, Look(BLACK, **_TICK, size=12))
    if has_random:
        plot.explain(RANDOM_ARMS, _CROSS)
        plot.caption.append("Random arms: expected regret of uniformly random arms; a bound above it is no evidence.")


def _row(row: int, sides: Measured) -> Iterator[Mark]:
    """Yield the marks of a case."""
    name = sides.experiment.get("method", next(filter(None, sides.experiment.values()), ""))
    case = _text(sides)

    def side(estimate: Interval, look: Look, **keys: Any) -> Mark:
        is_sure = estimate.low == estimate.high or not math.isfinite(estimate.low)
        ends = {} if is_sure else {"low": estimate.low, "high": estimate.high}
        shown: dict[str, Any] = {"interval": "segment", "n": [estimate.n]} | ends | keys
        return mark(name, case, look, x=estimate.estimate, y=row, number="x", **shown)

    gap = [sides.measured.estimate, sides.bound.estimate]
    yield mark(name, case, Look("#D0D0D0", width=1, order=1), x=gap, y=row, part="gap", number="")
    yield side(sides.bound, Look(BLACK, **_TICK, size=16, width=2.2), part="bound", what="bound")
    if sides.best is not None:
        yield side(sides.best, _RING, part="best", what="best candidate", interval="")
    dot = Look(line_style(name).color, "none", "o", size=5, width=2.2, order=4)
    yield side(sides.measured, dot, what="measured")


def _text(sides: Measured) -> str:
    return describe({axis: (label,) for axis, label in sides.experiment.items() if label})
