"""Finished repetitions are reused, reported as such, and run again on request."""

import os
import re
import time

import pytest

SINE = ("env=switching_sine", "algorithm=none", "horizon=40")
TUNER = """
import os
from bandit_bench import Tuner, component
{top}

@component
class Mine(Tuner):
    def _start(self, problem, seeds): self.space = problem.space
    def _ask(self): return self.space.from_unit([{share}] * self.space.dim)
    def _tell(self, reward, outcome): pass
"""
COMPILED = """from numba import njit
from my_helper import share

@njit({signature}cache=True)
def place():
    return share()
"""
HELPER = "from numba import njit\n\n@njit({signature}cache=True)\ndef share():\n    return {share}\n"


def played(answer) -> float:
    return float(re.search(r"final_x +(\S+)", answer.out)[1])


def test_runs_with_unseen_inputs_are_reused_with_their_day_and_renewed_on_request(commands):
    (commands.cwd / "my_tuner.py").write_text(TUNER.format(top="", share='float(os.environ["SHARE"])'))
    words = ("run", "tuner=my_tuner.Mine", *SINE, "repetitions=1")
    first = commands.call(*words, SHARE="0.25")
    again = commands.call(*words, SHARE="0.75")
    renewed = commands.call(*words, "renew=true", SHARE="0.75")
    assert [played(first), played(again), played(renewed)] == [0.25, 0.25, 0.75]
    line = r"^1 repetition \(0 new, 0 failed; 1 of \d{4}-\d\d-\d\d \d\d:\d\d, renew=true runs them again\)"
    assert re.search(line, again.out)
    assert not [answer for answer in (first, renewed) if "renew" in answer.out]


@pytest.mark.parametrize("signature", ["", pytest.param("'float64()', ", marks=pytest.mark.release)])
def test_own_compiled_code_follows_the_present_files(commands, signature):
    """Numba's own cache does not notice the edit of a function that is called from another file."""
    compiled = COMPILED.format(signature=signature)
    (commands.cwd / "my_tuner.py").write_text(TUNER.format(top=compiled, share="place()"))
    found = []
    for share in (0.25, 0.75):
        path = commands.cwd / "my_helper.py"
        path.write_text(HELPER.format(signature=signature, share=share))
        os.utime(path, (time.time() + 100 * share,) * 2)
        answer = commands.call(
            "run", "tuner=my_tuner.Mine", *SINE, "repetitions=1", NUMBA_CACHE_DIR=str(commands.cwd / "compiled")
        )
        found.append(played(answer))
    assert found == [0.25, 0.75]


@pytest.mark.parametrize("name", ["random.py"])
def test_a_file_with_the_name_of_a_module_that_workers_import_is_named(commands, name):
    (commands.cwd / "my_tuner.py").write_text(TUNER.format(top="", share="0.5"))
    (commands.cwd / name).write_text("print('mine')\n")
    answer = commands.call("run", "tuner=my_tuner.Mine", *SINE, "repetitions=1", PYTHONSAFEPATH="1")
    assert answer.code == 1
    assert f"error: {commands.cwd / name}: found the name of a module that the suite imports" in answer.err
