"""Carrying committed repetitions over to changed code: what the change leaves bit-identical need not be run again."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.errors import ConfigError
from runners.config.runner import Runner
from runners.execute.earlier import EarlierCode
from runners.execute.fanout import Key, play_all
from runners.results.aggregate import thin
from runners.results.capture import environment
from runners.results.committed import rename_runs
from runners.results.replay import CommittedRun, compare
from runners.results.store import Store, results_folder, write_manifest, write_text


@dataclass
class Proof:
    """A committed run whose identity has changed: the first ``difference``, or why nothing was played; "" if equal."""

    run: CommittedRun
    difference: str
    repetitions: int = 0


def carry(
    runs: Sequence[CommittedRun],
    *,
    jobs: int,
    repetitions: int = 1,
    seconds: float = math.inf,
    train: bool = False,
) -> bool:
    """Play committed runs whose identity has changed, rename those that come out the same; return whether all did.

    Of each run ``repetitions`` are played, the shortest first, for about ``seconds``; runs that ``train`` an encoder
    first only if asked for. The committed ones get the new identity where every stored value comes out equal, bit for
    bit, and tuner and task are in the same state after the first plays as with the code of the commit that made them;
    states are compared for one run of each combination of classes and options. On another kind of machine a repetition
    that differs is played once more with the earlier code, and the two traces are compared. Nothing is carried of a run
    that differs, fails, or has other settings or data. What is played is kept among the raw runs, so that an
    interrupted call goes on where it was.

    Raises ConfigError when the checkout has changes that are not committed, since a proof names its commit.
    """
    code = environment()["git"]
    if code is None or code["dirty"]:
        raise ConfigError(
            "carry: found code that is not committed, expected a clean checkout: a proof names its commit"
        )
    store = Store(results_folder())
    proofs = [Proof(run, _obstacle(run, train)) for run in runs if run.has_changed]
    _leave_late(proofs, store, repetitions, seconds * jobs)
    playable = [proof for proof in proofs if not proof.difference]
    missing = [
        (proof.run.experiment, set(proof.run.first(repetitions)) - store.done(proof.run.experiment.run_id))
        for proof in playable
    ]
    answers = play_all(missing, store, jobs=jobs, runner=Runner(), words="carry")
    errors = {answer.key: answer.error for answer in answers if answer.status == "failed"}
    with EarlierCode(jobs) as earlier:
        for proof in playable:
            _prove(proof, store, repetitions, errors, earlier)
        _prove_states([proof for proof in playable if not proof.difference], earlier)
    for folder in dict.fromkeys(proof.run.folder for proof in proofs):
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


def _leave_late(proofs: Sequence[Proof], store: Store, repetitions: int, core_seconds: float) -> None:
    """Leave runs that no time is left for, if the shortest are played first."""
    counted: set[Key] = set()
    for proof in sorted(proofs, key=lambda proof: proof.run.seconds):
        run_id = proof.run.experiment.run_id
        missing = set(proof.run.first(repetitions)) - store.done(run_id) if not proof.difference else ()
        new = {(run_id, number) for number in missing} - counted
        core_seconds -= proof.run.seconds * len(new)
        counted |= new
        if missing and core_seconds < 0:
            proof.difference = f"a repetition takes {proof.run.seconds:.0f} s, for which there was no time"


def _prove(proof: Proof, store: Store, repetitions: int, errors: Mapping[Key, str], earlier: EarlierCode) -> None:
    """Compare what was played of a run with what is committed."""
    run, run_id = proof.run, proof.run.experiment.run_id
    numbers = run.first(repetitions)
    proof.repetitions = len(numbers)
    for number in numbers:
        if (run_id, number) in errors:
            proof.difference = f"repetition {number} failed: {errors[run_id, number]}"
            return
        then, trace = run.committed[number], store.read(run_id, number)
        now = thin(trace, {}, run.figure.curve_columns(), None, then.rounds)
        _, _, difference = compare(then, now)
        if difference and not run.same_machine:
            difference = earlier.trace_difference(run, number, trace)
        if difference:
            proof.difference = f"repetition {number}, {difference}"
            return


def _prove_states(proofs: Sequence[Proof], earlier: EarlierCode) -> None:
    """Refuse runs whose values are equal, but not the states that they come from."""
    examples = {_options(proof.run): proof.run for proof in reversed(proofs)}
    differences = dict(zip(examples, earlier.state_differences(list(examples.values())), strict=True))
    for proof in proofs:
        proof.difference = differences[_options(proof.run)]


def _options(run: CommittedRun) -> str:
    """Return the settings of a run without their numbers: runs with the same options run through the same code."""

    def without_numbers(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without_numbers(item) for name, item in value.items()}
        if isinstance(value, list):
            return sorted({json.dumps(without_numbers(item)) for item in value})
        return "number" if isinstance(value, int | float) and not isinstance(value, bool) else value

    return json.dumps([run.commits, without_numbers(run.experiment.settings)], sort_keys=True)


def _write(folder: Path, proofs: Sequence[Proof], code: Mapping[str, Any]) -> None:
    """Give the runs of a result that were proved their new names, and note the proof beside them."""
    repetitions = {proof.run.run_id: proof.repetitions for proof in proofs if not proof.difference}
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
