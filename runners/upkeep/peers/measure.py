"""Play all cases, ours and theirs by turns, and compare."""

import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench.errors import BenchError
from runners.upkeep.peers import theirs
from runners.upkeep.peers.cases import REQUIREMENTS, Case
from runners.upkeep.peers.problems import PROBLEMS, random_result

_ROOT = Path(__file__).resolve().parents[3]
_WARM_UP = 20
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_ENVIRONMENTS = ".venv-peers"
NUMBERS = (
    "ours_per_second", "theirs_per_second", "ratio", "ratio_low", "ratio_high", "our_result", "their_result",
    "random_result",
)  # fmt: skip
"""Columns that are empty where there is nothing."""


class PeerError(BenchError):
    """A library cannot be installed, or fails while it plays."""


class Worker:
    """A process that plays what it is asked for; with one thread, on one core where the system allows it."""

    def __init__(self, command: Sequence[str], *, sees_suite: bool) -> None:
        environ = {**os.environ, **dict.fromkeys(_ONE_THREAD, "1")}
        environ.pop("PYTHONPATH", None)
        if sees_suite:
            environ["PYTHONPATH"] = str(_ROOT)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ
        )
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(self._process.pid, {max(os.sched_getaffinity(0))})

    def ask(self, **what: Any) -> dict[str, Any]:
        """Return the answer. Raises PeerError with what went wrong."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(what) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise PeerError(f"its process ended with exit code {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def worker_for(peer: str | None) -> Iterator[Worker]:
    """Start the process of a library, installing it if need be, or with None the suite's own."""
    if peer is None:
        worker = Worker([sys.executable, "-m", "runners.upkeep.peers.ours"], sees_suite=True)
    else:
        python = install(peer) if peer in REQUIREMENTS else Path(sys.executable)
        worker = Worker([str(python), "-P", str(theirs.__file__)], sees_suite=False)
    try:
        yield worker
    finally:
        worker.close()


def install(peer: str) -> Path:
    """Install a library into its environment, unless it is there, and return the Python of that.

    Raises PeerError with the last error that pip prints.
    """
    folder = Path(_ROOT if (_ROOT / "pyproject.toml").exists() else Path.cwd()) / _ENVIRONMENTS / peer
    python, stamp = folder / "bin" / "python", folder / "installed"
    wanted = "\n".join(REQUIREMENTS[peer]) + "\n"
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    venv = [sys.executable, "-m", "venv", "--clear", str(folder)]
    for step in (venv, [str(python), "-m", "pip", "install", "-q", *REQUIREMENTS[peer]]):
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
            raise PeerError("it cannot be installed: " + (errors or ["pip failed"])[-1].removeprefix("ERROR: "))
    stamp.write_text(wanted)
    return python


def compare(case: Case, ours: Worker, peer: Worker, repeats: int) -> dict[str, Any]:
    """Play a case ``repeats`` times, each time another problem, by turns; return the row of the table.

    Before, each side plays a few rounds untimed, which compiles and imports.
    """
    repeats = min(repeats, case.most)
    seconds: dict[str, list[float]] = {"ours": [], "theirs": []}
    results: dict[str, list[float]] = {"ours": [], "theirs": [], "random": []}
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(repeats):
            data = PROBLEMS[case.problem](np.random.default_rng([number, 1]), case.rounds, **case.arguments)
            paths = {side: Path(scratch) / f"{side}.npz" for side in ("ours", "theirs")}
            _save(paths["theirs"], data)
            if case.our_problem:
                rng = np.random.default_rng([number, 1])
                _save(paths["ours"], PROBLEMS[case.our_problem](rng, case.rounds, **case.our_arguments))
            else:
                paths["ours"] = paths["theirs"]
            sides = [("ours", ours, case.ours), ("theirs", peer, case.theirs)]
            for side, worker, player in sides if number % 2 == 0 else sides[::-1]:
                asked = {"player": player, "data": str(paths[side]), "seed": number}
                if number == 0 and case.unit == "rounds":
                    worker.ask(**asked, rounds=min(_WARM_UP, case.rounds))
                answer = worker.ask(**asked, rounds=case.rounds)
                seconds[side].append(answer["seconds"])
                results[side].append(answer["result"])
            results["random"].append(random_result(data, case.rounds))
    ratio, low, high = median_interval(np.divide(seconds["theirs"], seconds["ours"]))
    median = {side: float(np.median(values)) for side, values in seconds.items()}
    return _about(case, repeats) | {
        "ours_per_second": case.rounds / median["ours"],
        "theirs_per_second": case.rounds / median["theirs"],
        "ratio": ratio,
        "ratio_low": low,
        "ratio_high": high,
        "our_result": math.nan if case.our_problem else float(np.mean(results["ours"])),
        "their_result": float(np.mean(results["theirs"])),
        "random_result": float(np.mean(results["random"])),
        "note": case.note,
        "reason": "",
    }


def median_interval(values: Any) -> tuple[float, float, float]:
    """Return the median of ``values`` and an interval for the true one, from order statistics.

    The narrowest pair of order statistics, equally far from both ends, that holds the true median with a probability of
    at least 95 % whatever the distribution is; with fewer than six values, the smallest and the largest.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    n, outside, tail = len(ordered), 0, 0.0
    while outside < (n - 1) // 2:
        tail += math.comb(n, outside) / 2.0**n
        if 2.0 * tail > 0.05:
            break
        outside += 1
    skip = max(outside - 1, 0)
    return float(np.median(ordered)), float(ordered[skip]), float(ordered[n - 1 - skip])


def measure(cases: Sequence[Case], repeats: int) -> pd.DataFrame:
    """Compare all cases; return a row for each, of one that fails without numbers but with the reason."""
    rows = []
    with worker_for(None) as ours:
        for name in dict.fromkeys(case.peer for case in cases):
            cases_of_peer = [case for case in cases if case.peer == name]
            version = ""
            try:
                with worker_for(name) as peer:
                    version = peer.ask(version=name)["version"]
                    for case in cases_of_peer:
                        try:
                            row = compare(case, ours, peer, repeats)
                        except PeerError as error:
                            row = _failed(case, error)
                        rows.append({"peer": name, "version": version} | row)
                        print(line_of(rows[-1]), flush=True)
            except PeerError as error:
                missing = [{"peer": name, "version": version} | _failed(case, error) for case in cases_of_peer]
                rows += [row for row in missing if row["does"] not in {row["does"] for row in rows}]
                print(line_of(missing[0]), flush=True)
    return pd.DataFrame(rows)


def _about(case: Case, repeats: int) -> dict[str, Any]:
    row = {"does": case.does, "setting": case.setting, "unit": case.unit, "decisions": case.rounds}
    return row | {"same_problem": not case.our_problem, "n": repeats}


def _failed(case: Case, error: PeerError) -> dict[str, Any]:
    # Without the folders of this machine
    return _about(case, 0) | {"reason": re.sub(r"(/[\w.+-]+)+/", "", str(error))}


def line_of(row: Mapping[str, Any]) -> str:
    """Return a row in words."""
    if row["reason"]:
        return f"{row['peer']} {row['version']}, {row['does']}: {row['reason']}"
    return (
        f"{row['peer']} {row['version']}, {row['does']} ({row['setting']}): ours {row['ours_per_second']:,.3g}, theirs "
        f"{row['theirs_per_second']:,.3g} {row['unit']} per second, ratio {row['ratio']:.3g} "
        f"[{row['ratio_low']:.3g}, {row['ratio_high']:.3g}]; result {row['our_result']:.4g}, theirs "
        f"{row['their_result']:.4g}, random {row['random_result']:.4g}"
    )


def _save(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    named: dict[str, Any] = dict(arrays)
    np.savez(path, **named)
