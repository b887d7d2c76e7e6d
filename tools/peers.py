"""Measure the suite beside other libraries: python -m tools.peers [--repeats 7].

Both sides play the same problems by turns in one thread, and seconds of the processor are counted. coba needs
``pip install coba==8.1.0``, which has no dependencies; obp is one of the suite's. Writes
``results/benchmark/peers.csv`` and ``peers.md``, in which rows of libraries that are not installed stay.
"""

import argparse
import gc
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import stats

from bench.algorithms.linucb import LinUCB
from bench.envs.contextual import ContextualEnvironment
from bench.envs.logged import LoggedData
from bench.loop import run
from bench.off_policy.estimators import estimator_terms
from bench.report.tables import to_csv, to_markdown
from bench.seeding import Seeds
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.baselines import Fixed
from runners.config.classes import version
from runners.execute.limits import one_thread
from runners.results.capture import environment
from runners.results.store import results_folder, write_text

Data = Mapping[str, np.ndarray]
Loop = Callable[[], list[Any]]
Player = Callable[[Data, int, int], Loop]
"""Given the arrays of a problem, the number of rounds and a seed: the loop that is timed, which returns its choices."""

NUMBERS = [
    "ours_per_second", "theirs_per_second", "ratio", "ratio_low", "ratio_high", "our_result", "their_result",
    "random_result",
]  # fmt: skip
"""Columns that are empty where there is nothing."""
_WARM_UP = 20


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


def linucb(data: Data, rounds: int, seed: int) -> Loop:
    """Return our loop with LinUCB."""
    arms = SavedArms(data)

    def loop() -> list[Any]:
        run(ContextualBandit(arms, LinUCB()), Fixed(), rounds=rounds, seeds=Seeds(seed))
        return arms.choices

    return loop


def coba_linucb(data: Data, rounds: int, seed: int) -> Loop:
    """Return coba's loop in its documented way of use."""
    from coba.learners import LinUCBLearner  # type: ignore[import-not-found]

    sets = [[tuple(arm) for arm in arms] for arms in data["contexts"][:rounds].tolist()]
    rewards = data["rewards"][:rounds].tolist()
    learner = LinUCBLearner(alpha=1.0, features=["a"], seed=seed + 1)

    def play(t: int) -> int:
        action, probability = learner.predict(None, sets[t])
        arm = sets[t].index(action)
        learner.learn(None, action, rewards[t][arm], probability)
        return arm

    return lambda: [play(t) for t in range(rounds)]


Estimator = Literal["ips", "snips", "dr"]
_OBP = {"ips": "InverseProbabilityWeighting", "snips": "SelfNormalizedInverseProbabilityWeighting",
        "dr": "DoublyRobust"}  # fmt: skip


def estimates(name: Estimator, data: Data, rounds: int, seed: int) -> Loop:
    """Return our estimates of policies one after the other."""
    rows, policies = data["action"], data["policies"]
    logged = LoggedData(np.empty((len(rows), 0)), rows, data["reward"], data["pscore"], data["logging"])
    terms = partial(estimator_terms, name, logged, predictions=data["predictions"])
    return lambda: [float(terms(policies[t % len(policies)]).mean()) for t in range(rounds)]


def obp_estimates(name: Estimator, data: Data, rounds: int, seed: int) -> Loop:
    """Return the same by obp."""
    import obp.ope

    estimate = getattr(obp.ope, _OBP[name])().estimate_policy_value
    arguments = {key: data[key] for key in ("reward", "action", "pscore")}
    if name == "dr":
        arguments["estimated_rewards_by_reg_model"] = data["predictions"][:, :, None]
    policies = data["policies"][:, :, :, None]
    return lambda: [estimate(**arguments, action_dist=policies[t % len(policies)]) for t in range(rounds)]


@dataclass(frozen=True)
class Peer:
    """A player of a library, ``peer`` on the package index, beside ours; ``decisions`` are those of a timed run."""

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


def _of_estimates(name: Estimator, does: str) -> Peer:
    sides = partial(obp_estimates, name), partial(estimates, name)
    note = "the result is the mean estimate"
    return Peer("obp", does, "10,000 rows, 10 actions", log, *sides, 1000, "estimates", note=note)


CASES = (
    Peer("coba", "LinUCB, 5 x 25", *_ARMS, 2000),
    Peer("coba", "LinUCB, 120 x 25", *_ARMS, 1000, sizes={"n_arms": 120}),
    _of_estimates("ips", "IPS"),
    _of_estimates("snips", "self-normalised IPS"),
    _of_estimates("dr", "doubly robust"),
)


def result_of(choices: Any, data: Data) -> float:
    """Return cumulative regret, or the mean of estimates."""
    if "policies" in data:
        return float(np.mean(choices))
    means = data["means"][: len(choices)]
    return float((means.max(axis=1) - means[np.arange(len(choices)), choices]).sum())


def play(player: Player, data: Data, rounds: int, seed: int) -> tuple[float, float]:
    """Return seconds of the processor and the result."""
    player(data, min(_WARM_UP, rounds), seed)()  # compiles and imports
    loop = player(data, rounds, seed)
    gc.collect()
    start = time.process_time()
    choices = loop()
    return time.process_time() - start, result_of(choices, data)


def median_interval(values: Any) -> tuple[float, float, float]:
    """Return the median of ``values`` and an interval for the true one, from order statistics.

    The narrowest pair of order statistics, equally far from both ends, that holds the true median with a probability of
    at least 95 % whatever the distribution is; with fewer than six values, the smallest and the largest.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    skip = max(int(stats.binom.ppf(0.025, len(ordered), 0.5)) - 1, 0)
    return float(np.median(ordered)), float(ordered[skip]), float(ordered[-1 - skip])


def compare(case: Peer, repeats: int) -> dict[str, Any]:
    """Play a case ``repeats`` times, each time another problem, by turns; return the row of the table."""
    seconds, results = np.empty((2, repeats)), np.empty((3, repeats))
    for number in range(repeats):
        data = case.problem(np.random.default_rng([number, 1]), case.decisions, **case.sizes)
        results[2, number] = random_result(data, case.decisions)
        sides = list(enumerate((case.ours, case.theirs)))
        for side, player in sides if number % 2 == 0 else sides[::-1]:
            seconds[side, number], results[side, number] = play(player, data, case.decisions, number)
    speeds = case.decisions / np.median(seconds, axis=1)
    numbers = [*speeds, *median_interval(seconds[1] / seconds[0]), *results.mean(axis=1)]
    row: dict[str, Any] = {"peer": case.peer, "version": version(case.peer), "does": case.does}
    row |= {"setting": case.setting, "unit": case.unit, "decisions": case.decisions, "same_problem": True, "n": repeats}
    return row | dict(zip(NUMBERS, map(float, numbers), strict=True)) | {"note": case.note}


def markdown(table: pd.DataFrame, machine: Mapping[str, Any]) -> str:
    """Return the comparison as a page: the table and how to read it."""
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
        "Result: mean cumulative regret; of estimators the mean estimate. Random: the regret of random choices.",
        f"Seconds of the processor, one process and one thread at a time, by turns; {counts} repetitions of each case, "
        "each with another problem, the same for both sides unless noted.",
        f"{machine.get('cpu')}, {machine.get('platform')}, Python {machine.get('python')}.",
    ]
    return to_markdown(shown, title="Beside other libraries", notes=notes).removeprefix("#")


def measure(cases: Sequence[Peer], repeats: int) -> None:
    """Measure cases whose library is installed, print them and write the tables."""
    file = results_folder() / "benchmark" / "peers.csv"
    before = read(file).to_dict("records") if file.exists() else []
    rows: dict[Any, dict[Any, Any]] = {(row["peer"], row["does"]): row for row in before}
    for case in cases:
        if version(case.peer) is None:
            print(f"not measured: {case.peer}, {case.does}: {case.peer} is not installed")
            continue
        with one_thread():
            rows[case.peer, case.does] = row = compare(case, repeats)
        print(", ".join(f"{key}: {value}" for key, value in row.items() if key != "note"), flush=True)
    write_text(file, to_csv(pd.DataFrame(list(rows.values())), digits=6))
    write_text(file.with_suffix(".md"), markdown(read(file), environment()))  # what the file says, to the last digit


def read(file: Path) -> pd.DataFrame:
    """Return a table as it was written; numbers that there are not are NaN, other empty cells are ""."""
    return pd.read_csv(file, keep_default_na=False, na_values={name: [""] for name in NUMBERS})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7, help="timed runs of each case")
    measure(CASES, parser.parse_args().repeats)
