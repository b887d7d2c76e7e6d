"""What a process that runs repetitions says of itself in a small file, while it does; see `runners.serve`."""

import json
import os
import shlex
import socket
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from bench.errors import StoreError
from runners.results.store import write_text

SECONDS = 0.5
"""How often the file is written at most."""


class LiveRun(BaseModel):
    """An experiment of a figure: its labels, and how many repetitions it is to have."""

    run_id: str
    labels: dict[str, str]
    repetitions: int


class Group(BaseModel):
    """A figure, or a single run, with its experiments, and how many of their repetitions had and have to be run."""

    name: str
    figure: dict[str, Any] | None = None
    runs: list[LiveRun] = []
    finished: int = 0
    total: int = 0


class Status(BaseModel):
    """How far a process is; the seconds left are None as long as nothing is known."""

    pid: int
    host: str
    command: str
    words: str = ""
    finished: int = 0
    total: int = 0
    seconds_left: float | None = None
    groups: list[Group] = []


def folder_of(results: Path) -> Path:
    """Return where the files are."""
    return results / "raw" / ".live"


class Live:
    """The file of this process.

    Parameters
    ----------
    results
        The folder of results.
    """

    def __init__(self, results: Path) -> None:
        self.groups: dict[str, Group] = {}
        words = ["python", "-m", f"runners.{Path(sys.argv[0]).stem}", *sys.argv[1:]]
        self._status = Status(pid=os.getpid(), host=socket.gethostname(), command=shlex.join(words))
        self._path = folder_of(results) / f"{self._status.host}-{os.getpid()}.json"
        self._written = 0.0

    def announce(self, name: str, figure: Mapping[str, Any] | None, runs: Sequence[LiveRun]) -> None:
        """Say what a group consists of."""
        group = self.groups.setdefault(name, Group(name=name))
        group.figure, group.runs = None if figure is None else dict(figure), list(runs)

    def count(self, name: str, expected: int, finished: int) -> None:
        """Count repetitions of a group, if it was announced."""
        if group := self.groups.get(name):
            group.total += expected
            group.finished += finished

    def write(self, words: str, finished: int, total: int, seconds_left: float | None) -> None:
        """Write how far all is, unless that was done a moment ago; that it cannot be written stops nothing."""
        if time.monotonic() - self._written < SECONDS:
            return
        self._written = time.monotonic()
        numbers = {"words": words, "finished": finished, "total": total, "seconds_left": seconds_left}
        groups = [group for group in self.groups.values() if group.finished < group.total]
        status = self._status.model_copy(update={**numbers, "groups": groups})
        with suppress(StoreError):
            write_text(self._path, status.model_dump_json())

    def remove(self) -> None:
        """Delete the file, and those of processes that have died, with the folders that are empty then."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
            for path, status in _read(self._path.parent):
                if not is_alive(status):
                    path.unlink(missing_ok=True)
            for folder in (self._path.parent, *self._path.parent.parents[:2]):
                folder.rmdir()


def running(results: Path) -> list[Status]:
    """Return what all live processes say of themselves."""
    return [status for _, status in _read(folder_of(results)) if is_alive(status)]


def is_alive(status: Status) -> bool:
    """Return whether a process is still there; one on another machine is believed to be."""
    try:
        if status.host == socket.gethostname():
            os.kill(status.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return True


def _read(folder: Path) -> Iterator[tuple[Path, Status]]:
    paths: list[Path] = []
    with suppress(FileNotFoundError):  # the last process has just removed it
        paths = sorted(folder.glob("*.json"))
    for path in paths:
        with suppress(OSError, ValueError):
            yield path, Status.model_validate(json.loads(path.read_bytes()))
