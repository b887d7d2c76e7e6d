"""Progress with the time left, estimated from the rounds that have been played so far: a bar, or a line each minute."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

_WIDTH = 30
_REFRESH_SECONDS = 0.1
_EVERY_SECONDS = 60.0


class Progress:
    """Counts of repetitions and of their rounds, and what shows them, after ``words``.

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
        """Show progress inside the block, unless ``shown`` is False.

        In a notebook it is a line of the cell's output, on a terminal a bar on stderr, elsewhere a line on stderr each
        minute, and where ``shown`` is True also at the end.
        """
        if shown is False:
            yield
            return
        if show := _display():
            self._bar = _Line(show)
        elif sys.stderr.isatty():
            with _rich() as self._bar:
                self.show()
                yield
            self._bar = None
            return
        else:
            self._bar = _Lines(is_wanted=bool(shown))
        self.show()
        try:
            yield
        finally:
            self._bar.end()
            self._bar = None


@contextmanager
def _rich() -> Iterator[Any]:
    from rich import progress as rich
    from rich.console import Console

    columns = rich.TextColumn("{task.description}"), rich.BarColumn(), rich.TimeElapsedColumn()
    left = rich.TextColumn("left:"), rich.TimeRemainingColumn()
    console, redirect = Console(stderr=True), sys.stdout.isatty()
    with rich.Progress(*columns, *left, console=console, redirect_stdout=redirect, speed_estimate_period=3600.0) as bar:
        bar.add_task("", total=None)
        yield bar


def _display() -> Any:
    """Return what shows an output in the cell of a notebook that is being run; None elsewhere."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or not hasattr(shell, "kernel"):  # a terminal has no kernel
        return None
    from IPython.display import display

    return display


class _Plain:
    """What shows progress as text; it has the method of rich's bar that is used."""

    def __init__(self) -> None:
        self._description = ""
        self._share = 0.0
        self._start = time.monotonic()

    def update(self, _task: int, *, description: str, total: int, completed: int) -> None:
        self._description, self._share = description, completed / total

    def _times(self) -> str:
        seconds, share = time.monotonic() - self._start, self._share
        left = f", left: {_clock(seconds / share - seconds)}" if 0 < share < 1 else ""
        return f"{_clock(seconds)}{left}"


class _Lines(_Plain):
    """A line on stderr each minute, as in the log of a batch job."""

    def __init__(self, *, is_wanted: bool) -> None:
        super().__init__()
        self._is_wanted = is_wanted
        self._ended = threading.Event()
        threading.Thread(target=self._each_minute, daemon=True).start()

    def _each_minute(self) -> None:
        while not self._ended.wait(_EVERY_SECONDS):
            self._say()

    def _say(self) -> None:
        if self._description:
            with suppress(OSError, ValueError):  # it was closed
                words = f"{self._description}, {self._share:.0%} of the rounds  {self._times()}"
                print(words, file=sys.stderr, flush=True)

    def end(self) -> None:
        self._ended.set()
        if self._is_wanted:
            self._say()


class _Line(_Plain):
    """One line of a cell's output, which changes in place.

    rich's own bar in a notebook needs ipywidgets on both sides of the connection.
    """

    def __init__(self, display: Any) -> None:
        super().__init__()
        self._display = display
        self._handle: Any = None
        self._shown = -1.0

    def update(self, _task: int, *, description: str, total: int, completed: int) -> None:
        super().update(_task, description=description, total=total, completed=completed)
        if time.monotonic() - self._shown >= _REFRESH_SECONDS:
            self._show()

    def end(self) -> None:
        """Show the last state, which `update` leaves out when it comes soon after another."""
        if self._description:
            self._show()

    def _show(self) -> None:
        self._shown = time.monotonic()
        full = round(_WIDTH * self._share)
        data = {"text/plain": f"{self._description}  {'█' * full}{'░' * (_WIDTH - full)}  {self._times()}"}
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"
