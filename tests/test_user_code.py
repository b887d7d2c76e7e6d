"""Whatever a user's class does to its process: a sentence names it, the others finish, nothing wrong is kept."""

import json
import subprocess
import sys
import time
from functools import partial

import pytest
from commands import PATIENCE, ROOT, assert_one_sentence

COMMAND = "run"
SIZE = ("env=switching_sine", "algorithm=none", "horizon=200", "repetitions=2")
LETHAL = {
    "segfault": "its worker died twice (SIGSEGV)",
    "abort": "its worker died twice (SIGABRT)",
    "exit without a word": "its worker died twice (exit code 3)",
}
RAISING = {
    "exit": "Harmful.ask: found SystemExit, which would end the program",
    "generator exit": "Harmful.ask: found GeneratorExit, which would end the program",
    "interrupt": "KeyboardInterrupt",
    "speechless": "Speechless: (its message cannot be shown)",
}
HARMLESS = ("closed stdout", "emptied environment")


def tuners(kinds, at):
    return ",".join(f"{kind.capitalize()}=harmful.Harmful(kind={kind},at={at})" for kind in kinds)


LATER = pytest.mark.release


@pytest.fixture
def call(commands, monkeypatch, capsys):
    """Call a command, in a process of its own where what it runs might end it."""

    def called(is_apart, command, *words):
        if is_apart:
            return commands.call(command, *words)
        sys.modules.pop("bad", None)
        return commands.here(monkeypatch, capsys, command, *words)

    yield called
    sys.modules.pop("bad", None)


EVERY = [pytest.param([*LETHAL], *case, marks=LATER) for case in ((1, 2), (5, 2), (150, 1))]


@pytest.mark.parametrize(("lethal", "at", "jobs"), [(["exit without a word"], 1, 2), *EVERY])
def test_one_tuner_that_ends_its_process_leaves_the_others_finished_and_is_named(commands, lethal, at, jobs):
    """Each lethal kind starts workers anew; what is said of each, the next test has, too."""
    kinds = [*lethal, *RAISING, *HARMLESS]
    answer = commands.call("compare", "name=harmed", f"tuner=ucb1,{tuners(kinds, at)},random", *SIZE, f"jobs={jobs}")
    assert answer.code == 1
    lines = answer.err.splitlines()
    assert len(lines) == len(lethal) + len(RAISING), answer.err
    for kind, words in ({kind: LETHAL[kind] for kind in lethal} | RAISING).items():
        is_left_out = at == 1 and kind in LETHAL  # it was started and asked once before anything was run
        place = "left out" if is_left_out else "compare/harmed"
        (line,) = [line for line in lines if line.startswith(f"error: {place}: {kind.capitalize()}: ")]
        assert words in line
        assert ("asked once" if is_left_out else "all 2 repetitions failed") in line
    rows = [line.split(",")[:2] for line in (answer.results / "compare/harmed/finals.csv").read_text().splitlines()]
    finished = ["UCB1", *map(str.capitalize, HARMLESS), "Random each round"]
    assert sorted(rows[1:]) == sorted([name, number] for name in finished for number in "01")


@pytest.mark.parametrize("kind", LETHAL)
def test_a_run_that_ends_its_process_when_it_is_first_asked_is_one_sentence(here, kind):
    answer = here("tuner=harmful.Harmful", f"tuner.kind={kind}", *SIZE)
    assert_one_sentence(answer, "error: tuner Harmful: its worker died twice", LETHAL[kind].partition("(")[2])


@pytest.mark.parametrize("runner", ["loky", pytest.param("dask", marks=LATER)])
@pytest.mark.parametrize("kind", ["sleep", "lock", "swallow", "swallow once", "stop"])
def test_no_repetition_outlasts_its_limit_of_time(commands, here, kind, runner):
    """It sleeps, waits for a lock, catches what the limit raises, goes on as if nothing were, or its process stands."""
    if runner == "dask":
        pytest.importorskip("distributed", reason="dask is not installed")
    words = ["tuner=harmful.Harmful", f"tuner.kind={kind}", "tuner.at=5", f"runner={runner}", "runner.time_limit=1"]
    answer = (partial(commands.call, "run") if kind == "stop" else here)(*words, *SIZE, "repetitions=1", "output=json")
    assert (answer.code, answer.report["repetitions"], answer.report["failed"]) == (1, 0, 1)
    assert not list(commands.results.rglob("*.parquet"))
    (record,) = commands.results.rglob("*.failed.json")
    error = json.loads(record.read_text())["error"]
    if (runner, kind) == ("dask", "stop"):  # the scheduler only sees that the worker does not respond
        assert error.startswith("its worker died twice")
    else:
        assert error.startswith("the repetition did not finish within runner.time_limit = 1 s")
    assert "Traceback" not in answer.err


AT_IMPORT = {
    "exit": ("import sys; sys.exit('not today')", "SystemExit: not today (bad.py:1 in <module>)"),
    "arguments": (
        "import argparse; p = argparse.ArgumentParser(); p.add_argument('--x', required=True); p.parse_args()",
        "cannot be imported: SystemExit: 2 (bad.py:1 in <module>)",
    ),
    "exit without a word": ("import os; os._exit(0)", "it ends the process that imports it (exit code 0)"),
    "segfault": (
        "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
        "it ends the process that imports it (SIGSEGV)",
    ),
}


@pytest.mark.parametrize("kind", AT_IMPORT)
@pytest.mark.parametrize("command", ["run", "compare"])
def test_a_module_that_ends_the_process_that_imports_it_is_one_sentence(commands, call, command, kind):
    text, words = AT_IMPORT[kind]
    (commands.cwd / "bad.py").write_text(text)
    tuner = "tuner=bad.Tuner" + ",tl" * (command == "compare")
    answer = call(kind in ("exit without a word", "segfault"), command, tuner, "horizon=20", "repetitions=1")
    assert_one_sentence(answer, "tuner._target_: found 'bad.Tuner', whose module cannot be imported: ", words)


def test_a_module_whose_import_never_ends_is_named(tmp_path):
    (tmp_path / "never_imported.py").write_text("import threading\nthreading.Event().wait()\n")
    # In a process of its own: nothing is tried in one of several threads, as one that runs tests may be.
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from runners.config import classes\n"
        "classes.IMPORT_SECONDS = 0.5\n"
        "classes.import_class('tuner', {'_target_': 'never_imported.Tuner'})\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert "found 'never_imported.Tuner', whose module cannot be imported: " in ended.stderr
    assert "it does not return within 0.5 s" in ended.stderr


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
        ("os._exit(2)", "return None", "env: Bad ends the process that builds it (exit code 2)"),
        ("pass", "os.kill(os.getpid(), signal.SIGSEGV)", "env: Bad ends the process that builds it (SIGSEGV)"),
        ("pass", "sys.exit(3)", "env: Bad cannot say which data it reads: SystemExit: 3 (bad.py:11 in fingerprint)"),
    ],
)
def test_an_environment_that_ends_the_process_when_it_is_built_is_one_sentence(
    commands, call, when_built, when_read, words
):
    (commands.cwd / "bad.py").write_text(ENVIRONMENT.format(when_built=when_built, when_read=when_read))
    answer = call("ends the process" in words, "run", "env=bad.Bad", "horizon=20", "repetitions=1")
    assert_one_sentence(answer, words)


def test_a_command_without_a_folder_for_temporary_files_uses_the_results(commands, monkeypatch, tmp_path):
    nowhere = str(tmp_path / "nowhere")
    script = f"import tempfile; tempfile._candidate_tempdir_list = lambda: [{nowhere!r}]"
    (commands.cwd / "sitecustomize.py").write_text(script)
    words = ("run", "env=switching_sine", "algorithm=none", "horizon=20", "repetitions=3")
    path = f"{commands.cwd}:{ROOT}"
    answer = commands.call(*words, "jobs=2", PYTHONPATH=path)  # by the command, and by its workers
    assert (answer.code, answer.err) == (0, "")
    assert [entry.name for entry in commands.results.iterdir()] == ["raw"]
    (tmp_path / "file").write_text("")
    answer = commands.call(*words, PYTHONPATH=path, BENCH_RESULTS_DIR=str(tmp_path / "file" / "results"))
    assert_one_sentence(answer, "TMPDIR: ", nowhere, "expected a folder that can be written")


def test_without_the_compiler_it_runs_uncompiled_with_the_same_numbers(commands, here):
    words = ("horizon=20", "repetitions=1", "output=json")
    compiled = here(*words)
    plain = commands.call("run", *words, NUMBA_DISABLE_JIT="1", BENCH_RESULTS_DIR=str(commands.cwd / "plain"))
    assert (plain.code, plain.err) == (0, "")
    assert plain.report["metrics"]["final_regret"] == compiled.report["metrics"]["final_regret"]


def test_a_tuner_may_be_called_none(call):
    answer = call(False, "compare", "tuner=None=ucb1,NA=random", *SIZE)
    assert (answer.code, answer.err) == (0, "")
    assert [line.split()[0] for line in answer.out.splitlines()[1:3]] == ["None", "NA"]


def test_a_killed_command_with_dask_workers_leaves_no_words_behind(commands):
    pytest.importorskip("distributed", reason="dask is not installed")
    words = ("tuner=harmful.Harmful", "tuner.kind=sleep", "tuner.at=5", *SIZE, "runner=dask", "jobs=2")
    child = commands.popen("run", *words)
    while not list(commands.results.glob("raw/*/settings.json")):
        assert child.poll() is None
        time.sleep(0.1)
    child.kill()
    assert child.communicate(timeout=PATIENCE) == ("", "")
