"""Numbers under which the rewards of earlier asks are told, and what a tuner has to remember of each of them."""

import os
import threading
from typing import Any

_MOST_OPEN = 10_000
"""Tickets that may wait for their rewards; beyond it the oldest is forgotten."""

_IN_A_ROW = 2**20
"""Tickets after which a new first number is drawn; with it all tickets stay below 2^52, which JSON and floats keep."""

ALONE = threading.RLock()
"""Held by every call that takes or gives a ticket or a state; a fork waits for the call of another thread to end."""

if hasattr(os, "register_at_fork"):  # where processes can be forked
    os.register_at_fork(before=ALONE.acquire, after_in_parent=ALONE.release, after_in_child=ALONE.release)


class Tickets:
    """Open tickets of one process. They count upwards from a number drawn at random whenever a tuner is started or
    restored, so that those which a crash left behind are refused, whatever the clock says.
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
