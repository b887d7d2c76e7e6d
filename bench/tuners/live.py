import copy
import hashlib
import json
import math
import os
import sys
import threading
import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from bench.errors import TunerError
from bench.rewards import short
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner

_VERSION = 3
"""Of the saved state; raised when its keys or their meaning change."""

_LARGEST_WHOLE = 2**53
"""Up to here JSON and floats keep whole numbers exactly."""

ALONE = threading.RLock()
"""Held by every call: a round takes microseconds, and compiled code does not let other threads run anyway."""


class LiveTuner(Tuner):
    """A tuner for a loop of one's own: rewards may come late, threads may share it, its state can be saved.

    ::

        ticket, configuration = tuner.ask_ticket()
        ...
        tuner.tell(reward, ticket=ticket)

    Rewards may be told in any order, or not at all. A reward counts as one of the time at which it is told. Tickets are
    numbered upwards from the microsecond of `start` or `restore`, so that those which a crash left behind are refused.
    Threads may call it at the same time; a process that was forked after `start`, or a copy in another process, is
    refused, since both would draw the same random numbers.

    A subclass chooses one of its ``_configurations`` by its number, ``_chosen``: ``_ask`` sets it, ``_tell`` reads it.
    """

    most_open: ClassVar[int] = 10_000
    """Tickets that may wait for their rewards; beyond it the oldest is forgotten."""

    _chosen = 0
    _configurations: list[Configuration]

    def start(self, problem: Problem, seeds: Seeds | None = None) -> None:
        """Forget everything and prepare for ``problem``; raises as `Tuner.start` does."""
        with ALONE:
            self._process = os.getpid()
            self._latest = 0
            self._begun = _microseconds()
            self._open: dict[int, int] = {}
            super().start(problem, seeds)
            self._problem = problem

    def ask(self) -> Configuration:
        """Return the configuration to play next. Raises TunerError if the tuner was not started, or in this process."""
        return self.ask_ticket()[1]

    def ask_ticket(self) -> tuple[int, Configuration]:
        """Return a ticket and the configuration to play next; `tell` takes the ticket. Raises as `ask` does."""
        with ALONE:
            configuration = super().ask()
            self._latest = max(self._latest, self._begun) + 1
            self._open[self._latest] = self._chosen
            if len(self._open) > self.most_open:
                del self._open[next(iter(self._open))]
            return self._latest, dict(configuration)  # a copy: what a caller changes is not the tuner's

    def tell(self, reward: float, outcome: Any = None, *, ticket: int | None = None) -> None:
        """Learn the reward of a ticket; None: of the latest. An ``outcome`` is one of the suite's tasks.

        Raises TunerError if the ticket is not open, the reward is no finite number, or the outcome is another object;
        the state is then unchanged.
        """
        if outcome is not None and not hasattr(outcome, "steps"):
            raise TunerError(
                f"{type(self).__name__}: found the outcome {short(outcome)}, expected none, or a task's; a ticket "
                "needs its name: tell(reward, ticket=ticket)"
            )
        with ALONE:
            self._check_started("tell()")
            number = self._latest if ticket is None else ticket
            self._asked = isinstance(number, int | np.integer) and number in self._open
            if not self._asked and ticket is not None:
                raise TunerError(
                    f"{type(self).__name__}: found the ticket {short(ticket)}, expected one of ask_ticket() whose "
                    f"reward was not told yet, among the latest {self.most_open:,}"
                )
            self._chosen = self._open[number] if self._asked else 0
            super().tell(reward, outcome)
            del self._open[number]

    def save(self) -> dict[str, Any]:
        """Return all that `restore` needs as plain data, which JSON keeps exactly.

        Raises TunerError if the tuner was not started, or not in this process.
        """
        with ALONE:
            self._check_started("save()")
            saved = {
                **self._identity(),
                "latest": self._latest,
                "tickets": list(self._open),
                "chosen": list(self._open.values()),
                "state": self._save(),
            }
        return {**saved, "checksum": _checksum(saved)}

    def restore(self, saved: Any) -> None:
        """Go on where a tuner of the same class, settings and points was saved; start it first, with its problem.

        Where points are drawn, which needs more than 128 combinations, that takes the same seeds.
        Raises TunerError, and changes nothing, if it was not started, or ``saved`` differs or is damaged.
        """
        with ALONE:
            self._check_started("restore()")
            read = Saved(f"{type(self).__name__}: saved state", saved, self.save())
            for key, expected in self._identity().items():
                read.equal(key, expected, "as in the tuner that restores it")
            restored = copy.copy(self)
            restored._latest = read.number("latest", 0, whole=True)
            tickets = read.numbers("tickets", None, 0, restored._latest, whole=True)
            chosen = read.numbers("chosen", (len(tickets),), 0, len(self._configurations) - 1, whole=True)
            restored._open = dict(zip(tickets.tolist(), chosen.tolist(), strict=True))
            restored._restore(read.part("state"))
            read.equal("checksum", _checksum(saved), "that of the other keys: something was changed afterwards")
            vars(self).update(vars(restored), _begun=_microseconds())

    @abstractmethod
    def _save(self) -> dict[str, Any]:
        """Return the state of the subclass as plain data."""

    @abstractmethod
    def _restore(self, saved: "Saved") -> None:
        """Set attributes to new objects made of what ``_save`` returned. Raises TunerError if it is damaged."""

    def _identity(self) -> dict[str, Any]:
        """What has to be equal in the tuner that is restored, as JSON gives it back."""
        identity = {
            "version": _VERSION,
            "class": type(self).__name__,
            "settings": asdict(self),  # type: ignore[call-overload]
            "space": {parameter.name: asdict(parameter) for parameter in self._problem.space.parameters},
            "horizon": self._problem.horizon,
            "points": self._configurations,
        }
        plain: dict[str, Any] = json.loads(json.dumps(identity, default=np.generic.item))
        return plain

    def _check_started(self, call: str) -> None:
        super()._check_started(call)
        if self._process != os.getpid():
            raise TunerError(
                f"{type(self).__name__}: found a call in process {os.getpid()}, expected {self._process}, which "
                "started it; ask that process, or start another tuner and restore() its state"
            )


class Saved:
    """Plain data that a tuner saved, read back one checked value after the other; its keys must be those of ``like``.

    Every method raises TunerError with one sentence that names the key, what was found and what is expected.
    """

    def __init__(self, name: str, data: Any, like: Mapping[str, Any]) -> None:
        keys = ", ".join(like)
        if not isinstance(data, Mapping):
            raise TunerError(f"{name}: found {short(data)}, expected a mapping with the keys {keys}")
        for key in (*like, *data):
            if key not in data:
                raise TunerError(f"{name}: found no key '{key}', expected one")
            if key not in like:
                raise TunerError(f"{name}: found the unknown key {key!r}, expected just {keys}")
        self._name, self._data, self._like = name, data, like

    def part(self, key: str) -> "Saved":
        return Saved(f"{self._name}: {key}", self._data[key], self._like[key])

    def equal(self, key: str, expected: Any, what: str) -> None:
        """Check that a value is ``expected``, which may be nested plain data; the first difference is named."""
        self._compare(key, self._data[key], expected, what)

    def number(self, key: str, low: float = -math.inf, high: float = math.inf, whole: bool = False) -> Any:
        """Return a finite number in [low, high]."""
        return self._checked(key, [self._data[key]], low, high, whole).item()

    def numbers(
        self,
        key: str,
        shape: tuple[int, ...] | None,
        low: float = -math.inf,
        high: float = math.inf,
        whole: bool = False,
    ) -> np.ndarray:
        """Return a list of finite numbers in [low, high] as an array, with one axis if ``shape`` is None."""
        values = self._data[key]
        if not isinstance(values, list):
            raise self._error(key, short(values), "a list of numbers")
        shape = shape or (len(values),)
        if len(values) != math.prod(shape):
            raise self._error(key, f"{len(values)} values", f"{math.prod(shape)}")
        return self._checked(key, values, low, high, whole).reshape(shape)

    def generator(self, key: str) -> np.random.Generator:
        """Return the random generator whose state was saved."""
        generator = np.random.Generator(np.random.PCG64())
        try:
            generator.bit_generator.state = self._data[key]
            copy.deepcopy(generator).random()
        except (TypeError, ValueError, KeyError, OverflowError):
            raise self._error(key, short(self._data[key]), "the state of a PCG64 generator of numpy") from None
        return generator

    def _checked(self, key: str, values: list[Any], low: float, high: float, whole: bool) -> np.ndarray:
        kinds, largest = ((int,), _LARGEST_WHOLE) if whole else ((int, float), sys.float_info.max)
        for value in values:
            if type(value) not in kinds or not (low <= value <= high and abs(value) <= largest):
                kind = "whole" if whole else "finite"
                raise self._error(key, short(value), f"a {kind} number from {low:g} to {high:g}")
        return np.array(values, dtype=int if whole else float)

    def _compare(self, key: str, found: Any, expected: Any, what: str) -> None:
        if isinstance(expected, dict) and isinstance(found, Mapping):
            for name in {**expected, **found}:
                self._compare(f"{key}.{name}", found.get(name, "nothing"), expected.get(name, "nothing"), what)
        elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
            for i, value in enumerate(expected):
                self._compare(f"{key}[{i}]", found[i], value, what)
        elif type(found) is not type(expected) or found != expected:
            raise self._error(key, short(found), f"{short(expected)}, {what}")

    def _error(self, key: str, found: str, expected: str) -> TunerError:
        return TunerError(f"{self._name}: {key}: found {found}, expected {expected}")


def _microseconds() -> int:
    return time.time_ns() // 1000


def _checksum(saved: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in saved.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
