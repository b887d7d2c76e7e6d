"""Tickets of asks whose rewards arrive later, with the attributes that a tuner remembers for each."""

import os
import threading
from typing import Any

_MOST_OPEN = 10_000
"""Largest number of open tickets; beyond it the oldest is forgotten."""

_IN_A_ROW = 2**20
"""Number of tickets after which a new first number is drawn; tickets stay below 2^52, exact in JSON and floats."""

ALONE = threading.RLock()
"""Held by every call that takes or gives a ticket or a state; a fork waits until other threads release it."""

if hasattr(os, "register_at_fork"):  # on systems with fork
    os.register_at_fork(before=ALONE.acquire, after_in_parent=ALONE.release, after_in_child=ALONE.release)


class Tickets:
    """The open tickets of one process.

    Tickets count upwards from a random number, which is drawn whenever a tuner is started or restored, so that tickets
    from before a crash are refused, independently of the clock.
    """

    def __init__(self) -> None:
        self.process = os.getpid()
        self.open: dict[int, Any] = {}
        self.left_out: dict[int, Any] = {}
        self._first = self._next = 0

    def issue(self, memory: Any) -> int:
        """Return a new ticket and keep ``memory`` under it."""
        if self._next == self._first:
            self._first = int.from_bytes(os.urandom(4)) * _IN_A_ROW
            self._next = self._first
        self._next += 1
        ticket = self._next
        if self._next == self._first + _IN_A_ROW:
            self._next = self._first
        self.open[ticket] = memory
        if len(self.open) > _MOST_OPEN:
            del self.open[next(iter(self.open))]
        return ticket
