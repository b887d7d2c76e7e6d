"""Commands that compute nothing answer quickly: slow imports wait until they are needed."""

import re

import pytest
from commands import Answer, Commands

SLOW = {
    "joblib",
    "matplotlib",
    "numba",
    "obp",
    "optuna",
    "pandas",
    "pyarrow",
    "scipy",
    "sklearn",
    "skopt",
    "torch",
}


def modules(answer: Answer, code: int = 0) -> set[str]:
    """Return the modules that were imported in a process with the variable ``PYTHONPROFILEIMPORTTIME``."""
    assert answer.code == code, answer.err
    return set(re.findall(r"^import time:.*\| +([\w.]+)$", answer.err, re.MULTILINE))


def imported(commands: Commands, *words: str) -> set[str]:
    """Return the modules that ``python -m runners.<command>`` and its workers import."""
    found = modules(commands.call(*words, PYTHONPROFILEIMPORTTIME="1"))
    assert "numpy" in found
    return found


@pytest.mark.parametrize("command", ["run", "reproduce", "compare", "verify", "gallery"])
def test_help_imports_nothing_slow(commands, command):
    answer = commands.call(command, "--help", PYTHONPROFILEIMPORTTIME="1")
    assert command in answer.out
    assert not modules(answer) & (SLOW | {"hydra"})


def test_a_wrong_word_imports_nothing_slow(commands):
    refused = commands.call("compare", "tuner=tl,cdd", PYTHONPROFILEIMPORTTIME="1")
    assert "tuner: found 'cdd'" in refused.err
    assert not modules(refused, code=1) & (SLOW | {"hydra"})


def test_a_run_imports_writers_of_results_and_a_finished_one_only_readers(commands):
    """So does the worker that runs a user's tuner."""
    words = ("run", "env=gaussian_arms", "algorithm=none", "tuner=my_module.MyTuner", "horizon=20", "repetitions=2")
    needed = {"pyarrow"}  # not scipy: quantiles of Student's distribution are for five repetitions and more
    assert imported(commands, *words) & SLOW == needed | {"joblib"}
    assert imported(commands, *words) & SLOW <= needed
