import copy
import json
import os
from collections.abc import Collection, Mapping
from dataclasses import asdict, fields, is_dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np

from bench.configuration_check import ConfigurationCheck
from bench.errors import TunerError
from bench.rewards import short
from bench.tuners.state import Names, Reader, Writer, checksum, compare
from bench.tuners.tickets import ALONE, Tickets

_VERSION = 5
"""Version of the saved state; raised when its keys or their meaning change."""

_ORDERED = 4
"""The version whose references depend on the order of the keys; it can be read if that order is intact."""


class Saving:
    """Mixin that saves a tuner's state and continues from it.

    The state has all attributes that are numbers, strings, arrays or random generators, and lists, dicts and objects of
    such values. The settings, the problem and the ``unsaved`` attributes are left out.
    """

    unsaved: ClassVar[tuple[str, ...]] = ()
    """Attributes that are not saved; ``_rebuild`` sets them."""

    remembers: ClassVar[tuple[str, ...] | None]
    _started: bool
    _tickets: Tickets
    _given: dict[str, Any]

    def save(self, apart: Collection[int] = ()) -> dict[str, Any]:
        """Return everything that `restore` needs, open tickets included, as plain data that JSON keeps exactly.

        The order of keys is irrelevant, and any JSON reader can represent the numbers. ``apart`` are open tickets to
        leave out (see `tickets_apart`). Raises TunerError if the tuner was not started in this process, or has an
        attribute that cannot be saved.
        """
        with ALONE:
            self._check_process("save()")
            writer = Writer(type(self).__name__, self._given, _names(self))
            kept = self._not_state()
            saved = {
                **self._identity(),
                "state": writer.attributes({name: value for name, value in vars(self).items() if name not in kept}),
                "tickets": [[key, writer.write(of, "")] for key, of in self._tickets.open.items() if key not in apart],
            }
            return {**saved, "checksum": checksum(saved)}

    def tickets_apart(self, known: set[int]) -> tuple[dict[int, Any], set[int]]:
        """Return new open tickets with their attributes as plain data, and the tickets of ``known`` that were closed.

        A caller with many open tickets stores them apart from the state and updates ``known`` by the results, so that
        not all tickets are written after each change. Tickets whose attributes may be shared with the state remain in
        the state.
        """
        with ALONE:
            opened = {key: of for key, of in self._tickets.open.items() if key not in known and _is_own(of)}
            name, names = type(self).__name__, _names(self)
            written = {key: Writer(name, {}, names).write(of, "") for key, of in opened.items()}
            return written, known - self._tickets.open.keys()

    def restore(self, saved: Any, apart: Mapping[int, Any] = MappingProxyType({})) -> None:
        """Continue from the state of a tuner of the same class and settings.

        This tuner must first be started with the same problem. ``apart`` has the open tickets that the state lacks (see
        `tickets_apart`). Two processes that restore the same state make the same decisions: only one of them should
        continue. Raises TunerError, and changes nothing, if the tuner was not started, or ``saved`` is damaged or
        belongs to another class, other settings or another problem.
        """
        with ALONE:
            self._check_process("restore()")
            name = f"{type(self).__name__}: saved state"
            identity = self._identity()
            keys = [*identity, "state", "tickets", "checksum"]
            if type(saved) is not dict:
                raise TunerError(f"{name}: found {short(saved)}, expected a dict with the keys {', '.join(keys)}")
            if (now := identity.get("excluded", [])) != (then := saved.get("excluded", [])):
                raise TunerError(
                    f"{name}: excluded: found {short(then)}, expected {short(now)}, as in the tuner that restores it"
                )
            for key in (*keys, *saved):
                if key not in saved:
                    raise TunerError(f"{name}: found no key '{key}', expected one")
                if key not in keys:
                    raise TunerError(f"{name}: found the unknown key {key!r}, expected just {', '.join(keys)}")
            _check_version(name, saved)
            for key, expected in identity.items():
                if key != "version":
                    compare(name, key, saved[key], expected)
            written = saved if saved["version"] == _ORDERED else {**saved, **identity}
            try:
                right = saved["checksum"] == checksum(written)
            except (TypeError, ValueError, RecursionError):
                right = False
            if not right:
                raise TunerError(
                    f"{name}: found a checksum that does not match the other keys, expected the state as saved"
                )
            try:
                _check_goes_on(name, self._restored(name, saved, apart))
                restored = self._restored(name, saved, apart)
            except RecursionError:
                raise TunerError(
                    f"{name}: found too deeply nested values, expected the state as it was saved"
                ) from None
            vars(self).clear()
            vars(self).update(vars(restored))

    def _restored(self, name: str, saved: dict[str, Any], apart: Mapping[int, Any]) -> Self:
        reader = Reader(name, self._given, _names(self), by_name=saved["version"] != _ORDERED)
        state = saved["state"]
        if type(state) is not dict or type(saved["tickets"]) is not list:
            raise TunerError(f"{name}: found {short(state)}, expected attributes by name, and a list of tickets")
        for key in vars(self).keys() - self._not_state() - state.keys():
            raise TunerError(f"{name}: state: found no key '{key}', expected one")
        for key in state:
            if key in self._not_state() or callable(getattr(type(self), key, None)):
                raise TunerError(f"{name}: state: found the key {key!r}, expected attributes that the state has")
        attributes = reader.attributes(state, "state")
        for key, value in vars(self).items():
            if isinstance(value, np.ndarray | np.random.Generator) and key in attributes:
                compare(name, f"state.{key}", _kind(attributes[key]), _kind(value))
        opened = {}
        for place, pair in enumerate([*saved["tickets"], *map(list, apart.items())]):
            if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not int:
                raise TunerError(f"{name}: tickets[{place}]: found {short(pair)}, expected a ticket and its attributes")
            opened[pair[0]] = memory = reader.read(pair[1], f"tickets[{place}]")
            if type(memory) is not dict or memory.keys() != {*(self.remembers or ())}:
                raise TunerError(
                    f"{name}: tickets[{place}]: found {short(pair)}, expected the attributes in `remembers`"
                )
        restored = copy.copy(self)
        for key in vars(self).keys() - self._not_state():
            del vars(restored)[key]
        vars(restored).update(attributes)
        restored._tickets = Tickets()
        restored._tickets.open = opened
        try:
            restored._rebuild()
        except TunerError as error:
            raise TunerError(f"{name}: {error}") from None
        return restored

    def _rebuild(self) -> None:
        """Set the ``unsaved`` attributes after the restored ones.

        Raises TunerError if the restored attributes are inconsistent.
        """

    def _not_state(self) -> set[str]:
        settings: list[str] = [item.name for item in fields(self) if item.init] if is_dataclass(self) else []
        return {*settings, "_tickets", "_given", *self.unsaved}

    def _identity(self) -> dict[str, Any]:
        """Return the facts that must be equal in the restored tuner, in the form that JSON returns."""
        problem = self._given["problem"]
        identity = {
            "version": _VERSION,
            "class": type(self).__name__,
            "settings": asdict(self) if is_dataclass(self) else {},
            "space": {parameter.name: asdict(parameter) for parameter in problem.space.parameters},
            "horizon": problem.horizon,
            "rounds": problem.total_rounds,
            **({"excluded": problem.space.excluded} if problem.space.excluded else {}),
        }
        try:
            plain: dict[str, Any] = json.loads(json.dumps(identity, default=_plain, allow_nan=False))
        except (TypeError, ValueError) as error:
            found = f"found a setting or candidate that JSON does not have ({error})"
            raise TunerError(f"{type(self).__name__}: {found}, expected numbers, words, lists and dicts") from None
        return plain

    def _check_process(self, call: str) -> None:
        if not self._started:
            self._refuse_call(call)
        if (process := self._tickets.process) != os.getpid():
            raise TunerError(
                f"{type(self).__name__}: found a call in process {os.getpid()}, expected {process}, which started it; "
                "ask that process, or start another tuner and restore() its state"
            )

    def _refuse_call(self, call: str) -> None:
        first = "ask() first" if self._started else "start(problem) first"
        before = "ask()" if self._started else "start()"
        raise TunerError(f"{type(self).__name__}: found {call} before {before}, expected {first}")


def _is_own(memory: dict[str, Any]) -> bool:
    """Return whether the remembered attributes are copies.

    Copies are arrays, numbers, strings, and lists and tuples of numbers and strings.
    """
    values = [value for value in memory.values() if type(value) is not np.ndarray]
    items = [item for value in values for item in (value if type(value) in (list, tuple) else [value])]
    return all(item is None or isinstance(item, str | int | float | np.generic) for item in items)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__}")


def _check_version(name: str, saved: dict[str, Any]) -> None:
    version = saved["version"]
    if type(version) is int and version > _VERSION:
        raise TunerError(
            f"{name}: version: found {version}, expected at most {_VERSION}: a newer version of this suite has "
            "written it, update the one that restores it"
        )
    if version not in (_VERSION, _ORDERED) or type(version) is not int:
        raise TunerError(f"{name}: version: found {short(version)}, expected {_VERSION} or {_ORDERED}")
    if version == _ORDERED and list(saved)[:2] != ["version", "class"]:
        raise TunerError(
            f"{name}: found keys in another order, expected them as they were saved: the order counts in version "
            f"{_ORDERED}, no longer in {_VERSION}"
        )


def _check_goes_on(name: str, trial: Any) -> None:
    """Raise TunerError if a discarded trial tuner cannot propose and learn with the restored state."""
    try:
        ConfigurationCheck(trial._given["space"], trial.leaves_space).read(trial._ask())
    except Exception as error:
        raise TunerError(
            f"{name}: found a state from which it cannot continue ({type(error).__name__}: {short(str(error))}), "
            "expected the state as it was saved"
        ) from None


def _names(tuner: Saving) -> Names:
    return Names({cls.__module__ for cls in type(tuner).__mro__} - {"builtins", "abc"})


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with {value.ndim} axes"
    return type(value).__name__
