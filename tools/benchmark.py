"""Measure rounds per second: python -m tools.benchmark [--tuners [NAME ...]]

The whole loop is compared with (a) the bare kernels, which only draw the contexts and score the arms, and (b) a plain
NumPy loop over the arms, as in many papers' scripts. One process, one thread.

``--tuners`` instead measures the cost of tuners per round: `ask` and `tell` only, on a moving triangle with eleven
candidates (Hedge, which needs all arms' rewards, on five arms), without a task's cost of providing the information that
a tuner wishes for. Processor time; the environment's share is measured separately and subtracted. A run that takes too
long has no number.
"""

import argparse
import math
import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from bench.algorithms.kernels import best_sampled, best_upper_bound
from bench.algorithms.lints import LinTS
from bench.algorithms.linucb import LinUCB
from bench.envs.synthetic import spread
from bench.envs.synthetic_linear import SyntheticLinear
from bench.loop import run
from bench.report.tables import to_markdown
from bench.seeding import Seeds
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.base import Tuner
from bench.tuners.baselines import Fixed
from bench.tuners.cdt import CDT
from bench.tuners.tl import TL, Syndicated
from runners.config.compose import from_overrides
from runners.config.experiment import build
from runners.config.tree import suite_choices
from runners.results import checksums
from runners.results.capture import environment
from runners.results.store import results_folder, write_text

SIZES = ((120, 25), (100, 10), (1000, 20))
TUNERS: dict[str, type[Tuner]] = {"fixed": Fixed, "tl": TL, "syndicated": Syndicated, "cdt": CDT}
NOISE_STD = 0.5
ROUNDS, SPEED_REPEATS = 14_000, 5
"""Rounds of a timed run, fewer for 1,000 arms; repetitions of each case."""
REPEATS = {10_000: 3, 1_000_000: 1}
"""The number of runs, by the number of rounds in which tuners are measured; the least time counts."""
NO_NUMBER = {"custom": "", "theory": "needs an algorithm that has a theory", "best_forecast": "needs task=copies"}
LIMIT = 30.0
"""Seconds after which a tuner's run is given up."""
_BLOCK = 20


def whole_loop(algorithm: Any, tuner: Tuner, n_arms: int, dim: int, rounds: int) -> None:
    task = ContextualBandit(SyntheticLinear(dim=dim, n_arms=n_arms, noise_std=NOISE_STD), algorithm)
    run(task, tuner, rounds=rounds, seeds=Seeds(0))


def bare_kernels(algorithm: Any, n_arms: int, dim: int, rounds: int) -> None:
    """Draw contexts and score the arms, with a constant inverse (or factor) of the matrix."""
    rng = np.random.default_rng(0)
    memory = np.empty((dim, n_arms))
    contexts = memory.T
    matrix, theta, normal = np.eye(dim), rng.random(dim), np.empty(dim)
    bound = 1.0 / math.sqrt(dim)
    for _ in range(rounds):
        rng.random(out=memory)
        spread(memory, bound)
        if isinstance(algorithm, LinUCB):
            best_upper_bound(contexts, matrix, theta, 1.0)
        else:
            rng.standard_normal(out=normal)
            best_sampled(contexts, matrix, theta, 1.0, normal)


def plain_numpy(algorithm: Any, n_arms: int, dim: int, rounds: int) -> None:
    """Play the same bandit with NumPy, arm by arm."""
    rng = np.random.default_rng(0)
    bound = 1.0 / math.sqrt(dim)
    theta = rng.uniform(-bound, bound, dim)
    inverse, moment = np.eye(dim), np.zeros(dim)
    regret = 0.0
    for _ in range(rounds):
        contexts = rng.uniform(-bound, bound, (n_arms, dim))
        means = contexts @ theta
        theta_hat = inverse @ moment
        if isinstance(algorithm, LinUCB):
            scores = [contexts[a] @ theta_hat + math.sqrt(contexts[a] @ inverse @ contexts[a]) for a in range(n_arms)]
        else:
            sample = rng.multivariate_normal(theta_hat, inverse, method="cholesky")
            scores = [contexts[a] @ sample for a in range(n_arms)]
        arm = int(np.argmax(scores))
        x = contexts[arm]
        product = inverse @ x
        inverse -= np.outer(product, product) / (1.0 + x @ product)
        moment += (means[arm] + NOISE_STD * rng.standard_normal()) * x
        regret += means.max() - means[arm]


def measure() -> pd.DataFrame:
    """Time all cases in turn, and return the median rounds per second and their ratios."""
    rows: list[dict[str, Any]] = []
    for (label, algorithm), (n_arms, dim) in product((("linucb", LinUCB()), ("lints", LinTS())), SIZES):
        length = max(200, ROUNDS * 3000 // (n_arms * dim)) if n_arms * dim > 3000 else ROUNDS
        cases: dict[str, Callable[[int], None]] = {
            name: partial(whole_loop, algorithm, tuner(), n_arms, dim) for name, tuner in TUNERS.items()
        }
        cases["bare kernels"] = partial(bare_kernels, algorithm, n_arms, dim)
        cases["plain NumPy"] = partial(plain_numpy, algorithm, n_arms, dim)
        rounds_of = dict.fromkeys(cases, length) | {"plain NumPy": length // 10}
        seconds: dict[str, list[float]] = {case: [] for case in cases}
        for call in cases.values():
            call(100)  # compiles
        for case, call in list(cases.items()) * SPEED_REPEATS:
            start = time.perf_counter()
            call(rounds_of[case])
            seconds[case].append(time.perf_counter() - start)
        speed = {case: rounds_of[case] / statistics.median(values) for case, values in seconds.items()}
        for tuner in TUNERS:
            row = {"algorithm": label, "arms": n_arms, "features": dim, "tuner": tuner}
            row["rounds per second"] = round(speed[tuner])
            row |= {f"{case} per second": round(speed[case]) for case in ("bare kernels", "plain NumPy")}
            row["time / bare kernels"] = round(speed["bare kernels"] / speed[tuner], 2)
            row["speed / plain NumPy"] = round(speed[tuner] / speed["plain NumPy"], 1)
            rows.append(row)
            print(*row.values(), flush=True)
    return pd.DataFrame(rows)


def _seconds(name: str, rounds: int) -> tuple[float, int]:
    """Return the seconds of a run of tuner ``name``, and the number of rounds played within the time limit."""
    env, other_play = ("gaussian_arms", {"arm": 0}) if name == "hedge" else ("switching_triangle", {"x": 0.5})
    experiment = from_overrides([f"env={env}", f"tuner={name}", f"horizon={rounds}"]).experiment
    seeds = Seeds(0)
    (task, tuner), (other, _) = build(experiment), build(experiment)
    tuner.start(task.start(rounds, seeds), seeds.child("tuner"))
    other.start(rounds, seeds)
    spent, played = 0.0, 0
    while played < rounds and spent < LIMIT:
        length = min(_BLOCK, rounds - played)
        begin = time.process_time()
        for _ in range(length):
            outcome = task.play(tuner.ask())
            assert outcome is not None
            tuner.tell(outcome.reward, outcome)
        middle = time.process_time()
        for _ in range(length):
            other.play(other_play)
        spent += 2.0 * middle - begin - time.process_time()
        played += length
    return max(spent, 0.0), played


def costs(names: list[str]) -> pd.DataFrame:
    """Return the microseconds per round of every tuner.

    The columns are ``tuner``, one for each number of rounds, and ``note``.
    """
    rows = []
    for name in names:
        row: dict[str, str | float] = {"tuner": name, "note": NO_NUMBER.get(name, "")}
        rows.append(row)
        if name in NO_NUMBER:
            continue
        _seconds(name, 200)  # compiles
        for rounds, repeats in REPEATS.items():
            runs = [_seconds(name, rounds) for _ in range(repeats)]
            played = min(played for _, played in runs)
            if played < rounds:
                row["note"] = f"{rounds:,} rounds: given up after {played:,}, at {LIMIT:g} s"
                break
            row[f"us at {rounds}"] = round(1e6 * min(spent for spent, _ in runs) / rounds, 1)
        print(" ".join(f"{key}: {value}" for key, value in row.items() if value != ""), flush=True)
    columns = ["tuner", *(f"us at {rounds}" for rounds in REPEATS), "note"]
    return pd.DataFrame(rows).reindex(columns=columns)


def write(table: pd.DataFrame, name: str, title: str, note: str) -> None:
    """Write a table to ``results/benchmark/`` as CSV, and as Markdown with a note on the machine."""
    folder, machine = results_folder() / "benchmark", environment()
    note = f"{note}; {machine.get('cpu')}, Python {machine.get('python')}."
    write_text(folder / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
    write_text(folder / f"{name}.md", to_markdown(table, title=title, notes=[note]).removeprefix("#"))
    checksums.note(results_folder(), [folder])
    print(f"written to {folder}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuners", nargs="*", metavar="NAME", help="what tuners cost in a round; default: all tuners")
    names = parser.parse_args().tuners
    with threadpool_limits(1):
        if names is None:
            note = (
                f"Medians of {SPEED_REPEATS} runs of {ROUNDS:,} rounds (fewer for 1,000 arms, a tenth for the plain "
                "loop), one process, one thread"
            )
            write(measure(), "speed", "Rounds per second", note)
        else:
            table = costs(names or [name for name in suite_choices("tuner") if NO_NUMBER.get(name, "?")])
            note = (
                "Microseconds of ask and tell in a round, processor time of one process and one thread: the least of "
                "three runs at 10,000 rounds, one run at 1,000,000"
            )
            write(table, "tuners", "Cost of tuners", note)
