"""Claims on rates of growth."""

from typing import Literal

import numpy as np
from pydantic import Field

from bench.report.claims.base import Case, CaseClaim, Chosen
from bench.report.claims.judgement import FIRST_LOOK, Direction, Question, Unmeasured
from bench.report.claims.quantities import BandSlope, Mean
from bench.report.labels import ANY, Selection, describe, is_number
from bench.stats import Array

ROUND = "round"
START = 0.1
"""Along rounds the fit starts at this share of the last one, past the start of the run."""
LEAST_FOR_SLOPE = 20
"""Repetitions for a verdict along an axis: with fewer, intervals of slopes cover less than they say."""


class Slope(CaseClaim):
    """The slope of ln(mean) against ln(axis), by least squares: T^0.75 has slope 0.75.

    Along an axis of the figure, such as the horizon, the final values are used, and the slope is linearised in the
    means (delta method). Along `round` only means and deviations are kept; there the interval is the range of slopes of
    all curves within the pointwise band, which is wider than a 95 % interval of the slope.

    ``threshold`` is the exponent that it is compared with. With ``log_power``, T^threshold (ln T)^log_power is allowed
    its own slope, by least squares over the same values of the axis, which is what the slope is compared with.
    """

    kind: Literal["slope"]
    expect: Direction
    threshold: float
    measured: Chosen = Field(default_factory=dict)
    log_power: float = Field(default=0.0, ge=0)
    axis: str = ROUND

    def selections(self) -> dict[str, Selection]:
        return {"measured": self.measured if self.axis == ROUND else {self.axis: (ANY,), **self.measured}}

    def axes(self) -> dict[str, tuple[str, ...]]:
        return {"axis": (self.axis,) if self.axis != ROUND else (), **super().axes()}

    def unit(self) -> str:
        what = "mean" if self.axis == ROUND else "mean final"
        rate = f"{self.threshold:g}"
        if self.log_power:
            power = "" if self.log_power == 1 else f"^{self.log_power:g}"
            rate = f"that of {self.axis}^{rate} times its logarithm{power}"
        return f"log-log slope of {what} {self.column} against {self.axis}, {describe(self.measured)}, against {rate}"

    def question(self, case: Case) -> Question:
        return self._along_rounds(case) if self.axis == ROUND else self._along_axis(case)

    def _along_axis(self, case: Case) -> Question:
        by_label: dict[str, list[tuple[str, ...]]] = {}
        for key in case.sides["measured"]:
            by_label.setdefault(case.results.as_dict(key)[self.axis], []).append(key)
        keys = [case.only(same, f"one per value of '{self.axis}'") for same in by_label.values()]
        if not all(is_number(label) and float(label) > 0 for label in by_label):
            raise Unmeasured(f"axis '{self.axis}' has labels that are not positive numbers")
        if len(keys) < 2:
            raise Unmeasured(f"a slope needs at least two values of '{self.axis}'" if keys else "no such runs")
        (values,) = case.values(keys)
        means, places = values.mean(axis=0), np.array([float(label) for label in by_label])
        weights = slope_weights(np.log(places))
        self._check_positive(means)
        slope = Mean(np.log(means) @ weights + ((values - means) / means) @ weights)
        return Question(slope, self.expect, self._allowed(case, places), least=LEAST_FOR_SLOPE)

    def _along_rounds(self, case: Case) -> Question:
        key = case.only(case.sides["measured"], f"one per value of '{self.axis}'")
        rows = case.results.curve(key, self.column)
        rows = rows[rows[ROUND] >= START * rows[ROUND].max()] if len(rows) else rows
        if len(rows) < 2:
            raise Unmeasured(f"no curve of {self.column} for {case.results.text(key) or 'these runs'}")
        mean, deviation, places = (rows[name].to_numpy(dtype=np.float64) for name in ("mean", "std", ROUND))
        self._check_positive(mean)
        slope = BandSlope(slope_weights(np.log(places)), mean, deviation, int(rows["n"].min()))
        allowed = self._allowed(case, places)
        case.notes.append("interval: slopes of all curves within the pointwise band")
        return Question(slope, self.expect, allowed, least=FIRST_LOOK)

    def _check_positive(self, means: Array) -> None:
        if not (means > 0).all():
            raise Unmeasured(f"the mean {self.column} is not positive everywhere, it has no logarithm")

    def _allowed(self, case: Case, places: Array) -> float:
        """Return the slope of the rate over the places of the axis."""
        if not self.log_power:
            return self.threshold
        if not (places > 1).all():
            raise Unmeasured(f"{self.axis} is not above 1 everywhere, its logarithm has none")
        log = np.log(places)
        allowed = self.threshold + self.log_power * float(np.log(log) @ slope_weights(log))
        case.notes.insert(0, f"allowed over these values: {allowed:.3f}")
        return allowed


def slope_weights(x: Array) -> Array:
    """Return the weights w with which the least-squares slope of y against x is w @ y."""
    centred = x - x.mean()
    return centred / (centred @ centred)
