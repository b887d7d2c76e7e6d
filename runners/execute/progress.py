"""Progress with the time left, estimated from the work done so far: a bar, or a line each minute."""

import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import timedelta
from threading import Event, Thread, Timer
from typing import Any, TextIO

_WIDTH = 20
_SOON_SECONDS = 0.2
_EVERY_SECONDS = 60.0
"""Seconds between two lines without a terminal or notebook."""
STARTING = "each run is started once: data is read and code compiled, which may take a minute the first time"
_SILENT_SECONDS = 4.0


class Progress:
    """A counter of repetitions, weighted by their work, which shows the progress after ``words``."""

    def __init__(self, work: Collection[int], words: str = "") -> None:
        self._words, self._total, self._all_work = words, len(work), sum(work)
        self._finished = self._work = 0
        self._start = time.monotonic()

    def advance(self, work: int) -> None:
        """Count a finished repetition."""
        self._finished += 1
        self._work += work

    @contextmanager
    def bar(self, shown: bool | None) -> Iterator[None]:
        """Show the progress inside the block, also during a repetition, unless ``shown`` is False.

        In a notebook the progress is a line of the cell's output. On a terminal it is a line on stderr that stays the
        last line. Elsewhere it is a line on stderr each minute, and another line at the end if ``shown`` is True.
        """
        if shown is False:
            yield
            return
        showing, show = _place()
        over = Event()

        def tick() -> None:
            while not over.wait(_SOON_SECONDS if show else _EVERY_SECONDS):
                (show or _say)(self._line())

        with showing:
            Thread(target=tick, daemon=True).start()
            try:
                yield
            finally:
                over.set()
                if show or shown:
                    (show or _say)(self._line())

    def _line(self) -> str:
        seconds, share = time.monotonic() - self._start, self._work / self._all_work
        counts = "  ".join(filter(None, [self._words, f"{self._finished:,}/{self._total:,} repetitions"]))
        full = round(_WIDTH * share)
        left = f", left: {_clock(seconds / share - seconds)}" if 0 < share < 1 else ""
        return f"{counts}  {'█' * full}{'░' * (_WIDTH - full)} {share:.0%}  {_clock(seconds)}{left}"


@contextmanager
def said_if_slow(words: str, shown: bool | None) -> Iterator[None]:
    """Print ``words`` on stderr or in a notebook's cell if the block takes seconds, unless ``shown`` is False."""
    timer = Timer(_SILENT_SECONDS, _say, (words, sys.stdout if _display() else sys.stderr))
    timer.daemon = True
    if shown is not False:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _place() -> tuple[AbstractContextManager[Any], Callable[[str], Any] | None]:
    """Return a context, and the function that replaces a line in a notebook's cell or on a terminal, else None."""
    if display := _display():
        handle = display({"text/plain": ""}, raw=True, display_id=True)
        return nullcontext(), lambda text: handle.update({"text/plain": text}, raw=True)
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.live import Live

        live = Live(console=Console(stderr=True), auto_refresh=False, redirect_stdout=sys.stdout.isatty())
        return live, lambda text: live.update(text, refresh=True)
    return nullcontext(), None


def _say(words: str, stream: TextIO | None = None) -> None:
    with suppress(OSError, ValueError):  # the stream was closed
        print(words, file=stream or sys.stderr, flush=True)


def _display() -> Any:
    """Return the function that shows an output in the running cell of a notebook, or None outside of notebooks."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or not hasattr(shell, "kernel"):  # a terminal has no kernel
        return None
    from IPython.display import display

    return display


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))
