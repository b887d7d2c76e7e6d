"""Check the committed results: python -m runners.verify [figure=cdt/figure2] [seconds=180] [seed=0]

First every table, claim and published number is derived again from the committed repetitions, and compared byte by
byte; nothing is run for it. Then some repetitions, drawn at random, are run anew with ``jobs`` workers (default: 2),
until the whole has taken about ``seconds``; results that there is no time to read are left out. Every last value and
every point of a curve is compared with the committed one: exactly on the same kind of processor with the same versions,
else to a relative tolerance of 1e-6. The exit code is 1 if any differs, or if the code or data of a figure's runs have
changed since the figure was made. Runs that train an encoder first are drawn only of the figure that is named. With
``record=true``, ``verified.csv`` in the folder of results notes what was compared of each result, and when.
"""

import json
import math
import random
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import hydra
import numpy as np

from bench.errors import ConfigError
from bench.report.figure import Figure
from bench.report.provenance import SURROGATE
from runners.aggregate import Kept, thin
from runners.capture import environment, kind_of_machine
from runners.cli import command
from runners.committed import FILE, SECONDS, CommittedRepetitions, machines
from runners.config_tree import CONF
from runners.derive import needs
from runners.experiment import Experiment
from runners.fanout import FanOut, Key
from runners.figures import expand, figure_names, load_figure
from runners.golden import compare_committed, compare_overviews
from runners.pool import Runner, spread, workers
from runners.progress import progress_bar
from runners.reference import Verified, record
from runners.store import Store, results_folder

TOLERANCE = 1e-6
"""Relative, between different processors or versions."""

_ENCODER = "bench.algorithms.candidate_generation."
"""Part of the name of an algorithm whose runs begin with the training of an encoder, 15 to 30 minutes, once."""

_FITTED = "bench.tuners.gp_minimize."
"""Part of the name of a tuner that optimises a fitted Gaussian process: there the last digits decide what is tried."""

_MISSES = 50
_DEFAULTS = {"seconds": "180", "figure": "", "seed": "0", "jobs": "2", "record": "false"}


class _Run(NamedTuple):
    """A run of a figure as it is today, and what is committed of it."""

    figure: str
    scale: str
    config: Figure
    labels: dict[str, str]
    experiment: Experiment
    committed: dict[int, Kept]
    seconds: float
    same_machine: bool

    @property
    def result(self) -> str:
        """The folder of the result, such as ``cdt/figure2/paper``."""
        return f"{self.figure}/{self.scale}"

    @property
    def trains_first(self) -> bool:
        """Whether it begins with the training of an encoder, unless one is cached."""
        algorithm = self.experiment.settings.get("algorithm") or {}
        return str(algorithm.get("_target_")).startswith(_ENCODER)

    @property
    def follows_last_digits(self) -> bool:
        """Whether another kind of machine, whose last digits differ, may try other configurations."""
        tuner = self.experiment.settings.get("tuner") or {}
        return not self.same_machine and str(tuner.get("_target_")).startswith(_FITTED)


def main() -> int:
    """Verify what the command line asks for; return the exit code."""
    if "--help" in sys.argv or "-h" in sys.argv:
        print(__doc__)
        return 0
    return command("config", lambda: verify(sys.argv[1:]))


def verify(words: Sequence[str]) -> bool:
    """Draw, run and compare; return whether nothing differs and nothing is outdated.

    Raises
    ------
    ConfigError
        When a word is no setting of this command, or nothing is committed of the figure.
    """
    given = _parse(words)
    end = time.perf_counter() + float(given["seconds"])
    jobs, rng = int(given["jobs"]), random.Random(int(given["seed"]))
    names = [given["figure"]] if given["figure"] else figure_names()
    is_derived = _derive(names, jobs, overviews=not given["figure"])
    runs: list[_Run] = []
    outdated: dict[str, str] = {}
    without_data: dict[str, int] = {}
    with hydra.initialize_config_dir(CONF, version_base="1.3"):
        until = (time.perf_counter() + end) / 2.0
        order = rng.sample(names, len(names))
        for place, name in enumerate(order):
            if runs and time.perf_counter() > until:
                print(f"not drawn, for want of time: runs of {len(names) - place} of {len(names)} figures")
                break
            for folder in sorted((results_folder() / name).glob("paper*")):
                if (folder / FILE).is_file():
                    own, changed, renew, without = _read(name, folder)
                    runs += own
                    if without:
                        without_data[f"{name}/{folder.name}"] = without
                    if changed:
                        outdated[f"{name}/{folder.name}: {changed}"] = renew
    for text, count in without_data.items():
        print(f"not verified: {text}: the data of {count} runs is missing here")
    if not given["figure"]:
        for text in dict.fromkeys(run.figure for run in runs if run.trains_first):
            print(f"not drawn: {text}, whose runs train an encoder first; figure={text} verifies it")
        runs = [run for run in runs if not run.trains_first]
    for text in dict.fromkeys(run.figure for run in runs if run.follows_last_digits):
        print(f"not drawn: {text}, runs of gp_minimize from another kind of machine: last digits decide what it tries")
    runs = [run for run in runs if not run.follows_last_digits]
    if not runs and without_data:
        raise ConfigError("found no data for any of the committed runs, expected those that `bench.data status` lists")
    if not runs:
        raise ConfigError(
            f"found no committed repetitions ({FILE}) of {given['figure'] or 'any figure'} below {results_folder()}, "
            "expected those of a run at scale paper"
        )
    drawn = _draw(runs, (end - time.perf_counter()) * jobs, rng)
    found, first = _compare(drawn, jobs)
    compared, equal = (sum(getattr(one, part) for one in found.values()) for part in ("values", "equal"))
    print(f"{len(drawn)} repetitions of {len({run.figure for run, _ in drawn})} figures run anew: {compared:,} values")
    print(f"{equal:,} equal, {compared - equal:,} differ{': first ' + first if first else ''}")
    if not all(run.same_machine for run, _ in drawn):
        print(f"some were made on another processor or with other versions: equal to a relative {TOLERANCE:g}")
    if given["record"] == "true":
        record(found, str((environment()["git"] or {}).get("commit", "")))
    for text, renew in outdated.items():
        print(f"outdated: {text}; to renew it: {renew}")
    return is_derived and compared == equal and not outdated


def _derive(names: Sequence[str], jobs: int, *, overviews: bool) -> bool:
    """Derive all tables again, print what differs and what no repetition backs; return whether nothing differs."""
    root, runner = results_folder(), Runner(progress=False)
    with workers(runner, jobs):
        compared = compare_committed(root, names, spread(runner, jobs))
    if overviews and (root / "claims.csv").is_file():
        compared.append(compare_overviews(root))
    differences = [one for result in compared for one in result.differences]
    print(f"{sum(len(result.compared) for result in compared)} tables derived again: {len(differences)} differ")
    for one in sorted(differences):
        print(f"differs: {one}")
    unbacked = sorted(file for result in compared for file in result.unbacked)
    seconds = [file for file in unbacked if file.endswith(f"/{SECONDS}")]
    if unbacked:
        others = ", ".join(file for file in unbacked if file not in seconds)
        print(
            f"measured seconds, which no repetition backs: {SECONDS} of {len(seconds)} results{others and '; '}{others}"
        )
    return not differences


def _parse(words: Sequence[str]) -> dict[str, str]:
    given = dict(_DEFAULTS)
    for word in words:
        key, _, value = word.partition("=")
        if key not in given:
            raise ConfigError(f"{key}: found an unknown key, expected one of: {', '.join(given)}")
        given[key] = value
    for key, least in (("seconds", 1), ("seed", 0), ("jobs", 1)):
        if not given[key].isdecimal() or int(given[key]) < least:
            raise ConfigError(f"{key}: found '{given[key]}', expected a whole number, at least {least}")
    if given["record"] not in ("true", "false"):
        raise ConfigError(f"record: found '{given['record']}', expected true or false")
    if given["figure"] and given["figure"] not in figure_names():
        raise ConfigError(f"figure: found '{given['figure']}', expected one of: {', '.join(figure_names())}")
    return given


def _read(name: str, folder: Path) -> tuple[list[_Run], str, str, int]:
    """Return a committed figure's runs, how many are outdated in words, what renews them, and how many lack data."""
    manifest = json.loads((folder / "manifest.json").read_text())
    then = json.loads((folder / "environment.json").read_text())
    same_machine = machines(folder) == [kind_of_machine(environment())]
    config = load_figure(name)
    words_apart = ("figure=", "scale=", "repetitions=", "max_repetitions=", "surrogate=")
    extra = [word for word in shlex.split(manifest["command"])[3:] if not word.startswith(words_apart)]
    today = {json.dumps(one.labels, sort_keys=True): one for one in expand(config, manifest["scale"], extra)}
    ids = {run["run_id"]: run["labels"] for run in manifest["runs"]}
    committed = CommittedRepetitions([folder], needs(config), ids)
    runs, changed, gone, without = [], 0, 0, 0
    for entry in manifest["runs"]:
        one = today.get(json.dumps(entry["labels"], sort_keys=True))
        if one is None:
            gone += 1
            continue
        if one.run.experiment.surrogate and entry["data"] != SURROGATE:
            without += 1
            continue
        changed += one.run.experiment.run_id != entry["run_id"]
        known = {number: committed.get(entry["run_id"], number) for number in committed.done(entry["run_id"])}
        own = {number: kept for number, kept in known.items() if kept is not None}
        seconds = then["seconds_per_repetition"].get(entry["run_id"], 1.0)
        if own:
            runs.append(
                _Run(name, folder.name, config, entry["labels"], one.run.experiment, own, seconds, same_machine)
            )
    words = f"code, settings or data of {changed} of {len(ids)} runs have changed" if changed else ""
    if gone or (len(ids) > without and not runs):
        words = f"{gone} runs are no longer part of it" if gone else "it needs other curves than are committed"
    return runs, words, manifest["command"], without


def _draw(runs: list[_Run], seconds: float, rng: random.Random) -> list[tuple[_Run, int]]:
    """Draw repetitions, each figure as likely as any other, until they fill the time; at least the shortest one."""
    by_figure: dict[str, list[_Run]] = {}
    for run in runs:
        by_figure.setdefault(run.figure, []).append(run)
    names = sorted(by_figure)
    drawn: dict[tuple[str, int], tuple[_Run, int]] = {}
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


def _compare(drawn: list[tuple[_Run, int]], jobs: int) -> tuple[dict[str, Verified], str]:
    """Run repetitions anew; return what was compared of each result, and the first value that is not equal."""
    found = {run.result: Verified(0, 0, 0) for run, _ in drawn}
    first = ""
    with tempfile.TemporaryDirectory() as scratch, progress_bar(None, "verify") as progress:
        store = Store(scratch)
        fan = FanOut(store, jobs=jobs, runner=Runner())
        wanted = {(run.experiment.run_id, number): run for run, number in drawn}
        for (_, number), run in wanted.items():
            progress.expect(run.figure, run.experiment.settings["horizon"], 1)
            fan.add(run.experiment, [number])
        with fan.running():
            for answer in fan.answers():
                key: Key = answer.key  # type: ignore[assignment]
                run_id, number = key
                run = wanted[run_id, number]
                progress.advance(run.figure, run.experiment.settings["horizon"], answer.seconds)
                where = f"{run.figure}, {', '.join(run.labels.values())}, repetition {number}"
                then, before = run.committed[number], found[run.result]
                if answer.status == "failed":
                    found[run.result] = before._replace(repetitions=before.repetitions + 1, values=before.values + 1)
                    first = first or f"{where}: failed: {answer.error}"
                    continue
                now = thin(store.read(run_id, number), {}, run.config.curve_columns(), None, then.rounds)
                good, every, difference = _values(then, now, 0.0 if run.same_machine else TOLERANCE)
                found[run.result] = Verified(before.repetitions + 1, before.values + every, before.equal + good)
                first = first or (f"{where}, {difference}" if difference else "")
    return found, first


def _values(then: Kept, now: Kept, tolerance: float) -> tuple[int, int, str]:
    """Return how many values are equal, how many there are, and the first difference in words."""
    if then.rounds.tolist() != now.rounds.tolist():
        return 0, 1, f"rounds: committed {then.rounds[-1]}, now {now.rounds[-1]}"
    pairs: list[tuple[str, float | str, float | str]] = []
    for name in dict.fromkeys([*then.finals, *now.finals]):
        pairs.append((name, then.finals.get(name, math.nan), now.finals.get(name, math.nan)))
    for name, values in then.curves.items():
        others = now.curves.get(name, np.full(len(values), np.nan))
        pairs += [
            (f"{name} at round {round_}", a, b)
            for round_, a, b in zip(then.rounds.tolist(), values.tolist(), others.tolist(), strict=True)
        ]
    unequal = [(name, a, b) for name, a, b in pairs if not _equal(a, b, tolerance)]
    words = f"{unequal[0][0]}: committed {unequal[0][1]!r}, now {unequal[0][2]!r}" if unequal else ""
    return len(pairs) - len(unequal), len(pairs), words


def _equal(a: float | str, b: float | str, tolerance: float) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=tolerance)


if __name__ == "__main__":
    sys.exit(main())
