"""One repetition of each of a user's classes, played again in another process to test that its seeds determine it."""

import os
from collections.abc import Collection, Iterable
from tempfile import TemporaryDirectory

from bench.columns import is_measured
from runners.config.experiment import Experiment
from runners.execute.fanout import repeat
from runners.execute.workers import apart
from runners.results.store import Store


def not_determined(
    ran: Iterable[tuple[Experiment, Collection[int]]],
    store: Store,
    *,
    limit: float | None = None,
    seen: set[type] | None = None,
) -> list[str]:
    """Return a sentence for each user's class whose repetition differs when played in another process.

    ``ran``: experiments with the repetitions that were run just now. The last repetition of the quickest experiment is
    played again, because it may depend on earlier ones. ``seen``: classes that have been tried; new ones are added.
    """
    seen = set() if seen is None else seen
    last = [(experiment, max(numbers)) for experiment, numbers in ran if numbers and experiment.own]
    sentences = []
    for experiment, number in sorted(last, key=lambda one: store.read_side(one[0].run_id, one[1]).get("seconds", 0.0)):
        own = set(experiment.own.values())
        if own <= seen:
            continue
        seen |= own
        if difference := _difference(store, experiment, number, limit):
            sentences.append(
                f"{experiment.own_names}: repetition {number} played again in another process {difference}: its "
                "numbers are not determined by its seeds, expected random numbers of `seeds` alone, and nothing left "
                "from an earlier repetition"
            )
    return sentences


def _difference(store: Store, experiment: Experiment, number: int, limit: float | None) -> str:
    """Return the difference of a repetition from another process's, with other hashes; "" if there is none."""
    run_id, seed = experiment.run_id, "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    with TemporaryDirectory() as scratch:
        elsewhere = Store(scratch)
        elsewhere.prepare(run_id, experiment.description)
        answer = apart(repeat, experiment, number, elsewhere, limit, PYTHONHASHSEED=seed)
        if error := answer if isinstance(answer, Exception) else answer.error:
            return f"failed ({error})"
        then, now = (one.table(run_id, number).to_pydict() for one in (store, elsewhere))
    names = [name for name in {**then, **now} if not is_measured(name)]
    other = [name for name in names if repr(then.get(name)) != repr(now.get(name))]  # NaN is the same as NaN
    return f"had other values ({', '.join(other)})" if other else ""
