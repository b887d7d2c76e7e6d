"""A random sample of committed repetitions, played again and compared."""

import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from bench.errors import ConfigError
from bench.report.typeset import duration
from runners.config.experiment import Experiment
from runners.config.runner import Runner
from runners.execute.fanout import run_each
from runners.execute.workers import spread
from runners.results.derive import thinning
from runners.results.folder import REPETITIONS, ResultFolder
from runners.results.replay import TOLERANCE, CommittedRun, Compared, compare
from runners.results.store import Store, results_folder

Size = int | Literal["all"] | None
"""Number of repetitions in the sample; None: the usual number."""

Repetition = tuple[CommittedRun, int]

USUAL, BUDGET, LONG = 300, 150.0, 10.0
"""Limits of a usual sample: repetitions, their total seconds, and the seconds of the longest, on one core."""


def play_sample(runs: Sequence[CommittedRun], sample: Size, seed: int, jobs: int, *, is_named: bool) -> bool:
    """Play some committed repetitions again, print the differences, and return whether all repetitions are equal.

    Raises ConfigError if no repetition can be played here.
    """
    every, words = population(runs, sample, is_named=is_named)
    drawn = draw(every, sample, random.Random(seed))
    n, takes = len(drawn), duration(sum(run.seconds for run, _ in drawn) / jobs)
    how = "all" if n == len(every) else f"drawn at random with SEED={seed}, out of"
    print(f"{n:,} repetitions, {how} {len(every):,}{words}: about {takes} to play", flush=True)
    others = sum(not run.same_machine for run, _ in drawn)
    if others:
        print(f"{others} of them were made on another processor or with other versions, and are compared to a")
        print(
            f"relative tolerance of {TOLERANCE:g}: the last digits of BLAS, NumPy, SciPy and torch may differ there",
            flush=True,
        )
    compared = play(drawn, jobs)
    differences = sorted(one.difference for one in compared if one.difference)
    values = sum(one.values for one in compared)
    print(f"{n:,} repetitions played again, {values:,} values: {len(differences)} differ")
    for difference in differences:
        print(f"differs: {difference}")
    if others and not differences:
        apart = [one.last_digits for one in compared if one.last_digits]
        words = f"; {len(apart):,} differ by up to a relative {max(apart):.0e}" if apart else ""
        print(f"{n - len(apart):,} are equal to the last bit{words}")
    if n < len(every) and not differences:
        share = min(1.0, 3 / n)
        print(f"with 95 % confidence at most {share:.1%} of the {len(every):,} can still differ: 3/n, n = {n:,}")
    return not differences


def population(runs: Sequence[CommittedRun], sample: Size, *, is_named: bool) -> tuple[list[Repetition], str]:
    """Return the repetitions that can be compared here, and the limit on their seconds as text.

    Without a ``sample``, long repetitions are omitted. A repetition is long if it takes more than `LONG` seconds,
    unless all repetitions do, or if it trains an encoder first, unless its figure ``is_named``. Prints the numbers of
    omitted repetitions. Raises ConfigError if no repetition is left.
    """
    if lacking := Counter(run.result for run in runs if run.lacks_data):
        of_results = ", ".join(f"{count} of {result}" for result, count in lacking.items())
        print(f"not drawn: runs whose data is missing here: {of_results}")
    here = {(run.folder, run.key): run for run in runs if run.is_asked and not run.lacks_data}
    if of_digits := Counter(run.name for run in here.values() if run.follows_last_digits for _ in run.numbers):
        of_figures = ", ".join(f"{count} of {name}" for name, count in of_digits.items())
        words = "from another kind of machine, with tuners whose choices depend on the last digits"
        print(f"not drawn: repetitions {words}: {of_figures}")
    every = [(run, number) for run in here.values() if not run.follows_last_digits for number in sorted(run.numbers)]
    if not every and lacking:
        raise ConfigError("found no data for any of the committed runs, expected those that `bench.data status` lists")
    if not every:
        raise ConfigError(
            f"found no committed repetitions ({REPETITIONS}) to play again below {results_folder()}, expected those of "
            "a run at scale paper; figures of kind timing keep none"
        )
    if sample is not None:
        return every, ""
    longest = max(LONG, min(run.seconds for run, _ in every))
    short = [item for item in every if item[0].seconds <= longest and (is_named or not item[0].trains_first)]
    if not short:
        raise ConfigError("all committed repetitions train an encoder first: name their figure, or add sample=1")
    if len(short) == len(every):
        return every, ""
    share = f"{len(every) - len(short):,} of {len(every):,} repetitions ({1 - len(short) / len(every):.1%})"
    words = f"of more than {longest:.0f} s each, or with an encoder to be trained first; SAMPLE=n draws from all"
    print(f"not drawn: {share} {words}")
    return short, f" of at most {longest:.0f} s"


def draw(repetitions: Sequence[Repetition], sample: Size, rng: random.Random) -> list[Repetition]:
    """Draw ``sample`` repetitions uniformly, or all, or, if None, about as many as fit into `BUDGET`."""
    if sample is None:
        mean = sum(run.seconds for run, _ in repetitions) / len(repetitions)
        sample = min(USUAL, max(1, int(BUDGET / max(mean, 1e-9))))
    if sample == "all" or sample >= len(repetitions):
        return list(repetitions)
    return rng.sample(repetitions, sample)


def outdated(folder: Path, runs: Sequence[CommittedRun]) -> str:
    """Return the reason to make a result again, with the command, or "" if the result is up to date."""
    manifest = ResultFolder(folder).own_manifest()
    gone = len(manifest["runs"]) - len(runs)
    changed = sum(not run.is_asked for run in runs)
    if gone:
        words = f"{gone} runs are no longer part of it"
    elif changed:
        words = f"settings or data of {changed} of {len(runs)} runs changed"
    elif any(not run.lacks_data for run in runs) and not any(run.numbers for run in runs):
        words = "it needs other curves than are committed"
    else:
        return ""
    return f"{folder.relative_to(results_folder())}: {words}; to renew it: {manifest['command']}"


def play(drawn: Sequence[Repetition], jobs: int) -> list[Compared]:
    """Play repetitions again, and compare them with the committed repetitions."""
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(scratch)
        wanted: dict[str, tuple[Experiment, set[int]]] = {}
        of_folders: dict[Path, list[Repetition]] = {}
        for run, number in drawn:
            wanted.setdefault(run.experiment.run_id, (run.experiment, set()))[1].add(number)
            of_folders.setdefault(run.folder, []).append((run, number))
        answers = run_each(wanted.values(), store, jobs=jobs, runner=Runner(), words="verify")
        errors = {answer.id: answer.error for answer in answers}
        each = spread(Runner(progress=False), jobs)
        compared = list(each(_compare, [(store, items, errors) for items in of_folders.values()]))
    return [one for of_folder in compared for one in of_folder]


def _compare(store: Store, items: Sequence[Repetition], errors: dict[tuple[str, int], str]) -> list[Compared]:
    """Compare the replayed repetitions of one result with the committed repetitions."""
    figure, keys = items[0][0].figure, {run.key for run, _ in items}
    committed = ResultFolder(items[0][0].folder).repetitions(thinning(figure), keys)
    found = []
    for run, number in items:
        run_id = run.experiment.run_id
        if error := errors[run_id, number]:
            one = Compared(1, f"failed: {error}")
        else:
            then = committed[run.key][number]
            one = compare(then, figure, store, run_id, number, same_machine=run.same_machine)
        where = f"{run.name}, {', '.join(run.labels.values())}, repetition {number}, {one.difference}"
        found.append(one._replace(difference=where if one.difference else ""))
    return found
