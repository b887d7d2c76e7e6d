"""Claims on how fast a number grows, and on how steeply the reward changes with a hyper-parameter."""

from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import Field, PositiveFloat

from bench.errors import ConfigError
from bench.report.claims.base import CaseClaim, Chosen, case_text, final_values
from bench.report.claims.judgement import FIRST_LOOK, Direction, Question, Unmeasured
from bench.report.claims.quantities import BandSlope, Extreme, Mean, Quantity
from bench.report.experiments import Experiments, Key
from bench.report.labels import ANY, Selection, canonical, describe, is_number

Array = npt.NDArray[np.float64]
ROUND = "round"
PROBE = "probe_"
"""What the columns of probed values begin with; the value follows."""
LEAST = 20
"""Repetitions for a verdict along an axis: with fewer, intervals of slopes cover less than they say."""


class Slope(CaseClaim):
    """The slope of ln(mean) against ln(axis), by least squares: T^0.75 has slope 0.75.

    Along an axis of the figure, such as the horizon, the final values are used, and the slope is linearised in the
    means (delta method). Along `round` only means and deviations are kept; there the interval is the range of slopes of
    all curves within the pointwise band, which is wider than a 95 % interval of the slope.

    Parameters
    ----------
    measured
        The runs: one experiment per case and axis value.
    axis
        ``round`` (default) or an axis with numeric labels.
    expect
        ``less``, ``greater``, ``at_most`` or ``at_least``.
    threshold
        The exponent it is compared with.
    log_power
        The power of the logarithm that belongs to the rate: T^threshold (ln T)^log_power is allowed its own slope, by
        least squares over the same values of the axis, which is what the slope is compared with.
    from_fraction
        Along rounds: the fit starts at this share of the last round (default 0.1), past the start of the run.
    """

    kind: Literal["slope"]
    expect: Direction
    threshold: float
    measured: Chosen = Field(default_factory=dict)
    log_power: float = Field(default=0.0, ge=0)
    axis: str = ROUND
    from_fraction: float = Field(default=0.1, ge=0, lt=1)

    def selections(self) -> dict[str, Selection]:
        return {"measured": self._measured()}

    def validate_axes(self, data: Experiments, where: str) -> None:
        if self.axis != ROUND:
            data.check_axis(self.axis, f"{where}, key 'axis'")
        super().validate_axes(data, where)

    def unit(self) -> str:
        what = "mean" if self.axis == ROUND else "mean final"
        rate = f"{self.threshold:g}"
        if self.log_power:
            power = "" if self.log_power == 1 else f"^{self.log_power:g}"
            rate = f"that of {self.axis}^{rate} times its logarithm{power}"
        return f"log-log slope of {what} {self.column} against {self.axis}, {describe(self.measured)}, against {rate}"

    def question(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> tuple[Question, str]:
        keys = data.select({**case, **self._measured()})
        if self.axis == ROUND:
            self._check_one(data, case, keys)
            slope, allowed, note = self._along_rounds(data, curves, keys[0])
        else:
            slope, allowed, note = self._along_axis(data, case, keys)
        least = FIRST_LOOK if self.axis == ROUND else LEAST
        if self.log_power:
            note = "; ".join(filter(None, [f"allowed over these values: {allowed:.3f}", note]))
        return Question(slope, self.unit(), self.expect, allowed, least=least), note

    def _allowed(self, places: Array) -> float:
        """Return the slope of the rate over the places of the axis."""
        if not self.log_power:
            return self.threshold
        if not (places > 1).all():
            raise Unmeasured(f"{self.axis} is not above 1 everywhere, its logarithm has none")
        log = np.log(places)
        return self.threshold + self.log_power * float(np.log(log) @ slope_weights(log))

    def _measured(self) -> Selection:
        return self.measured if self.axis == ROUND else {self.axis: (ANY,), **self.measured}

    def _along_axis(self, data: Experiments, case: Selection, keys: list[Key]) -> tuple[Quantity, float, str]:
        position = data.axes.index(self.axis) if self.axis in data.axes else 0
        labels = [key[position] for key in keys]
        for label in set(labels):
            self._check_one(data, case, [key for key in keys if key[position] == label])
        if not all(is_number(label) and float(label) > 0 for label in labels):
            raise Unmeasured(f"axis '{self.axis}' has labels that are not positive numbers")
        if len(labels) < 2:
            raise Unmeasured(f"a slope needs at least two values of '{self.axis}'")
        (values,), note = final_values(data, self.column, keys)
        places = np.array([float(label) for label in labels])
        weights = slope_weights(np.log(places))
        means = values.mean(axis=0)
        if not (means > 0).all():
            raise Unmeasured(f"the mean {self.column} is not positive everywhere, it has no logarithm")
        slope = Mean(np.log(means) @ weights + ((values - means) / means) @ weights)
        return slope, self._allowed(places), note

    def _along_rounds(self, data: Experiments, curves: pd.DataFrame, key: Key) -> tuple[Quantity, float, str]:
        wanted = {"column", ROUND, "mean", "std", "n"}
        if not wanted <= set(curves.columns):
            raise Unmeasured("there are no curves")
        rows = curves[curves["column"] == self.column]
        for axis, label in data.as_dict(key).items():
            if axis in rows.columns:
                rows = rows[[canonical(value) == label for value in rows[axis]]]
        rows = rows.sort_values(ROUND)
        rows = rows[rows[ROUND] >= self.from_fraction * rows[ROUND].max()]
        if len(rows) < 2:
            raise Unmeasured(f"no curve of {self.column} for {data.text(key) or 'these runs'}")
        mean, deviation = (rows[name].to_numpy(dtype=np.float64) for name in ("mean", "std"))
        if not (mean > 0).all():
            raise Unmeasured(f"the mean {self.column} is not positive everywhere, it has no logarithm")
        places = rows[ROUND].to_numpy(dtype=np.float64)
        weights = slope_weights(np.log(places))
        note = "interval: slopes of all curves within the pointwise band"
        return BandSlope(weights, mean, deviation, int(rows["n"].min())), self._allowed(places), note

    def _check_one(self, data: Experiments, case: Selection, keys: list[Key]) -> None:
        if not keys:
            raise Unmeasured("no such runs")
        if len(keys) > 1:
            raise ConfigError(
                f"figure '{data.name}', claim '{self.id}': 'measured' selects {len(keys)} experiments in case "
                f"'{case_text(case)}', expected one per value of '{self.axis}'; name more axes in 'measured' or 'per'"
            )


def slope_weights(x: Array) -> Array:
    """Return the weights w with which the least-squares slope of y against x is w @ y."""
    centred = x - x.mean()
    return centred / (centred @ centred)


class Steepness(CaseClaim):
    """The largest change of the mean reward of a round between neighbouring values that were probed, by their distance.

    It bounds the Lipschitz constant from below; between the probed values the reward may be steeper. Of several
    neighbours the steepest counts, upwards or downwards, each judged at its share of the error.

    Parameters
    ----------
    measured
        The runs: one experiment per case, with the final values ``probe_<value>``, sums over the rounds.
    length
        Length of the interval that the metric calls 1.
    expect
        ``less``, ``greater``, ``at_most`` or ``at_least``.
    threshold
        The constant it is compared with.
    """

    kind: Literal["steepness"]
    expect: Direction
    measured: Chosen = Field(default_factory=dict)
    length: PositiveFloat = 1.0
    threshold: float = 1.0

    def selections(self) -> dict[str, Selection]:
        return {"measured": self.measured}

    def unit(self) -> str:
        runs = f", {describe(self.measured)}" if self.measured else ""
        return (
            f"largest change of the mean {self.column} of a round between neighbouring values, by their distance in "
            f"units of {self.length:g}{runs}, against {self.threshold:g}"
        )

    def question(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> tuple[Question, str]:
        keys = data.select({**case, **self.measured})
        if len(keys) != 1:
            raise Unmeasured(f"found {len(keys)} experiments, expected one")
        columns = [str(name) for name in data.rows(keys[0]).columns if str(name).startswith(PROBE)]
        values = np.sort(np.array([float(name.removeprefix(PROBE)) for name in columns]))
        if len(values) < 2:
            raise Unmeasured("the results have no two probed values")
        sums, note = [], ""
        for value in values:
            (own,), note = final_values(data, f"{PROBE}{value:g}", keys)
            sums.append(own[:, 0])
        (rounds,), _ = final_values(data, "rounds", keys)
        means = np.array(sums) / rounds[:, 0]
        rises = np.diff(means, axis=0) / np.diff(values)[:, None] * self.length
        parts = [[Mean(sign * rise) for rise in rises for sign in (1.0, -1.0)]]
        return Question(Extreme(parts, "max", "max"), self.unit(), self.expect, self.threshold), note
