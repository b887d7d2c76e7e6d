"""Progress with the time left, estimated from the rounds played so far: a bar, or a line each minute."""

import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import timedelta
from threading import Event, Thread, Timer
from typing import Any

_WIDTH = 30
_SOON_SECONDS = 0.2
_EVERY_SECONDS = 60.0
"""Seconds between two lines without a terminal or notebook."""
STARTING = "each run is started once: data is read and code compiled, which may take a minute the first time"
_SILENT_SECONDS = 4.0


class Progress:
    """Counts of repetitions, given their rounds, and their display, after ``words``.

    A repetition of many rounds moves the bar further than a short one.
    """

    def __init__(self, horizons: Collection[int], words: str = "") -> None:
        self._words, self._total, self._total_rounds = words, len(horizons), sum(horizons)
        self._finished = self._rounds = 0
        self._start = time.monotonic()

    def advance(self, horizon: int) -> None:
        """Count a repetition that is done."""
        self._finished += 1
        self._rounds += horizon

    @contextmanager
    def bar(self, shown: bool | None) -> Iterator[None]:
        """Show progress inside the block, during a repetition too, unless ``shown`` is False.

        In a notebook it is a line of the cell's output, on a terminal a bar on stderr, elsewhere a line on stderr each
        minute, and one more at the end with ``shown`` = True.
        """
        if shown is False:
            yield
            return
        showing: AbstractContextManager[Any] = nullcontext()
        say, every, is_last_shown = self._print, _EVERY_SECONDS, bool(shown)
        if display := _display():
            say, every, is_last_shown = self._on_page(display), _SOON_SECONDS, True
        elif sys.stderr.isatty():
            showing = bar = _rich()
            say, every, is_last_shown = lambda: self._on_terminal(bar), _SOON_SECONDS, True
        over = Event()

        def tick() -> None:
            while not over.wait(every):
                say()

        with showing:
            Thread(target=tick, daemon=True).start()
            try:
                yield
            finally:
                over.set()
                if is_last_shown:
                    say()

    def _counts(self) -> str:
        return "  ".join(filter(None, [self._words, f"{self._finished:,}/{self._total:,} repetitions"]))

    def _times(self) -> str:
        seconds, share = time.monotonic() - self._start, self._rounds / self._total_rounds
        left = f", left: {_clock(seconds / share - seconds)}" if 0 < share < 1 else ""
        return f"{_clock(seconds)}{left}"

    def _print(self) -> None:
        words = f"{self._counts()}, {self._rounds / self._total_rounds:.0%} of the rounds  {self._times()}"
        with suppress(OSError, ValueError):  # the stream was closed
            print(words, file=sys.stderr, flush=True)

    def _on_terminal(self, bar: Any) -> None:
        bar.update(0, description=self._counts(), total=self._total_rounds, completed=self._rounds)

    def _on_page(self, display: Any) -> Callable[[], None]:
        """Return the function that shows one line of a cell's output; rich's bar would need ipywidgets."""
        handle = display({"text/plain": ""}, raw=True, display_id=True)

        def say() -> None:
            full = round(_WIDTH * self._rounds / self._total_rounds)
            text = f"{self._counts()}  {'█' * full}{'░' * (_WIDTH - full)}  {self._times()}"
            handle.update({"text/plain": text}, raw=True)

        return say


@contextmanager
def said_if_slow(words: str, shown: bool | None) -> Iterator[None]:
    """Print ``words`` on stderr or in a notebook's cell if the block takes seconds, unless ``shown`` is False."""
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
