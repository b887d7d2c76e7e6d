"""A tuner's state as plain data that JSON keeps exactly: its attributes, whatever they hold, and back again."""

import collections
import copy
import json
import math
import sys
from collections.abc import Mapping
from typing import Any, Literal, NoReturn

import numpy as np

from bench.digest import digest
from bench.errors import TunerError
from bench.rewards import short

_PLAIN = (bool, int, str, type(None))
_LISTS: dict[str, type] = {"tuple": tuple, "set": set, "frozenset": frozenset, "deque": collections.deque}
_NAMES: dict[type, str] = {kind: name for name, kind in _LISTS.items()}
_KINDS = "biuf"
"""Arrays of truth values and numbers."""


class Writer:
    """Turns values into plain data. An object that is met again is written as a reference, so that what is shared stays
    so; an object of ``given`` by its name.
    """

    def __init__(self, name: str, given: Mapping[str, Any]) -> None:
        self._name = name
        self._given = {id(value): key for key, value in given.items()}
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []

    def write(self, value: Any, path: str) -> Any:
        """Return plain data. Raises TunerError, naming the attribute, for what cannot be saved, such as a function."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if id(value) in self._given:
            return {"given": self._given[id(value)]}
        if id(value) in self._seen:
            return {"again": self._seen[id(value)]}
        if isinstance(value, np.generic) and value.dtype.kind in _KINDS:
            return {"number": value.dtype.str, "value": self.write(value.item(), path)}
        self._seen[id(value)] = len(self._kept)
        self._kept.append(value)
        if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
            order: Literal["C", "F"] = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
            values = value.ravel(order).tolist()
            if value.dtype.kind == "f" and not np.isfinite(value).all():
                values = [self.write(item, path) for item in values]
            return {"array": value.dtype.str, "shape": list(value.shape), "order": order, "values": values}
        if isinstance(value, np.random.Generator):
            return {"generator": self.write(value.bit_generator.state, path)}
        if kind is list:
            return [self.write(item, f"{path}[{i}]") for i, item in enumerate(value)]
        if kind is dict:
            return {"dict": [[self.write(k, path), self.write(v, f"{path}[{k!r}]")] for k, v in value.items()]}
        if kind in _NAMES:
            return {_NAMES[kind]: [self.write(item, f"{path}[{i}]") for i, item in enumerate(value)]}
        return self._object(value, path)

    def _object(self, value: Any, path: str) -> dict[str, Any]:
        kind = type(value)
        known = getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind
        fields = value._asdict() if isinstance(value, tuple) and hasattr(value, "_asdict") else None
        if fields is None and hasattr(value, "__dict__") and not callable(value) and not isinstance(value, type):
            fields = vars(value)
        if fields is None or not known:
            raise TunerError(
                f"{self._name}: {path.lstrip('.')}: found {short(value)}, expected something that can be saved "
                "(numbers, words, arrays, random generators; lists, dicts and objects of these): else name it in "
                "`unsaved`"
            )
        attributes = {name: self.write(item, f"{path}.{name}") for name, item in fields.items()}
        return {"object": f"{kind.__module__}:{kind.__qualname__}", "attributes": attributes}


class Reader:
    """Turns plain data of a `Writer` back into values. Raises TunerError, naming the place, where it is damaged.

    Objects are made of classes of ``modules`` and of ``bench`` alone.
    """

    def __init__(self, name: str, given: Mapping[str, Any], modules: set[str]) -> None:
        self._name = name
        self._given = given
        self._modules = modules
        self._made: list[Any] = []

    def read(self, data: Any, path: str) -> Any:
        if type(data) in _PLAIN:
            return data
        if type(data) is float:
            return data if math.isfinite(data) else self._refuse(path, data, "a finite number")
        place = len(self._made)
        if type(data) is list:
            made: list[Any] = []
            self._made.append(made)
            made.extend(self.read(item, f"{path}[{i}]") for i, item in enumerate(data))
            return made
        if type(data) is not dict or not data:
            self._refuse(path, data, "plain data of a saved state")
        kind = next(iter(data))
        simple = {"float": self._float, "given": self._from_given, "again": self._again, "number": self._number}
        try:
            if kind in simple:
                return simple[kind](data, path)
            self._made.append(None)
            if kind == "object":
                return self._object(data, path, place)
            if kind == "dict":
                whole: dict[Any, Any] = {}
                self._made[place] = whole
                for i, (key, value) in enumerate(data["dict"]):
                    whole[self.read(key, path)] = self.read(value, f"{path}[{i}]")
                return whole
            if kind in _LISTS:
                result = _LISTS[kind](self.read(item, f"{path}[{i}]") for i, item in enumerate(data[kind]))
            elif kind == "array":
                result = self._array(data, path)
            elif kind == "generator":
                result = self._generator(data, path)
            else:
                self._refuse(path, data, "plain data of a saved state")
        except (TypeError, ValueError, KeyError, IndexError, OverflowError, AttributeError):
            self._refuse(path, data, f"{'an' if kind in ('array', 'object') else 'a'} {short(kind)}, as it was saved")
        self._made[place] = result
        return result

    def _float(self, data: dict[str, Any], path: str) -> float:
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[data["float"]]

    def _from_given(self, data: dict[str, Any], path: str) -> Any:
        return self._given[data["given"]]

    def _again(self, data: dict[str, Any], path: str) -> Any:
        place = data["again"]
        return self._made[place] if type(place) is int and place >= 0 else self._refuse(path, place, "a whole number")

    def _number(self, data: dict[str, Any], path: str) -> Any:
        return self._dtype(data["number"]).type(self.read(data["value"], path))

    def _dtype(self, name: Any) -> np.dtype[Any]:
        dtype = np.dtype(name)
        if type(name) is not str or dtype.kind not in _KINDS:
            raise ValueError
        return dtype

    def _array(self, data: dict[str, Any], path: str) -> np.ndarray:
        kinds = {"b": bool, "i": int, "u": int, "f": float}
        dtype, values = self._dtype(data["array"]), data["values"]
        if dict in map(type, values):
            values = [self.read(item, path) for item in values]
        elif dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError
        if set(map(type, values)) - {kinds[dtype.kind]} or any(n < 0 for n in data["shape"]):
            raise ValueError
        return np.array(values, dtype=dtype).reshape(data["shape"], order=data["order"]).copy(order=data["order"])

    def _generator(self, data: dict[str, Any], path: str) -> np.random.Generator:
        state = self.read(data["generator"], path)
        generator = np.random.Generator(getattr(np.random, state["bit_generator"])())
        generator.bit_generator.state = state
        copy.deepcopy(generator).random()
        return generator

    def _object(self, data: dict[str, Any], path: str, place: int) -> Any:
        module, _, name = data["object"].partition(":")
        if not (module in self._modules or module.startswith("bench.")):
            raise ValueError
        kind = getattr(sys.modules[module], name)
        if not isinstance(kind, type):
            raise TypeError
        attributes = data["attributes"].items()
        if issubclass(kind, tuple):
            made = kind(**{key: self.read(value, f"{path}.{key}") for key, value in attributes})
        else:
            made = object.__new__(kind)  # type: ignore[arg-type]
            self._made[place] = made
            for key, value in attributes:
                vars(made)[key] = self.read(value, f"{path}.{key}")
        self._made[place] = made
        return made

    def _refuse(self, path: str, found: Any, expected: str) -> NoReturn:
        raise TunerError(f"{self._name}: {path.lstrip('.')}: found {short(found)}, expected {expected}")


def compare(name: str, path: str, found: Any, expected: Any) -> None:
    """Raise TunerError, naming the first difference, unless two pieces of plain data are the same."""
    if isinstance(expected, dict) and isinstance(found, Mapping):
        for key in {**expected, **found}:
            compare(name, f"{path}.{key}", found.get(key, "nothing"), expected.get(key, "nothing"))
    elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        for i, value in enumerate(expected):
            compare(name, f"{path}[{i}]", found[i], value)
    elif type(found) is not type(expected) or found != expected:
        raise TunerError(
            f"{name}: {path.lstrip('.')}: found {short(found)}, expected {short(expected)}, as in the tuner that "
            "restores it"
        )


def checksum(saved: Mapping[str, Any]) -> str:
    """Return a digest of all keys but ``checksum``; raises TypeError or ValueError for what is not plain data."""
    rest = {key: value for key, value in saved.items() if key != "checksum"}
    return digest(json.dumps(rest, sort_keys=True, allow_nan=False).encode())
