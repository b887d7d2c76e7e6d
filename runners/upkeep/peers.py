"""Measure the suite beside other libraries: python -m runners.upkeep.peers [--only coba] [--repeats 7].

coba is installed into an environment of its own below ``.venv-peers``; obp is a dependency of the suite and uses its
environment. Both sides play the same problems by turns on one core, each time in a process of its own, and
seconds of the processor are counted. A library that cannot be installed is named with the reason. Writes
``results/benchmark/peers.csv`` and ``peers.md``, in which rows of libraries that are not measured stay.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from bench.algorithms.linucb import LinUCB
from bench.envs.contextual import ContextualEnvironment
from bench.envs.logged import LoggedData
from bench.errors import BenchError
from bench.loop import run
from bench.off_policy.estimators import Estimator, estimator_terms
from bench.report.tables import to_csv, to_markdown
from bench.seeding import Seeds
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.baselines import Fixed
from runners.cli import command
from runners.execute.limits import THREAD_VARIABLES
from runners.results.capture import environment
from runners.results.store import results_folder, write_text
from runners.upkeep.peers_libraries import Data, Loop, Player

_LIBRARIES = Path(__file__).with_name("peers_libraries.py")
_ROOT = Path(__file__).resolve().parents[2]
NUMBERS = [
    "ours_per_second", "theirs_per_second", "ratio", "ratio_low", "ratio_high", "our_result", "their_result",
    "random_result",
]  # fmt: skip
"""Columns that are empty where there is nothing."""

REQUIREMENTS = {"coba": ("coba==8.1.0", "numpy")}
"""What is installed for each library; those not named run in the suite's own environment."""


class PeerError(BenchError):
    """A library cannot be installed, or fails while it plays."""


@dataclass(frozen=True)
class Case:
    """A player of a library, ``peer`` on the package index, beside ours; ``decisions`` are those of a timed run."""

    peer: str
    does: str
    setting: str
    problem: str
    theirs: str
    ours: str
    decisions: int
    unit: str = "rounds"
    sizes: dict[str, int] = field(default_factory=dict)
    note: str = ""


_ARMS = ("features for each arm, one vector of coefficients", "arm_features", "coba", "linucb")
_LOG, _MEAN = ("10,000 rows, 10 actions", "log"), "the result is the mean estimate"
CASES = (
    Case("coba", "LinUCB, 5 x 25", *_ARMS, 2000),
    Case("coba", "LinUCB, 120 x 25", *_ARMS, 1000, sizes={"n_arms": 120}),
    Case("obp", "IPS", *_LOG, "obp_ips", "ips", 1000, "estimates", note=_MEAN),
    Case("obp", "self-normalised IPS", *_LOG, "obp_snips", "snips", 1000, "estimates", note=_MEAN),
    Case("obp", "doubly robust", *_LOG, "obp_dr", "dr", 1000, "estimates", note=_MEAN),
)


def arm_features(rng: np.random.Generator, rounds: int, n_arms: int = 5, dim: int = 25) -> Data:
    """Return arms with features, shape (rounds, arms, dim), the last of them 1, and one vector of coefficients.

    Means spread around 1/2 and rarely reach 0 or 1, where they are clipped; rewards are 0 and 1.
    """
    features, theta = rng.uniform(-1.0, 1.0, (rounds, n_arms, dim - 1)), rng.standard_normal(dim - 1)
    contexts = np.concatenate([features, np.ones((rounds, n_arms, 1))], axis=2)
    means = (0.5 + 0.3 * (features @ theta / np.linalg.norm(theta))).clip(0.0, 1.0)
    return {"contexts": contexts, "means": means, "rewards": (rng.random((rounds, 1)) < means).astype(float)}


def log(rng: np.random.Generator, rounds: int, rows: int = 10_000, n_actions: int = 10) -> Data:
    """Return a logged bandit data set, a model's predictions, and policies to be evaluated."""

    def policy() -> np.ndarray:
        raised = np.exp(rng.standard_normal((rows, n_actions)))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    means, logging = rng.uniform(0.1, 0.9, (rows, n_actions)), policy()
    action = (logging.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1).clip(max=n_actions - 1)
    reward = (rng.random(rows) < means[np.arange(rows), action]).astype(float)
    predictions = (means + 0.1 * rng.standard_normal(means.shape)).clip(0.0, 1.0)
    policies = np.stack([policy() for _ in range(min(rounds, 10))])
    return {"action": action, "reward": reward, "pscore": logging[np.arange(rows), action], "logging": logging,
            "predictions": predictions, "policies": policies}  # fmt: skip


PROBLEMS: dict[str, Callable[..., Data]] = {"arm_features": arm_features, "log": log}


def random_result(data: Data, rounds: int) -> float:
    """Return the regret that uniformly random arms would have; NaN where there are no arms."""
    if "means" not in data:
        return math.nan
    return float((data["means"][:rounds].max(axis=1) - data["means"][:rounds].mean(axis=1)).sum())


class SavedArms(ContextualEnvironment):
    """Arms whose features and rewards are given."""

    def __init__(self, data: Data) -> None:
        contexts, self._means, self._rewards = data["contexts"], data["means"], data["rewards"]
        self.sub_gaussian, self.feature_norm = 0.5, float(np.sqrt(contexts.shape[-1]))
        self.n_arms = self._means.shape[1]
        self.dim = contexts.shape[2]
        self._contexts = np.ascontiguousarray(contexts.transpose(0, 2, 1))  # along the arms, as the contract asks for
        self._best, self._average = self._means.max(axis=1).tolist(), self._means.mean(axis=1).tolist()

    def start(self, rounds: int, seeds: Seeds) -> None:
        self._round, self.choices = -1, list[Any]()

    def observe(self) -> np.ndarray:
        self._round += 1
        t = self._round
        self.means, self.best_mean, self.average_mean = self._means[t], self._best[t], self._average[t]
        return np.asarray(self._contexts[t].T)

    def pull(self, arm: int) -> float:
        self.choices.append(arm)
        return float(self._rewards[self._round, arm])


def _linucb(data: Data, rounds: int, seed: int) -> Loop:
    arms = SavedArms(data)

    def loop() -> list[Any]:
        run(ContextualBandit(arms, LinUCB()), Fixed(), rounds=rounds, seeds=Seeds(seed))
        return arms.choices

    return loop


def _estimated(estimator: Estimator, data: Data, rounds: int, seed: int) -> Loop:
    rows, policies = data["action"], data["policies"]
    logged = LoggedData(np.empty((len(rows), 0)), rows, data["reward"], data["pscore"], data["logging"])
    terms = partial(estimator_terms, estimator, logged, predictions=data["predictions"])
    return lambda: [float(terms(policies[t % len(policies)]).mean()) for t in range(rounds)]


PLAYERS: dict[str, Player] = {
    "linucb": _linucb,
    "ips": partial(_estimated, "ips"),
    "snips": partial(_estimated, "snips"),
    "dr": partial(_estimated, "dr"),
}


@cache
def install(peer: str) -> str:
    """Install a library into its environment, unless it is there; return the Python of that."""
    if peer not in REQUIREMENTS:
        return sys.executable
    folder, wanted = _ROOT / ".venv-peers" / peer, " ".join(REQUIREMENTS[peer])
    python, stamp = folder / "bin" / "python", folder / "installed"
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "-q", *REQUIREMENTS[peer]]
        answer = subprocess.run(pip, capture_output=True, text=True, check=False)
        if answer.returncode:
            raise PeerError(f"it cannot be installed: {answer.stderr.strip().splitlines()[-1]}")
        stamp.write_text(wanted)
    return str(python)


def play(distribution: str, player: str, python: str, data: Data, rounds: int, seed: int) -> dict[str, Any]:
    """Play in a process with one thread, if possible on one core: ``seconds, result, version``, or a PeerError."""
    environ = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
    environ.pop("PYTHONPATH", None)
    if player in PLAYERS:
        environ["PYTHONPATH"] = str(_ROOT)
    with tempfile.TemporaryDirectory() as scratch:
        np.savez(file := f"{scratch}/problem.npz", **dict[str, Any](data))
        words = [python, "-P", str(_LIBRARIES), distribution, player, file, str(rounds), str(seed)]
        child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ)
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(child.pid, {max(os.sched_getaffinity(0))})
        out, _ = child.communicate()
    if child.returncode:
        raise PeerError(f"its process ended with exit code {child.returncode}")
    answer: dict[str, Any] = json.loads(out.splitlines()[-1])  # libraries may print
    if "error" in answer:
        raise PeerError(answer["error"])
    return answer


def median_interval(values: Any) -> tuple[float, float, float]:
    """Return the median of ``values`` and an interval for the true one, from order statistics.

    The narrowest pair of order statistics, equally far from both ends, that holds the true median with a probability of
    at least 95 % whatever the distribution is; with fewer than six values, the smallest and the largest.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    skip = max(int(stats.binom.ppf(0.025, len(ordered), 0.5)) - 1, 0)
    return float(np.median(ordered)), float(ordered[skip]), float(ordered[-1 - skip])


def compare(case: Case, repeats: int) -> dict[str, Any]:
    """Play a case ``repeats`` times, each time another problem, by turns; return the row of the table."""
    row: dict[str, Any] = {"peer": case.peer, "version": "", "does": case.does, "setting": case.setting}
    row |= {"unit": case.unit, "decisions": case.decisions, "same_problem": True, "n": repeats}
    seconds, results = np.empty((2, repeats)), np.empty((3, repeats))
    try:
        sides = [("numpy", case.ours, sys.executable), (case.peer, case.theirs, install(case.peer))]
        for number in range(repeats):
            data = PROBLEMS[case.problem](np.random.default_rng([number, 1]), case.decisions, **case.sizes)
            results[2, number] = random_result(data, case.decisions)
            for side in (0, 1) if number % 2 == 0 else (1, 0):
                answer = play(*sides[side], data, case.decisions, number)
                seconds[side, number], results[side, number] = answer["seconds"], answer["result"]
                row["version"] = answer["version"] if side else row["version"]
    except PeerError as error:  # without the folders of this machine
        return row | {"n": 0, "reason": re.sub(r"(/[\w.+-]+)+/", "", str(error))}
    speeds = case.decisions / np.median(seconds, axis=1)
    numbers = [*speeds, *median_interval(seconds[1] / seconds[0]), *results.mean(axis=1)]
    return row | dict(zip(NUMBERS, map(float, numbers), strict=True)) | {"note": case.note, "reason": ""}


def markdown(every: pd.DataFrame, machine: Mapping[str, Any]) -> str:
    """Return the comparison as a page: the table, how to read it, what could not be measured."""
    table, failed = every[every["reason"] == ""], every[every["reason"] != ""]
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
        "Ratio: speed of the suite divided by that of the library, median over repetitions, in brackets its 95 % "
        "interval (order statistics; with fewer than 6 repetitions the smallest and the largest). "
        "Above 1 the suite is faster.",
        "Result: mean cumulative regret; of optimisers the loss at the best point asked for after the 1,000 trials; of "
        "estimators the mean estimate. Random: the regret of uniformly random choices.",
        f"Seconds of the processor, one process and one thread at a time, by turns; {counts} repetitions of each case, "
        "each with another problem, the same for both sides unless noted.",
        f"{machine.get('cpu')}, {machine.get('platform')}, Python {machine.get('python')}.",
        *(f"Not measured: {row.peer} {row.does}: {row.reason}" for row in failed.itertuples()),
    ]
    return to_markdown(shown, title="Beside other libraries", notes=notes).removeprefix("#")


def measure(libraries: list[str], repeats: int) -> bool:
    """Measure cases, print them and write the tables; return whether every case was measured."""
    file = results_folder() / "benchmark" / "peers.csv"
    before = read(file).to_dict("records") if file.exists() else []
    rows: dict[Any, dict[Any, Any]] = {(row["peer"], row["does"]): row for row in before}
    measured = [case for case in CASES if case.peer in libraries]
    for case in measured:
        rows[case.peer, case.does] = row = compare(case, repeats)
        print(", ".join(f"{key}: {value}" for key, value in row.items() if key != "note"), flush=True)
    write_text(file, to_csv(pd.DataFrame(list(rows.values())), digits=6))
    write_text(file.with_suffix(".md"), markdown(read(file), environment()))  # what the file says, to the last digit
    return all(rows[case.peer, case.does]["reason"] == "" for case in measured)


def read(file: Path) -> pd.DataFrame:
    """Return a table as it was written; numbers that there are not are NaN, other empty cells are ""."""
    return pd.read_csv(file, keep_default_na=False, na_values={name: [""] for name in NUMBERS})


def main(arguments: list[str]) -> int:
    """Measure, print, and write ``results/benchmark/``; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    libraries = list(dict.fromkeys(case.peer for case in CASES))
    parser.add_argument("--only", nargs="+", default=libraries, choices=libraries, help="libraries; default: all")
    parser.add_argument("--repeats", type=int, default=7, help="timed runs of each case, at most")
    options = parser.parse_args(arguments)
    return command(lambda: measure(options.only, options.repeats))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
