import copy
import json
import os
from dataclasses import asdict, fields, is_dataclass
from typing import Any, ClassVar, Self

import numpy as np

from bench.errors import TunerError
from bench.rewards import short
from bench.tuners.state import Reader, Writer, checksum, compare
from bench.tuners.tickets import ALONE, Tickets

_VERSION = 4
"""Of the saved state; raised when its keys or their meaning change."""


class Saving:
    """The part of a tuner that saves its state and goes on from one.

    The state is all its attributes: numbers, words, arrays, random generators, and lists, dicts and objects of these.
    The settings, the problem and what is ``unsaved`` are left out.
    """

    unsaved: ClassVar[tuple[str, ...]] = ()
    """Attributes that no state holds; ``_rebuild`` sets them."""

    _started: bool
    _tickets: Tickets
    _given: dict[str, Any]

    def save(self) -> dict[str, Any]:
        """Return all that `restore` needs as plain data, which JSON keeps exactly, open tickets included.

        Raises TunerError if the tuner was not started, not in this process, or has an attribute that cannot be saved.
        """
        with ALONE:
            self._check_process("save()")
            writer = Writer(type(self).__name__, self._given)
            kept = self._not_state()
            attributes = {name: value for name, value in vars(self).items() if name not in kept}
            saved = {
                **self._identity(),
                "state": {name: writer.write(value, name) for name, value in attributes.items()},
                "tickets": [[ticket, writer.write(memory, "")] for ticket, memory in self._tickets.open.items()],
            }
            return {**saved, "checksum": checksum(saved)}

    def restore(self, saved: Any) -> None:
        """Go on where a tuner of the same class and settings was saved; start it first, with the same problem.

        Two processes that restore the same state make the same decisions: only one of them should go on.
        Raises TunerError, and changes nothing, if it was not started, or ``saved`` differs or is damaged.
        """
        with ALONE:
            self._check_process("restore()")
            name = f"{type(self).__name__}: saved state"
            identity = self._identity()
            keys = [*identity, "state", "tickets", "checksum"]
            if type(saved) is not dict:
                raise TunerError(f"{name}: found {short(saved)}, expected a mapping with the keys {', '.join(keys)}")
            for key in (*keys, *saved):
                if key not in saved:
                    raise TunerError(f"{name}: found no key '{key}', expected one")
                if key not in keys:
                    raise TunerError(f"{name}: found the unknown key {key!r}, expected just {', '.join(keys)}")
            for key, expected in identity.items():
                compare(name, key, saved[key], expected)
            try:
                restored = self._restored(name, saved)
                right = saved["checksum"] == checksum(saved)
            except (TypeError, ValueError, RecursionError):
                right = False
            if not right:
                raise TunerError(
                    f"{name}: found a checksum that is not that of the other keys, expected the state as it was saved"
                )
            vars(self).clear()
            vars(self).update(vars(restored))

    def _restored(self, name: str, saved: dict[str, Any]) -> Self:
        reader = Reader(name, self._given, {cls.__module__ for cls in type(self).__mro__})
        state = saved["state"]
        if type(state) is not dict or type(saved["tickets"]) is not list:
            raise TunerError(f"{name}: found {short(state)}, expected attributes by name, and a list of tickets")
        for key in vars(self).keys() - self._not_state() - state.keys():
            raise TunerError(f"{name}: state: found no key '{key}', expected one")
        attributes = {key: reader.read(value, f"state.{key}") for key, value in state.items()}
        opened = {}
        for place, pair in enumerate(saved["tickets"]):
            if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not int:
                raise TunerError(f"{name}: tickets[{place}]: found {short(pair)}, expected a number and what it keeps")
            opened[pair[0]] = reader.read(pair[1], f"tickets[{place}]")
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
        """Set the attributes that are ``unsaved``, after the others were restored; TunerError where these are wrong."""

    def _not_state(self) -> set[str]:
        settings: list[str] = [item.name for item in fields(self) if item.init] if is_dataclass(self) else []
        return {*settings, "_tickets", "_given", *self.unsaved}

    def _identity(self) -> dict[str, Any]:
        """What has to be equal in the tuner that is restored, as JSON gives it back."""
        problem = self._given["problem"]
        identity = {
            "version": _VERSION,
            "class": type(self).__name__,
            "settings": asdict(self) if is_dataclass(self) else {},
            "space": {parameter.name: asdict(parameter) for parameter in problem.space.parameters},
            "horizon": problem.horizon,
            "rounds": problem.total_rounds,
        }
        plain: dict[str, Any] = json.loads(json.dumps(identity, default=np.generic.item))
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
