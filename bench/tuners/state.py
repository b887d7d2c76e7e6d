"""Conversion of a tuner's state, which has attributes of any kind, to plain data and back.

Any JSON reader and store keeps the data: the order of keys is irrelevant, whole numbers are below 2^53, and a float
with a whole value is written as text.
"""

import base64
import collections
import json
import math
import sys
from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, NoReturn

import numpy as np

from bench.digest import digest
from bench.errors import TunerError
from bench.rewards import short

_LISTS: dict[str, type] = {"tuple": tuple, "set": set, "frozenset": frozenset}
_NAMES: dict[type, str] = {kind: name for name, kind in _LISTS.items()}
_KINDS = "biuf"
"""Kinds of arrays that can be saved: booleans and numbers."""
_DRAWS = ("PCG64", "PCG64DXSM", "SFC64")
"""Bit generators whose state NumPy validates."""
_CONTAINERS = (list, dict, set, frozenset, collections.deque, np.ndarray)


class Names:
    """Classes whose objects a state may contain: those defined in ``modules`` or in ``bench``."""

    def __init__(self, modules: set[str]) -> None:
        self._modules = modules

    def has(self, kind: type) -> bool:
        return self.find(kind.__module__, kind.__qualname__) is kind

    def find(self, module: str, name: str) -> type | None:
        """Return the class ``name`` of a module, or None if it does not exist or the module is not allowed."""
        if module not in self._modules and not module.startswith("bench."):
            return None
        kind = vars(sys.modules[module]).get(name) if module in sys.modules else None
        return kind if isinstance(kind, type) and kind.__module__ == module else None


class Writer:
    """Converts values into plain data.

    A second occurrence of an object is written as a reference, so that shared objects stay shared; an object in
    ``given`` is written as its name. References are counted in the order of attributes' names.
    """

    def __init__(self, name: str, given: Mapping[str, Any], names: Names) -> None:
        self._name = name
        self._names = names
        self._given = {id(value): key for key, value in given.items()}
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []

    def attributes(self, values: Mapping[str, Any], path: str = "") -> dict[str, Any]:
        return {name: self.write(values[name], f"{path}.{name}") for name in sorted(values)}

    def write(self, value: Any, path: str) -> Any:
        """Return ``value`` as plain data.

        Raises TunerError with the attribute's name if a value, such as a function, cannot be saved.
        """
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if abs(value) < 2**53 else {"int": hex(value)}
        if kind is float:
            return value if math.isfinite(value) and not value.is_integer() else {"float": repr(value)}
        if id(value) in self._given:
            return {"given": self._given[id(value)]}
        if id(value) in self._seen:
            return {"again": self._seen[id(value)]}
        if isinstance(value, np.generic) and value.dtype.kind in _KINDS and type(value.item()) in (bool, int, float):
            return {"number": value.dtype.str, "value": self.write(value.item(), path)}
        self._seen[id(value)] = len(self._kept)
        self._kept.append(value)
        if kind is np.ndarray and value.dtype.kind in _KINDS:
            order: Literal["C", "F"] = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
            return {"array": value.dtype.str, "shape": list(value.shape), "order": order, "bytes": _text(value, order)}
        if kind is np.random.Generator and type(value.bit_generator).__name__ in _DRAWS:
            return {"generator": self.write(value.bit_generator.state, path)}
        if kind is list:
            if len(value) > 3 and set(map(type, value)) == {float}:
                return {"floats": _text(np.array(value, dtype="<f8"), "C")}
            return [self.write(item, f"{path}[{i}]") for i, item in enumerate(value)]
        if kind is dict:
            return {"dict": [[self.write(k, path), self.write(v, f"{path}[{k!r}]")] for k, v in value.items()]}
        if kind is collections.deque or kind in _NAMES:
            items = [self.write(item, f"{path}[{i}]") for i, item in enumerate(value)]
            return {_NAMES[kind]: items} if kind in _NAMES else {"deque": items, "maxlen": value.maxlen}
        return self._object(value, path)

    def _object(self, value: Any, path: str) -> dict[str, Any]:
        kind = type(value)
        if self._names.has(kind):
            name = f"{kind.__module__}:{kind.__qualname__}"
            if isinstance(value, Enum):
                return {"member": value.name, "of": name}
            if isinstance(value, tuple) and hasattr(value, "_asdict"):
                return {"object": name, "attributes": self.attributes(value._asdict(), path)}
            if hasattr(value, "__dict__") and not isinstance(value, (*_CONTAINERS, tuple)) and not callable(value):
                return {"object": name, "attributes": self.attributes(vars(value), path)}
        raise TunerError(
            f"{self._name}: {path.lstrip('.')}: found {short(value)}, expected a value that can be saved (numbers, "
            "words, arrays, generators of np.random.default_rng; lists, dicts and objects of these, of classes in the "
            "tuner's own module), or its name in `unsaved`"
        )


class Reader:
    """Converts plain data of a `Writer` back into values.

    Raises TunerError with the path of the value if the data is damaged. ``by_name`` states whether references are
    counted in the order of the attributes' names, or, as in version 4, in the order of the keys.
    """

    def __init__(self, name: str, given: Mapping[str, Any], names: Names, by_name: bool) -> None:
        self._name = name
        self._given = given
        self._names = names
        self._by_name = by_name
        self._made: list[Any] = []
        self._simple = {
            "int": lambda data, path: int(data["int"], 16),
            "float": lambda data, path: float(data["float"]),
            "given": lambda data, path: self._given[data["given"]],
            "again": self._again,
            "number": lambda data, path: self._dtype(data["number"]).type(self.read(data["value"], path)),
        }
        self._whole = {
            "array": self._array,
            "floats": lambda data, path: _numbers(data["floats"], np.dtype("<f8")).tolist(),
            "generator": self._generator,
            "member": self._member,
            "deque": lambda data, path: collections.deque(self._items(data["deque"], path), data.get("maxlen")),
        }
        self._kinds = {*self._simple, *self._whole, *_LISTS, "dict", "object"}

    def attributes(self, data: Mapping[str, Any], path: str) -> dict[str, Any]:
        names = sorted(data) if self._by_name else list(data)
        return {name: self.read(data[name], f"{path}.{name}") for name in names}

    def read(self, data: Any, path: str) -> Any:
        if data is None or type(data) in (bool, int, str):
            return data
        if type(data) is float:
            return data if math.isfinite(data) else self._refuse(path, data, "a finite number")
        place = len(self._made)
        if type(data) is list:
            made: list[Any] = []
            self._made.append(made)
            made.extend(self._items(data, path))
            return made
        kinds = self._kinds & data.keys() if type(data) is dict else set()
        if len(kinds) != 1:
            self._refuse(path, data, "plain data of a saved state")
        (kind,) = kinds
        try:
            if kind in self._simple:
                return self._simple[kind](data, path)
            self._made.append(None)
            if kind == "object":
                return self._object(data, path, place)
            if kind == "dict":
                whole: dict[Any, Any] = {}
                self._made[place] = whole
                for i, (key, value) in enumerate(data["dict"]):
                    whole[self.read(key, path)] = self.read(value, f"{path}[{i}]")
                return whole
            result = _LISTS[kind](self._items(data[kind], path)) if kind in _LISTS else self._whole[kind](data, path)
        except (TypeError, ValueError, KeyError, IndexError, OverflowError, AttributeError):
            self._refuse(path, data, f"{'an' if kind in ('array', 'object') else 'a'} {short(kind)}, as it was saved")
        self._made[place] = result
        return result

    def _items(self, data: Any, path: str) -> list[Any]:
        if type(data) is not list:
            raise TypeError
        return [self.read(item, f"{path}[{i}]") for i, item in enumerate(data)]

    def _again(self, data: dict[str, Any], path: str) -> Any:
        place = data["again"]
        return self._made[place] if type(place) is int and place >= 0 else self._refuse(path, place, "a whole number")

    def _dtype(self, name: Any) -> np.dtype[Any]:
        dtype = np.dtype(name)
        if type(name) is not str or dtype.kind not in _KINDS:
            raise ValueError
        return dtype

    def _array(self, data: dict[str, Any], path: str) -> np.ndarray:
        dtype, order = self._dtype(data["array"]), data["order"]
        if "bytes" in data:
            values = _numbers(data["bytes"], dtype)
        else:  # version 4
            kinds = {"b": bool, "i": int, "u": int, "f": float}
            items = self._items(data["values"], path)
            if set(map(type, items)) - {kinds[dtype.kind]}:
                raise ValueError
            values = np.array(items, dtype=dtype)
        if any(type(n) is not int or n < 0 for n in data["shape"]):
            raise ValueError
        return values.reshape(data["shape"], order=order).copy(order=order)

    def _generator(self, data: dict[str, Any], path: str) -> np.random.Generator:
        state = self.read(data["generator"], path)
        if state["bit_generator"] not in _DRAWS:
            raise ValueError
        generator = np.random.Generator(getattr(np.random, state["bit_generator"])())
        generator.bit_generator.state = state
        return generator

    def _class(self, text: str) -> type:
        kind = self._names.find(*text.split(":"))
        if kind is None:
            raise ValueError
        return kind

    def _member(self, data: dict[str, Any], path: str) -> Any:
        kind = self._class(data["of"])
        return kind[data["member"]] if issubclass(kind, Enum) else self._refuse(path, data["of"], "an enumeration")

    def _object(self, data: dict[str, Any], path: str, place: int) -> Any:
        kind = self._class(data["object"])
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            made: Any = tuple.__new__(kind, map(self.attributes(data["attributes"], path).__getitem__, kind._fields))
        else:
            self._made[place] = made = object.__new__(kind)
            vars(made).update(self.attributes(data["attributes"], path))
        self._made[place] = made
        return made

    def _refuse(self, path: str, found: Any, expected: str) -> NoReturn:
        raise TunerError(f"{self._name}: {path.lstrip('.')}: found {short(found)}, expected {expected}")


def compare(name: str, path: str, found: Any, expected: Any) -> None:
    """Raise TunerError with the first difference between ``found`` and ``expected``; 1 and 1.0 are equal."""
    if isinstance(expected, dict) and isinstance(found, Mapping):
        for key in {**expected, **found}:
            compare(name, f"{path}.{key}", found.get(key, "nothing"), expected.get(key, "nothing"))
    elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        for i, value in enumerate(expected):
            compare(name, f"{path}[{i}]", found[i], value)
    elif found != expected or (type(found) is not type(expected) and {type(found), type(expected)} != {int, float}):
        raise TunerError(
            f"{name}: {path.lstrip('.')}: found {short(found)}, expected {short(expected)}, as in the tuner that "
            "restores it"
        )


def checksum(saved: Mapping[str, Any]) -> str:
    """Return a digest of all keys but ``checksum``. Raises TypeError or ValueError if they are not plain data."""
    rest = {key: value for key, value in saved.items() if key != "checksum"}
    return digest(json.dumps(rest, sort_keys=True, allow_nan=False).encode())


def _text(array: np.ndarray, order: Literal["C", "F"]) -> str:
    return base64.b64encode(array.tobytes(order)).decode()


def _numbers(text: str, dtype: np.dtype[Any]) -> np.ndarray:
    values = np.frombuffer(base64.b64decode(text, validate=True), dtype)
    if dtype.kind == "b" and (values.view(np.uint8) > 1).any():
        raise ValueError
    return values
