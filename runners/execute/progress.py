"""A progress bar with the time left, estimated from the seconds that repetitions have taken so far."""

import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

_EVIDENCE_SECONDS = 5.0
_EVIDENCE = 5
"""Repetitions, and seconds since the first of them, before the time left is estimated."""


class Progress:
    """Counts of repetitions and rounds, by group: repetitions of a group take about the same time per round."""

    def __init__(self, words: str = "") -> None:
        self.words = words
        """What stands before the bar."""
        self.finished = 0
        self.total = 0
        self._since: float | None = None
        self._expected: dict[str, int] = defaultdict(int)
        self._played: dict[str, int] = defaultdict(int)
        self._seconds: dict[str, float] = defaultdict(float)
        self._first: dict[str, tuple[int, float]] = {}
        self._spent = 0.0
        self._foreseen: dict[str, int] = {}

    def expect(self, group: str, horizon: int, repetitions: int) -> None:
        """Add repetitions to come, each of ``horizon`` rounds."""
        self.total += repetitions
        self._expected[group] += horizon * repetitions
        self.show()

    def foresee(self, group: str, rounds: int) -> None:
        """Say how many rounds of a group will probably be asked for later; they count for the time left alone."""
        self._foreseen[group] = rounds

    def advance(self, group: str, horizon: int, seconds: float) -> None:
        """Count a repetition that is done; ``seconds`` is 0 where another process has run it."""
        self.finished += 1
        self._expected[group] -= horizon
        if seconds:
            self._first.setdefault(group, (horizon, seconds))
            self._played[group] += horizon
            self._seconds[group] += seconds
            if self._since is None:  # before it, workers started
                self._since = time.monotonic()
            else:
                self._spent += seconds
        self.show()

    @property
    def phase(self) -> str:
        """What is being done, as far as the counts tell."""
        if not self.total:
            return "composing"
        if not self.finished:
            return "compiling"
        return "running" if self.finished < self.total else "drawing"

    def seconds_left(self) -> float | None:
        """Return the estimate, None as long as there is little evidence.

        A group of which nothing is finished is taken to be as quick as the others are on average, and to lose as much
        in its first repetition, which compiles code.
        """
        elapsed = 0.0 if self._since is None else time.monotonic() - self._since
        if elapsed < _EVIDENCE_SECONDS or self.finished < _EVIDENCE or not self._spent:
            return None
        rates = {group: self._rate(group) for group in self._played}
        losses = [max(self._first[group][1] - rate * self._first[group][0], 0.0) for group, rate in rates.items()]
        average = sum(rate * self._played[group] for group, rate in rates.items()) / sum(self._played.values())
        work = 0.0
        for group, rounds in self._expected.items():
            work += (rounds + self._foreseen.get(group, 0)) * rates.get(group, average)
            work += sum(losses) / len(losses) if rounds and group not in rates else 0.0
        return work * elapsed / self._spent

    def _rate(self, group: str) -> float:
        """Return a group's seconds per round, without its first repetition if there are others."""
        rounds, seconds = self._first[group]
        later = self._played[group] - rounds
        return (self._seconds[group] - seconds) / later if later else seconds / rounds

    def show(self) -> None:
        """Bring what is shown up to date; nothing is shown here."""


@contextmanager
def progress_bar(shown: bool | None, words: str = "") -> Iterator[Progress]:
    """Yield what moves the bar on; it is shown on stderr, where ``shown`` is None only on a terminal."""
    if not (sys.stderr.isatty() if shown is None else shown):
        yield Progress(words)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}{task.fields[count]} repetitions"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Bar(*columns, console=Console(stderr=True), redirect_stdout=sys.stdout.isatty()) as bar:
        task = bar.add_task("", total=None, count="", left="")

        class Shown(Progress):
            def show(self) -> None:
                left = self.seconds_left()
                bar.update(
                    task,
                    description="  ".join(filter(None, [self.phase, self.words, ""])),
                    total=max(self.total, 1),
                    completed=self.finished,
                    count=f"{self.finished:,}/{self.total:,}",
                    left="" if left is None else f"about {timedelta(seconds=round(left))} left",
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
