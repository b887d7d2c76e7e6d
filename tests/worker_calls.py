"""Functions that tests call in workers, which import their module: it imports little."""

import os
import signal


def note(path: str, number: int) -> int:
    """Record the start of a call; the fourth call ends its process, each time."""
    with open(path, "a") as log:
        log.write(f"{number}\n")
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number
