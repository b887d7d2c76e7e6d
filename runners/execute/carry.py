"""Carrying committed repetitions over to changed code: what the change leaves bit-identical need not be run again."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.errors import ConfigError
from bench.report.typeset import duration
from runners.execute.earlier import EarlierCode
from runners.execute.sample import play_again
from runners.results.capture import environment
from runners.results.committed import rename_runs
from runners.results.replay import CommittedRun
from runners.results.store import Store, results_folder, write_manifest, write_text

ENOUGH = 3
"""Number of equal repetitions of a run that prove it; where fewer are played, the states behind them are compared."""

EXAMPLES = 3
"""Number of runs, at most, whose states are compared for each variant of a part, until one of them is equal."""


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

    Of each run ``repetitions`` are played, the shortest first, for about ``seconds``; of runs that ``train`` an encoder
    first only if asked for. The committed ones get the new identity where every stored value comes out equal, bit for
    bit. If fewer than `ENOUGH` are played, tuner and task must also be in the same state after the first plays as with
    the code of the commit that made them, which fails where a class keeps its state in another form; states are
    compared for runs that together have every variant of each part. Of runs that train, `ENOUGH` are played. On another
    kind of machine a repetition that differs is played once more with the earlier code, and the two traces are
    compared. Nothing is carried of a run that differs, fails, or has other settings or data. What is played is kept
    among the raw runs, so that an interrupted call goes on where it was.

    Raises ConfigError when the checkout has changes that are not committed, since a proof names its commit.
    """
    code = environment()["git"]
    if code is None or code["dirty"]:
        raise ConfigError(
            "carry: found changes that are not committed (git status lists them), expected a clean checkout: "
            "a proof names its commit"
        )
    store = Store(results_folder())
    proofs = [Proof(run, _obstacle(run, train)) for run in runs if run.has_changed]
    if not proofs:
        print("nothing to carry over: no run has changed")
        return True
    planned = _leave_late(proofs, store, repetitions, seconds * jobs)
    then = "; then states are compared with those of the earlier code" if repetitions < ENOUGH else ""
    print(f"{len(planned)} repetitions to play, {duration(sum(planned.values()))} of processor time{then}", flush=True)
    playable = [proof for proof in proofs if not proof.difference]
    drawn = [(proof, number) for proof in playable for number in _first(proof.run, repetitions)]
    compared = play_again([(proof.run, number) for proof, number in drawn], store, jobs=jobs, words="carry")
    with EarlierCode(jobs) as earlier:
        _prove(drawn, [difference for _, _, difference in compared], earlier)
        if repetitions < ENOUGH:
            unproved = [proof for proof in playable if not (proof.difference or proof.run.trains_first)]
            _prove_states(unproved, earlier)
    for folder in dict.fromkeys(proof.run.folder for proof in proofs):
        _write(folder, [proof for proof in proofs if proof.run.folder == folder], code)
    _report(proofs)
    return not any(proof.difference for proof in proofs)


def _obstacle(run: CommittedRun, train: bool) -> str:
    """Return why a run cannot be proved here; "" if it can."""
    if not run.committed:
        return "no repetitions of it are committed"
    if not run.commits:
        return "it was made outside a checkout, by code of no known commit"
    if run.lacks_data:
        return "its data is missing here"
    if not run.same_inputs:
        return "its settings or its data have changed"
    if run.trains_first and not train:
        return f"it trains an encoder first; name its figure to play it (figure={run.name})"
    return ""


def _first(run: CommittedRun, repetitions: int) -> list[int]:
    """Return the repetitions to play: enough to prove a run whose states would need another training of its encoder."""
    return run.first(max(repetitions, ENOUGH) if run.trains_first else repetitions)


def _leave_late(
    proofs: Sequence[Proof], store: Store, repetitions: int, core_seconds: float
) -> dict[tuple[str, int], float]:
    """Leave runs that no time is left for, if the shortest are played first; return the seconds of those to play."""
    planned: dict[tuple[str, int], float] = {}
    for proof in sorted(proofs, key=lambda proof: proof.run.seconds):
        run_id = proof.run.experiment.run_id
        missing = set(_first(proof.run, repetitions)) - store.done(run_id) if not proof.difference else ()
        with_these = planned | {(run_id, number): proof.run.seconds for number in missing}
        if missing and sum(with_these.values()) > core_seconds:
            proof.difference = f"a repetition takes {proof.run.seconds:.0f} s, for which there was no time"
        else:
            planned = with_these
    return planned


def _prove(drawn: Sequence[tuple[Proof, int]], differences: Sequence[str], earlier: EarlierCode) -> None:
    """Note which repetitions differ; of those from another kind of machine, which differ from the earlier code's."""
    elsewhere: dict[int, list[Proof]] = {}
    for (proof, number), difference in zip(drawn, differences, strict=True):
        proof.repetitions += 1
        if difference and not proof.run.same_machine and not difference.startswith("failed: "):
            elsewhere.setdefault(number, []).append(proof)
        elif difference:
            proof.difference = proof.difference or f"repetition {number}, {difference}"
    for number, candidates in sorted(elsewhere.items()):
        of_number = [proof for proof in candidates if not proof.difference]
        of_traces = earlier.differences([proof.run for proof in of_number], number, plays=None)
        for proof, difference in zip(of_number, of_traces, strict=True):
            if difference:
                proof.difference = proof.difference or f"repetition {number}, {difference}"


def _prove_states(proofs: Sequence[Proof], earlier: EarlierCode) -> None:
    """Refuse runs whose values are equal, but not the states that they come from.

    States are compared for examples, the shortest runs: each variant of an environment, algorithm, tuner and task is in
    one of them. A variant is equal if it is in an example without a difference, of which there are up to `EXAMPLES`.
    """
    variants = [_variants(proof.run) for proof in proofs]
    shortest = sorted(range(len(proofs)), key=lambda place: proofs[place].run.seconds)
    equal: set[str] = set()
    differences: dict[int, str] = {}
    for _ in range(EXAMPLES):
        covered, examples = set(equal), []
        for place in shortest:
            if place not in differences and not variants[place] <= covered:
                covered |= variants[place]
                examples.append(place)
        of_examples = earlier.differences([proofs[place].run for place in examples])
        for place, difference in zip(examples, of_examples, strict=True):
            if difference:
                differences[place] = difference
            else:
                equal |= variants[place]
    for proof, of_run in zip(proofs, variants, strict=True):
        if unproved := of_run - equal:
            proof.difference = next(words for place, words in differences.items() if variants[place] & unproved)


def _variants(run: CommittedRun) -> set[str]:
    """Return the parts of a run with their options, without their numbers: the same variants run the same code."""

    def without_numbers(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without_numbers(item) for name, item in value.items()}
        if isinstance(value, list):
            return sorted({json.dumps(without_numbers(item)) for item in value})
        return "number" if isinstance(value, int | float) and not isinstance(value, bool) else value

    parts = run.experiment.settings.items()
    return {json.dumps([run.commits[-1], name, without_numbers(part)], sort_keys=True) for name, part in parts}


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
        if refused:
            print(f"  to run these again: python -m runners.reproduce figure={refused[0].run.name} scale=paper")
    distinct = {proof.run.run_id: proof for proof in proofs}.values()
    refused = [proof for proof in distinct if proof.difference]
    cost = sum(proof.run.seconds * len(proof.run.committed) for proof in refused)
    print(
        f"{len(distinct)} distinct runs, {sum(proof.repetitions for proof in distinct)} repetitions played, "
        f"{len(distinct) - len(refused)} carried, {len(refused)} not"
        + (f"; to run these again takes about {duration(cost)} of processor time" if refused else "")
    )
