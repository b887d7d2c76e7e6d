"""Repetitions of committed runs, drawn at random and run anew, beside what is committed of them."""

import json
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from bench.errors import ConfigError
from bench.report.tables import to_csv
from runners.config.runner import Runner
from runners.execute.fanout import play_all
from runners.results.aggregate import thin
from runners.results.committed import FILE
from runners.results.replay import CommittedRun, compare
from runners.results.store import Store, results_folder, write_text

TOLERANCE = 1e-6
"""Relative, between different processors or versions."""

VERIFIED = "verified.csv"
"""In the folder of results: when repetitions of a reference result were last verified."""
_COLUMNS = ["result", "day", "commit", "repetitions", "values", "equal"]


class Verified(NamedTuple):
    """What a verification found of one result: repetitions, values, and how many of these are equal."""

    repetitions: int
    values: int
    equal: int


def record(verified: dict[str, Verified], commit: str) -> None:
    """Note in `VERIFIED` what a verification found, by result (``cdt/figure2/paper``), in place of earlier ones."""
    path = results_folder() / VERIFIED
    known = pd.read_csv(path, dtype=str) if path.is_file() else pd.DataFrame(columns=_COLUMNS)
    day = datetime.now(UTC).date().isoformat()
    new = pd.DataFrame([[name, day, commit[:10], *numbers] for name, numbers in verified.items()], columns=_COLUMNS)
    every = pd.concat([known[~known["result"].isin(verified)], new], ignore_index=True)
    write_text(path, to_csv(every.sort_values("result")))


def playable(runs: Sequence[CommittedRun], is_named: bool) -> list[CommittedRun]:
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
        print(f"not drawn: {name}, runs of gp_minimize from another kind of machine: last digits decide what it tries")
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
        key = run.experiment.run_id, number
        if key not in drawn and run.seconds <= seconds:
            drawn[key] = run, number
            seconds -= run.seconds
    shortest = min(runs, key=lambda run: run.seconds)
    return list(drawn.values()) or [(shortest, min(shortest.committed))]


def outdated(folder: Path, runs: Sequence[CommittedRun]) -> str:
    """Return what has changed since a result was made, and what renews it; "" if nothing has."""
    manifest = json.loads((folder / "manifest.json").read_text())
    gone = len(manifest["runs"]) - len(runs)
    played = [run for run in runs if not run.lacks_data]
    changed = [run for run in played if run.has_changed]
    code = sum(run.same_inputs for run in changed)
    cure = f"to renew it: {manifest['command']}"
    if gone:
        words = f"{gone} runs are no longer part of it"
    elif played and not any(run.committed for run in played):
        words = "it needs other curves than are committed"
    elif changed:
        counts = {"the code": code, "settings or data": len(changed) - code}
        words = " and ".join(f"{what} of {count} of {len(runs)} runs" for what, count in counts.items() if count)
        words += " changed"
        if code:
            cure = f"to keep what comes out equal: make verify CARRY=1 FIGURE={manifest['figure']}; {cure}"
    else:
        return ""
    return f"{folder.relative_to(results_folder())}: {words}; {cure}"


def play_again(
    drawn: Sequence[tuple[CommittedRun, int]], store: Store, *, jobs: int, words: str, tolerance: float = 0.0
) -> list[tuple[int, int, str]]:
    """Play committed repetitions that are not in ``store``, and compare all, as `runners.results.replay.compare` does.

    The relative ``tolerance`` holds where another kind of machine made what is committed.
    """
    keys = [(run.experiment.run_id, number) for run, number in drawn]
    done = {run_id: store.done(run_id) for run_id, _ in keys}
    wanted = [(run.experiment, {number} - done[run.experiment.run_id]) for run, number in drawn]
    answers = play_all(wanted, store, jobs=jobs, runner=Runner(), words=words)
    errors = {answer.key: answer.error for answer in answers if answer.status == "failed"}
    compared = []
    for key, (run, number) in zip(keys, drawn, strict=True):
        if key in errors:
            compared.append((0, 1, f"failed: {errors[key]}"))
            continue
        then = run.committed[number]
        now = thin(store.read(*key), {}, run.figure.curve_columns(), None, then.rounds)
        compared.append(compare(then, now, 0.0 if run.same_machine else tolerance))
    return compared


def run_anew(drawn: Sequence[tuple[CommittedRun, int]], jobs: int) -> tuple[dict[str, Verified], str]:
    """Run repetitions anew; return what was compared of each result, and the first value that is not equal."""
    verified = {run.result: Verified(0, 0, 0) for run, _ in drawn}
    first = ""
    with tempfile.TemporaryDirectory() as scratch:
        compared = play_again(drawn, Store(scratch), jobs=jobs, words="verify", tolerance=TOLERANCE)
    for (run, number), (equal, values, difference) in zip(drawn, compared, strict=True):
        before = verified[run.result]
        verified[run.result] = Verified(before.repetitions + 1, before.values + values, before.equal + equal)
        if difference and not first:
            first = f"{run.name}, {', '.join(run.labels.values())}, repetition {number}, {difference}"
    return verified, first
