"""A run's name changes with everything its numbers depend on, and with nothing else."""

import importlib
import os
import subprocess
import sys
import time
import types
from pathlib import Path

import numpy as np
import pytest
from commands import linucb_settings as settings

from bench.errors import ConfigError
from bench.tuners.base import Tuner
from runners.config.experiment import Experiment, part_classes, play
from runners.config.identity import module_digests

ROOT = Path(__file__).resolve().parents[1]
TUNER = """
from bench.errors import TunerError
from bench.tuners.base import Tuner
from mine_helper import RATE


class Mine(Tuner):
    def __init__(self, power=1):
        self.power = power

    def _start(self, problem, seeds):
        from mine_parts import late

        self.rate = RATE ** self.power + late.SHIFT

    def _ask(self):
        return {"exploration_rate": self.rate}

    def _tell(self, reward, outcome):
        if reward is None:
            raise TunerError("no reward")
"""
FILES = {
    "mine_tuner.py": TUNER,
    "mine_helper.py": "RATE = 0.5\n",
    "mine_parts/__init__.py": "",
    "mine_parts/late.py": "from .deep import SHIFT\n",
    "mine_parts/deep.py": "SHIFT = 0.25\n",
    "mine_unused.py": "VALUE = 1\n",
}


class User:
    """A folder with a tuner of a user's own; ``write`` edits a file, ``run_id`` names a run as a new process would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        self.ticks = getattr(self, "ticks", time.time()) + 10
        os.utime(path, (self.ticks, self.ticks))  # within one second, Python takes an old compiled file for a new one

    def run_id(self, target: str = "mine_tuner.Mine", fresh: bool = True) -> str:
        if fresh:
            forget()
        return Experiment(settings(tuner={"_target_": target})).run_id


def forget() -> None:
    for name in [name for name in sys.modules if name.startswith("mine_")]:
        del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture
def user(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    yield User(tmp_path)
    forget()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mine_helper.py", '"""What it is about."""\n# a comment\nRATE = (0.5)  # another\n'),
        (
            "mine_tuner.py",
            TUNER.replace("class Mine(Tuner):", 'class Mine(Tuner):\n    """Mine."""\n').replace('"', "'"),
        ),
        ("mine_tuner.py", TUNER.replace("    def _ask", '    "of the attribute"\n\n    def _ask')),
        ("mine_unused.py", "VALUE = 2\n"),
        ("mine_helper.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import mine_unused\nRATE = 0.5\n"),
        ("mine_tuner.py", TUNER.replace("def _ask(self):", "def _ask(self) -> dict[str, float]:")),
        ("mine_tuner.py", TUNER.replace('"no reward"', 'f"round: found {reward}" + ", expected a number"')),
    ],
)
def test_what_cannot_move_a_number_does_not_count(user, name, text):
    before = user.run_id()
    user.write(name, text)
    assert user.run_id() == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mine_tuner.py", TUNER.replace("power=1", "power=2")),
        ("mine_tuner.py", TUNER.replace("raise TunerError", "raise ConfigError")),
        ("mine_tuner.py", TUNER.replace('TunerError("no reward")', "TunerError(outcome.pop())")),
        ("mine_tuner.py", TUNER.replace("class Mine(Tuner):", "class Mine(Tuner):\n    rate: float\n")),
        ("mine_helper.py", "RATE = 0.6\n"),
        ("mine_helper.py", "RATE = '0.5'\n"),
        ("mine_parts/__init__.py", "import mine_unused\n"),
        ("mine_parts/deep.py", "SHIFT = 0.75\n"),  # behind an import inside a function and a relative one
    ],
)
def test_a_changed_constant_counts_wherever_it_is_called_from(user, name, text):
    before = user.run_id()
    user.write(name, text)
    assert user.run_id() != before


def test_a_renamed_class_and_an_inherited_one_count(user):
    user.write("mine_child.py", "from mine_tuner import Mine\n\n\nclass Child(Mine):\n    pass\n")
    first = user.run_id("mine_child.Child")
    assert first != user.run_id()
    user.write("mine_helper.py", "RATE = 0.125\n")
    assert user.run_id("mine_child.Child") != first


def test_an_edit_after_the_import_is_refused_until_a_reload(user):
    user.run_id()
    user.write("mine_helper.py", "RATE = 0.5  # the same\n")
    user.run_id(fresh=False)
    user.write("mine_helper.py", "RATE = 0.75\n")
    with pytest.raises(ConfigError, match=r"mine_helper\.py: found code that is newer.*expected a restart"):
        user.run_id(fresh=False)
    importlib.reload(sys.modules["mine_helper"])
    assert user.run_id(fresh=False) == user.run_id()


def test_a_class_without_a_source_file_is_refused(monkeypatch):
    module = types.ModuleType("mine_typed")
    module.Typed = type("Typed", (Tuner,), {"__module__": "mine_typed"})
    monkeypatch.setitem(sys.modules, "mine_typed", module)
    with pytest.raises(ConfigError, match=r"tuner\._target_: found the class Typed, whose source file is not there"):
        _ = Experiment(settings(tuner={"_target_": "mine_typed.Typed"})).run_id


def test_the_name_is_the_same_in_another_process():
    experiment = Experiment(settings())
    code = f"from runners.config.experiment import Experiment; print(Experiment({settings()!r}).run_id)"
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7"}
    answer = subprocess.run(
        [sys.executable, "-c", code], env=environ, cwd="/", capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == experiment.run_id
    assert len(experiment.run_id) == 20


def test_static_imports_cover_what_python_imports():
    classes = part_classes(settings(tuner={"_target_": "bench.tuners.cdt.CDT"}))
    names = {cls.__module__ for cls in classes.values()} | {"bench.loop", "bench.trace", "bench.seeding"}
    code = f"import sys\nfor name in {sorted(names)}: __import__(name)\nprint(*sys.modules)"
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    answer = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    imported = {name for name in answer.stdout.split() if name.split(".")[0] == "bench"}
    found = set(module_digests(classes))
    assert imported <= found
    assert {"bench.loop", "bench.trace", "bench.seeding", "bench.jit", "bench.component"} <= found
    assert all(name.split(".")[0] == "bench" for name in found)
    assert not [name for name in found if name.startswith(("bench.report", "bench.stats"))]
    assert "bench.tuners.tl" not in found


def test_every_setting_counts_but_not_how_it_is_written():
    first = Experiment(settings()).run_id
    env = settings()["env"]
    same = [
        settings(env=dict(reversed(env.items()))),
        settings(env=env | {"dim": np.int64(3)}, horizon=np.int32(50)),
        settings(algorithm=types.MappingProxyType(settings()["algorithm"])),
    ]
    other = [
        settings(env=env | {"dim": 4}),
        settings(env=env | {"noise_std": np.nextafter(0.5, 1)}),
        settings(env=env | {"noise_std": 0.5}),
        settings(algorithm={"_target_": "bench.algorithms.lints.LinTS"}),
        settings(tuner={"_target_": "bench.tuners.op.OP"}),
        settings(horizon=51),
        settings(seed=1),
    ]
    assert {Experiment(values).run_id for values in same} == {first}
    assert len({Experiment(values).run_id for values in other} | {first}) == len(other) + 1
    tuples = settings(algorithm=settings()["algorithm"] | {"tune": ("ridge",)})
    lists = settings(algorithm=settings()["algorithm"] | {"tune": ["ridge"]})
    assert Experiment(tuples).run_id == Experiment(lists).run_id


def test_data_counts(monkeypatch):
    import bench.envs.movielens as movielens

    ids = {}
    for fingerprint in ("surrogate", "abc", "abd"):
        monkeypatch.setattr(movielens, "fingerprint", lambda fingerprint=fingerprint: fingerprint)
        experiment = Experiment(settings(env={"_target_": "bench.envs.movielens.Movielens"}))
        assert experiment.fingerprint == fingerprint
        assert experiment.data_kind.is_replaced == (fingerprint == "surrogate")
        ids[fingerprint] = experiment.run_id
    assert len(set(ids.values())) == 3
    assert Experiment(settings()).fingerprint is None


def test_hundreds_of_names_take_less_than_a_second():
    _ = Experiment(settings()).run_id
    start = time.process_time()  # whatever else the machine does
    names = {Experiment(settings(seed=seed)).run_id for seed in range(300)}
    assert time.process_time() - start < 1
    assert len(names) == 300


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"horizon": 0}, r"^horizon: found 0, expected a whole number, at least 1$"),
        ({"seed": 1.5}, r"^seed: found 1\.5"),
        ({"tuner": None}, r"^tuner: found no value"),
        ({"scale": "quick"}, r"^scale: found an unknown key"),
        ({"tuner": {"_target_": "bench.tuners.tl.TL", "x": [object]}}, r"^tuner\.x\[0\]: found .* expected plain data"),
    ],
)
def test_wrong_settings_are_named(changes, message):
    with pytest.raises(ConfigError, match=message):
        Experiment(settings(**changes))


def test_what_a_part_does_to_its_settings_stays_with_it(user):
    changing = TUNER.replace("power=1", "powers").replace("self.power = power", "self.power = powers.pop()")
    user.write("mine_tuner.py", changing)
    values = {"_target_": "mine_tuner.Mine", "powers": [1, 2]}
    experiment = Experiment(settings(tuner=values))
    rates = [play(experiment, 0).columns()["exploration_rate"][0] for _ in range(2)]
    assert rates == [0.5**2 + 0.25] * 2
    assert experiment.settings["tuner"] == values == {"_target_": "mine_tuner.Mine", "powers": [1, 2]}
