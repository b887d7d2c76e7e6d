"""Commands that compute nothing answer quickly: what takes long to import is imported when it is needed."""

import re

import pytest
from commands import Commands

SLOW = {"joblib", "matplotlib", "numba", "obp", "optuna", "pandas", "pyarrow", "scipy", "sklearn", "skopt", "torch"}


def imported(commands: Commands, *words: str) -> set[str]:
    """Return the top-level packages that ``python -m runners.<command>`` imports."""
    answer = commands.call(*words, PYTHONPROFILEIMPORTTIME="1")
    assert answer.code == 0, answer.err
    found = set(re.findall(r"^import time:.*\| +(\w+)$", answer.err, re.MULTILINE))
    assert "hydra" in found
    return found


@pytest.mark.parametrize("command", ["run", "reproduce", "compare"])
def test_help_imports_nothing_slow(command, tmp_path):
    assert not imported(Commands(tmp_path), command, "--help") & SLOW


def test_a_finished_run_imports_what_reads_its_results(tmp_path):
    commands = Commands(tmp_path)
    words = ("run", "env=gaussian_arms", "algorithm=none", "tuner=random", "horizon=20", "repetitions=2")
    assert commands.call(*words).code == 0
    assert imported(commands, *words) & SLOW <= {"pyarrow", "scipy"}  # scipy: quantiles of Student's distribution
