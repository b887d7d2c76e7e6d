"""A user's code, tried in a process of its own before it runs in that of a command, which it might end."""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

_RETURNED = 113
"""Exit code of a process whose trial ended in whatever way returns to the one who called."""


def how_it_ends(call: Callable[[], Any]) -> str:
    """Return how a call ends the process that makes it, such as ``SIGSEGV`` or ``exit code 3``; "" if it does not.

    What it raises does not count. Nothing is tried, and "" returned, where a process cannot be copied: in a process of
    several threads, as in workers and notebooks, and on Windows.
    """
    if not hasattr(os, "fork") or threading.active_count() > 1:
        return ""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # numerical libraries have threads that Python does not use
        child = os.fork()
    if not child:
        try:
            silence = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(silence, number)
            call()
        finally:
            os._exit(_RETURNED)
    try:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    if code == _RETURNED:
        return ""
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name
