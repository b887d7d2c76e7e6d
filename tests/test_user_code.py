"""A user's class harms its process: a sentence names it, the others finish, no wrong result is kept."""

import sys

import pytest
from commands import assert_one_sentence

COMMAND = "run"


@pytest.fixture
def call(commands, monkeypatch, capsys):
    """Call a command in this process, with a module of its own called ``bad``."""

    def called(command, *words):
        sys.modules.pop("bad", None)
        return commands.here(monkeypatch, capsys, command, *words)

    yield called
    sys.modules.pop("bad", None)


ENVIRONMENT = """
import os, signal, sys
from my_module import MyEnvironment

class Bad(MyEnvironment):
    def __init__(self):
        {when_built}

    @property
    def fingerprint(self):
        {when_read}
"""


@pytest.mark.parametrize(
    ("when_built", "when_read", "words"),
    [
        ("sys.exit(2)", "return None", "env: Bad cannot be built: SystemExit: 2 (bad.py:7 in __init__)"),
        ("self.x = {}['y']", "return None", "env: Bad cannot be built: KeyError: 'y' (bad.py:7 in __init__)"),
        ("pass", "sys.exit(3)", "env: Bad cannot say which data it reads: SystemExit: 3 (bad.py:11 in fingerprint)"),
    ],
)
def test_an_environment_that_exits_when_it_is_built_is_one_sentence(commands, call, when_built, when_read, words):
    (commands.cwd / "bad.py").write_text(ENVIRONMENT.format(when_built=when_built, when_read=when_read))
    answer = call("run", "env=bad.Bad", "horizon=20", "repetitions=1")
    assert_one_sentence(answer, words)


def test_without_the_compiler_it_runs_uncompiled_with_the_same_numbers(commands, here):
    words = ("horizon=20", "repetitions=1", "output=json")
    compiled = here(*words)
    plain = commands.call("run", *words, NUMBA_DISABLE_JIT="1", BENCH_RESULTS_DIR=str(commands.cwd / "plain"))
    assert (plain.code, plain.err) == (0, "")
    assert plain.report["metrics"]["final_regret"] == compiled.report["metrics"]["final_regret"]
