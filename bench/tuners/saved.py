import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bench.errors import TunerError
from bench.rewards import short

_LARGEST_WHOLE = 2.0**53
"""Up to here JSON and floats keep whole numbers exactly."""


class Saved:
    """Plain data that a tuner saved, read back one checked value after the other.

    Every method raises TunerError with one sentence that names the key, what was found and what is expected.
    """

    def __init__(self, name: str, data: Any, *, keys: tuple[str, ...]) -> None:
        self._name = name
        if not isinstance(data, Mapping):
            raise self._error("", data, f"a mapping with the keys {', '.join(keys)}")
        for key in keys:
            if key not in data:
                raise TunerError(f"{name}: found no key '{key}', expected one")
        for key in data:
            if key not in keys:
                raise TunerError(f"{name}: found the unknown key {key!r}, expected just {', '.join(keys)}")
        self._data = data

    def part(self, key: str, keys: tuple[str, ...]) -> "Saved":
        return Saved(f"{self._name}: {key}", self._data[key], keys=keys)

    def equal(self, key: str, expected: Any, what: str) -> None:
        """Check that a value is ``expected``, which may be nested plain data; the first difference is named."""
        self._compare(key, self._data[key], expected, what)

    def number(self, key: str, low: float = -math.inf, high: float = math.inf) -> float:
        """Return a finite number in [low, high]."""
        return float(self.array(key, (), low, high))

    def whole(self, key: str, low: int, high: float = math.inf) -> int:
        return int(self.array(key, (), low, high, whole=True))

    def array(
        self,
        key: str,
        shape: tuple[int | None, ...],
        low: float = -math.inf,
        high: float = math.inf,
        whole: bool = False,
    ) -> np.ndarray:
        """Return an array of finite numbers in [low, high] with a shape in which None stands for any length."""
        value = self._data[key]
        high = min(high, _LARGEST_WHOLE) if whole else high
        kind = "whole numbers" if whole else "finite numbers"
        words = f"{kind} of shape ({', '.join('any' if n is None else str(n) for n in shape)})" if shape else kind[:-1]
        try:
            array = np.asarray(value)
        except ValueError:  # ragged
            raise self._error(key, value, words) from None
        if array.size == 0 and shape:
            array = array.reshape([0 if n is None else n for n in shape]) if 0 in shape or None in shape else array
        fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
        if not fits or (array.size and array.dtype.kind not in "iuf"):
            raise self._error(key, value, words)
        wrong = array[~np.isfinite(array)] if array.size else array
        if wrong.size:
            raise self._error(key, wrong.item(0), words)
        wrong = array[(array < low) | (array > high) | (whole & (array != np.round(array)))]
        if wrong.size:
            raise self._error(key, wrong.item(0), f"{words} from {low:g} to {high:g}")
        return array.astype(int if whole else float)

    def generator(self, key: str) -> np.random.Generator:
        """Return the random generator whose state was saved."""
        try:
            generator = np.random.Generator(np.random.PCG64())
            generator.bit_generator.state = self._data[key]
            generator.bit_generator.random_raw()
            generator.bit_generator.state = self._data[key]
        except (TypeError, ValueError, KeyError, OverflowError):
            raise self._error(key, self._data[key], "the state of a PCG64 generator of numpy") from None
        return generator

    def refuse(self, key: str, found: str, expected: str) -> TunerError:
        return TunerError(f"{self._name}: {key}: found {found}, expected {expected}")

    def _compare(self, key: str, found: Any, expected: Any, what: str) -> None:
        if isinstance(expected, dict) and isinstance(found, Mapping) and found.keys() == expected.keys():
            for name, value in expected.items():
                self._compare(f"{key}.{name}", found[name], value, what)
        elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
            for i, value in enumerate(expected):
                self._compare(f"{key}[{i}]", found[i], value, what)
        elif type(found) is not type(expected) or found != expected:
            raise self._error(key, found, f"{short(expected)}, {what}")

    def _error(self, key: str, found: Any, expected: str) -> TunerError:
        where = f"{self._name}: {key}" if key else self._name
        return TunerError(f"{where}: found {short(found)}, expected {expected}")
