"""A limit on the processor time of a piece of code."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class TooLong(BaseException):
    """It hangs; no handling of errors in what is tested may swallow this."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``TooLong`` when the processor has spent so many seconds on the block."""

    def stop(*_: Any) -> None:
        raise TooLong(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
