"""Classes that no file can be imported for: of a notebook's cell, of the main script, of inside a function."""

import ast
import json
import os
import subprocess
import sys

import pytest
from commands import PATIENCE, ROOT, Commands
from IPython.core.interactiveshell import InteractiveShell

from bench.errors import ConfigError
from bench.tuners.base import Tuner
from runners.config import by_value
from runners.config.experiment import Experiment

CELL = """
import bandit_bench as bb
STEP = {step}

def choose(names):
    return dict.fromkeys(names, STEP)

@bb.component
class Mine(bb.Tuner):
    {doc}
    leaves_space = True
    again: bool = True
    def _start(self, problem, seeds): self.names = problem.space.names
    def _ask(self): return choose(self.names)
    def _tell(self, reward, outcome): pass
"""
SCRIPT = (
    CELL.format(step=1.0, doc='"""Play one value."""')
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


def test_a_class_of_the_main_script_runs_in_workers_of_both_kinds(tmp_path):
    calls = Commands(tmp_path)
    (calls.cwd / "script.py").write_text(SCRIPT)
    environ = {**os.environ, **calls.environ, "PYTHONPATH": str(ROOT)}
    answer = subprocess.run(
        [sys.executable, "script.py"], cwd=calls.cwd, env=environ, capture_output=True, text=True, timeout=PATIENCE
    )
    assert answer.returncode == 0, answer.stderr
    assert "seems to open files" not in answer.stdout  # as the worker's own program does
    compared, other, played = (json.loads(line) for line in answer.stdout.splitlines() if line.startswith("["))
    regret, again, command = compared
    assert len(regret) == 4
    assert other == pytest.approx(regret[:2], rel=1e-6)  # as it is written into a table
    assert (again, played) == ([False], [1.0])
    assert command.startswith("bandit_bench.compare(")
    for runner, least in (("loky", 4), ("dask", 2)):
        assert len(list((calls.cwd / runner).glob("raw/*/*.parquet"))) >= least


def stamp(step, doc='"One."', more=""):
    """Run a cell in a shell as notebooks have it, and return the stamp of a run with its class, or one made of it."""
    shell = InteractiveShell.instance()
    shell.run_cell(CELL.format(step=step, doc=doc)).raise_error()
    shell.run_cell(more).raise_error()
    settings = {
        "env": {"_target_": "bench.envs.moving_peak.SwitchingSine"},
        "tuner": {"_target_": by_value.hold(shell.user_ns["Other" if more else "Mine"])},
        "task": {"_target_": "bench.tasks.direct.Direct"},
        "horizon": 3,
        "seed": 1,
    }
    experiment = Experiment(settings)
    return experiment.key, experiment.stamp


@pytest.fixture
def shell(monkeypatch):
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    shell = InteractiveShell.instance()
    shell.reset(new_session=True)
    monkeypatch.setitem(sys.modules, "__main__", shell.user_module)
    return shell


@pytest.mark.usefixtures("shell")
def test_the_stamp_of_a_cells_class_changes_with_all_that_it_uses_and_with_nothing_else():
    first = stamp(0.25)
    assert stamp(0.25) == first
    assert stamp(0.25, doc='"Another sentence."') == first
    key, other = stamp(0.5)  # a value that a function uses which the class uses
    assert key == first[0]
    assert other != first[1]


@pytest.mark.usefixtures("shell")
def test_a_cells_class_may_have_other_values_and_no_methods():
    component = "@bb.component\nclass Other(Mine):\n    again: bool = False"
    plain = "class Other(Mine):\n    leaves_space = {}"
    first = stamp(0.25, more=component)
    assert stamp(0.25, more=component) == first
    assert stamp(0.5, more=component)[1] != first[1]  # what its base uses
    other = stamp(0.25, more=plain.format(True))
    assert stamp(0.25, more=plain.format(False))[1] != other[1] != first[1]


@pytest.mark.usefixtures("shell")
@pytest.mark.parametrize(
    ("decorator", "value", "other"),
    [
        ("dataclass", "1.0", "2.0"),
        ("dataclass(order=True, frozen=True)", "1.0", "2.0"),
        ("dataclass", "field(default_factory=list)", "field(default_factory=tuple)"),
        ("bb.component", "Field(default_factory=list)", "Field(default_factory=tuple)"),
    ],
)
def test_a_cells_class_may_use_a_dataclass_without_methods(decorator, value, other):
    """To which Python adds some, which have no source."""
    more = (
        f"from dataclasses import dataclass, field\nfrom pydantic import Field\n@{decorator}\nclass Pair:\n"
        "    first: object = {}\n"
        "class Other(Mine):\n    def _start(self, problem, seeds): self.pair = Pair()\n"
    )
    first = stamp(0.25, more=more.format(value))
    assert stamp(0.25, more=more.format(value)) == first
    assert stamp(0.25, more=more.format(other))[1] != first[1]


@pytest.mark.usefixtures("shell")
@pytest.mark.parametrize("value", ["field(default_factory=lambda: [1])", "Field(default_factory=lambda: [1])"])
def test_a_factory_without_a_name_is_refused(value):
    decorator = "bb.component" if value.startswith("F") else "dataclass"
    more = f"from dataclasses import dataclass, field\nfrom pydantic import Field\n@{decorator}\nclass Pair:\n"
    more += f"    first: object = {value}\nclass Other(Mine):\n    def _start(self, *_): self.pair = Pair()\n"
    with pytest.raises(ConfigError, match=r"found Pair\.<lambda>, expected a function with a name: write it with def"):
        stamp(0.25, more=more)


def test_a_class_of_inside_a_function_is_held_with_what_it_closes_over():
    digests = []
    for width in (1, 2, 1):

        class Local(Tuner):
            def _start(self, problem, seeds): ...
            def _ask(self):
                return {"x": width}  # noqa: B023, seen at once

            def _tell(self, reward, outcome): ...

        path = by_value.hold(Local)
        digests.append(by_value.held(path).digest)
        assert by_value.held_as(Local).cls is Local
    assert digests[0] == digests[2] != digests[1]
    assert "bench.tuners.base" in by_value.held(path).modules


def test_a_class_without_source_says_what_to_do():
    namespace = {"Tuner": Tuner, "__name__": "__main__"}
    exec(compile("class Typed(Tuner):\n    def _ask(self): return {}\n", "<typed>", "exec"), namespace)
    with pytest.raises(
        ConfigError, match=r"^found the class Typed whose source cannot be read, .*: save it in a file, such as"
    ):
        by_value.hold(namespace["Typed"])


def test_a_class_of_a_module_is_not_held():
    assert by_value.hold(ast.NodeVisitor) == "ast.NodeVisitor"
    assert by_value.held("ast.NodeVisitor") is None
