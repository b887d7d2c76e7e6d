"""A progress bar with the time left, estimated from the rounds that have been played so far."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Progress:
    """Counts of repetitions and of their rounds, and the bar of rich that shows them, if there is one."""

    def __init__(self, words: str = "", bar: Any = None) -> None:
        self.words = words
        """What stands before the bar."""
        self.finished = self.total = self.rounds = self.total_rounds = 0
        self._bar = bar

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
def progress_bar(shown: bool | None, words: str = "") -> Iterator[Progress]:
    """Yield what moves the bar on; it is shown on stderr, where ``shown`` is None only on a terminal."""
    if not (sys.stderr.isatty() if shown is None else shown):
        yield Progress(words)
        return
    from rich import progress as rich
    from rich.console import Console

    columns = rich.TextColumn("{task.description}"), rich.BarColumn(), rich.TimeElapsedColumn()
    left = rich.TextColumn("left:"), rich.TimeRemainingColumn()
    console, redirect = Console(stderr=True), sys.stdout.isatty()
    with rich.Progress(*columns, *left, console=console, redirect_stdout=redirect, speed_estimate_period=3600.0) as bar:
        bar.add_task("", total=None)
        progress = Progress(words, bar)
        progress.show()
        yield progress
