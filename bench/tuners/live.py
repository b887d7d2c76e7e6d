import hashlib
import json
import os
import threading
import time
from abc import abstractmethod
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from bench.errors import TunerError
from bench.rewards import short
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner
from bench.tuners.saved import Saved

_VERSION = 2
"""Of the saved state; raised when its keys or their meaning change."""

_WHOLE = (int, np.integer)

_ALONE = threading.RLock()
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
    It implements ``_state`` and ``_restored``, and names the keys of its state.
    """

    most_open: ClassVar[int] = 10_000
    """Tickets that may wait for their rewards; beyond it the oldest is forgotten."""

    _chosen = 0
    _latest = 0
    _configurations: list[Configuration]
    _keys: tuple[str, ...]

    def start(self, problem: Problem, seeds: Seeds | None = None) -> None:
        """Forget everything and prepare for ``problem``; raises as `Tuner.start` does."""
        with _ALONE:
            self._process = os.getpid()
            self._begun = _microseconds()
            self._latest = 0
            self._open: dict[int, int] = {}
            super().start(problem, seeds)
            self._problem = problem

    def ask(self) -> Configuration:
        """Return the configuration to play next. Raises TunerError if the tuner was not started, or in this process."""
        return self.ask_ticket()[1]

    def ask_ticket(self) -> tuple[int, Configuration]:
        """Return a ticket and the configuration to play next; `tell` takes the ticket. Raises as `ask` does."""
        with _ALONE:
            self._check_process()
            configuration = super().ask()
            self._latest = max(self._latest, self._begun) + 1
            self._open[self._latest] = self._chosen
            if len(self._open) > self.most_open:
                del self._open[next(iter(self._open))]
            return self._latest, configuration

    def tell(self, reward: float, outcome: Any = None, ticket: int | None = None) -> None:
        """Learn the reward of a ticket; None: of the latest.

        Raises TunerError if the ticket is not open or the reward is no finite number; the state is then unchanged.
        """
        with _ALONE:
            self._check_process()
            number = self._latest if ticket is None else ticket
            self._asked = self._started and isinstance(number, _WHOLE) and number in self._open
            if self._started and ticket is not None and not self._asked:
                raise TunerError(
                    f"{type(self).__name__}: found the ticket {short(number)}, expected one of ask_ticket() whose "
                    f"reward was not told yet, among the latest {self.most_open:,}"
                )
            self._chosen = self._open[number] if self._asked else 0
            super().tell(reward, outcome)
            del self._open[number]

    def save(self) -> dict[str, Any]:
        """Return all that `restore` needs as plain data, which JSON keeps exactly.

        Raises TunerError if the tuner was not started, or not in this process.
        """
        with _ALONE:
            self._check_started("save()")
            saved = {
                **self._identity(),
                "latest": self._latest,
                "open": [list(pair) for pair in self._open.items()],
                "state": self._state(),
            }
        return {**saved, "checksum": _checksum(saved)}

    def restore(self, saved: Any) -> None:
        """Go on where a tuner of the same class, settings and points was saved; start it first, with its problem.

        Where points are drawn, which needs more than 128 combinations, that takes the same seeds.
        Raises TunerError, and changes nothing, if it was not started, or ``saved`` differs or is damaged.
        """
        with _ALONE:
            if not self._started:
                raise TunerError(
                    f"{type(self).__name__}: found restore() before start(), expected start(problem) first"
                )
            self._check_process()
            identity = self._identity()
            read = Saved(
                f"{type(self).__name__}: saved state", saved, keys=(*identity, "latest", "open", "state", "checksum")
            )
            for key, expected in identity.items():
                read.equal(key, expected, "as in the tuner that restores it")
            latest = read.whole("latest", 0)
            tickets = read.array("open", (None, 2), 0, whole=True).tolist()
            if any(ticket > latest or place >= len(self._configurations) for ticket, place in tickets):
                expected = f"tickets to {latest}, points below {len(self._configurations)}"
                raise read.refuse("open", "a ticket or a point beyond the last", expected)
            attributes = self._restored(read.part("state", self._keys))
            read.equal("checksum", _checksum(dict(saved)), "that of the other keys: something was changed afterwards")
            vars(self).update(attributes, _latest=latest, _open=dict(tickets), _begun=_microseconds())

    @abstractmethod
    def _state(self) -> dict[str, Any]: ...

    @abstractmethod
    def _restored(self, saved: Saved) -> dict[str, Any]:
        """Return the attributes that a saved state gives, by name, and change nothing; TunerError if it is damaged."""

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
        if not self._started:
            raise TunerError(f"{type(self).__name__}: found {call} before start(), expected start(problem) first")
        self._check_process()

    def _check_process(self) -> None:
        if self._started and self._process != os.getpid():
            raise TunerError(
                f"{type(self).__name__}: found a call in process {os.getpid()}, expected {self._process}, which "
                "started it; ask that process, or start another tuner and restore() its state"
            )


def _microseconds() -> int:
    return time.time_ns() // 1000


def _checksum(saved: dict[str, Any]) -> str:
    rest = {key: value for key, value in saved.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
