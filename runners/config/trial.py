"""A user's code, tried in a process of its own before it runs in that of a command, which it might end."""

import math
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

_RETURNED = 113
"""Exit code of a process whose trial ended in whatever way returns to the one who called."""

_LOOK_SECONDS = 0.005
_PARENT_SECONDS = 0.2
"""How often a process looks whether the one that it is to end with is there: what it holds stays as long."""


def how_it_ends(call: Callable[[], Any], does: str, seconds: float = math.inf) -> str:
    """Return in words how a call ends the process that makes it, or that it does not return within ``seconds``.

    Such as "ends the process that imports it (SIGSEGV)", if it ``does`` "imports"; "" if it returns. What it raises
    does not count. Nothing is tried, and "" returned, where a process cannot be copied: in a process of
    several threads, as in workers and notebooks, on Windows, and on macOS, whose libraries may crash in a copy.
    """
    if not hasattr(os, "fork") or sys.platform == "darwin" or threading.active_count() > 1:
        return ""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # numerical libraries have threads that Python does not use
        parent, child = os.getpid(), os.fork()
    if not child:
        try:
            end_with(parent)
            silence = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(silence, number)
            call()
        finally:
            os._exit(_RETURNED)
    try:
        code = _exit_code(child, seconds)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    if code is None:
        return f"does not return within {seconds:g} s"
    if code == _RETURNED:
        return ""
    return f"ends the process that {does} it ({f'exit code {code}' if code >= 0 else signal.Signals(-code).name})"


@lru_cache(maxsize=1)
def end_with(parent: int) -> None:
    """In a process that another has started: exit when that one is gone, also if it is by now."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _exit_code(child: int, seconds: float) -> int | None:
    """Wait for a process; kill it, and return None, if it has not ended by then."""
    end = time.monotonic() + seconds
    while seconds < math.inf:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(_LOOK_SECONDS)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
