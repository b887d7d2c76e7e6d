"""Check the committed results: python -m runners.verify [figure=cdt/figure2] [seconds=180] [seed=0]

First every table, claim and published number is derived again from the committed repetitions, and compared byte by
byte; nothing is run for it. Then some repetitions, drawn at random, are run anew with ``jobs`` workers (default: 2),
until the whole has taken about ``seconds``. Every last value and every point of a curve is compared with the committed
one: exactly on the same kind of processor with the same versions, else to a relative tolerance of 1e-6. The exit code
is 1 if any differs, or if the code or data of a figure's runs have changed since the figure was made. Runs that train
an encoder first are drawn only of the figure that is named. With ``record=true``, ``verified.csv`` in the folder of
results notes what was compared of each result, and when.

``carry=true`` plays at least one repetition of every run whose code has changed, of all figures, of one ``paper`` or of
one ``figure``. The committed repetitions of those that come out equal, bit for bit, get the names that the changed code
gives them; see `runners.execute.carry`. ``repetitions=3`` plays three of each run; ``seconds`` limits the time,
if it is given.
"""

import json
import math
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.errors import ConfigError
from runners.cli import command
from runners.config.figures import figure_names
from runners.config.runner import Runner
from runners.config.tree import choices, unknown_choice
from runners.execute.carry import carry
from runners.execute.fanout import play_all
from runners.execute.pool import spread, workers
from runners.results.aggregate import thin
from runners.results.capture import environment
from runners.results.committed import FILE, SECONDS
from runners.results.golden import compare_committed, compare_overviews
from runners.results.reference import Verified, record
from runners.results.replay import CommittedRun, committed_runs, compare
from runners.results.store import Store, results_folder

TOLERANCE = 1e-6
"""Relative, between different processors or versions."""

_MISSES = 50
_DEFAULTS = {
    "seconds": "180",
    "figure": "",
    "paper": "",
    "seed": "0",
    "jobs": "2",
    "record": "false",
    "carry": "false",
    "repetitions": "1",
}


def main() -> int:
    """Verify what the command line asks for; return the exit code."""
    if "--help" in sys.argv or "-h" in sys.argv:
        print(__doc__)
        return 0
    return command(lambda: verify(sys.argv[1:]))


def verify(words: Sequence[str]) -> bool:
    """Draw, run and compare; return whether nothing differs and nothing is outdated.

    Raises
    ------
    ConfigError
        When a word is no setting of this command, or nothing is committed of the figure.
    """
    given = _parse(words)
    end = time.perf_counter() + float(given["seconds"])
    jobs, named = int(given["jobs"]), given["figure"]
    names = [named] if named else figure_names(given["paper"] or None)
    if given["carry"] == "true":
        runs = [run for name in names for folder in _folders(name) for run in committed_runs(name, folder)]
        limit = float(given["seconds"]) if any(word.startswith("seconds=") for word in words) else math.inf
        return carry(runs, jobs=jobs, repetitions=int(given["repetitions"]), seconds=limit, train=bool(named))
    is_derived = _derive(names, jobs, overviews=not (named or given["paper"]))
    results = {folder: list(committed_runs(name, folder)) for name in names for folder in _folders(name)}
    outdated = [text for folder, runs in results.items() if (text := _outdated(folder, runs))]
    runs = _playable([run for of_result in results.values() for run in of_result], bool(named))
    drawn = _draw(runs, (end - time.perf_counter()) * jobs, random.Random(int(given["seed"])))
    verified, first = _compare(drawn, jobs)
    compared, equal = (sum(getattr(result, part) for result in verified.values()) for part in ("values", "equal"))
    print(f"{len(drawn)} repetitions of {len({run.name for run, _ in drawn})} figures run anew: {compared:,} values")
    print(f"{equal:,} equal, {compared - equal:,} differ{': first ' + first if first else ''}")
    if not all(run.same_machine for run, _ in drawn):
        print(f"some were made on another processor or with other versions: equal to a relative {TOLERANCE:g}")
    if given["record"] == "true":
        record(verified, str((environment()["git"] or {}).get("commit", "")))
    for text in outdated:
        print(f"outdated: {text}")
    return is_derived and compared == equal and not outdated


def _folders(name: str) -> list[Path]:
    """Return the results of a figure that repetitions are committed of."""
    return [folder for folder in sorted((results_folder() / name).glob("paper*")) if (folder / FILE).is_file()]


def _playable(runs: Sequence[CommittedRun], is_named: bool) -> list[CommittedRun]:
    """Return the runs that can be compared here, and say which figures have others, and why.

    Raises
    ------
    ConfigError
        When there are none.
    """
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
            f"found no committed repetitions ({FILE}) below {results_folder()}, expected those of a run at scale paper"
        )
    return runs


def _derive(names: Sequence[str], jobs: int, *, overviews: bool) -> bool:
    """Derive all tables again, print what differs and what no repetition backs; return whether nothing differs."""
    root, runner = results_folder(), Runner(progress=False)
    with workers(runner, jobs):
        compared = compare_committed(root, names, spread(runner, jobs))
    if overviews and (root / "claims.csv").is_file():
        compared.append(compare_overviews(root))
    differences = [difference for result in compared for difference in result.differences]
    print(f"{sum(len(result.compared) for result in compared)} tables derived again: {len(differences)} differ")
    for difference in sorted(differences):
        print(f"differs: {difference}")
    unbacked = sorted(file for result in compared for file in result.unbacked)
    others = [file for file in unbacked if not file.endswith(f"/{SECONDS}")]
    if unbacked:
        words = [f"{SECONDS} of {len(unbacked) - len(others)} results", *([", ".join(others)] if others else [])]
        print(f"measured seconds, which no repetition backs: {'; '.join(words)}")
    return not differences


def _parse(words: Sequence[str]) -> dict[str, str]:
    given = dict(_DEFAULTS)
    for word in words:
        key, _, value = word.partition("=")
        if key not in given:
            raise ConfigError(f"{key}: found an unknown key, expected one of: {', '.join(given)}")
        given[key] = value
    for key, least in (("seconds", 1), ("seed", 0), ("jobs", 1), ("repetitions", 1)):
        if not given[key].isdecimal() or int(given[key]) < least:
            raise ConfigError(f"{key}: found '{given[key]}', expected a whole number, at least {least}")
    for key in ("record", "carry"):
        if given[key] not in ("true", "false"):
            raise ConfigError(f"{key}: found '{given[key]}', expected true or false")
    if given["paper"] and given["paper"] not in choices("paper"):
        raise unknown_choice("paper", given["paper"])
    if given["figure"] and given["figure"] not in figure_names():
        raise ConfigError(f"figure: found '{given['figure']}', expected one of: {', '.join(figure_names())}")
    return given


def _outdated(folder: Path, runs: Sequence[CommittedRun]) -> str:
    """Return what has changed since a result was made, and what renews it; "" if nothing has."""
    manifest = json.loads((folder / "manifest.json").read_text())
    gone = len(manifest["runs"]) - len(runs)
    played = [run for run in runs if not run.lacks_data]
    changed = sum(run.has_changed for run in played)
    if gone:
        words = f"{gone} runs are no longer part of it"
    elif played and not any(run.committed for run in played):
        words = "it needs other curves than are committed"
    elif changed:
        words = f"code, settings or data of {changed} of {len(runs)} runs have changed"
    else:
        return ""
    return f"{folder.relative_to(results_folder())}: {words}; to renew it: {manifest['command']}"


def _draw(runs: Sequence[CommittedRun], seconds: float, rng: random.Random) -> list[tuple[CommittedRun, int]]:
    """Draw repetitions, each figure as likely as any other, until they fill the time; at least the shortest one."""
    by_figure: dict[str, list[CommittedRun]] = {}
    for run in runs:
        by_figure.setdefault(run.name, []).append(run)
    names = sorted(by_figure)
    drawn: dict[tuple[str, int], tuple[CommittedRun, int]] = {}
    misses = 0
    while misses < _MISSES:
        run = rng.choice(by_figure[rng.choice(names)])
        number = rng.choice(sorted(run.committed))
        key = run.experiment.run_id, number
        if key in drawn or run.seconds > seconds:
            misses += 1
            continue
        misses = 0
        drawn[key] = run, number
        seconds -= run.seconds
    shortest = min(runs, key=lambda run: run.seconds)
    return list(drawn.values()) or [(shortest, min(shortest.committed))]


def _compare(drawn: Sequence[tuple[CommittedRun, int]], jobs: int) -> tuple[dict[str, Verified], str]:
    """Run repetitions anew; return what was compared of each result, and the first value that is not equal."""
    verified = {run.result: Verified(0, 0, 0) for run, _ in drawn}
    first = ""
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(scratch)
        runs = {(run.experiment.run_id, number): run for run, number in drawn}
        wanted = [(run.experiment, [number]) for (_, number), run in runs.items()]
        for answer in play_all(wanted, store, jobs=jobs, runner=Runner(), words="verify"):
            run, (run_id, number) = runs[answer.key], answer.key
            then, before = run.committed[number], verified[run.result]
            if answer.status == "failed":
                good, every, difference = 0, 1, f": failed: {answer.error}"
            else:
                now = thin(store.read(run_id, number), {}, run.figure.curve_columns(), None, then.rounds)
                good, every, difference = compare(then, now, 0.0 if run.same_machine else TOLERANCE)
                difference = difference and f", {difference}"
            verified[run.result] = Verified(before.repetitions + 1, before.values + every, before.equal + good)
            if difference and not first:
                first = f"{run.name}, {', '.join(run.labels.values())}, repetition {number}{difference}"
    return verified, first


if __name__ == "__main__":
    sys.exit(main())
