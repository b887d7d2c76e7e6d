"""Locks between processes, which end with the process that holds them."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


def lock(file: IO[Any], *, wait: bool) -> bool:
    """Lock an open file until it is closed, and return whether the caller may continue.

    Returns False if another process holds the lock and ``wait`` is False. Returns True also where files cannot be
    locked, as on Windows and on some network file systems.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Admit one process at a time to the block, with a lock on the file ``path``; the file is kept.

    If the file cannot be written or locked, any number of processes enter.
    """
    file = None
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    if file is None:
        yield
        return
    with file:
        lock(file, wait=True)
        yield
