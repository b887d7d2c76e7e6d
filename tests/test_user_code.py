"""Whatever a user's class does to its process: a sentence names it, the others finish, nothing wrong is kept."""

import json
import sys
import tempfile
import time

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
    """Call a command in this process, with a module of its own called ``bad``."""

    def called(command, *words):
        sys.modules.pop("bad", None)
        return commands.here(monkeypatch, capsys, command, *words)

    yield called
    sys.modules.pop("bad", None)


EVERY = [pytest.param([*LETHAL], *case, marks=LATER) for case in ((1, 2), (5, 2), (150, 1))]


@pytest.mark.parametrize(("lethal", "at", "jobs"), [(["exit without a word"], 1, 2), *EVERY])
def test_one_tuner_that_ends_its_process_leaves_the_others_finished_and_is_named(call, monkeypatch, lethal, at, jobs):
    """Each lethal kind starts workers anew; what is said of each, the next test has, too."""
    monkeypatch.setattr("runners.execute.write_figure.content", lambda *_: b"")  # no picture
    kinds = [*lethal, *RAISING, *HARMLESS]
    words = ("name=harmed", f"tuner=ucb1,{tuners(kinds, at)},random", *SIZE, f"jobs={jobs}")
    answer = call("compare", *words)  # what does harm is of a user's own, and so in workers
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


def test_a_run_that_ends_its_process_when_it_is_first_asked_is_one_sentence(here):
    answer = here("tuner=harmful.Harmful", *SIZE)
    assert_one_sentence(answer, "error: tuner Harmful: its worker died twice (SIGSEGV)")


@pytest.mark.parametrize("runner", ["loky", pytest.param("dask", marks=LATER)])
@pytest.mark.parametrize("kind", ["sleep", "lock", "swallow", "swallow once", "stop"])
def test_no_repetition_outlasts_its_limit_of_time(commands, here, monkeypatch, kind, runner):
    """It sleeps, waits for a lock, catches what the limit raises, goes on as if nothing were, or its process stands."""
    if runner == "dask":
        pytest.importorskip("distributed", reason="dask is not installed")
    words = ["tuner=harmful.Harmful", f"tuner.kind={kind}", "tuner.at=5", f"runner={runner}", "runner.time_limit=0.4"]
    if kind in ("swallow", "stop"):  # the others end by themselves
        monkeypatch.setattr("runners.execute.processes.GRACE_SECONDS", 0.1)
        monkeypatch.setattr("runners.execute.processes._LOOK_SECONDS", 0.05)
    answer = here(*words, *SIZE, "repetitions=1", "output=json")
    assert (answer.code, answer.report["repetitions"], answer.report["failed"]) == (1, 0, 1)
    assert not list(commands.results.rglob("*.parquet"))
    (record,) = commands.results.rglob("*.failed.json")
    error = json.loads(record.read_text())["error"]
    if (runner, kind) == ("dask", "stop"):  # the scheduler only sees that the worker does not respond
        assert error.startswith("its worker died twice")
    else:
        assert error.startswith("the repetition did not finish within runner.time_limit = 0.4 s")
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("command", ["run", "compare"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sys; sys.exit('not today')", "SystemExit: not today (bad.py:1 in <module>)"),
        (
            "import argparse; p = argparse.ArgumentParser(); p.add_argument('--x', required=True); p.parse_args()",
            "cannot be imported: SystemExit: 2 (bad.py:1 in <module>)",
        ),
    ],
)
def test_a_module_that_exits_when_it_is_imported_is_one_sentence(commands, call, command, text, words):
    (commands.cwd / "bad.py").write_text(text)
    tuner = "tuner=bad.Tuner" + ",tl" * (command == "compare")
    answer = call(command, tuner, "horizon=20", "repetitions=1")
    assert_one_sentence(answer, "tuner._target_: found 'bad.Tuner', whose module cannot be imported: ", words)


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


def test_a_command_without_a_folder_for_temporary_files_uses_the_results(commands, tmp_path):
    nowhere = str(tmp_path / "nowhere")
    script = f"import tempfile; tempfile._candidate_tempdir_list = lambda: [{nowhere!r}]"
    (commands.cwd / "sitecustomize.py").write_text(script)
    words = ("run", "env=switching_sine", "algorithm=none", "horizon=20", "repetitions=3")
    # By the command, and by its worker, which a limit of time requires
    answer = commands.call(*words, "runner.time_limit=600", PYTHONPATH=f"{commands.cwd}:{ROOT}")
    assert (answer.code, answer.err) == (0, "")
    assert [entry.name for entry in commands.results.iterdir()] == ["raw"]


def test_without_any_folder_for_temporary_files_a_sentence_says_so(commands, here, monkeypatch, tmp_path):
    nowhere = str(tmp_path / "nowhere")
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [nowhere])
    (tmp_path / "file").write_text("")
    commands.environ["BENCH_RESULTS_DIR"] = str(tmp_path / "file" / "results")
    answer = here("env=switching_sine", "algorithm=none", "horizon=20", "repetitions=3")
    assert_one_sentence(answer, "TMPDIR: ", nowhere, "expected a folder that can be written")


def test_without_the_compiler_it_runs_uncompiled_with_the_same_numbers(commands, here):
    words = ("horizon=20", "repetitions=1", "output=json")
    compiled = here(*words)
    plain = commands.call("run", *words, NUMBA_DISABLE_JIT="1", BENCH_RESULTS_DIR=str(commands.cwd / "plain"))
    assert (plain.code, plain.err) == (0, "")
    assert plain.report["metrics"]["final_regret"] == compiled.report["metrics"]["final_regret"]


def test_a_tuner_may_be_called_none(call):
    answer = call("compare", "tuner=None=ucb1,NA=random", *SIZE)
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
