"""Carrying committed repetitions over to changed code: what the change leaves bit-identical need not be run again."""

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from bench.errors import ConfigError, StoreError
from runners.config.runner import Runner
from runners.execute.fanout import FanOut, Key
from runners.execute.progress import progress_bar
from runners.results.aggregate import thin
from runners.results.capture import environment
from runners.results.committed import rename_runs
from runners.results.replay import CommittedRun, compare
from runners.results.store import Store, results_folder, write_manifest, write_text

ROOT = Path(__file__).resolve().parents[2]


class Proof(NamedTuple):
    """What was found of a committed run whose identity has changed.

    Parameters
    ----------
    run
        Which.
    repetitions
        Number of repetitions that were played again.
    difference
        The first value that differs, or why nothing was played; "" where every value is equal.
    """

    run: CommittedRun
    repetitions: int
    difference: str


def carry(
    runs: Sequence[CommittedRun],
    *,
    jobs: int,
    repetitions: int = 1,
    seconds: float = math.inf,
    train: bool = False,
) -> bool:
    """Play repetitions of committed runs whose identity has changed, and rename the runs that come out the same.

    Where every value that is stored of them comes out equal, bit for bit, the committed repetitions of a run are
    written under its new identity. On another kind of machine than made them, last digits may differ without a change
    of the code; a repetition that differs there is played once more with the code of the commit that made it, and the
    two traces are compared. Nothing is carried of a run that differs, fails, or has other settings or data than before.

    What is played is kept among the raw runs, so that an interrupted call goes on where it was.

    Parameters
    ----------
    runs
        Committed runs; those whose identity has not changed are left as they are.
    jobs
        Number of worker processes.
    repetitions
        How many of the committed repetitions of each run are played, the shortest runs first.
    seconds
        About how long they may take; what is then left waits for another call.
    train
        Whether runs that train an encoder first are played, too.

    Returns
    -------
    bool
        Whether all of them were carried.

    Raises
    ------
    ConfigError
        When the checkout has changes that are not committed, since a proof names its commit.
    """
    code = environment()["git"]
    if code is None or code["dirty"]:
        raise ConfigError(
            "carry: found code that is not committed, expected a clean checkout: a proof names its commit"
        )
    changed = [run for run in runs if run.has_changed]
    store = Store(results_folder())
    obstacles = {id(run): _obstacle(run, train) for run in changed}
    playable = sorted((run for run in changed if not obstacles[id(run)]), key=lambda run: run.seconds)
    late = _late(playable, store, repetitions, seconds * jobs)
    obstacles |= {id(run): f"a repetition takes {run.seconds:.0f} s, for which there was no time" for run in late}
    playable = [run for run in playable if not obstacles[id(run)]]
    failed = _play(playable, store, jobs, repetitions)
    with ExitStack() as stack:
        earlier = EarlierCode(stack)
        proofs = [Proof(run, 0, obstacles[id(run)]) for run in changed if obstacles[id(run)]]
        proofs += [_prove(run, store, repetitions, failed, earlier) for run in playable]
    for folder in dict.fromkeys(run.folder for run in changed):
        _write(folder, [proof for proof in proofs if proof.run.folder == folder], code)
    _report(proofs)
    return not any(proof.difference for proof in proofs)


def _obstacle(run: CommittedRun, train: bool) -> str:
    """Return why a run cannot be proved here; "" if it can."""
    if not run.committed:
        return "no repetitions of it are committed"
    if run.lacks_data:
        return "its data is missing here"
    if not run.same_inputs:
        return "its settings or its data have changed"
    if run.trains_first and not train:
        return f"it trains an encoder first; name its figure to play it (figure={run.name})"
    return ""


def _late(runs: Sequence[CommittedRun], store: Store, repetitions: int, core_seconds: float) -> Iterator[CommittedRun]:
    """Yield the runs that no time is left for, if they are played in this order."""
    counted: set[str] = set()
    for run in runs:
        run_id = run.experiment.run_id
        missing = set(run.first(repetitions)) - store.done(run_id)
        if run_id not in counted:
            core_seconds -= run.seconds * len(missing)
            counted.add(run_id)
        if missing and core_seconds < 0:
            yield run


def _play(runs: Sequence[CommittedRun], store: Store, jobs: int, repetitions: int) -> dict[Key, str]:
    """Run what is missing in the store, the shortest first; return the errors of what failed."""
    failed: dict[Key, str] = {}
    fan = FanOut(store, jobs=jobs, runner=Runner())
    with progress_bar(None, "carry") as progress:
        horizons: dict[Key, int] = {}
        for run in runs:
            run_id, horizon = run.experiment.run_id, run.experiment.settings["horizon"]
            missing = [number for number in run.first(repetitions) if (run_id, number) not in horizons]
            horizons |= {(run_id, number): horizon for number in missing}
            missing = sorted(set(missing) - store.done(run_id))
            progress.expect("", horizon, len(missing))
            fan.add(run.experiment, missing)
        with fan.running():
            for answer in fan.answers():
                key: Key = answer.key  # type: ignore[assignment]
                progress.advance("", horizons[key], answer.seconds)
                if answer.status == "failed":
                    failed[key] = answer.error
    return failed


def _prove(run: CommittedRun, store: Store, repetitions: int, failed: dict[Key, str], earlier: "EarlierCode") -> Proof:
    """Compare what was played of a run with what is committed."""
    run_id, numbers = run.experiment.run_id, run.first(repetitions)
    for number in numbers:
        if (run_id, number) in failed:
            return Proof(run, len(numbers), f"repetition {number} failed: {failed[run_id, number]}")
        then, trace = run.committed[number], store.read(run_id, number)
        now = thin(trace, {}, run.figure.curve_columns(), None, then.rounds)
        _, _, difference = compare(then, now)
        if difference and not run.same_machine:
            difference = earlier.difference(run, number, trace)
        if difference:
            return Proof(run, len(numbers), f"repetition {number}, {difference}")
    return Proof(run, len(numbers), "")


class EarlierCode:
    """The code that made committed runs, by commit, to run it beside the changed code on this machine."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._checkouts: dict[str, Path] = {}
        self._traces: dict[Key, pd.DataFrame | str] = {}

    @cached_property
    def _results(self) -> str:
        return self._stack.enter_context(tempfile.TemporaryDirectory())

    def difference(self, run: CommittedRun, number: int, now: pd.DataFrame) -> str:
        """Return the first difference between a trace of today's code and that of the earlier code; "" if none."""
        key = run.run_id, number
        if key not in self._traces:
            self._traces[key] = self._trace(run, number)
        then = self._traces[key]
        if isinstance(then, str):
            return then
        for name in dict.fromkeys([*then.columns, *now.columns]):
            if name not in now or name not in then or not then[name].equals(now[name]):
                return f"{name}: differs from that of the earlier code on this machine"
        return ""

    def _trace(self, run: CommittedRun, number: int) -> pd.DataFrame | str:
        reason = ""
        for commit in run.commits:
            trace = self._trace_of(commit, run, number)
            if not isinstance(trace, str):
                return trace
            reason = reason or trace
        return reason

    def _trace_of(self, commit: str, run: CommittedRun, number: int) -> pd.DataFrame | str:
        if commit not in self._checkouts:
            self._checkouts[commit] = self._stack.enter_context(_checkout(commit))
        checkout = self._checkouts[commit]
        words = [*run.overrides, f"repetitions={number + 1}", "jobs=1", "output=json"]
        answer = subprocess.run(
            [sys.executable, "-m", "runners.run", *words],
            cwd=checkout,
            env={**os.environ, "PYTHONPATH": str(checkout), "BENCH_RESULTS_DIR": self._results},
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            run_id = json.loads(answer.stdout.splitlines()[-1])["run_id"]
        except (IndexError, ValueError, KeyError):
            return f"commit {commit[:10]} does not run it here: {answer.stderr.strip().splitlines()[-1:]}"
        if run_id != run.run_id:
            return f"commit {commit[:10]} names the run {run_id}, expected {run.run_id}"
        try:
            return Store(self._results).read(run_id, number)
        except StoreError as error:
            return str(error)


@contextmanager
def _checkout(commit: str) -> Iterator[Path]:
    """Check out a commit into a folder of its own while the block runs."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "checkout")
        git = ["git", "-C", str(ROOT), "worktree"]
        answer = subprocess.run(
            [*git, "add", "--detach", str(folder), commit], capture_output=True, text=True, check=False
        )
        if answer.returncode:
            raise ConfigError(f"carry: git cannot check out the commit {commit} ({answer.stderr.strip()})")
        try:
            yield folder
        finally:
            subprocess.run([*git, "remove", "--force", str(folder)], capture_output=True, check=False)


def _write(folder: Path, proofs: Sequence[Proof], code: Mapping[str, Any]) -> None:
    """Give the runs of a result that were proved their new names, and note the proof beside them."""
    names = {proof.run.run_id: proof.run.experiment.run_id for proof in proofs if not proof.difference}
    if not names:
        return
    rename_runs(folder, names)
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    for entry in manifest["runs"]:
        entry["run_id"] = names.get(entry["run_id"], entry["run_id"])
    made: dict[str, Any] = json.loads((folder / "environment.json").read_text())
    made["seconds_per_repetition"] = {
        names.get(run_id, run_id): seconds for run_id, seconds in made["seconds_per_repetition"].items()
    }
    repetitions = {proof.run.run_id: proof.repetitions for proof in proofs if not proof.difference}
    proof = {
        "from": made["git"]["commit"],
        "to": code["commit"],
        "date": datetime.now(UTC).date().isoformat(),
        "runs": len(names),
        "repetitions": sum(repetitions.values()),
    }
    made["carried"] = [*made.get("carried", []), proof]
    if not any(proof.difference for proof in proofs):  # else some runs are still those of the earlier commit
        made["git"] = code
    write_manifest(folder, manifest)
    write_text(folder / "environment.json", json.dumps(made, indent=1))


def _report(proofs: Sequence[Proof]) -> None:
    """Print a line for each result, and one for each run that was not carried."""
    for result in dict.fromkeys(proof.run.result for proof in proofs):
        of_result = [proof for proof in proofs if proof.run.result == result]
        refused = [proof for proof in of_result if proof.difference]
        print(f"{result}: {len(of_result) - len(refused)} of {len(of_result)} runs carried")
        for proof in refused:
            print(f"  not carried: {', '.join(proof.run.labels.values())}: {proof.difference}")
    distinct = {proof.run.run_id: proof for proof in proofs}.values()
    refused = [proof for proof in distinct if proof.difference]
    cost = sum(proof.run.seconds * len(proof.run.committed) for proof in refused) / 3600.0
    print(
        f"{len(distinct)} runs, {sum(proof.repetitions for proof in distinct)} repetitions played, "
        f"{len(distinct) - len(refused)} carried, {len(refused)} not"
        + (f"; to run these again takes about {cost:.2f} core-hours" if refused else "")
    )
