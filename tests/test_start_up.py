"""Commands that compute nothing answer quickly: what takes long to import is imported when it is needed."""

import re

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
    """Return the modules that ``python -m runners.<command>`` imports, and those that its workers import."""
    found = modules(commands.call(*words, PYTHONPROFILEIMPORTTIME="1"))
    assert "numpy" in found
    return found


def test_help_and_a_wrong_word_import_nothing_slow(tmp_path):
    """Nor what is imported by one of them before another."""
    lines = [(command, "--help") for command in ("run", "reproduce", "compare", "verify", "gallery")]
    wrong = ("compare", "tuner=tl,cdd")
    *answers, refused = Commands(tmp_path).call_each(*lines, wrong, PYTHONPROFILEIMPORTTIME="1")
    assert all(command in answer.out for (command, _), answer in zip(lines, answers, strict=True))
    assert "tuner: found 'cdd'" in refused.err
    found = [*map(modules, answers), modules(refused, code=1)]
    assert "numpy" in found[0]
    assert [of_one & (SLOW | {"hydra"}) for of_one in found] == [set()] * len(found)


def test_a_run_imports_writers_of_results_and_a_finished_one_only_readers(commands):
    """Its worker, too, which a tuner of a user's own is run in."""
    words = ("run", "env=gaussian_arms", "algorithm=none", "tuner=my_module.MyTuner", "horizon=20", "repetitions=2")
    needed = {"pyarrow"}  # not scipy: quantiles of Student's distribution are for five repetitions and more
    assert imported(commands, *words) & SLOW == needed | {"joblib"}
    assert imported(commands, *words) & SLOW <= needed
