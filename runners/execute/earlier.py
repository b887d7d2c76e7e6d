"""The code that made committed runs, played beside the code of today on the same machine."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bench.errors import ConfigError
from runners.execute import final_state
from runners.execute.limits import THREAD_VARIABLES
from runners.results.replay import CommittedRun

ROOT = Path(__file__).resolve().parents[2]

PLAYS = 1000
"""Number of plays after which states are compared, or fewer if a run ends before; a play may cover several rounds."""

_TODAY = ""
"""Stands for a commit: the code of this checkout."""

_Answer = dict[str, Any]
"""``run_id``, ``state`` and ``trace`` as `runners.execute.final_state` answers, or ``error``."""


class EarlierCode(ExitStack):
    """The code that made committed runs, by commit, played in ``jobs`` processes; closing it removes checkouts."""

    def __init__(self, jobs: int) -> None:
        super().__init__()
        self._jobs = jobs
        self._checkouts = {_TODAY: ROOT}

    def differences(self, runs: Sequence[CommittedRun], number: int = 0, plays: int | None = PLAYS) -> list[str]:
        """Return for each run how repetition ``number`` of the earlier code differs from that of today; "" if not.

        Compared are the states of tuner and task after some plays: a small change of a formula may show in no stored
        value of one repetition, but it shows in the state. Numbers are compared, not the names under which they are
        kept; a state that has only gained, or only lost, numbers is the same. What two runs of the earlier code do not
        share, such as measured seconds, does not count. Of whole repetitions (``plays`` None) traces are compared.
        """
        then, now = self._play_earlier(runs, number, plays), self._play(_TODAY, runs, number, plays)
        what = "trace" if plays is None else "state"
        differences = [_difference(what, *answers) for answers in zip(then, now, strict=True)]
        doubtful = [place for place, difference in enumerate(differences) if difference and "error" not in then[place]]
        again = self._play_earlier([runs[place] for place in doubtful], number, plays)
        for place, answer in zip(doubtful, again, strict=True):
            stable = {digest: name for digest, name in then[place][what].items() if digest in answer.get(what, ())}
            differences[place] = _difference(what, {what: stable}, now[place])
        return differences

    def _play_earlier(self, runs: Sequence[CommittedRun], number: int, plays: int | None) -> list[_Answer]:
        """Play a repetition of each run with one of its commits that names the run as it is committed."""
        answers: list[_Answer] = [{} for _ in runs]
        for commit in dict.fromkeys(commit for run in runs for commit in run.commits):
            places = [i for i, run in enumerate(runs) if commit in run.commits and "run_id" not in answers[i]]
            for i, answer in zip(places, self._play(commit, [runs[i] for i in places], number, plays), strict=True):
                if answer.get("run_id") == runs[i].run_id:
                    answers[i] = answer
                elif "run_id" in answer:
                    words = f"names the run {answer['run_id']}, expected {runs[i].run_id}"
                    answers[i].setdefault("error", f"commit {commit[:10]} {words}")
                else:
                    answers[i].setdefault("error", f"commit {commit[:10]} does not run it here: {answer['error']}")
        return answers

    def _play(self, commit: str, runs: Sequence[CommittedRun], number: int, plays: int | None) -> list[_Answer]:
        """Play a repetition of each run with the code of a commit."""
        if commit not in self._checkouts:
            self._checkouts[commit] = self.enter_context(_checkout(commit))
        checkout = self._checkouts[commit]
        users = os.environ.get("PYTHONPATH", "") if commit == _TODAY else ""  # for classes of the user's own
        path = os.pathsep.join(filter(None, [str(checkout), users]))
        env = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1"), "PYTHONPATH": path}
        answers: list[_Answer] = [{"error": "it was not run"} for _ in runs]

        def play(places: range) -> None:
            words = [[*runs[place].overrides, f"repetitions={number + 1}"] for place in places]
            output = subprocess.run(
                [sys.executable, final_state.__file__],
                cwd=checkout,
                env=env,
                input="\n".join(json.dumps({"words": of_run, "plays": plays}) for of_run in words),
                capture_output=True,
                text=True,
                check=False,
            )
            for line in output.stdout.splitlines():
                answer = json.loads(line)
                answers[places[answer["place"]]] = answer

        processes = min(self._jobs, len(runs))
        with ThreadPoolExecutor(self._jobs) as threads:
            list(threads.map(play, [range(first, len(runs), processes) for first in range(processes)]))
        return answers


def _difference(what: str, then: _Answer, now: _Answer) -> str:
    """Return in words how two traces differ, or two states, neither of which has all numbers of the other; else ""."""
    for answer in (then, now):
        if "error" in answer:
            return str(answer["error"])
    lost, new = ([name for d, name in a[what].items() if d not in b[what]] for a, b in ((then, now), (now, then)))
    if not (lost or new) or (what == "state" and not (lost and new)):
        return ""
    when = f"after {PLAYS} plays or fewer " if what == "state" else ""
    return f"{when}{(new or lost)[0]} differs from the {what} of the earlier code on this machine"


@contextmanager
def _checkout(commit: str) -> Iterator[Path]:
    """Check out a commit into a folder of its own while the block runs."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "checkout")
        git = ["git", "-C", str(ROOT), "worktree"]
        answer = subprocess.run(
            [*git, "add", "--detach", str(folder), commit], capture_output=True, text=True, check=False
        )
        if answer.returncode:
            raise ConfigError(f"carry: git cannot check out the commit {commit} ({answer.stderr.strip()})")
        try:
            yield folder
        finally:
            subprocess.run([*git, "remove", "--force", str(folder)], capture_output=True, check=False)
