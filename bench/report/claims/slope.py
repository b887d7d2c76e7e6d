"""Claims on rates of growth."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import Field, model_validator

from bench.errors import ConfigError, either
from bench.report.claims.base import Case, CaseClaim, Chosen
from bench.report.claims.comparisons import REGRET
from bench.report.claims.judgement import (
    FAILS,
    FIRST_LOOK,
    HOLDS,
    NO_EVIDENCE,
    Conditions,
    Direction,
    Finding,
    Question,
    Unmeasured,
)
from bench.report.claims.quantities import BandSlope, Mean
from bench.report.labels import ANY, Selection, describe, is_number
from bench.report.results import RANDOM_REGRET, Labels, Results
from bench.stats import Array

ROUND = "round"
START = 0.1
"""First round of a fit along rounds, as a share of the last: past the start of the run."""
NEAR_RANDOM = 0.5
"""Share of random play's regret from which a value of the axis does not count: random play has slope 1."""
LEAST_LEFT = 3
"""Least number of values that must count for a verdict along an axis on which some do not."""
LEAST_FOR_SLOPE = 20
"""Repetitions for a verdict along an axis: with fewer, intervals of slopes cover less than they say."""


class Slope(CaseClaim):
    """A claim on the least-squares slope of ln(mean) against ln(axis); T^0.75 has slope 0.75.

    Along an axis of the figure, such as the horizon, the final values are used, and the slope is linearised in the
    means (delta method). Along `round` only means and deviations are kept, and the interval is the range of slopes of
    all curves within the pointwise band, which is wider than a 95 % interval of the slope.

    The slope is compared with the exponent ``threshold``. With ``log_power`` the slope is compared with the
    least-squares slope of T^threshold (ln T)^log_power over the same values of the axis.

    Values of at least `NEAR_RANDOM` times the regret of random arms are left out. If fewer than `LEAST_LEFT` values are
    left, the slope is computed over all values, and a verdict that random play, with its slope of 1, would also receive
    is no evidence. Along rounds the regret of random arms is assumed to grow in proportion. It is replaced by the
    regret of the runs ``against``, of a tuner that does not learn.
    """

    kind: Literal["slope"]
    expect: Direction
    threshold: float
    measured: Chosen = Field(default_factory=dict)
    log_power: float = Field(default=0.0, ge=0)
    axis: str = ROUND
    against: Chosen = Field(default_factory=dict)

    @model_validator(mode="after")
    def _against_fits(self) -> "Slope":
        if self.against and self.axis != ROUND:
            raise ValueError(f"'against' goes with axis: {ROUND}")
        return self

    def selections(self) -> dict[str, Selection]:
        return {"measured": self.measured if self.axis == ROUND else {self.axis: (ANY,), **self.measured}}

    def axes(self) -> dict[str, tuple[str, ...]]:
        return {"axis": (self.axis,) if self.axis != ROUND else (), **super().axes()}

    def validate_axes(self, results: Results, where: str) -> None:
        super().validate_axes(results, where)
        results.check(self.against, f"{where}, key 'against'")
        figure: Any = results.figure
        kept = [figure.unfold.column] if figure.unfold else figure.curve_columns()
        if self.axis == ROUND and self.column not in kept:
            raise ConfigError(f"{where}, key 'column': found '{self.column}', expected one of: {either(kept)}")

    def unit(self) -> str:
        what = "mean" if self.axis == ROUND else "mean final"
        rate = f"{self.threshold:g}"
        if self.log_power:
            power = "" if self.log_power == 1 else f"^{self.log_power:g}"
            rate = f"that of {self.axis}^{rate} times its logarithm{power}"
        return f"log-log slope of {what} {self.column} against {self.axis}, {describe(self.measured)}, against {rate}"

    def compared_with(self) -> float | None:
        """Return the threshold, or None with ``log_power``, because the slope depends on the values of the axis."""
        return None if self.log_power else self.threshold

    def finding(self, case: Case, setting: Conditions) -> Finding:
        finding = super().finding(case, setting)
        unlike_random = HOLDS if self.expect in ("less", "at_most") else FAILS
        if finding.verdict in (NO_EVIDENCE, unlike_random) or not math.isfinite(finding.interval.estimate):
            return finding
        counts = self._counts(case)
        if counts.all() or counts.sum() >= LEAST_LEFT:
            return finding
        few = f"only {counts.sum()} of {len(counts)} values of" if counts.any() else "no value of"
        play = describe(self.against) if self.against else "random arms"
        has = "has" if counts.sum() < 2 else "have"
        return finding.as_no_evidence(f"{few} '{self.axis}' {has} less than half of the regret of {play}")

    def question(self, case: Case) -> Question:
        return self._along_rounds(case) if self.axis == ROUND else self._along_axis(case)

    def _counts(self, case: Case) -> npt.NDArray[np.bool_]:
        """Return for each value of the axis whether its regret is far enough below the regret of random play."""
        if self.axis == ROUND:
            rows = self._curve(case, self._only(case))
            return np.asarray(rows["mean"] < NEAR_RANDOM * self._random_curve(case, rows["round"].to_numpy()))
        shares = [self._share_of_random(case, key) for key in self._by_label(case).values()]
        return ~(np.array(shares) >= NEAR_RANDOM)

    def _share_of_random(self, case: Case, key: Labels) -> float:
        """Return the mean final regret divided by that of random arms, or NaN if it is unknown."""
        rows = case.results.rows(key)
        if self.column != REGRET or RANDOM_REGRET not in rows.columns:
            return math.nan
        return float(rows[REGRET].mean() / rows[RANDOM_REGRET].mean())

    def _random_curve(self, case: Case, rounds: Array) -> Array:
        """Return the regret of random play up to each round, or infinity if it is unknown."""
        if self.against:
            keys = case.results.select({**case.labels, **self.measured, **self.against})
            rows = self._curve(case, case.only(keys))
            return np.interp(rounds, rows["round"], rows["mean"])
        rows = case.results.rows(self._only(case))
        if self.column != REGRET or RANDOM_REGRET not in rows.columns or rows[RANDOM_REGRET].isna().any():
            return np.full(len(rounds), math.inf)
        return np.asarray(rounds * float((rows[RANDOM_REGRET] / rows["rounds"]).mean()))

    def _only(self, case: Case) -> Labels:
        return case.only(case.sides["measured"], f"one per value of '{self.axis}'")

    def _by_label(self, case: Case) -> dict[str, Labels]:
        by_label: dict[str, list[Labels]] = {}
        for key in case.sides["measured"]:
            by_label.setdefault(case.results.as_dict(key)[self.axis], []).append(key)
        return {label: case.only(same, f"one per value of '{self.axis}'") for label, same in by_label.items()}

    def _curve(self, case: Case, key: Labels) -> pd.DataFrame:
        rows = case.results.curve(key, self.column)
        rows = rows[rows[ROUND] >= START * rows[ROUND].max()] if len(rows) else rows
        if len(rows) < 2:
            raise Unmeasured(f"no curve of {self.column} for {case.results.text(key) or 'these runs'}")
        return rows

    def _used(self, case: Case, places: Sequence[float]) -> npt.NDArray[np.bool_]:
        """Return whether each axis value is used in the fit: the values that count, or all values if too few count."""
        counts = self._counts(case)
        if counts.all() or counts.sum() < LEAST_LEFT:
            return np.ones(len(counts), dtype=np.bool_)
        left = [f"{place:g}" for place, is_used in zip(places, counts, strict=True) if not is_used]
        shown = ", ".join(left) if len(left) <= LEAST_LEFT else f"{left[0]} to {left[-1]}"
        case.notes.append(f"left out, as regret is near that of random play: {self.axis} {shown}")
        return counts

    def _along_axis(self, case: Case) -> Question:
        by_label = self._by_label(case)
        if not all(is_number(label) and float(label) > 0 for label in by_label):
            raise Unmeasured(f"axis '{self.axis}' has labels that are not positive numbers")
        if len(by_label) < 2:
            raise Unmeasured(f"a slope needs at least two values of '{self.axis}'" if by_label else "no such runs")
        (values,) = case.values(list(by_label.values()))
        places = np.array([float(label) for label in by_label])
        used = self._used(case, places.tolist())
        values, places = values[:, used], places[used]
        means, weights = values.mean(axis=0), slope_weights(np.log(places))
        self._check_positive(means)
        slope = Mean(np.log(means) @ weights + ((values - means) / means) @ weights)
        return Question(slope, self.expect, self._allowed(case, places), least=LEAST_FOR_SLOPE)

    def _along_rounds(self, case: Case) -> Question:
        rows = self._curve(case, self._only(case))
        rows = rows[self._used(case, rows[ROUND].tolist())]
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
        """Return the slope of the expected rate at the values ``places`` of the axis."""
        if not self.log_power:
            return self.threshold
        if not (places > 1).all():
            raise Unmeasured(f"{self.axis} is not above 1 everywhere, so the logarithm of its logarithm is undefined")
        log = np.log(places)
        allowed = self.threshold + self.log_power * float(np.log(log) @ slope_weights(log))
        case.notes.insert(0, f"allowed over these values: {allowed:.3f}")
        return allowed


def slope_weights(x: Array) -> Array:
    """Return the weights w with which the least-squares slope of y against x is w @ y."""
    centred = x - x.mean()
    return centred / (centred @ centred)
