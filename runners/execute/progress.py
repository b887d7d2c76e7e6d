"""A progress bar with the time left, estimated from the rounds that have been played so far."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_WIDTH = 30
_REFRESH_SECONDS = 0.1


class Progress:
    """Counts of repetitions and of their rounds, and the bar that shows them, after ``words``, if there is one.

    A repetition of many rounds moves the bar further than a short one.
    """

    def __init__(self, words: str = "") -> None:
        self.words = words
        self.finished = self.total = self.rounds = self.total_rounds = 0
        self._bar: Any = None

    def expect(self, horizon: int, repetitions: int) -> None:
        """Add repetitions to come, each of ``horizon`` rounds."""
        self.total += repetitions
        self.total_rounds += horizon * repetitions
        self.show()

    def advance(self, horizon: int) -> None:
        """Count a repetition that is done."""
        self.finished += 1
        self.rounds += horizon
        self.show()

    def show(self) -> None:
        """Bring the bar up to date."""
        if self._bar and self.total:
            words = "  ".join(filter(None, [self.words, f"{self.finished:,}/{self.total:,} repetitions"]))
            self._bar.update(0, description=words, total=max(self.total_rounds, 1), completed=self.rounds)

    @contextmanager
    def bar(self, shown: bool | None) -> Iterator[None]:
        """Show a bar inside the block, where ``shown`` is None only on a terminal and in a notebook.

        In a notebook it is a line of output of the cell, elsewhere a line on stderr.
        """
        if (show := _display()) and shown is not False:
            self._bar = _Line(show)
            self.show()
            try:
                yield
            finally:
                self._bar.end()
                self._bar = None
            return
        if not (sys.stderr.isatty() if shown is None else shown):
            yield
            return
        from rich import progress as rich
        from rich.console import Console

        columns = rich.TextColumn("{task.description}"), rich.BarColumn(), rich.TimeElapsedColumn()
        left = rich.TextColumn("left:"), rich.TimeRemainingColumn()
        console, redirect = Console(stderr=True), sys.stdout.isatty()
        with rich.Progress(
            *columns, *left, console=console, redirect_stdout=redirect, speed_estimate_period=3600.0
        ) as self._bar:
            self._bar.add_task("", total=None)
            self.show()
            yield


def _display() -> Any:
    """Return what shows an output in the cell of a notebook that is being run; None elsewhere."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or not hasattr(shell, "kernel"):  # a terminal has no kernel
        return None
    from IPython.display import display

    return display


class _Line:
    """One line of a cell's output, which changes in place; it has the method of rich's bar that is used.

    rich's own bar in a notebook needs ipywidgets on both sides of the connection.
    """

    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Any = None
        self._text = ""
        self._start = time.monotonic()
        self._shown = -1.0

    def update(self, _task: int, *, description: str, total: int, completed: int) -> None:
        share, seconds = completed / total, time.monotonic() - self._start
        left = f", left: {_clock(seconds / share - seconds)}" if 0 < share < 1 else ""
        full = round(_WIDTH * share)
        self._text = f"{description}  {'█' * full}{'░' * (_WIDTH - full)}  {_clock(seconds)}{left}"
        if seconds - self._shown >= _REFRESH_SECONDS or self._handle is None:
            self._shown = seconds
            self._show()

    def end(self) -> None:
        """Show the last state, which `update` leaves out when it comes soon after another."""
        if self._text:
            self._show()

    def _show(self) -> None:
        data = {"text/plain": self._text}
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"
