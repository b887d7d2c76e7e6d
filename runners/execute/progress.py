"""A progress bar with the time left, estimated from the rounds that have been played so far."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """Counts of repetitions and of their rounds."""

    def __init__(self, words: str = "") -> None:
        self.words = words
        """What stands before the bar."""
        self.finished = 0
        self.total = 0
        self.rounds = 0
        self.total_rounds = 0

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

    @property
    def phase(self) -> str:
        """What is being done, as far as the counts tell."""
        if not self.total:
            return "composing"
        if not self.finished:
            return "compiling"
        return "running" if self.finished < self.total else "drawing"

    def show(self) -> None:
        """Bring what is shown up to date; nothing is shown here."""


@contextmanager
def progress_bar(shown: bool | None, words: str = "") -> Iterator[Progress]:
    """Yield what moves the bar on; it is shown on stderr, where ``shown`` is None only on a terminal."""
    if not (sys.stderr.isatty() if shown is None else shown):
        yield Progress(words)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}{task.fields[count]} repetitions"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    console, redirect = Console(stderr=True), sys.stdout.isatty()
    with Bar(*columns, console=console, redirect_stdout=redirect, speed_estimate_period=3600.0) as bar:
        task = bar.add_task("", total=None, count="")

        class Shown(Progress):
            def show(self) -> None:
                bar.update(
                    task,
                    description="  ".join(filter(None, [self.phase, self.words, ""])),
                    total=max(self.total_rounds, 1),
                    completed=self.rounds,
                    count=f"{self.finished:,}/{self.total:,}",
                )

        progress = Shown(words)
        progress.show()
        yield progress


@contextmanager
def phase(words: str, shown: bool | None = None) -> Iterator[None]:
    """Say on stderr what is being done inside the block, which prints nothing; ``shown`` as for `progress_bar`."""
    if not (sys.stderr.isatty() if shown is None else shown):
        yield
        return
    print(f"{words} ...", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
