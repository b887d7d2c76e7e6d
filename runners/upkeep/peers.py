"""Measure the suite beside other libraries: python -m runners.upkeep.peers [--only coba obp] [--repeats 7].

Each library is installed into an environment of its own below ``.venv-peers``; obp, scikit-optimize and Optuna are
dependencies of the suite and use its environment. Both sides play the same problems by turns on one core, each time in
a process of its own, and seconds of the processor are counted. A library that cannot be installed is named with the
reason. Writes ``results/benchmark/peers.csv`` and ``peers.md``; with ``--only`` the rows of other libraries stay.
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
from bench.envs.direct import DirectEnvironment
from bench.envs.logged import LoggedData
from bench.errors import BenchError
from bench.loop import run
from bench.off_policy.estimators import Estimator, estimator_terms
from bench.report.tables import to_csv, to_markdown
from bench.seeding import Seeds
from bench.space import Configuration, Space
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tasks.direct import Direct
from bench.tuners.base import Problem, Tuner
from bench.tuners.baselines import Fixed
from bench.tuners.exp3 import EXP3
from bench.tuners.gp_ucb import GPUCB
from bench.tuners.optuna_tuner import TPE
from bench.tuners.ucb import UCB1
from bench.tuners.zooming import Zooming
from runners.cli import command
from runners.results.capture import environment
from runners.results.store import results_folder, write_text
from runners.upkeep.peers_libraries import Data, Loop, Player, bowl

_LIBRARIES = Path(__file__).with_name("peers_libraries.py")
_ROOT = Path(__file__).resolve().parents[2]
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
NUMBERS = [
    "ours_per_second", "theirs_per_second", "ratio", "ratio_low", "ratio_high", "our_result", "their_result",
    "random_result",
]  # fmt: skip
"""Columns that are empty where there is nothing."""

REQUIREMENTS: dict[str, tuple[str, ...]] = {
    "coba": ("coba==8.1.0", "numpy"),
    "vowpalwabbit": ("vowpalwabbit==9.11.9", "numpy"),
    "mabwiser": ("mabwiser==2.7.4",),
    "contextualbandits": ("contextualbandits==0.3.30",),
    # Its last release imports scipy.special.btdtri, which SciPy 1.14 removed
    "SMPyBandits": ("SMPyBandits==0.9.7", "scipy<1.14", "numpy<2", "pandas<3", "scikit-learn<1.6"),
    "PyXAB": ("PyXAB==0.3.0",),
}
"""What is installed for each library; those not named run in the suite's own environment."""


class PeerError(BenchError):
    """A library cannot be installed, or fails while it plays."""


@dataclass(frozen=True)
class Case:
    """A player of a library beside ours; ``peer`` is its name on the package index.

    ``our_problem`` is ours where the suite cannot play the same one: then the work is alike, the regrets are not to be
    compared. ``decisions`` are those of a timed run, ``most`` limits the repetitions of a case that takes minutes.
    """

    peer: str
    does: str
    setting: str
    problem: str
    theirs: str
    ours: str
    decisions: int
    unit: str = "rounds"
    sizes: dict[str, int] = field(default_factory=dict)
    our_problem: str = ""
    note: str = ""
    most: int = 1000


_SMALL, _LARGE = {"n_arms": 5, "dim": 25}, {"n_arms": 120, "dim": 25}
_ARMS = "features for each arm, one vector of coefficients"
_SHARED = "a shared context, a vector of coefficients for each arm"
_BLOCKS = "the suite has no model with coefficients for each arm and plays it as one of 125 features"
_OTHER = (
    "not the same problem: the suite would have to play it as one of 3,000 features, so it plays arms with features of "
    "their own, which is the same arithmetic (120 quadratic forms of 25 features); its regret is not comparable"
)
_REGCB = "RegCB (optimistic), which learns by gradient steps instead of ridge regression; "
_TEXT = f"{_REGCB}the time includes writing the features as text, its input format"
_PREPARED = f"{_REGCB}the features were written as text beforehand"
_GP = (
    "refits its covariance and searches the whole square at each ask; ours maximises over 1,000 fixed points and "
    "refits when the number of trials has doubled; the trials before are random ones there, its own here; the suite's "
    "gp_minimize calls scikit-optimize and takes its time"
)
_ZOOMING = "each with its own default constants; PyXAB's active points are those of a binary tree"
_PULLS = "gamma = 0.05; SMPyBandits pulls every arm once before it draws"
_TRIALS = "2 hyper-parameters, after 1,000 trials"
_TPE = "ours is Optuna's sampler, told each trial once; densities and choices are Optuna's"
_ROWS, _ESTIMATE = "10,000 rows, 10 actions", "the result is the mean estimate"
CASES = (
    *(
        Case(peer, f"{does}, {arms} x 25", _ARMS, "arm_features", theirs, "linucb", rounds, sizes=sizes, note=note)
        for peer, does, theirs, note in (
            ("coba", "LinUCB", "coba", ""),
            ("vowpalwabbit", "RegCB", "vw_regcb", _TEXT),
            ("vowpalwabbit", "RegCB on prepared text", "vw_regcb_prepared", _PREPARED),
        )
        for arms, sizes, rounds in ((5, _SMALL, 2000), (120, _LARGE, 1000))
    ),
    *(
        Case(peer, f"LinUCB, {arms} x 25", _SHARED, "shared_context", peer, "linucb", n, "rounds", sizes, other, note)
        for peer, large in (("mabwiser", 200), ("contextualbandits", 300), ("obp", 500))
        for arms, n, sizes, other, note in (
            (5, 1000, _SMALL, "", _BLOCKS), (120, large, _LARGE, "arm_features", _OTHER),
        )
    ),
    *(
        Case("obp", does, _ROWS, "log", f"obp_{ours}", ours, 1000, "estimates", note=_ESTIMATE)
        for does, ours in (("IPS", "ips"), ("self-normalised IPS", "snips"), ("doubly robust", "dr"))
    ),
    Case("SMPyBandits", "UCB1", "10 Bernoulli arms", "bernoulli", "smpybandits_ucb1", "ucb1", 10_000),
    Case("SMPyBandits", "EXP3", "10 Bernoulli arms", "bernoulli", "smpybandits_exp3", "exp3", 10_000, note=_PULLS),
    Case("PyXAB", "Zooming", "a function on [0, 1]", "line", "pyxab", "zooming", 5000, note=_ZOOMING),
    Case("scikit-optimize", "Gaussian process", _TRIALS, "optimise", "skopt", "gp_ucb", 1, "asks", note=_GP, most=3),
    Case("optuna", "TPE", _TRIALS, "optimise", "optuna", "tpe", 100, "asks", note=_TPE),
)  # fmt: skip


# Problems as arrays: rewards are drawn before any arm is chosen


def _arms(rng: np.random.Generator, scores: np.ndarray) -> dict[str, np.ndarray]:
    """Return means that spread around 1/2 and rarely reach 0 or 1, where they are clipped, and rewards of 0 and 1."""
    means = (0.5 + 0.3 * scores).clip(0.0, 1.0)
    return {"means": means, "rewards": (rng.random((len(means), 1)) < means).astype(float)}


def arm_features(rng: np.random.Generator, rounds: int, n_arms: int = 5, dim: int = 25) -> Data:
    """Return arms with features, shape (rounds, arms, dim), the last of them 1, and one vector of coefficients."""
    features, theta = rng.uniform(-1.0, 1.0, (rounds, n_arms, dim - 1)), rng.standard_normal(dim - 1)
    contexts = np.concatenate([features, np.ones((rounds, n_arms, 1))], axis=2)
    return {"contexts": contexts, **_arms(rng, features @ theta / np.linalg.norm(theta))}


def shared_context(rng: np.random.Generator, rounds: int, n_arms: int = 5, dim: int = 25) -> Data:
    """Return one context a round, shape (rounds, dim), the last entry 1, and a vector of coefficients for each arm."""
    features, theta = rng.uniform(-1.0, 1.0, (rounds, dim - 1)), rng.standard_normal((n_arms, dim - 1))
    contexts = np.concatenate([features, np.ones((rounds, 1))], axis=1)
    return {"contexts": contexts, **_arms(rng, features @ (theta / np.linalg.norm(theta, axis=1, keepdims=True)).T)}


def bernoulli(rng: np.random.Generator, rounds: int, n_arms: int = 10) -> Data:
    """Return arms whose means lie evenly between 0.1 and 0.9, in random order."""
    means = np.tile(rng.permutation(np.linspace(0.1, 0.9, n_arms)), (rounds, 1))
    return {"means": means, "rewards": (rng.random((rounds, 1)) < means).astype(float)}


def line(rng: np.random.Generator, rounds: int) -> Data:
    """Return the function 1 - |x - peak| on [0, 1], with normal noise."""
    noise = 0.1 * rng.standard_normal(rounds)
    return {"peak": np.array(rng.uniform(0.1, 0.9)), "noise": noise}


def optimise(rng: np.random.Generator, rounds: int, trials: int = 1000) -> Data:
    """Return a bowl in the unit square, noise, and random points with their values as trials that were made before."""
    top, points = rng.uniform(0.2, 0.8, 2), rng.random((trials, 2))
    noise = 0.05 * rng.standard_normal(trials + rounds)
    return {"top": top, "points": points, "values": bowl(points, {"top": top}) + noise[:trials], "noise": noise}


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


PROBLEMS: dict[str, Callable[..., Data]] = {
    problem.__name__: problem for problem in (arm_features, shared_context, bernoulli, line, optimise, log)
}


def random_result(data: Data, rounds: int) -> float:
    """Return the regret that uniformly random arms, or points on the line, would have; NaN where it means nothing."""
    if "means" in data:
        return float((data["means"][:rounds].max(axis=1) - data["means"][:rounds].mean(axis=1)).sum())
    return rounds * float(data["peak"] ** 2 + (1.0 - data["peak"]) ** 2) / 2.0 if "peak" in data else math.nan


# The suite's side: its own loop, or a tuner asked and told as docs/extend.md shows


class SavedArms(ContextualEnvironment):
    """Arms whose features are given, or are a shared context in another block for each arm."""

    def __init__(self, data: Data) -> None:
        contexts, self._means, self._rewards = data["contexts"], data["means"], data["rewards"]
        self.sub_gaussian, self.feature_norm = 0.5, float(np.sqrt(contexts.shape[-1]))
        self.n_arms = self._means.shape[1]
        if contexts.ndim == 2:
            contexts = np.stack([np.kron(np.eye(self.n_arms), context) for context in contexts])
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


class SavedRewards(DirectEnvironment):
    """Arms whose rewards are given, or a function on a line with given noise."""

    def __init__(self, data: Data) -> None:
        self._peak = float(data["peak"]) if "peak" in data else None
        self._means = [] if "peak" in data else data["means"][0].tolist()
        self._saved = data["noise"].tolist() if "peak" in data else data["rewards"]
        self.best_mean = max(self._means, default=1.0)
        self.average_mean = self.best_mean - random_result(data, 1)
        self.sub_gaussian = 0.1 if "peak" in data else 0.5

    @property
    def space(self) -> Space:
        return Space.of(x=range(len(self._means)) if self._means else {"low": 0.0, "high": 1.0})

    def start(self, rounds: int, seeds: Seeds) -> None:
        self._round, self.choices = -1, list[Any]()

    def play(self, configuration: Configuration) -> float:
        self._round += 1
        x = configuration["x"]
        self.choices.append(x)
        if self._peak is None:
            self.mean = self._means[x]
            return float(self._saved[self._round, x])
        self.mean = 1.0 - abs(x - self._peak)
        return float(self.mean + self._saved[self._round])


def _played(tuner: Callable[[], Tuner], data: Data, rounds: int, seed: int) -> Loop:
    task: Any = ContextualBandit(SavedArms(data), LinUCB()) if "contexts" in data else Direct(SavedRewards(data))

    def loop() -> list[Any]:
        run(task, tuner(), rounds=rounds, seeds=Seeds(seed))
        choices: list[Any] = task.environment.choices
        return choices

    return loop


def _asked(make: Callable[[], Tuner], data: Data, rounds: int, seed: int) -> Loop:
    tuner, trials, noise = make(), len(data["points"]), data["noise"].tolist()
    square = Space.of(x={"low": 0.0, "high": 1.0}, y={"low": 0.0, "high": 1.0})
    tuner.start(Problem(square, horizon=trials + rounds, noise_std=0.05), Seeds(seed))

    def play(t: int) -> list[float]:
        point = list(tuner.ask().values())
        tuner.tell(float(bowl(np.array(point), data)) + noise[t])
        return point

    for t in range(trials):
        play(t)
    return lambda: [play(trials + t) for t in range(rounds)]


def _estimated(estimator: Estimator, data: Data, rounds: int, seed: int) -> Loop:
    rows, policies = data["action"], data["policies"]
    logged = LoggedData(np.empty((len(rows), 0)), rows, data["reward"], data["pscore"], data["logging"])
    terms = partial(estimator_terms, estimator, logged, predictions=data["predictions"])
    return lambda: [float(terms(policies[t % len(policies)]).mean()) for t in range(rounds)]


PLAYERS: dict[str, Player] = {
    "linucb": partial(_played, Fixed),
    "ucb1": partial(_played, UCB1),
    "exp3": partial(_played, partial(EXP3, form="weight", gamma=0.05)),
    "zooming": partial(_played, Zooming),
    "tpe": partial(_asked, TPE),
    "gp_ucb": partial(_asked, partial(GPUCB, train_share=1.0)),
    "ips": partial(_estimated, "ips"),
    "snips": partial(_estimated, "snips"),
    "dr": partial(_estimated, "dr"),
}


@cache
def install(peer: str) -> str:
    """Install a library into its environment, unless it is there; return the Python of that.

    Raises PeerError with the last error that pip prints.
    """
    if peer not in REQUIREMENTS:
        return sys.executable
    folder = _ROOT / ".venv-peers" / peer
    python, stamp, wanted = folder / "bin" / "python", folder / "installed", "\n".join(REQUIREMENTS[peer]) + "\n"
    if not stamp.exists() or stamp.read_text() != wanted:
        venv = [sys.executable, "-m", "venv", "--clear", str(folder)]
        for step in (venv, [str(python), "-m", "pip", "install", "-q", *REQUIREMENTS[peer]]):
            answer = subprocess.run(step, capture_output=True, text=True, check=False)
            if answer.returncode:
                errors = [line for line in answer.stderr.splitlines() if line.startswith("ERROR:")] or ["pip failed"]
                raise PeerError("it cannot be installed: " + errors[-1].removeprefix("ERROR: "))
        stamp.write_text(wanted)
    return str(python)


def play(python: str, distribution: str, player: str, file: Path, rounds: int, seed: int) -> dict[str, Any]:
    """Play in a process with one thread, on one core where the system allows it: ``seconds, result, version``.

    Raises PeerError with what went wrong.
    """
    environ = {**os.environ, **dict.fromkeys(_ONE_THREAD, "1")}
    environ.pop("PYTHONPATH", None)
    if player in PLAYERS:
        environ["PYTHONPATH"] = str(_ROOT)
    words = [python, "-P", str(_LIBRARIES), distribution, player, str(file), str(rounds), str(seed)]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(child.pid, {max(os.sched_getaffinity(0))})
    out, _ = child.communicate()
    answer: dict[str, Any] = json.loads(out or f'{{"error": "its process ended with exit code {child.returncode}"}}')
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
    repeats = min(repeats, case.most)
    row: dict[str, Any] = {"peer": case.peer, "version": "", "does": case.does, "setting": case.setting}
    row |= {"unit": case.unit, "decisions": case.decisions, "same_problem": not case.our_problem, "n": repeats}
    seconds, results = np.empty((2, repeats)), np.empty((3, repeats))
    try:
        sides = [("numpy", case.ours, sys.executable), (case.peer, case.theirs, install(case.peer))]
        for number in range(repeats):
            with tempfile.TemporaryDirectory() as scratch:
                for side in (0, 1) if number % 2 == 0 else (1, 0):
                    problem = PROBLEMS[case.problem if side or not case.our_problem else case.our_problem]
                    data = problem(np.random.default_rng([number, 1]), case.decisions, **case.sizes)
                    np.savez(file := Path(scratch) / f"{side}.npz", **dict[str, Any](data))
                    distribution, player, python = sides[side]
                    answer = play(python, distribution, player, file, case.decisions, number)
                    seconds[side, number], results[side, number] = answer["seconds"], answer["result"]
                    if side:
                        row["version"], results[2, number] = answer["version"], random_result(data, case.decisions)
    except PeerError as error:  # without the folders of this machine
        return row | {"n": 0, "reason": re.sub(r"(/[\w.+-]+)+/", "", str(error))}
    if case.our_problem:
        results[0] = math.nan
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
    """Measure the libraries' cases, print them and write the tables; return whether every case was measured."""
    file = results_folder() / "benchmark" / "peers.csv"
    table = read(file) if file.exists() else pd.DataFrame(columns=["peer", "does", "reason"])
    before = {(row["peer"], row["does"]): row for row in table.to_dict("records")}
    rows: list[dict[Any, Any]] = []
    for case in CASES:
        if case.peer in libraries:
            rows.append(compare(case, repeats))
            print(", ".join(f"{key}: {value}" for key, value in rows[-1].items() if key != "note"), flush=True)
        elif (case.peer, case.does) in before:
            rows.append(before[case.peer, case.does])
    write_text(file, to_csv(pd.DataFrame(rows), digits=6))
    write_text(file.with_suffix(".md"), markdown(read(file), environment()))  # what the file says, to the last digit
    return all(row["reason"] == "" for row in rows if row["peer"] in libraries)


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
