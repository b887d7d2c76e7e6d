import math
import reprlib
import sys
from typing import Any

import numpy as np

from bench.rewards import short
from bench.space import Configuration, HyperParameter, Space, plain_value


class ConfigurationCheck:
    """Checks configurations of ``space``; the check of a valid configuration takes well under a microsecond.

    With ``leaves_space``, a number may lie outside the interval and the candidates if it is finite.
    """

    def __init__(self, space: Space, leaves_space: bool = False) -> None:
        self._space = space
        self._leaves_space = leaves_space
        self._quick = [_quick(parameter, leaves_space) for parameter in space.parameters]
        self._knows_all = not space.excluded

    def read(self, configuration: Any) -> Configuration:
        """Return the configuration, with plain Python numbers in place of other numeric types.

        NumPy scalars would carry their precision into a task. Raises ValueError with the value found and the value
        expected.
        """
        try:
            if type(configuration) is dict and len(configuration) == len(self._quick) and self._knows_all:
                for name, kind, low, high, types in self._quick:
                    value = configuration[name]
                    found = type(value)
                    if not (found is kind and low <= value <= high) and types.get(value) is not found:
                        break
                else:
                    return configuration
        except (KeyError, TypeError):  # a name is missing, or a value has no hash
            pass
        return self._convert(configuration)

    def _convert(self, configuration: Any) -> Configuration:
        copied = dict(configuration) if isinstance(configuration, dict) else configuration
        if fault := self._explain(copied):
            raise ValueError(fault)
        return {name: _plain(self._space.parameter(name), value) for name, value in copied.items()}

    def fault(self, configuration: Any) -> str | None:
        """Return a description of the value found and the value expected, or None if the configuration is valid."""
        try:
            self.read(configuration)
        except ValueError as fault:
            return str(fault)
        return None

    def _explain(self, configuration: Any) -> str | None:
        names = self._space.names
        if not isinstance(configuration, dict):
            return f"found {short(configuration)}, expected a dict with a value for {', '.join(names)}"
        for name in configuration:
            if name not in names:
                return f"found a value for {name!r}, expected values for just {', '.join(names)}"
        for parameter in self._space.parameters:
            name = parameter.name
            expected = "a finite number" if self._leaves_space and parameter.numeric else parameter.expected
            if name not in configuration:
                return f"found no value for {name!r}, expected {expected}"
            if not parameter.allows(configuration[name], self._leaves_space):
                return f"found {name} = {_shown(configuration[name])}, expected {expected}"
        if self._space.leaves_out(configuration):
            return f"found {reprlib.repr(configuration)}, which is excluded, expected another configuration"
        return None


def _quick(parameter: HyperParameter, leaves_space: bool) -> tuple[str, Any, float, float, dict[Any, type]]:
    """Return the name of a hyper-parameter, the type and limits of most valid values, and the types of its candidates.

    If the hyper-parameter has no interval, the type is None and no value is within the limits.
    """
    low, high = math.inf, -math.inf
    if leaves_space and parameter.numeric:
        low, high = -sys.float_info.max, sys.float_info.max
    elif parameter.low is not None and parameter.high is not None:
        low, high = parameter.low, parameter.high
    kind = None if low > high else int if parameter.integer else float
    return parameter.name, kind, low, high, {value: type(value) for value in parameter.candidates}


def _shown(value: Any) -> str:
    """Return a value as text; numbers keep all digits."""
    if isinstance(value, float):
        return float.__repr__(value)
    return repr(value) if isinstance(value, np.number) else reprlib.repr(value)


def _plain(parameter: HyperParameter, value: Any) -> Any:
    """Return the candidate or default that equals a value, or else the value as an int or a float."""
    for known in (*parameter.candidates, parameter.default):
        if type(known) is type(value) and known == value:
            return known
    return plain_value(value)
