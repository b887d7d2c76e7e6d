"""Kill runs at random moments, and see that nothing is lost and nothing altered.

python tests/kill_many.py --kills 100 --repetitions 200 --jobs 2
python tests/kill_many.py --kills 20 --jobs 4 --backend dask --who worker
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[1]
SETTINGS: dict[str, Any] = {
    "env": {"_target_": "bench.envs.moving_peak.SwitchingTriangle"},
    "tuner": {"_target_": "bench.tuners.baselines.Random"},
    "task": {"_target_": "bench.tasks.direct.Direct"},
    "horizon": 500,
    "seed": 0,
}
"""A repetition of some milliseconds, so that many moments are moments of writing."""

_WAIT_SECONDS = 600.0


def work(root: str, repetitions: int, jobs: int, backend: str) -> None:
    """Run what is missing and print what came of it: what the processes that are killed do."""
    from runners.config.experiment import Experiment
    from runners.config.runner import Runner
    from runners.execute.fanout import run_all
    from runners.results.store import Store

    (result,) = run_all([Experiment(SETTINGS)], repetitions, Store(root), jobs=jobs, runner=Runner(backend)).values()
    print(json.dumps({"done": len(result.done), "failed": len(result.failed)}))


def start(root: Path, repetitions: int, jobs: int, backend: str) -> subprocess.Popen[str]:
    """Start `work` in a process of its own."""
    words = ["--work", str(root), "--repetitions", str(repetitions), "--jobs", str(jobs), "--backend", backend]
    return subprocess.Popen(
        [sys.executable, __file__, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(child: subprocess.Popen[str]) -> dict[str, int]:
    """Return what a command says at its end; empty if it failed."""
    out, err = child.communicate(timeout=_WAIT_SECONDS)
    if child.returncode:
        print(err, file=sys.stderr)
        return {}
    answer: dict[str, int] = json.loads(out)
    return answer


def results(root: Path) -> dict[str, Path]:
    """Return the results there are, by run and name."""
    return {f"{path.parent.name}/{path.name}": path for path in root.glob("raw/*/rep-*.parquet")}


def victims(parent: psutil.Process) -> list[psutil.Process]:
    """Return the workers of a run."""
    try:
        lines = [(child, " ".join(child.cmdline())) for child in parent.children(recursive=True)]
    except psutil.Error:
        return []
    return [
        child for child, line in lines if "resource_tracker" not in line and ("Loky" in line or "spawn_main" in line)
    ]


def kill_many(
    kills: int, folder: Path, *, repetitions: int, jobs: int, backend: str, who: str, seed: int
) -> Counter[str]:
    """Kill workers and parents at random moments, each time followed by the same command, on as many folders as needed.

    Returns
    -------
    Counter
        Kills by victim, folders, failures that were recorded and mended by the next command, and what must not be:
        results ``lost`` or ``altered``, ``errors`` of a command.
    """
    rng = random.Random(seed)
    print(finish(start(folder / "calm", repetitions, 1, "loky")), file=sys.stderr)
    expected = {name: path.read_bytes() for name, path in results(folder / "calm").items()}
    assert len(expected) == repetitions
    counts: Counter[str] = Counter(lost=0, altered=0, errors=0)
    while counts["parent"] + counts["worker"] < kills:
        left = kills - counts["parent"] - counts["worker"]
        call = folder / f"run{counts['folders']}", repetitions, jobs, backend
        _disturb(call, rng, min(left, 10), who, counts)
        answer = finish(start(*call))
        while answer.get("failed"):  # lost twice to kills: recorded as failed, and run by the next command
            counts["recorded as failed"] += answer["failed"]
            answer = finish(start(*call))
        found = results(call[0])
        if {name.partition("/")[0] for name in found} != {name.partition("/")[0] for name in expected}:
            raise SystemExit("found runs of two names, expected one: the source was edited meanwhile")
        counts["folders"] += 1
        counts["errors"] += answer.get("done") != repetitions
        counts["lost"] += len(expected.keys() - found.keys())
        counts["altered"] += sum(expected[name] != path.read_bytes() for name, path in found.items())
        counts["leftover files"] += len(list(call[0].glob("raw/*/.*")))
        print(dict(counts), file=sys.stderr, flush=True)
    return counts


def _disturb(call: Any, rng: random.Random, kills: int, who: str, counts: Counter[str]) -> None:
    """Start the command, kill it or a worker at a random moment, and so on until all is there or enough are killed."""
    root, repetitions, *_ = call
    child = start(*call)
    for i in range(kills):
        done = len(results(root))
        if rng.random() < 0.2:  # a moment of starting up, or any other
            ready, end = repetitions + 1, time.monotonic() + rng.random() * 3
        else:
            step = 2 * (repetitions - done) / (kills - i)
            ready, end = done + 1 + int(rng.random() * step), time.monotonic() + _WAIT_SECONDS
        while child.poll() is None and len(results(root)) < ready and time.monotonic() < end:
            time.sleep(0.002)
        time.sleep(rng.random() * 0.01)
        if child.poll() is not None:
            counts["errors"] += bool(child.returncode)
            if len(results(root)) == repetitions:
                break
            child = start(*call)
        workers = victims(psutil.Process(child.pid)) if child.poll() is None else []
        kind = rng.choice(["parent", "worker"]) if who == "mixed" else who
        if kind == "worker" and not workers:
            if who == "worker":
                continue
            kind = "parent"
        with suppress(psutil.NoSuchProcess):
            (rng.choice(workers) if kind == "worker" else psutil.Process(child.pid)).kill()
            counts[kind] += 1
        if kind == "parent":
            child.wait()
            child = start(*call)  # at once: its workers may still be there
    if who == "worker":
        child.wait()
    elif child.poll() is None:
        os.kill(child.pid, signal.SIGKILL)
        counts["parent"] += 1
    child.communicate()


def main() -> int:
    """Read the command line; return 0 if nothing went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--backend", default="loky")
    parser.add_argument("--who", choices=("mixed", "worker", "parent"), default="mixed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work, given.repetitions, given.jobs, given.backend)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        settings = {name: getattr(given, name) for name in ("repetitions", "jobs", "backend", "who", "seed")}
        counts = kill_many(given.kills, Path(folder), **settings)
    print(json.dumps(counts))
    return int(any(counts[name] for name in ("lost", "altered", "errors")))


if __name__ == "__main__":
    sys.exit(main())
