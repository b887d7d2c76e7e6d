"""What spreading repetitions over processes costs, and what it gains; needs cores without other work.

python tests/fanout_cost.py overhead
python tests/fanout_cost.py efficiency --jobs 2 --repetitions 40 --rounds 100000
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from runners.config.experiment import Experiment  # noqa: E402
from runners.config.runner import Runner  # noqa: E402
from runners.execute.fanout import run_all  # noqa: E402
from runners.results.store import Store  # noqa: E402

EMPTY: dict[str, Any] = {
    "env": {"_target_": "bench.envs.moving_peak.SwitchingTriangle"},
    "tuner": {"_target_": "bench.tuners.baselines.Random"},
    "task": {"_target_": "bench.tasks.direct.Direct"},
    "horizon": 1,
    "seed": 0,
}
LINUCB: dict[str, Any] = {
    "env": {"_target_": "bench.envs.synthetic_linear.SyntheticLinear", "dim": 25, "n_arms": 120},
    "algorithm": {"_target_": "bench.algorithms.linucb.LinUCB"},
    "tuner": {"_target_": "bench.tuners.op.OP"},
    "task": {"_target_": "bench.tasks.contextual_bandit.ContextualBandit"},
    "horizon": 100_000,
    "seed": 0,
}


def seconds(settings: dict[str, Any], repetitions: int, jobs: int, backend: str) -> float:
    """Return how long the repetitions take in a new folder, workers' start included."""
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(backend, progress=False)
        start = time.perf_counter()
        (result,) = run_all([Experiment(settings)], repetitions, Store(folder), jobs=jobs, runner=runner).values()
        assert len(result.new) == repetitions
        return time.perf_counter() - start


def overhead(repetitions: int) -> dict[str, float]:
    """Return milliseconds per repetition of one round: of many repetitions, less the seconds of a few."""
    few, costs = 20, {}
    for jobs, backend in ((1, "loky"), (2, "loky"), (2, "dask")):
        start = seconds(EMPTY, few, jobs, backend)
        whole = seconds(EMPTY, few + repetitions, jobs, backend)
        costs[f"{backend}, jobs={jobs}: start, s"] = round(start, 2)
        costs[f"{backend}, jobs={jobs}: ms per repetition"] = round(1000 * (whole - start) / repetitions, 2)
    return costs


def efficiency(repetitions: int, jobs: int, rounds: int) -> dict[str, float]:
    """Return seconds with one worker and with several, and the share of the ideal speed-up that is reached."""
    settings = LINUCB | {"horizon": rounds}
    seconds(settings, 2, 1, "loky")  # compiles
    alone, together = seconds(settings, repetitions, 1, "loky"), seconds(settings, repetitions, jobs, "loky")
    return {
        "1 worker, s": round(alone, 2),
        f"{jobs} workers, s": round(together, 2),
        "speed-up": round(alone / together, 2),
        "efficiency": round(alone / together / jobs, 3),
    }


def main() -> int:
    """Read the command line, measure, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("overhead", "efficiency"))
    parser.add_argument("--repetitions", type=int, default=None)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=LINUCB["horizon"], help="of a repetition, for efficiency")
    given = parser.parse_args()
    if given.what == "overhead":
        costs = overhead(given.repetitions or 2000)
    else:
        costs = efficiency(given.repetitions or 40, given.jobs, given.rounds)
    print(json.dumps(costs | {"CPU seconds of this process": round(time.process_time(), 1)}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
