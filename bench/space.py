import itertools
import math
import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, PositiveFloat, ValidationInfo

from bench.component import component
from bench.errors import SpaceError
from bench.plain import alike, is_number, is_value
from bench.plain import plain_value as plain_value
from bench.rewards import short

Configuration = dict[str, Any]

_NAMED = 10
"""Number of candidates that a message lists."""

_DRAWS = 10_000
"""Attempts to draw a configuration that is not excluded."""

_UNSET: Any = object()
"""Marks a missing default, because None is a valid one."""


def _listed(value: Any, about: ValidationInfo) -> list[Any]:
    """Return candidates as a list of plain values."""
    name = str(about.data.get("name", ""))
    is_table = len(getattr(value, "shape", (0,))) != 1
    if isinstance(value, str | bytes | bytearray | Mapping | Set) or is_table or not isinstance(value, Iterable):
        found = f"the candidates {short(value)}"
        if isinstance(value, Set):
            raise SpaceError(f"found {found}, expected a list: a set has no order", name)
        raise SpaceError(f"found {found}, expected a list of values, such as [0.1, 1.0]", name)
    return [plain_value(item) for item in value]


@component
class HyperParameter:
    """A hyper-parameter, with the candidates for discrete tuners and the interval for continuous tuners.

    Raises ConfigError if both the candidates and the interval are missing, or if the interval is empty or not finite.

    Parameters
    ----------
    candidates
        Values for discrete tuners: numbers, strings or None, in a list or another ordered collection, such as an array.
        They are converted to Python's own types.
    low, high
        The interval for continuous tuners, both ends included.
    log
        Whether the interval is searched on a logarithmic scale.
    integer
        Whether the interval holds whole numbers only.
    power
        Exponent of the scale on which the interval is searched; u in [0, 1] is mapped to low + (high - low) u^power.
    when
        ``(name, value)``: the hyper-parameter has an effect only if the earlier ``name`` has ``value``. A tuner's
        ``heeds`` states whether the tuner uses this condition.
    default
        Value of a hyper-parameter that is neither tuned nor set by theory; by default the first candidate or the middle
        of the interval.
    """

    name: str
    candidates: Annotated[tuple[Any, ...], BeforeValidator(_listed)] = ()
    low: float | None = None
    high: float | None = None
    log: bool = False
    integer: bool = False
    power: PositiveFloat = 1.0
    when: tuple[str, Any] | None = None
    default: Any = _UNSET

    def __post_init__(self) -> None:
        if self.low is None and self.high is None:
            self._expect(bool(self.candidates), "the space is empty", "candidates or an interval (low, high)")
        elif self.low is None or self.high is None:
            self._expect(False, "found only one of low and high", "both or neither")
        else:
            self._check_interval(self.low, self.high)
        candidates = f"found candidates {short(list(self.candidates))}"
        try:
            n_distinct = len(set(self.candidates))
        except TypeError:
            self._expect(False, candidates, "finite numbers, strings or None")
        self._expect(all(map(is_value, self.candidates)), candidates, "finite numbers, strings or None")
        self._expect(n_distinct == len(self.candidates), candidates, "each value once")
        if self.default is _UNSET:
            self.default = self.candidates[0] if self.candidates else self.from_unit(0.5)
        self.default = plain_value(self.default)
        found = f"found the default {short(self.default)}"
        self._expect(is_value(self.default), found, "a finite number, a string or None")

    def _check_interval(self, low: float, high: float) -> None:
        interval = f"found the interval [{low}, {high}]"
        self._expect(math.isfinite(low) and math.isfinite(high) and low < high, interval, "finite low < high")
        self._expect(not self.log or low > 0, f"found low = {low} on a log scale", "low > 0")
        scales = f"found power = {self.power} with log or integer"
        self._expect(self.power == 1 or not (self.log or self.integer), scales, "only one of them")
        self._expect(math.isfinite(high / low if self.log else high - low), interval, "a narrower one")
        self._expect(not self.integer or (low.is_integer() and high.is_integer()), interval, "whole numbers")

    def _expect(self, is_right: bool, found: str, expected: str) -> None:
        if not is_right:
            raise SpaceError(f"{found}, expected {expected}", self.name)

    @property
    def continuous(self) -> bool:
        return self.low is not None

    def from_unit(self, u: float) -> float | int:
        """Map ``u`` in [0, 1] onto the interval.

        Whole numbers receive equal shares of the interval, or of its logarithm. Raises ConfigError if the
        hyper-parameter has no interval.
        """
        if self.low is None or self.high is None:
            words = "" if self.numeric else ": a tuner that searches intervals cannot tune words"
            raise SpaceError(f"found no interval, expected low and high{words}", self.name)
        low, high = (self.low - 0.5, self.high + 0.5) if self.integer else (self.low, self.high)
        value = low * (high / low) ** u if self.log else low + (high - low) * u**self.power
        if self.integer:
            return int(min(max(round(value), self.low), self.high))
        if u >= 1.0:
            return float(self.high)  # rounding could pass the end or stop short of it
        return float(min(value, self.high))

    @property
    def numeric(self) -> bool:
        """Whether the hyper-parameter has at least one numeric value."""
        return self.continuous or any(is_number(value) for value in self.candidates)

    def allows(self, value: Any, leaves_space: bool = False) -> bool:
        """Return whether a value lies in the interval, is a candidate, or is the default.

        With ``leaves_space``, any finite number is allowed if the hyper-parameter has numeric values.
        """
        value = plain_value(value)
        if is_number(value) and self.numeric:
            if leaves_space:
                return abs(value) <= sys.float_info.max
            if self.low is not None and self.high is not None and self.low <= value <= self.high:
                return not self.integer or value == int(value)
        values = (*self.candidates, self.default)
        return any(alike(value, candidate) and value == candidate for candidate in values)

    @property
    def expected(self) -> str:
        """The allowed values as text."""
        words = []
        if self.continuous:
            words.append(f"a {'whole ' * self.integer}number from {self.low:g} to {self.high:g}")
        if self.candidates:
            first = ", ".join(repr(value) for value in self.candidates[:_NAMED])
            more = f" ... ({len(self.candidates)} in all)" if len(self.candidates) > _NAMED else ""
            words.append(f"one of {first}{more}")
        return " or ".join(words)

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw a value uniformly from the interval, or from the candidates if there is no interval."""
        if self.continuous:
            return self.from_unit(rng.random())
        return self.candidates[int(rng.integers(len(self.candidates)))]


@dataclass(frozen=True)
class Space:
    """A product of hyper-parameters in a fixed order. Raises ConfigError if there are none or a name occurs twice."""

    parameters: tuple[HyperParameter, ...]
    excluded: tuple[tuple[tuple[str, Any], ...], ...] = ()
    """Values by name that no configuration may have together: see `without`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", tuple(self.parameters))
        if not self.parameters:
            raise SpaceError("found no hyper-parameter, expected at least one")
        if len(set(self.names)) != len(self.names):
            raise SpaceError(f"found the names {list(self.names)}, expected no name twice")

    @classmethod
    def of(cls, /, **parameters: Mapping[str, Any] | Sequence[Any]) -> "Space":
        """Build a space from keywords: ``Space.of(alpha=[0.1, 1.0], ridge={"low": 0.1, "high": 2.0})``.

        Raises ConfigError also if ``when`` names a later hyper-parameter, whose value would be ignored.
        """
        space = cls(
            tuple(
                HyperParameter(name, **value) if isinstance(value, Mapping) else HyperParameter(name, value)  # type: ignore[arg-type]
                for name, value in parameters.items()
            )
        )
        for place, parameter in enumerate(space.parameters):
            if parameter.when and parameter.when[0] in space.names[place:]:
                raise SpaceError(f"found when = {parameter.when}, expected an earlier hyper-parameter", parameter.name)
        return space

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def defaults(self) -> Configuration:
        return {parameter.name: parameter.default for parameter in self.parameters}

    def without(self, **values: Any) -> "Space":
        """Return the space without the configurations that have all of the given values together.

        After ``space.without(ranking="boosted", rate=10.0)`` each of the two values may still occur with other values.
        Raises ConfigError if a name or value is unknown or no configuration remains.
        """
        for parameter in self.restrict(values).parameters if values else ():
            if not parameter.allows(value := values[parameter.name]):
                raise SpaceError(f"found {value!r} to leave out, expected {parameter.expected}", parameter.name)
        other = Space(self.parameters, (*self.excluded, tuple((name, plain_value(x)) for name, x in values.items())))
        if not values or (all(parameter.candidates for parameter in self.parameters) and not other.product()):
            raise SpaceError(f"found {values} to leave out, expected some configurations to remain")
        return other

    def leaves_out(self, configuration: Configuration) -> bool:
        """Return whether `without` has excluded a configuration."""
        return any(all(configuration[name] == value for name, value in values) for values in self.excluded)

    def settled(self, configuration: Configuration) -> Configuration:
        """Return the configuration with the defaults of hyper-parameters that have no effect in it (see ``when``)."""
        settled: Configuration = {}
        for parameter in self.parameters:
            name, other = parameter.name, parameter.when
            counts = other is None or other[0] not in settled or settled[other[0]] == other[1]
            settled[name] = configuration[name] if counts else parameter.default
        return settled

    def distinct(self, configurations: Iterable[Configuration]) -> list[int]:
        """Return the indices of allowed configurations that differ in effect, the first of each equivalence class."""
        first: dict[tuple[Any, ...], int] = {}
        for place, configuration in enumerate(configurations):
            if not self.leaves_out(configuration):
                key = tuple((type(value), value) for value in self.settled(configuration).values())
                first.setdefault(key, place)
        return list(first.values())

    @cached_property
    def is_plain(self) -> bool:
        """Whether every combination is allowed and differs in effect from the others."""
        return not self.excluded and all(
            parameter.when is None or parameter.when[0] not in self.names for parameter in self.parameters
        )

    @property
    def dim(self) -> int:
        return len(self.parameters)

    def parameter(self, name: str) -> HyperParameter:
        return self.parameters[self.names.index(name)]

    def restrict(self, names: Iterable[str]) -> "Space":
        """Return the space of the hyper-parameters ``names`` in this order. Raises ConfigError if a name is unknown."""
        by_name = dict(zip(self.names, self.parameters, strict=True))
        names = list(names)
        for name in names:
            if name not in by_name:
                raise SpaceError(f"found the hyper-parameter '{name}', expected one of {list(by_name)}")
        excluded = tuple(values for values in self.excluded if {name for name, _ in values} <= {*names})
        return Space(tuple(by_name[name] for name in names), excluded)

    def product(self) -> list[Configuration]:
        """Return every combination of the candidates; the last hyper-parameter changes fastest.

        Excluded combinations are omitted, and only the first of the combinations that differ in values without effect
        is kept. Raises ConfigError if a hyper-parameter has no candidates.
        """
        for parameter in self.parameters:
            if not parameter.candidates:
                raise SpaceError(
                    "found an interval only, expected candidates for a tuner that chooses among values", parameter.name
                )
        combinations = itertools.product(*(parameter.candidates for parameter in self.parameters))
        every = [dict(zip(self.names, values, strict=True)) for values in combinations]
        return every if self.is_plain else [self.settled(every[place]) for place in self.distinct(every)]

    def from_unit(self, point: np.ndarray) -> Configuration:
        """Map a point of the unit cube, shape (dim,), to a configuration."""
        return {p.name: p.from_unit(float(u)) for p, u in zip(self.parameters, point, strict=True)}

    def sample(self, rng: np.random.Generator) -> Configuration:
        for _ in range(_DRAWS):
            configuration = {parameter.name: parameter.sample(rng) for parameter in self.parameters}
            if not self.leaves_out(configuration):
                return configuration
        raise SpaceError(f"found only excluded configurations in {_DRAWS:,} draws, expected fewer exclusions")
