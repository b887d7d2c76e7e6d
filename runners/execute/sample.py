"""Repetitions of committed runs, drawn at random and run again, beside what is committed of them."""

import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.errors import ConfigError
from runners.config.runner import Runner
from runners.execute.fanout import run_each
from runners.results.aggregate import thin
from runners.results.committed import FILE
from runners.results.replay import CommittedRun, equal_values
from runners.results.store import Store, read_json, results_folder

TOLERANCE = 1e-6
"""Relative, between different processors or versions."""


def runnable(runs: Sequence[CommittedRun], is_named: bool) -> list[CommittedRun]:
    """Return the runs that can be compared here, and say which figures have others, and why; ConfigError if none."""
    lacking = Counter(run.result for run in runs if run.lacks_data)
    for result, count in lacking.items():
        print(f"not verified: {result}: the data of {count} runs is missing here")
    runs = [run for run in runs if run.committed and not run.lacks_data]
    if not is_named:
        for name in dict.fromkeys(run.name for run in runs if run.trains_first):
            print(f"not drawn: {name}, whose runs train an encoder first; figure={name} verifies it")
        runs = [run for run in runs if not run.trains_first]
    for name in dict.fromkeys(run.name for run in runs if run.follows_last_digits):
        print(
            f"not drawn: {name}, runs of gp_minimize from another kind of machine: what it tries depends on last digits"
        )
    runs = [run for run in runs if not run.follows_last_digits]
    if not runs and lacking:
        raise ConfigError("found no data for any of the committed runs, expected those that `bench.data status` lists")
    if not runs:
        raise ConfigError(
            f"found no committed repetitions ({FILE}) to run anew below {results_folder()}, expected those of a run at "
            "scale paper; figures of kind timing keep none"
        )
    return runs


def draw(runs: Sequence[CommittedRun], seconds: float, rng: random.Random) -> list[tuple[CommittedRun, int]]:
    """Draw repetitions, each figure as likely as any other, until they fill the time; at least the shortest one."""
    counts = Counter(run.name for run in runs for _ in run.committed)
    repetitions = [(run, number) for run in runs for number in sorted(run.committed)]
    drawn: dict[tuple[str, int], tuple[CommittedRun, int]] = {}
    for run, number in sorted(repetitions, key=lambda item: rng.expovariate(1.0 / counts[item[0].name])):
        if run.seconds <= seconds and (key := (run.experiment.run_id, number)) not in drawn:
            drawn[key] = run, number
            seconds -= run.seconds
    shortest = min(runs, key=lambda run: run.seconds)
    return list(drawn.values()) or [(shortest, min(shortest.committed))]


def outdated(folder: Path, runs: Sequence[CommittedRun]) -> str:
    """Return why a result must be made again, and the command for it; "" if it need not be."""
    manifest = read_json(folder / "manifest.json")
    gone = len(manifest["runs"]) - len(runs)
    changed = sum(not run.is_asked for run in runs)
    if gone:
        words = f"{gone} runs are no longer part of it"
    elif changed:
        words = f"settings or data of {changed} of {len(runs)} runs changed"
        words += " (if only a name did, conf/renamed.yaml says which)"
    elif any(not run.lacks_data for run in runs) and not any(run.committed for run in runs):
        words = "it needs other curves than are committed"
    else:
        return ""
    return f"{folder.relative_to(results_folder())}: {words}; to renew it: {manifest['command']}"


def compare_with_committed(run: CommittedRun, number: int, store: Store, tolerance: float) -> tuple[int, int, str]:
    """Compare a repetition in ``store`` with the committed one, as `runners.results.replay.equal_values` does.

    The relative ``tolerance`` holds where another kind of machine made what is committed.
    """
    then = run.committed[number]
    now = thin(store.table(run.experiment.run_id, number), {}, run.figure.curve_columns(), None, then.rounds)
    return equal_values(then, now, 0.0 if run.same_machine else tolerance)


def run_anew(drawn: Sequence[tuple[CommittedRun, int]], jobs: int) -> tuple[int, int, str]:
    """Run repetitions again; return how many values are equal, of how many, and the first that is not."""
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(scratch)
        wanted = [(run.experiment, [number]) for run, number in drawn]
        answers = {answer.id: answer for answer in run_each(wanted, store, jobs=jobs, runner=Runner(), words="verify")}
        equal, values, first = 0, 0, ""
        for run, number in drawn:
            error = answers[run.experiment.run_id, number].error
            compared = (
                compare_with_committed(run, number, store, TOLERANCE) if not error else (0, 1, f"failed: {error}")
            )
            equal, values = equal + compared[0], values + compared[1]
            if compared[2] and not first:
                first = f"{run.name}, {', '.join(run.labels.values())}, repetition {number}, {compared[2]}"
    return equal, values, first
