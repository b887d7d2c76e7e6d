"""Measure what tuners cost in a round: python -m runners.upkeep.tuner_costs [--limit 30] [tuner ...]

`ask` and `tell` alone, on a moving triangle with eleven candidates (Hedge, which needs the rewards of all arms, on five
arms), without what a task spends on what a tuner wishes to know. Processor time of one process, one thread; the
environment's share is measured beside it and taken off. A run that reaches the limit is given up, and has no number.
"""

import argparse
import sys
import time

import pandas as pd
from threadpoolctl import threadpool_limits

from bench.seeding import Seeds
from runners.config.compose import from_overrides
from runners.config.experiment import build
from runners.config.tree import suite_choices
from runners.upkeep.benchmark import write

REPEATS = {10_000: 3, 1_000_000: 1}
"""Rounds -> how often; the least counts."""
NO_NUMBER = {"custom": "", "theory": "needs an algorithm that has a theory", "best_forecast": "needs task=copies"}
_BLOCK = 20


def seconds(name: str, rounds: int, limit: float) -> tuple[float, int]:
    """Return the seconds of a run, and how many of its rounds were played until ``limit`` seconds had passed."""
    env, other_play = ("gaussian_arms", {"arm": 0}) if name == "hedge" else ("switching_triangle", {"x": 0.5})
    settings = from_overrides([f"env={env}", f"tuner={name}", f"horizon={rounds}"]).experiment.settings
    seeds = Seeds(0)
    (task, tuner), (other, _) = build(settings), build(settings)
    tuner.start(task.start(rounds, seeds), seeds.child("tuner"))
    other.start(rounds, seeds)
    spent, played = 0.0, 0
    while played < rounds and spent < limit:
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


def costs(names: list[str], limit: float) -> pd.DataFrame:
    """Return microseconds per round of every tuner: ``tuner``, a column for each number of rounds, and ``note``."""
    rows = []
    for name in names:
        row: dict[str, str | float] = {"tuner": name, "note": NO_NUMBER.get(name, "")}
        rows.append(row)
        if name in NO_NUMBER:
            continue
        seconds(name, 200, limit)  # compiles
        for rounds, repeats in REPEATS.items():
            runs = [seconds(name, rounds, limit) for _ in range(repeats)]
            played = min(played for _, played in runs)
            if played < rounds:
                row["note"] = f"{rounds:,} rounds: given up after {played:,}, at {limit:g} s"
                break
            row[f"us at {rounds}"] = round(1e6 * min(spent for spent, _ in runs) / rounds, 1)
        print(" ".join(f"{key}: {value}" for key, value in row.items() if value != ""), flush=True)
    columns = ["tuner", *(f"us at {rounds}" for rounds in REPEATS), "note"]
    return pd.DataFrame(rows).reindex(columns=columns)


def main(arguments: list[str]) -> int:
    """Measure, print, and write ``results/benchmark/tuners.csv``."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tuner", nargs="*", help="names, as in tuner=...; default: all")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds after which a run is given up")
    options = parser.parse_args(arguments)
    names = options.tuner or [name for name in suite_choices("tuner") if NO_NUMBER.get(name, "?")]
    with threadpool_limits(1):
        table = costs(names, options.limit)
    note = (
        "Microseconds of ask and tell in a round, processor time of one process and one thread: the least of three "
        "runs at 10,000 rounds, one run at 1,000,000"
    )
    write(table, "tuners", "Cost of tuners", note)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
