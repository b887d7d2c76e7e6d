"""Confirming committed results with today's code and packages: what comes out as committed gets today's stamp."""

import math
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.report.typeset import duration
from runners.config.runner import Runner
from runners.execute.fanout import FanOut, RepetitionId
from runners.execute.sample import TOLERANCE, compare_with_committed
from runners.results.replay import CommittedRun
from runners.results.stamps import confirmation, move_stamps, note_left
from runners.results.store import Store, alone, results_folder

ENOUGH = 3
"""Repetitions of a run that are run again; all, where fewer are committed."""

EVERY = 60.0
"""Seconds between two lines that say how much time is left, where there is no terminal."""


@dataclass
class _Confirmation:
    """A committed run that is to be confirmed: repetitions still to come, and the first ``difference``, or why none."""

    run: CommittedRun
    difference: str
    numbers: list[int] = field(default_factory=list)
    waiting: set[int] = field(default_factory=set)

    @property
    def is_equal(self) -> bool:
        return not self.waiting and not self.difference

    def take(self, number: int, store: Store, error: str = "") -> None:
        """Compare a repetition that was run again, or note how it failed."""
        self.waiting.discard(number)
        words = f"failed: {error}" if error else compare_with_committed(self.run, number, store, TOLERANCE)[2]
        if words and not self.difference:
            self.difference = f"repetition {number}, {words}"


def accept(runs: Sequence[CommittedRun], *, jobs: int, seconds: float = math.inf, train: bool = False) -> bool:
    """Run three repetitions again of each run whose stamp is not today's; return whether all come out as committed.

    The shortest are run first, for about ``seconds``; runs that ``train`` an encoder first only if asked for.
    Repetitions are equal bit for bit where the same kind of machine made the committed ones, else to a relative
    `TOLERANCE`. A result's stamps move when all its runs are done, in one write. What is run is kept among the
    raw runs, so an interrupted call goes on where it was. Every result notes how many of its runs are left to confirm.
    Raises ConfigError while another call is at work.
    """
    store = Store(results_folder())
    refusal = (
        f"accept: found another process that confirms the results in {store.root}, expected none; "
        "start again when it has finished"
    )
    with alone(store.root / "raw" / ".confirm.lock", refusal):
        waiting = [_Confirmation(run, _obstacle(run, train)) for run in _distinct(runs) if not run.is_confirmed]
        left = Counter(one.run.folder for one in waiting)
        for folder in {run.folder for run in runs}:
            note_left(folder, left[folder])
        if not waiting:
            print("nothing to confirm: today's code and packages made all runs, or have confirmed them")
            return True
        for one in waiting:
            one.numbers = [] if one.difference else sorted(one.run.committed)[:ENOUGH]
            one.waiting = set(one.numbers)
        by_folder: dict[Path, list[_Confirmation]] = {}
        for one in waiting:
            by_folder.setdefault(one.run.folder, []).append(one)
        try:
            _run_again(waiting, by_folder, store, jobs, seconds)
        finally:
            for of_folder in by_folder.values():
                _write(of_folder)
    _report(by_folder)
    return all(one.is_equal for one in waiting)


def _distinct(runs: Sequence[CommittedRun]) -> list[CommittedRun]:
    """Return each run of a result once; readings may share some."""
    return list({(run.folder, run.key): run for run in runs}.values())


def _obstacle(run: CommittedRun, train: bool) -> str:
    """Return why a run cannot be confirmed here; "" if it can."""
    if not run.is_asked:
        return "its settings or its data have changed"
    if not run.committed:
        return "no repetitions of it are committed"
    if run.lacks_data:
        return "its data is missing here"
    if run.follows_last_digits:
        return "what it tries depends on the last digits of numbers, and another kind of machine made it"
    if run.trains_first and not train:
        return f"it trains an encoder first; name its figure to play it (figure={run.name})"
    return ""


def _run_again(
    waiting: Sequence[_Confirmation],
    by_folder: Mapping[Path, Sequence[_Confirmation]],
    store: Store,
    jobs: int,
    seconds: float,
) -> None:
    """Play what there is time for, and move the stamps of each result that is finished."""
    by_run: dict[str, list[_Confirmation]] = {}
    for one in sorted(waiting, key=lambda one: one.run.seconds):
        if one.waiting:
            by_run.setdefault(one.run.experiment.run_id, []).append(one)
    fan = FanOut(store, jobs=jobs, runner=Runner(), words="confirm")
    left = _TimeLeft(jobs)
    asked_for: dict[RepetitionId, list[_Confirmation]] = {}
    for run_id, of_run in by_run.items():
        numbers = set().union(*(one.waiting for one in of_run))
        done = store.sound(run_id, numbers)
        lacking = numbers - done
        if lacking and (left.seconds + of_run[0].run.seconds * len(lacking)) / jobs > seconds:
            for one in of_run:
                one.difference = f"a repetition takes {duration(one.run.seconds)}, and there was not enough time"
            continue
        for number in sorted(done):
            for one in of_run:
                if number in one.waiting:
                    one.take(number, store)
        left.expect(len(lacking), of_run[0].run.seconds)
        fan.add(of_run[0].run.experiment, sorted(lacking))
        asked_for |= {(run_id, number): [one for one in of_run if number in one.waiting] for number in lacking}
    print(f"{len(by_run)} runs to confirm: {left}", flush=True)
    for answer in fan.answers():
        for one in asked_for[answer.id]:
            one.take(answer.id[1], store, answer.error)
        left.advance(asked_for[answer.id][0].run.seconds)
        for folder in dict.fromkeys(one.run.folder for one in asked_for[answer.id]):
            if not any(one.waiting for one in by_folder[folder]):
                _write(by_folder[folder])


class _TimeLeft:
    """How many repetitions are to be run, and how long that takes, by their committed seconds and those of today."""

    def __init__(self, jobs: int) -> None:
        self.repetitions = 0
        self.seconds = 0.0
        self._jobs = jobs
        self._done: float | None = None
        self._start = self._said = time.monotonic()

    def __str__(self) -> str:
        pace = (time.monotonic() - self._start) / self._done if self._done else 1.0 / self._jobs
        return f"{self.repetitions:,} repetitions to play, about {duration(pace * max(self.seconds, 0.0))}"

    def expect(self, repetitions: int, seconds: float) -> None:
        """Add repetitions, each of so many seconds."""
        self.repetitions += repetitions
        self.seconds += repetitions * seconds

    def advance(self, seconds: float) -> None:
        """Count a repetition; say every minute what is left, unless a bar does."""
        self.repetitions -= 1
        self.seconds -= seconds
        if self._done is None:  # the first compiles, and may train an encoder
            self._done, self._start = 0.0, time.monotonic()
        else:
            self._done += seconds
        if self.repetitions and not sys.stderr.isatty() and time.monotonic() - self._said >= EVERY:
            self._said = time.monotonic()
            print(f"left: {self}", flush=True)


def _write(of_folder: Sequence[_Confirmation]) -> None:
    """Move the stamps of a result's runs that came out as committed."""
    equal = [one for one in of_folder if one.is_equal]
    if equal:
        moves = {one.run.key: (one.run.stamp, one.run.experiment.stamp) for one in equal}
        repetitions = sum(len(one.numbers) for one in equal)
        exact = all(one.run.same_machine for one in equal)
        left = len(of_folder) - len(equal)
        move_stamps(equal[0].run.folder, moves, confirmation(repetitions, exact=exact, left=left))


def _report(by_folder: Mapping[Path, Sequence[_Confirmation]]) -> None:
    """Print a line for each result, and one for each run that is not confirmed."""
    every = [one for of_folder in by_folder.values() for one in of_folder]
    for of_folder in by_folder.values():
        run, refused = of_folder[0].run, [one for one in of_folder if not one.is_equal]
        how = f", equal to a relative {TOLERANCE:g}: made on another kind of machine or with other versions"
        how *= not run.same_machine
        print(f"{run.result}: {len(of_folder) - len(refused)} of {len(of_folder)} runs confirmed{how}")
        for one in refused:
            print(f"  not confirmed: {', '.join(one.run.labels.values())}: {one.difference}")
        if refused:
            print(f"  to run these again: python -m runners.reproduce figure={run.name} scale=paper renew=true")
    equal = [one for one in every if one.is_equal]
    print(
        f"{len(equal)} runs confirmed by {sum(len(one.numbers) for one in equal):,} repetitions, "
        f"{len(every) - len(equal)} not"
    )
