"""One repetition of each of a user's classes, played again in another process to test that its seeds determine it."""

import math
import os
from collections.abc import Collection, Iterable
from typing import Any

from bench.columns import is_measured
from runners.config.classes import is_suites
from runners.config.experiment import Experiment, run_repetition
from runners.execute.limits import time_limit
from runners.execute.repetition import in_words
from runners.execute.workers import apart
from runners.results.store import Store


def not_determined(
    ran: Iterable[tuple[Experiment, Collection[int]]],
    store: Store,
    *,
    limit: float | None = None,
    seen: set[type] | None = None,
) -> list[str]:
    """Return a sentence for each user's class whose repetition comes out otherwise in another process.

    ``ran``: experiments with the repetitions that were run just now, of which the last of the quickest is played, as
    what is left from earlier ones shows there. ``seen``: classes that need not be tried, to which others are added.
    """
    seen = set() if seen is None else seen
    last = [(experiment, max(numbers)) for experiment, numbers in ran if numbers and not experiment.is_suites]
    sentences = []
    for experiment, number in sorted(last, key=lambda one: store.read_side(one[0].run_id, one[1]).get("seconds", 0.0)):
        own = {part: cls for part, cls in experiment.classes.items() if not is_suites(cls)}
        if seen.issuperset(own.values()):
            continue
        seen.update(own.values())
        if difference := _difference(store, experiment, number, _elsewhere(experiment, number, limit)):
            names = ", ".join(f"{part} {cls.__name__}" for part, cls in own.items())
            sentences.append(
                f"{names}: repetition {number} played again in another process {difference}: its numbers are not "
                "determined by its seeds, expected random numbers of `seeds` alone, and nothing left from an earlier "
                "repetition"
            )
    return sentences


def _elsewhere(experiment: Experiment, number: int, limit: float | None) -> dict[str, list[Any]] | str:
    """Return the columns of a repetition that another process, with other hashes, plays; or its error."""
    (answer,) = apart(
        (_play, experiment, number, limit), PYTHONHASHSEED="2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    )
    return str(answer) if isinstance(answer, Exception) else answer


def _play(experiment: Experiment, number: int, limit: float | None) -> dict[str, list[Any]] | str:
    try:
        with time_limit(limit):
            columns = run_repetition(experiment, number).columns()
    except BaseException as error:
        return in_words(error)[0]
    return {name: values.tolist() for name, values in columns.items()}


def _difference(store: Store, experiment: Experiment, number: int, again: dict[str, list[Any]] | str) -> str:
    """Return the first difference from the stored repetition, "" if there is none."""
    if isinstance(again, str):
        return f"failed ({again})"
    kept = store.table(experiment.run_id, number).to_pydict()
    if kept.keys() != again.keys():
        return f"came out otherwise (with the columns {', '.join(again)}, not {', '.join(kept)})"
    names = [name for name in kept if not is_measured(name)]
    for place, row in enumerate(zip(*(kept[name] for name in names), strict=True)):
        for name, then in zip(names, row, strict=True):
            now = again[name][place] if place < len(again[name]) else math.nan
            if then != now and not (then != then and now != now):
                return f"came out otherwise ({name} at round {kept['round'][place]}: {then}, now {now})"
    return ""
