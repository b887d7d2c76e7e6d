"""Missing repetitions of figures: run a share of them, or count them and estimate the time."""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from statistics import median
from typing import NamedTuple, TypeAlias

from bench.errors import BenchError, ConfigError
from bench.report.typeset import duration
from runners.config.classes import describe
from runners.config.experiment import Experiment, run_repetition
from runners.config.folders import CHECKOUT
from runners.config.runner import Runner
from runners.execute.asked_figure import AskedFigure
from runners.execute.fanout import run_each
from runners.execute.figure_run import FigureRun
from runners.execute.limits import one_thread
from runners.results.store import Store, results_folder

Instead: TypeAlias = Callable[[Sequence[AskedFigure], int, Runner], None]
"""An action on figures, with a number of jobs, that replaces their creation."""

_MOST_ROUNDS = 200
"""Rounds of a run that are played to measure its seconds."""
_MOST_PLAYED = 20
_MOST_SECONDS = 1.0
"""Least seconds of the repetition that measures this machine, if available: shorter ones are mostly start-up."""


class Lacking(NamedTuple):
    """An experiment, the number of requested repetitions, and the numbers of the repetitions without a result."""

    experiment: Experiment
    asked: int
    numbers: list[int]


def share(text: str) -> Instead:
    """Return the action that runs a share of all repetitions, such as ``3/40``.

    The third of forty shares is every fortieth repetition from the third, in the order of figures, runs and numbers.
    The order is independent of finished repetitions, so shares never overlap, whenever their commands start. Raises
    ConfigError if ``text`` is not a share.
    """
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ConfigError(f"shard: found '{text}', expected a share such as 3/40, the third of 40")
    return partial(_run_share, int(match[1]), int(match[2]))


def _run_share(index: int, count: int, figures: Sequence[AskedFigure], jobs: int, runner: Runner) -> None:
    """Run the missing repetitions of a share, without writing figures. Raises BenchError if a repetition fails."""
    store, place, wanted, asked = Store(results_folder()), 0, [], 0
    for experiment, number, lacking in lacking_of(figures, store):
        own = [i for i in range(number) if (place + i) % count == index - 1]
        place += number
        asked += len(own)
        wanted.append((experiment, {*own} & {*lacking}))
    answers = list(run_each(wanted, store, jobs=jobs, runner=runner))
    failed = [answer for answer in answers if answer.error]
    print(
        f"share {index} of {count}: {asked} of {place} repetitions, {len(answers) - len(failed)} new; the same command "
        "without shard collects them when all shares are done",
        flush=True,
    )
    if failed:
        raise BenchError(f"{len(failed)} of {asked} repetitions failed, the first with {failed[0].error}")


def lacking_of(figures: Iterable[AskedFigure], store: Store) -> Iterator[Lacking]:
    """Yield each run of some figures once, except for timings, which are measured when a figure is made.

    With ``until_decided``, only the repetitions before the first look are requested.
    """
    seen: dict[str, int] = {}
    for asked in figures:
        if asked.figure.source == "timing":
            continue
        run = FigureRun(asked, store)
        for labelled in run.runs:
            experiment, number = labelled.experiment, labelled.settings.repetitions
            if number <= (before := seen.get(experiment.run_id, 0)):
                continue
            seen[experiment.run_id] = number
            done = store.done(experiment.run_id) | run.committed.done(experiment.key)
            yield Lacking(experiment, number - before, sorted({*range(before, number)} - done))


def tell(figures: Sequence[AskedFigure], jobs: int, runner: Runner) -> None:
    """Print the number of missing repetitions, and an estimate of their time with ``jobs`` workers."""
    looks = any(one.most is not None for one in figures)
    print(estimate(list(lacking_of(figures, Store(results_folder()))), jobs, " before the first look" * looks))


def estimate(every: Sequence[Lacking], jobs: int, of: str = "") -> str:
    """Return the number of missing repetitions and an estimate of their time with ``jobs`` started workers, as text."""
    lacking = [run for run in every if run.numbers]
    missing, asked = sum(len(run.numbers) for run in lacking), sum(run.asked for run in every)
    words = f"{missing:,} of {asked:,} repetitions{of} are missing"
    if not missing:
        return words
    seconds, how = expected_seconds([run.experiment for run in lacking])
    total = sum(len(run.numbers) * seconds[run.experiment.run_id] for run in lacking)
    least = max(total / jobs, *seconds.values())
    return f"{words}: about {_spelt(total)} of one processor, {_spelt(least)} with jobs={jobs} ({how})"


def expected_seconds(experiments: Sequence[Experiment]) -> tuple[dict[str, float], str]:
    """Return the expected seconds of a repetition on this machine, by run id, and the basis of the estimate.

    Committed seconds are scaled by the time that one of the committed runs takes here. Up to twenty other runs are
    timed by playing some of their rounds. A run that fails adds no time, and the first error is part of the basis.
    """
    committed = committed_seconds()
    known = {one.run_id: committed[one.key] for one in experiments if one.key in committed}
    others = [one for one in experiments if one.run_id not in known]
    how = []
    if known:
        by_seconds = sorted((one for one in experiments if one.run_id in known), key=lambda one: known[one.run_id])
        one = next((one for one in reversed(by_seconds) if known[one.run_id] <= _MOST_SECONDS), by_seconds[0])
        factor = _played(one, one.settings["horizon"]) / known[one.run_id]
        known = {run_id: value * factor for run_id, value in known.items()}
        how.append(f"committed seconds of {len(known)} runs, times {factor:.2g}, the ratio of one of them here")
    if others:
        rounds = {one.run_id: min(_MOST_ROUNDS, one.rounds) for one in others}
        each, errors = {}, []
        for one in others[:_MOST_PLAYED]:
            try:
                each[one.run_id] = _played(one, rounds[one.run_id]) / rounds[one.run_id]
            except Exception as error:  # a user's class may raise any error
                each[one.run_id] = 0.0
                errors.append(describe(error))
        usual = median(each.values())
        known |= {one.run_id: each.get(one.run_id, usual) * one.rounds for one in others}
        how.append(f"{max(rounds.values())} rounds of {len(each)} runs played here")
        if errors:
            how.append(f"{len(errors)} of these failed, the first with {errors[0]}")
    return known, "; ".join(how)


def committed_seconds() -> Mapping[str, float]:
    """Return the mean seconds of a repetition by key of the run, read from the results of the suite's figures."""
    found: dict[str, float] = {}
    for path in sorted((CHECKOUT / "results").glob("*/*/paper*/environment.json")) if CHECKOUT else ():
        found |= json.loads(path.read_text(encoding="utf-8")).get("seconds_per_repetition") or {}
    return found


def _played(experiment: Experiment, rounds: int) -> float:
    """Return the seconds that ``rounds`` rounds of repetition 0 take, after some rounds that compile and read data."""
    few, many = (
        Experiment({**experiment.settings, "horizon": number}, experiment.handed)
        for number in (min(rounds, _MOST_ROUNDS // 4), rounds)
    )
    with one_thread():
        run_repetition(few, 0)
        start = time.process_time()  # does not depend on the load of the machine
        run_repetition(many, 0)
        return time.process_time() - start


def _spelt(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 60 else duration(seconds)
