"""Functions that tests call in workers, which import their module: it imports little."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any


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


def note_threads(where: str, what: str) -> str:
    """Append a line to a file, with the threads of numba, which is imported only now."""
    import numba

    with open(where, "a") as file:
        file.write(f"{what} {os.getpid()} {numba.get_num_threads()}\n")
    return what


_held: list[bytes] = []


def grow(megabytes: int) -> int:
    """Return the number of the process, which then is larger by that much, and have loky look at its size at once."""
    from loky import process_executor

    process_executor._MEMORY_LEAK_CHECK_DELAY *= 0  # a second, of which it is told only now; an error if it has gone
    _held.append(b"x" * (megabytes * 1_000_000))
    return os.getpid()


def meet(folder: str, number: int, others: int) -> int:
    """Return when as many calls have begun as there are."""
    Path(folder, str(number)).touch()
    while len(list(Path(folder).iterdir())) < others:
        time.sleep(0.05)
    return number


def known_sources() -> dict[Any, Any]:
    """Return the sources of modules that are known without having been read here."""
    from runners.config.sources import known

    return known
