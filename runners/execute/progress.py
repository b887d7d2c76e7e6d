"""A progress bar with the time left, estimated from the rounds that have been played so far."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Progress:
    """Counts of repetitions and of their rounds, and the bar of rich that shows them, after ``words``, if there is one.

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
        if self._bar:
            words = "  ".join(filter(None, [self.words, f"{self.finished:,}/{self.total:,} repetitions"]))
            self._bar.update(0, description=words, total=max(self.total_rounds, 1), completed=self.rounds)

    @contextmanager
    def bar(self, shown: bool | None) -> Iterator[None]:
        """Show a bar on stderr inside the block, where ``shown`` is None only on a terminal."""
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
