"""Compare the suite's speed with other libraries: python -m tools.peers [--repeats 7].

Both sides play the same problems in turn in one thread, and processor seconds are counted. coba and mabwiser need
``pip install coba==8.1.0 mabwiser==2.7.4``; obp is an extra of the suite. Writes ``results/benchmark/peers.csv`` and
``peers.md``.
"""

import argparse
import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from bench.report.tables import from_csv, to_csv, to_markdown
from runners.config.classes import version
from runners.execute.limits import one_thread
from runners.results.capture import environment
from runners.results.checksums import note
from runners.results.store import results_folder, write_text
from tools.players import (
    EPSILON,
    Data,
    Estimator,
    Player,
    arm_features,
    coba_linucb,
    epsilon_greedy,
    estimates,
    lints,
    linucb,
    log,
    mabwiser,
    obp_estimates,
    obp_policy,
    random_result,
    shared_contexts,
)

NUMBERS = [
    "ours_per_second", "theirs_per_second", "ratio", "ratio_low", "ratio_high", "our_result", "their_result",
    "random_result",
]  # fmt: skip
_WARM_UP = 20


@dataclass(frozen=True)
class Peer:
    """A case with the player of another library and our player.

    ``peer`` is the name of the library on the package index; ``decisions`` is the number of decisions in a timed run.
    """

    peer: str
    does: str
    setting: str
    problem: Callable[..., Data]
    theirs: Player
    ours: Player
    decisions: int
    unit: str = "rounds"
    sizes: dict[str, int] = field(default_factory=dict)
    note: str = ""


_ARMS = ("features for each arm, one vector of coefficients", arm_features, coba_linucb, linucb)
_TIES = "ties, as at the start, are broken in another way"


def _per_arm(peer: str, does: str, theirs: Player, ours: Player, decisions: int = 1000, note: str = "") -> Peer:
    setting = "one context for all, coefficients for each arm"
    return Peer(peer, f"{does}, 10 x 25", setting, shared_contexts, theirs, ours, decisions, note=note)


def _of_estimates(name: Estimator, does: str) -> Peer:
    sides = partial(obp_estimates, name), partial(estimates, name)
    note = "the result is the mean estimate"
    return Peer("obp", does, "10,000 rows, 10 actions", log, *sides, 1000, "estimates", note=note)


_ONE_MODEL = f"theirs is one model of 250 features; {_TIES}"
_DRAWS = "each draws its own random numbers"
_RIDGE, _ALPHA, _EPSILON = {"l2_lambda": 1.0}, {"alpha": 1.0}, {"epsilon": EPSILON}

CASES = (
    Peer("coba", "LinUCB, 5 x 25", *_ARMS, 2000),
    Peer("coba", "LinUCB, 120 x 25", *_ARMS, 1000, sizes={"n_arms": 120}),
    _per_arm("coba", "LinUCB per arm", coba_linucb, linucb, 300, _ONE_MODEL),
    _per_arm("mabwiser", "LinUCB per arm", partial(mabwiser, "LinUCB", _RIDGE | _ALPHA), linucb),
    _per_arm("obp", "LinUCB per arm", partial(obp_policy, "LinUCB", {"epsilon": 1.0}), linucb, note=_TIES),
    _per_arm("mabwiser", "LinTS per arm", partial(mabwiser, "LinTS", _RIDGE | _ALPHA), lints, note=_DRAWS),
    _per_arm("obp", "LinTS per arm", partial(obp_policy, "LinTS", {}), lints, note=_DRAWS),
    _per_arm("mabwiser", "epsilon-greedy per arm", partial(mabwiser, "LinGreedy", _RIDGE | _EPSILON), epsilon_greedy,
             note=_DRAWS),
    _per_arm("obp", "epsilon-greedy per arm", partial(obp_policy, "LinEpsilonGreedy", _EPSILON), epsilon_greedy,
             note=_DRAWS),
    _of_estimates("ips", "IPS"),
    _of_estimates("snips", "self-normalised IPS"),
    _of_estimates("dr", "doubly robust"),
)  # fmt: skip


def result_of(choices: Any, data: Data) -> float:
    """Return the cumulative regret of the choices, or the mean if the choices are estimates."""
    if "policies" in data:
        return float(np.mean(choices))
    means = data["means"][: len(choices)]
    return float((means.max(axis=1) - means[np.arange(len(choices)), choices]).sum())


def play(player: Player, data: Data, rounds: int, seed: int) -> tuple[float, float]:
    """Return the processor seconds and the result of a player."""
    player(data, min(_WARM_UP, rounds), seed)()  # compiles and imports
    loop = player(data, rounds, seed)
    gc.collect()
    start = time.process_time()
    choices = loop()
    return time.process_time() - start, result_of(choices, data)


def compare(case: Peer, repeats: int) -> dict[str, Any]:
    """Play a case ``repeats`` times, each time on another problem, and return a row of the table.

    Both sides play in turn.
    """
    seconds, results = np.empty((2, repeats)), np.empty((3, repeats))
    for number in range(repeats):
        data = case.problem(np.random.default_rng([number, 1]), case.decisions, **case.sizes)
        results[2, number] = random_result(data, case.decisions)
        sides = list(enumerate((case.ours, case.theirs)))
        for side, player in sides if number % 2 == 0 else sides[::-1]:
            seconds[side, number], results[side, number] = play(player, data, case.decisions, number)
    speeds = case.decisions / np.median(seconds, axis=1)
    ratios = seconds[1] / seconds[0]
    numbers = [*speeds, np.median(ratios), ratios.min(), ratios.max(), *results.mean(axis=1)]
    row: dict[str, Any] = {"peer": case.peer, "version": version(case.peer), "does": case.does}
    row |= {"setting": case.setting, "unit": case.unit, "decisions": case.decisions, "same_problem": True, "n": repeats}
    return row | dict(zip(NUMBERS, map(float, numbers), strict=True)) | {"note": case.note}


def markdown(table: pd.DataFrame, machine: Mapping[str, Any]) -> str:
    """Return the comparison as a Markdown page with the table and its explanation."""
    digits = table[NUMBERS].map(lambda x: "" if x != x else f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.4g}")
    shown = pd.DataFrame({"library": table["peer"] + " " + table["version"]})
    shown["what"] = table["does"] + " (" + table["setting"] + ")"
    shown[["decisions", "unit"]] = table[["decisions", "unit"]]
    shown[["ours per second", "theirs per second"]] = digits[["ours_per_second", "theirs_per_second"]]
    ends = table[["ratio", "ratio_low", "ratio_high"]].itertuples(index=False)
    shown["ratio"] = [f"{ratio:.3g} [{low:.3g}, {high:.3g}]" for ratio, low, high in ends]
    shown[["our result", "their result", "random"]] = digits[["our_result", "their_result", "random_result"]]
    shown["note"] = table["note"]
    counts = " or ".join(map(str, sorted(set(table["n"]))))
    notes = [
        "Ratio: speed of the suite divided by that of the library, median over repetitions, in brackets the smallest "
        "and the largest. Above 1 the suite is faster.",
        "Result: mean cumulative regret; of estimators the mean estimate. Random: the regret of random choices.",
        f"Seconds of the processor, one process and one thread at a time, by turns; {counts} repetitions of each case, "
        "each with another problem, the same for both sides unless noted.",
        f"{machine.get('cpu')}, {machine.get('platform')}, Python {machine.get('python')}.",
    ]
    return to_markdown(shown, title="Compared with other libraries", notes=notes).removeprefix("#")


def measure(cases: Sequence[Peer], repeats: int) -> None:
    """Measure the cases, print the results and write the tables."""
    if missing := sorted({case.peer for case in cases if version(case.peer) is None}):
        raise SystemExit(f"error: not installed: {', '.join(missing)}; run `make benchmark PEERS=1`")
    file, rows = results_folder() / "benchmark" / "peers.csv", []
    for case in cases:
        with one_thread():
            rows.append(compare(case, repeats))
        print(", ".join(f"{key}: {value}" for key, value in rows[-1].items() if key != "note"), flush=True)
    write_text(file, to_csv(pd.DataFrame(rows), digits=6))
    write_text(
        file.with_suffix(".md"), markdown(from_csv(file), environment())
    )  # the file's content, to the last digit
    note(results_folder(), [file.parent])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7, help="timed runs of each case")
    measure(CASES, parser.parse_args().repeats)
