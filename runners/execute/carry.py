"""Carrying committed repetitions over to changed code: what the change leaves bit-identical need not be run again."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from bench.errors import ConfigError
from runners.config.runner import Runner
from runners.execute.earlier import EarlierCode
from runners.execute.fanout import FanOut, Key
from runners.execute.progress import progress_bar
from runners.results.aggregate import thin
from runners.results.capture import environment
from runners.results.committed import rename_runs
from runners.results.replay import CommittedRun, compare
from runners.results.store import Store, results_folder, write_manifest, write_text


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
    """Play committed runs whose identity has changed, rename those that come out the same; return whether all did.

    The committed repetitions of a run are written under its new identity where every value that is stored of them comes
    out equal, bit for bit, and tuner and task are in the same state after the first plays as with the code of the
    commit that made them; states are compared for one run of each combination of classes and options. On another kind
    of machine than made them, last digits may differ without a change of the code; a repetition that differs there is
    played once more with the code of the commit that made it, and the two traces are compared. Nothing is carried of a
    run that differs, fails, or has other settings or data than before.

    What is played is kept among the raw runs, so that an interrupted call goes on where it was.

    Parameters
    ----------
    runs
        Committed runs; those whose identity has not changed are left as they are.
    repetitions
        How many of the committed repetitions of each run are played, the shortest runs first.
    seconds
        About how long they may take; what is then left waits for another call.
    train
        Whether runs that train an encoder first are played, too.

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
        earlier = EarlierCode(stack, jobs)
        proofs = [_prove(run, store, repetitions, failed, earlier) for run in playable]
        proofs = _prove_states(proofs, earlier)
    proofs = [Proof(run, 0, obstacles[id(run)]) for run in changed if obstacles[id(run)]] + proofs
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
            difference = earlier.trace_difference(run, number, trace)
        if difference:
            return Proof(run, len(numbers), f"repetition {number}, {difference}")
    return Proof(run, len(numbers), "")


def _prove_states(proofs: Sequence[Proof], earlier: EarlierCode) -> list[Proof]:
    """Refuse runs whose values are equal, but not the states that they come from."""
    equal = [proof.run for proof in proofs if not proof.difference]
    examples: dict[str, CommittedRun] = {}
    for run in equal:
        examples.setdefault(_options(run), run)
    differences = dict(zip(examples, earlier.state_differences(list(examples.values())), strict=True))
    return [
        proof if proof.difference else proof._replace(difference=differences[_options(proof.run)]) for proof in proofs
    ]


def _options(run: CommittedRun) -> str:
    """Return the settings of a run without their numbers: runs with the same options run through the same code."""
    settings = run.experiment.settings

    def without_numbers(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without_numbers(item) for name, item in value.items()}
        if isinstance(value, list):
            return sorted({json.dumps(without_numbers(item)) for item in value})
        return "number" if isinstance(value, int | float) and not isinstance(value, bool) else value

    return json.dumps([run.commits, without_numbers(settings)], sort_keys=True)


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
