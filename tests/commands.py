"""The command lines: in a process of their own, as a user calls them, or in this one, which is quicker."""

import ctypes
import json
import os
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import pytest

from runners import check, compare, gallery, reproduce, run, tournament, verify
from runners.config.experiment import Experiment
from runners.execute.progress import STARTING
from runners.list import main as list_choices

PATIENCE = 1800
"""Seconds after which a command is considered to hang, even on a busy machine."""
ROOT = Path(__file__).resolve().parents[1]
OWN_MODULES = ("harmful.py", "my_module.py", "trouble_tuner.py")
MAINS: dict[str, Callable[[], int]] = {
    "run": run.main,
    "reproduce": reproduce.main,
    "compare": compare.main,
    "check": check.main,
    "verify": verify.main,
    "gallery": gallery.main,
    "list": list_choices,
    "tournament": tournament.main,
}
"""The last lines of each module."""
_C = ctypes.CDLL(None) if sys.platform == "linux" else None
_SET_DEATH_SIGNAL = 1


def _end_with_the_tests() -> None:
    """Make the kernel kill this starting process when the tests end, because it does not receive their Ctrl-C."""
    assert _C
    _C.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def _program() -> int:
    """Run the program that ``sys.argv`` names."""
    sys.path.insert(0, os.getcwd())
    runpy.run_path(sys.argv[0], run_name="__main__")
    return 0


def until(condition: Callable[[], bool]) -> None:
    """Wait until another process has met a condition."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def without_waiting(err: str) -> str:
    """Return the stderr of a command without the line that depends on the load of the machine."""
    return err.replace(f"{STARTING}\n", "")


def linucb_settings(**changes: Any) -> dict[str, Any]:
    """Return the settings of a small experiment."""
    return {
        "env": {"_target_": "bench.envs.synthetic_linear.SyntheticLinear", "dim": 3, "n_arms": 5},
        "algorithm": {"_target_": "bench.algorithms.linucb.LinUCB"},
        "tuner": {"_target_": "bench.tuners.tl.TL"},
        "task": {"_target_": "bench.tasks.contextual_bandit.ContextualBandit"},
        "horizon": 50,
        "seed": 0,
    } | changes


def peak_settings(tuner: str, horizon: int = 10, **of_tuner: Any) -> dict[str, Any]:
    """Return the settings of an experiment without compiled code, so that a worker starts in half the time."""
    return {
        "env": {"_target_": "bench.envs.moving_peak.SwitchingSine"},
        "tuner": {"_target_": tuner, **of_tuner},
        "task": {"_target_": "bench.tasks.direct.Direct"},
        "horizon": horizon,
        "seed": 0,
    }


def popen_repetitions(experiment: Experiment, repetitions: int, folder: Path, jobs: int) -> subprocess.Popen[str]:
    """Start a process that runs an experiment as commands do, without reading arguments or reporting results.

    It prints "begins" first.
    """
    script = (
        "import sys; from pathlib import Path; from runners.config.experiment import Experiment; "
        "from runners.execute.fanout import run_all; from runners.results.store import Store; "
        f"experiment, folder = Experiment({experiment.settings!r}), Path({str(folder)!r}); "
        f"print('begins', flush=True); run_all([experiment], {repetitions}, Store(folder), jobs={jobs})"
    )
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_end_with_the_tests if _C else None,
    )


@dataclass(frozen=True)
class Answer:
    """The outcome of a call, with the exit code, both streams, and the folder of results."""

    code: int
    out: str
    err: str
    results: Path

    @property
    def reports(self) -> list[dict[str, Any]]:
        """All lines of stdout, each of which must be JSON."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def report(self) -> dict[str, Any]:
        """The only line of stdout, which must be JSON."""
        (report,) = self.reports
        return report


class Commands:
    """Calls of commands.

    The results and the current folder of a call lie below ``folder``. The cache is shared by the session, and no real
    data is found.
    """

    def __init__(self, folder: Path) -> None:
        self.cwd = folder / "work"
        self.results = folder / "results"
        self.python = sys.executable
        home = folder / "home"
        for made in (self.cwd, home):
            made.mkdir(parents=True, exist_ok=True)
        self.environ = {
            "BENCH_RESULTS_DIR": str(self.results),
            "HOME": str(home),
            "XDG_CACHE_HOME": os.environ["BENCH_TESTS_CACHE"],
            # Nor is the index of fonts made again because of the new home
            "MPLCONFIGDIR": os.environ.get("MPLCONFIGDIR") or matplotlib.get_cachedir(),
        }

    def popen(self, command: str, *words: str, **environ: str) -> subprocess.Popen[str]:
        """Start ``python -m runners.<command>`` as the leader of a group of processes, as on a terminal."""
        values = {**os.environ, "PYTHONPATH": str(ROOT), **self.environ, **environ}
        values.pop("BENCH_DATA_DIR", None)
        return subprocess.Popen(
            [self.python, "-m", f"runners.{command}", *words],
            cwd=self.cwd,
            env=values,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=_end_with_the_tests if _C else None,
        )

    def call(self, command: str, *words: str, **environ: str) -> Answer:
        """Run a command to its end."""
        child = self.popen(command, *words, **environ)
        try:
            out, err = child.communicate(timeout=PATIENCE)
        except BaseException:
            child.kill()
            raise
        return Answer(child.returncode, out, without_waiting(err), Path(environ.get("BENCH_RESULTS_DIR", self.results)))

    def call_each(self, *lines: Sequence[str], **environ: str) -> list[Answer]:
        """Run commands one after the other, each with its own folder of results."""
        folders = [str(self.results.parent / f"results {number}") for number in range(len(lines))]
        return [
            self.call(*words, **environ, BENCH_RESULTS_DIR=folder) for words, folder in zip(lines, folders, strict=True)
        ]

    def here(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, *words: str
    ) -> Answer:
        """Run ``python -m runners.<command>`` in this process; an unexpected error is raised here.

        A ``command`` with another name is a program in the current folder, run as by ``python <program>.py``.
        """
        capsys.readouterr()
        with monkeypatch.context() as patch:
            patch.chdir(self.cwd)
            patch.setattr(sys, "argv", [command, *words])
            patch.setattr(sys, "path", list(sys.path))
            sys.modules.pop("my_module", None)  # of another folder
            patch.delenv("BENCH_DATA_DIR", raising=False)
            for name in ("HYDRA_FULL_ERROR", "BENCH_CONF_DIR"):  # set by the command, and so put back
                patch.setenv(name, "")
            for name, value in self.environ.items():
                patch.setenv(name, value)
            try:
                code = MAINS.get(command, _program)()
            except SystemExit as end:
                code = int(end.code or 0)
            finally:
                sys.modules.pop("my_module", None)
        return Answer(code, *capsys.readouterr(), self.results)


def assert_one_sentence(answer: Answer, *fragments: str) -> None:
    """Assert that a command has failed with one sentence.

    The exit code is 1, nothing is kept, and stderr has a line that names the error, apart from Hydra's line about the
    job.
    """
    lines = [line for line in answer.err.splitlines() if not line.startswith("Error executing job with overrides")]
    assert answer.code == 1, f"exit code {answer.code}: {answer.out}{answer.err}"
    assert not answer.out, f"on stdout: {answer.out}"
    assert len(lines) == 1, f"not one line: {answer.err}"
    assert lines[0].startswith("error: ")
    for fragment in fragments:
        assert fragment in lines[0], f"not in the sentence: {fragment!r}; it is: {lines[0]}"
    assert "Traceback" not in answer.err
    assert not any(path.is_file() for path in answer.results.rglob("*")), "something was written"
