"""Commands that compute nothing answer quickly: what takes long to import is imported when it is needed."""

import logging
import os
import re
import subprocess
import sys

import numba
from commands import ROOT, Answer, Commands
from threadpoolctl import threadpool_info

from bench import jit
from bench.jit import kernel

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
    wrong = ("compare", "tuner=tl,cdt(radius=1)")
    *answers, refused = Commands(tmp_path).call_each(*lines, wrong, PYTHONPROFILEIMPORTTIME="1")
    assert all(command in answer.out for (command, _), answer in zip(lines, answers, strict=True))
    assert "error: tuner.radius: found an unknown key" in refused.err
    found = [*map(modules, answers), modules(refused, code=1)]
    assert "numpy" in found[0]
    assert [of_one & (SLOW | {"hydra"}) for of_one in found] == [set()] * len(found)


def test_the_list_of_commands_imports_no_package():
    program = "import sys, runners.__main__; runners.__main__.main(); print(sorted(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", program, "--help"], cwd=ROOT, capture_output=True, text=True)
    assert "bandit-bench compare" in answer.stdout
    assert not [name for name in ("numpy", "pydantic", "hydra") if f"'{name}'" in answer.stdout]


def test_a_command_ends_without_a_last_search_for_garbage():
    """It takes .1 s for `--help`, .5 s where numba was imported."""
    program = (
        "import atexit, gc; atexit.register(lambda: print(gc.get_freeze_count() > 10_000)); "
        "from runners.command import plain_command; plain_command('', lambda words: True)"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True).stdout == b"True\n"


def test_a_run_imports_what_writes_its_results_and_a_finished_one_what_reads_them(commands):
    """Its worker, too, which a tuner of a user's own is run in."""
    words = ("run", "env=gaussian_arms", "algorithm=none", "tuner=my_module.MyTuner", "horizon=20", "repetitions=2")
    needed = {"pyarrow"}  # not scipy: quantiles of Student's distribution are for five repetitions and more
    assert imported(commands, *words) & SLOW == needed | {"joblib"}
    assert imported(commands, *words) & SLOW <= needed


def test_a_comparison_imports_nothing_that_judges_papers_or_writes_documents(tmp_path):
    """Neither its runs and tables nor its page and the list of all comparisons."""
    sizes = ("horizon=20", "repetitions=2")
    found = imported(Commands(tmp_path), "compare", "tuner=random,tl", "env=gaussian_arms", "algorithm=none", *sizes)
    assert {"bench.report.claims.check", "runners.execute.write_figure", "bench.gallery.render"} <= found
    assert not [name for name in found if name.startswith(("bench.audit", "markdown_it"))]


def test_drawing_needs_no_pyplot_and_nothing_that_runs_experiments():
    unwanted = ("matplotlib.pyplot", "runners", "hydra", "joblib", "numba", "bench.loop")
    program = f"import sys, bench.report.page, bench.report.claims; print([n for n in {unwanted} if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True).stdout == b"[]\n"


def test_without_a_folder_for_compiled_code_kernels_work_and_one_warning_says_so(monkeypatch, caplog):
    def enable_caching(self):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(numba.core.dispatcher.Dispatcher, "enable_caching", enable_caching)
    double, negative = kernel(lambda x: 2.0 * x), kernel(lambda x: -x)
    with caplog.at_level(logging.WARNING):
        assert [double(2.0), negative(2.0)] == [4.0, -2.0]
    (record,) = caplog.records
    assert "set NUMBA_CACHE_DIR" in record.message


def test_a_terminal_is_told_once_that_the_first_runs_compile(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for _ in range(2):
        jit._say_when_new(tmp_path / "cache" / "1")
    assert (
        capsys.readouterr().err == "Compiling numerical code: each method's first run takes some seconds longer, once\n"
    )


def test_branch_and_bound_is_not_compiled_on_a_line():
    """It takes seconds, and a tuner of one hyper-parameter never calls it."""
    program = (
        "import numpy as np; from bench.tuners import covering as c; "
        "c.uncovered(np.array([[0.5]]), np.array([0.2]), np.empty(1)); "
        "print(c._deepest._compiled is None)"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True).stdout == b"True\n"


def test_numerical_libraries_have_as_few_threads_as_the_tests_ask_for():
    """One unless the environment says otherwise: with more, each of many small matrices takes several times as long."""
    threads = {pool["num_threads"] for pool in threadpool_info() if pool["internal_api"] == "openblas"}
    assert threads <= {int(os.environ["OPENBLAS_NUM_THREADS"])}  # NumPy may have another library
