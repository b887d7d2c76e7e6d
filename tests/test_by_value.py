"""Classes that no path names: of a notebook's cell, the main script, inside a function, of a module before a reload."""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import PATIENCE, ROOT, Commands, peak_settings
from IPython.core.interactiveshell import InteractiveShell

import bandit_bench as bb
from runners.config.experiment import Experiment, run_repetition

CELL = """
import bandit_bench as bb
STEP = {step}

def choose(names):
    return dict.fromkeys(names, STEP)

CHOICES = {{"of the dict": choose}}

@bb.component
class Mine(bb.Tuner):
    leaves_space = True
    again: bool = True
    def _start(self, problem, seeds): self.names = problem.space.names
    def _ask(self): return CHOICES["of the dict"](self.names)
    def _tell(self, reward, outcome): pass
"""
SCRIPT = (
    CELL.format(step=1.0)
    + """
if __name__ == "__main__":
    import json, os
    from runners.execute import write_figure
    write_figure.content = lambda *_: b""  # no picture
    words = {"env": "switching_triangle", "horizon": 20, "repetitions": 2, "jobs": 1}
    os.environ["BENCH_RESULTS_DIR"] = "loky"
    found = bb.compare([Mine(again=False), "random"], **words, name="own", runner="loky")
    again = found.settings.set_index("key")["values"]["tuner.Mine.again"]
    print(json.dumps([found.finals["regret"].tolist(), again, found.command]))
    os.environ["BENCH_RESULTS_DIR"] = "dask"  # where nothing has been run yet
    print(json.dumps(bb.run(Mine(again=False), **words, runner="dask").finals["regret"].tolist()))
    print(json.dumps(bb.run(Mine, **words | {"horizon": 5, "repetitions": 1}).finals["x"].tolist()))
"""
)
SINE: dict[str, Any] = {"env": "switching_sine", "algorithm": "none", "horizon": 10, "repetitions": 1}


def test_a_class_of_the_main_script_runs_in_workers_of_both_kinds(tmp_path):
    calls = Commands(tmp_path)
    (calls.cwd / "script.py").write_text(SCRIPT)
    environ = {**os.environ, **calls.environ, "PYTHONPATH": str(ROOT)}
    answer = subprocess.run(
        [sys.executable, "script.py"], cwd=calls.cwd, env=environ, capture_output=True, text=True, timeout=PATIENCE
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.count("tuner Mine: defined in this session") == 1
    compared, other, played = (json.loads(line) for line in answer.stdout.splitlines() if line.startswith("["))
    regret, again, command = compared
    assert len(regret) == 4
    assert other == pytest.approx(regret[:2], rel=1e-6)  # as it is written into a table
    assert (again, played) == ([False], [1.0])
    assert command.startswith("bandit_bench.compare(")
    for runner, least in (("loky", 4), ("dask", 2)):
        assert len(list((calls.cwd / runner).glob("raw/*/*.parquet"))) >= least


def of(cls: type) -> Experiment:
    target = f"{cls.__module__}.{cls.__qualname__}".replace("<locals>.", "")
    return Experiment(peak_settings(target, horizon=3), {"tuner": cls})


Shell = Callable[..., type]


@pytest.fixture
def shell(tmp_path, monkeypatch) -> Iterator[Shell]:
    """Run cells in the shell of a notebook, and return the class ``Mine`` that they define."""
    for name, value in Commands(tmp_path).environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    shell = InteractiveShell.instance()
    shell.reset(new_session=True)
    monkeypatch.setitem(sys.modules, "__main__", shell.user_module)

    def run(*cells: str) -> type:
        for cell in cells:
            shell.run_cell(cell).raise_error()
        return shell.user_ns["Mine"]

    yield run
    shell.run_line_magic("reset", "-f")
    for name in [name for name in sys.modules if name.startswith("of_cells") or name.endswith("extensions.autoreload")]:
        del sys.modules[name]


def played(tuner: Any) -> tuple[float, int]:
    """Return the configurations that a tuner plays in a run, and the number of new repetitions."""
    result = bb.run(tuner, **SINE)
    assert not result.failed
    return result.finals["x"].tolist()[0], len(result.new)


def test_the_same_object_is_reused_and_another_never(shell):
    first = shell(CELL.format(step=0.25))
    assert [played(first), played(first), played(first())] == [(0.25, 1), (0.25, 0), (0.25, 0)]
    again = shell(CELL.format(step=0.25))  # of the same source
    assert played(again) == (0.25, 1)
    assert of(first).key != of(again).key


def write(folder: Path, step: float) -> None:
    path = folder / "of_cells.py"
    own = f"dict.fromkeys(self.names, {step})"  # a reload gives an old class the module's new names
    path.write_text(CELL.format(step=step).replace('CHOICES["of the dict"](self.names)', own))
    time = path.stat().st_mtime + step * 1000  # within one second, Python takes an old compiled file for a new one
    os.utime(path, (time, time))


def test_an_edit_that_autoreload_has_seen_is_run(shell, tmp_path):
    write(tmp_path, 0.25)
    mine = shell("%load_ext autoreload\n%autoreload 2\nfrom of_cells import Mine")
    assert played(mine) == (0.25, 1)
    write(tmp_path, 0.5)
    assert played(shell("'a cell'")) == (0.5, 1)


def test_a_class_of_a_reloaded_module_is_the_object_that_is_handed_over(shell, tmp_path):
    write(tmp_path, 0.25)
    old = shell("from of_cells import Mine")
    module = sys.modules["of_cells"]
    assert played(old) == (0.25, 1)
    write(tmp_path, 0.5)
    importlib.reload(module)
    assert [played(module.Mine), played(old), played(module.Mine)] == [(0.5, 1), (0.25, 1), (0.5, 0)]
    assert (of(module.Mine).data_notes(), len(of(old).data_notes())) == ([], 1)
    write(tmp_path, 0.75)
    importlib.reload(module)
    assert [played(module.Mine), played("of_cells.Mine")] == [(0.75, 1), (0.75, 0)]


def test_two_versions_of_a_class_are_two_lines(shell, capsys):
    old = shell(CELL.format(step=0.25))
    new = shell(CELL.format(step=0.75).replace("STEP", "OTHER").replace("CHOICES", "OTHERS"))
    found = bb.compare({"old": old, "new": new()}, **SINE | {"repetitions": 2}, name="versions")
    assert found.finals.groupby("method")["x"].mean().to_dict() == {"old": 0.25, "new": 0.75}
    assert capsys.readouterr().out.count("tuner Mine: defined in this session; its repetitions are kept for") == 1


class Outer(bb.Tuner):
    share = 0.25

    def _start(self, problem, seeds):
        self.space = problem.space

    def _ask(self):
        return self.space.from_unit([self.share] * self.space.dim)

    def _tell(self, reward, outcome): ...


def test_a_class_inside_a_function_runs_with_its_base_and_closure(shell):
    half = 0.5

    class Inner(Outer):
        share = half

    @bb.component
    class Innermost(Inner):
        size: float

        def _ask(self):
            return self.space.from_unit([half / 2 * self.size] * self.space.dim)

    assert [played(Inner), played(Innermost(size=3.0))] == [(0.5, 1), (0.75, 1)]
    with pytest.raises(bb.BenchError, match=r"^tuner: found no value for 'size'"):
        run_repetition(of(Innermost), 0)
