"""Functions that tests call in workers, which import their module: it imports little."""

import os
import signal
import time
from contextlib import suppress


def die_once(number: int, folder: str) -> int:
    """Return ``number``; the first worker to be called dies instead."""
    with suppress(FileExistsError):
        os.close(os.open(f"{folder}/dead", os.O_CREAT | os.O_EXCL))
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def note(path: str, number: int) -> int:
    """Write down that a call was begun; the fourth call ends its process, each time."""
    with open(path, "a") as log:
        log.write(f"{number}\n")
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


_held: list[bytes] = []


def grow(megabytes: int) -> int:
    """Return the number of the process, which then is larger by that much, after loky has looked at its size."""
    time.sleep(1.1)
    _held.append(b"x" * (megabytes * 1_000_000))
    return os.getpid()
