"""Progress with the time left, estimated from the rounds played so far: a bar, or a line each minute."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import timedelta
from threading import Event, Thread, Timer
from typing import Any

_WIDTH = 30
_PAUSE_SECONDS = 0.1
_EVERY_SECONDS = 60.0
"""Seconds between two lines without a terminal or notebook."""
STARTING = "each run is started once: data is read and code compiled, which may take a minute the first time"
_SILENT_SECONDS = 4.0


class Progress:
    """Counts of repetitions and of their rounds, and their display, after ``words``.

    A repetition of many rounds moves the bar further than a short one.
    """

    def __init__(self, words: str = "") -> None:
        self.words = words
        self.finished = self.total = self.rounds = self.total_rounds = 0
        self._start = self._shown = 0.0
        self._say: Callable[[], Any] | None = None

    def expect(self, horizon: int) -> None:
        """Add a repetition to come, of ``horizon`` rounds."""
        self.total += 1
        self.total_rounds += horizon
        self.show()

    def advance(self, horizon: int) -> None:
        """Count a repetition that is done."""
        self.finished += 1
        self.rounds += horizon
        self.show()

    def show(self) -> None:
        """Update the display."""
        if self._say and self.total and time.monotonic() - self._shown >= _PAUSE_SECONDS:
            self._shown = time.monotonic()
            self._say()

    @contextmanager
    def bar(self, shown: bool | None) -> Iterator[None]:
        """Show progress inside the block, unless ``shown`` is False.

        In a notebook it is a line of the cell's output, on a terminal a bar on stderr, elsewhere a line on stderr each
        minute, and with ``shown`` = True also at the end.
        """
        if shown is False:
            yield
            return
        self._start, self._shown, is_last_shown = time.monotonic(), 0.0, True
        showing: AbstractContextManager[Any] = nullcontext()
        if display := _display():
            self._say = self._on_page(display)
        elif sys.stderr.isatty():
            showing = _rich()
        else:
            showing, is_last_shown = self._each_minute(), bool(shown)
        with showing as bar:
            if bar:
                self._say = lambda: bar.update(
                    0, description=self._counts(), total=max(self.total_rounds, 1), completed=self.rounds
                )
            self.show()
            try:
                yield
            finally:
                if is_last_shown and self.total:
                    (self._say or self._print)()
                self._say = None

    @contextmanager
    def _each_minute(self) -> Iterator[None]:
        """Print a line each minute inside the block, also during a repetition."""
        over = Event()

        def tick() -> None:
            while not over.wait(_EVERY_SECONDS):
                self._print()

        Thread(target=tick, daemon=True).start()
        try:
            yield
        finally:
            over.set()

    def _counts(self) -> str:
        return "  ".join(filter(None, [self.words, f"{self.finished:,}/{self.total:,} repetitions"]))

    def _times(self) -> str:
        seconds, share = time.monotonic() - self._start, self.rounds / max(self.total_rounds, 1)
        left = f", left: {_clock(seconds / share - seconds)}" if 0 < share < 1 else ""
        return f"{_clock(seconds)}{left}"

    def _print(self) -> None:
        words = f"{self._counts()}, {self.rounds / max(self.total_rounds, 1):.0%} of the rounds  {self._times()}"
        with suppress(OSError, ValueError):  # the stream was closed
            print(words, file=sys.stderr, flush=True)

    def _on_page(self, display: Any) -> Callable[[], None]:
        """Return the function that shows one line of a cell's output; rich's bar would need ipywidgets."""
        handle = display({"text/plain": ""}, raw=True, display_id=True)

        def say() -> None:
            full = round(_WIDTH * self.rounds / self.total_rounds)
            text = f"{self._counts()}  {'█' * full}{'░' * (_WIDTH - full)}  {self._times()}"
            handle.update({"text/plain": text}, raw=True)

        return say


@contextmanager
def said_if_slow(words: str, shown: bool | None) -> Iterator[None]:
    """Print ``words`` on stderr, in a notebook in the cell, if the block takes seconds; not if ``shown`` is False."""
    stream = sys.stdout if _display() else sys.stderr

    def say() -> None:
        with suppress(OSError, ValueError):  # the stream was closed
            print(words, file=stream, flush=True)

    timer = Timer(_SILENT_SECONDS, say)
    timer.daemon = True
    if shown is not False:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _rich() -> Any:
    from rich import progress as rich
    from rich.console import Console

    columns = rich.TextColumn("{task.description}"), rich.BarColumn(), rich.TimeElapsedColumn()
    left = rich.TextColumn("left:"), rich.TimeRemainingColumn()
    console, redirect = Console(stderr=True), sys.stdout.isatty()
    bar = rich.Progress(*columns, *left, console=console, redirect_stdout=redirect, speed_estimate_period=3600.0)
    bar.add_task("", total=None)
    return bar


def _display() -> Any:
    """Return the function that shows an output in the running cell of a notebook; None elsewhere."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or not hasattr(shell, "kernel"):  # a terminal has no kernel
        return None
    from IPython.display import display

    return display


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))
