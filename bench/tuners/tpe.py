import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import PositiveInt

from bench.arithmetic import exp, first_of_best, log
from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter
from bench.tuners.base import Problem, Tuner
from bench.tuners.parzen import Dimensions, Parzen

_GOOD, _MOST_GOOD = 0.1, 25
"""The share of the trials that count as good, and their largest number."""
_LARGEST_WHOLE = 2.0**32
"""The largest whole number whose interval has a mass of its own; larger ones are searched as real numbers."""
_N_SAMPLES = 24
"""Values drawn from the density of the good trials, of which the best is proposed."""


@component
class TPE(Tuner):
    """Tree-structured Parzen estimator, which prefers values likely among good trials and unlikely among others.

    A hyper-parameter is searched on its interval (as integer or on a log scale if so declared), or on its candidates as
    categories if there is no interval. A conditional hyper-parameter (``when``) is proposed, and learnt from, if its
    condition holds; otherwise it has its usual value. Given the same random numbers, the tuner proposes the same values
    as Optuna 5's ``TPESampler`` up to rounding. It takes the first of values that are equally good up to rounding.
    Unlike Optuna's, its proposals are the same on every processor. Source: Bergstra et al. 2011; opl_hpo, section 2.

    Parameters
    ----------
    n_startup
        Random trials at the start.
    multivariate
        Whether there is a joint density of the hyper-parameters that all trials have; if not, each hyper-parameter is
        sampled separately, as in the original.
    """

    remembers: ClassVar[tuple[str, ...] | None] = ("_row",)
    learns_history: ClassVar[bool] = True
    heeds: ClassVar[tuple[str, ...]] = ("when",)

    n_startup: PositiveInt = 10
    multivariate: bool = False

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._axes = [_Axis(parameter) for parameter in problem.space.parameters]
        self._dimensions = Dimensions.of([axis.limits for axis in self._axes])
        self._rng = seeds.generator("sampler")
        self._row = np.empty(len(self._axes))
        self._rows = np.empty((0, len(self._axes)))  # coordinates of the trials, NaN where one has no effect
        self._rewards = np.empty(0)
        self._is_good = np.empty(0, dtype=bool)

    def _ask(self) -> Configuration:
        joint = self._sample(self._common()) if self.multivariate else {}
        configuration: Configuration = {}
        for place, axis in enumerate(self._axes):
            name = axis.parameter.name
            if not _counts(axis.parameter, configuration):
                configuration[name] = axis.parameter.default
            else:
                coordinate = joint[place] if place in joint else self._sample([place])[place]
                configuration[name] = axis.value(coordinate)
        self._as_asked(configuration)
        return configuration

    def _tell(self, reward: float, outcome: Any) -> None:
        self._rows = np.vstack([self._rows, self._row])
        self._rewards = np.append(self._rewards, reward)
        n = self._rewards.size
        self._is_good = np.zeros(n, dtype=bool)
        self._is_good[np.argsort(-self._rewards, kind="stable")[: min(math.ceil(_GOOD * n), _MOST_GOOD)]] = True

    def _as_asked(self, configuration: Configuration) -> None:
        self._row = np.array([
            axis.coordinate(configuration[axis.parameter.name]) if _counts(axis.parameter, configuration) else np.nan
            for axis in self._axes
        ])  # fmt: skip

    def _common(self) -> list[int]:
        """Return the indices of the hyper-parameters that had an effect in all trials, sorted by name."""
        if self._rewards.size < self.n_startup:
            return []
        places = np.flatnonzero(~np.isnan(self._rows).any(axis=0)).tolist()
        return sorted(
            (place for place in places if not self._axes[place].is_single),
            key=lambda place: self._axes[place].parameter.name,
        )

    def _sample(self, places: Sequence[int]) -> dict[int, float]:
        """Return the coordinates of a proposal on the axes with the indices ``places``, by index."""
        if not places or self._axes[places[0]].is_single:
            return dict.fromkeys(places, 0.0)
        if self._rewards.size < self.n_startup:
            return {place: self._axes[place].uniform(self._rng) for place in places}
        rows = self._rows[:, places]
        has_all = ~np.isnan(rows).any(axis=1)
        dimensions = self._dimensions.only(places)
        good = Parzen(rows[has_all & self._is_good], dimensions)
        others = Parzen(rows[has_all & ~self._is_good], dimensions)
        samples = good.sample(_N_SAMPLES, self._rng)
        ratios = good.density(samples) / others.density(samples)
        best = first_of_best(ratios, ratios.max())
        return dict(zip(places, samples[best].tolist(), strict=True))


def _counts(parameter: HyperParameter, configuration: Configuration) -> bool:
    """Return whether ``parameter`` has an effect, given the values of the hyper-parameters before it."""
    return parameter.when is None or configuration.get(parameter.when[0], parameter.when[1]) == parameter.when[1]


class _Axis:
    """A hyper-parameter as an axis, whose coordinates are numbers or their logarithms, or indices of categories."""

    def __init__(self, parameter: HyperParameter) -> None:
        self.parameter = parameter

    @property
    def limits(self) -> tuple[float, float, float, bool, int]:
        """The limits of the axis, in the order of the fields of `Dimensions`."""
        low, high, is_log = self.parameter.low, self.parameter.high, self.parameter.log
        if low is None or high is None:
            return 0.0, 0.0, 0.0, False, len(self.parameter.candidates)
        half = 0.5 if self.parameter.integer and max(-low, high) <= _LARGEST_WHOLE else 0.0
        ends = low - half, high + half
        return (log(ends[0]), log(ends[1]), half, True, 0) if is_log else (*ends, half, False, 0)

    @property
    def is_single(self) -> bool:
        return self.parameter.low is None and len(self.parameter.candidates) == 1

    def coordinate(self, value: Any) -> float:
        """Return the coordinate of ``value``, or NaN for a default or a candidate outside the axis."""
        low, high, candidates = self.parameter.low, self.parameter.high, self.parameter.candidates
        if low is None or high is None:
            return float(candidates.index(value)) if value in candidates else math.nan
        if isinstance(value, str) or value is None or not low <= value <= high:
            return math.nan
        return float(log(float(value)) if self.parameter.log else value)

    def value(self, coordinate: float) -> Any:
        low, high = self.parameter.low, self.parameter.high
        if low is None or high is None:
            return self.parameter.candidates[int(coordinate)]
        number = float(exp(coordinate)) if self.parameter.log else coordinate
        number = min(max(float(round(number)) if self.parameter.integer else number, low), high)
        return int(number) if self.parameter.integer else number

    def uniform(self, rng: np.random.Generator) -> float:
        """Draw a coordinate uniformly."""
        low, high, _, _, n_categories = self.limits
        return float(np.argmax(rng.random(n_categories))) if n_categories else low + (high - low) * rng.random()
