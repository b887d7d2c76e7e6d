"""A run's name changes with everything that its numbers depend on, and with nothing else."""

import importlib
import os
import pkgutil
import subprocess
import sys
import time
import types
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import linucb_settings as settings

import bench
from bench.component import component, neutral
from bench.errors import ConfigError
from bench.tuners.base import Tuner
from runners.config import identity
from runners.config.classes import BASES, version
from runners.config.experiment import Experiment

ROOT = Path(__file__).resolve().parents[1]
TUNER = """
from bench.errors import TunerError
from bench.tuners.base import Tuner
from mine_helper import RATE
from mine_parts import late


class Mine(Tuner):
    def __init__(self, power=1):
        self.power = power

    def _start(self, problem, seeds):
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
        ("mine_tuner.py", TUNER.replace("power=1", "power=2")),
        ("mine_helper.py", "RATE = 0.6\n"),
        ("mine_parts/deep.py", "SHIFT = 0.75\n"),  # behind a relative import
    ],
)
def test_an_edit_of_a_file_that_is_loaded_with_a_class_counts(user, name, text):
    before = user.run_id()
    user.write(name, text)
    assert user.run_id() != before


def test_a_renamed_class_and_an_inherited_one_count(user):
    user.write("mine_child.py", "from mine_tuner import Mine\n\n\nclass Child(Mine):\n    pass\n")
    first = user.run_id("mine_child.Child")
    assert first != user.run_id()
    user.write("mine_helper.py", "RATE = 0.125\n")
    assert user.run_id("mine_child.Child") != first


def test_an_edit_after_the_import_is_refused_until_all_is_reloaded(user):
    """The class in memory would differ from the files that name the run and that workers import."""
    user.run_id()
    user.write("mine_helper.py", "RATE = 0.75\n")
    with pytest.raises(ConfigError, match=r"mine_helper\.py: .*importlib\.reload\(mine_helper\)"):
        user.run_id(fresh=False)
    importlib.reload(sys.modules["mine_helper"])
    with pytest.raises(ConfigError, match=r"mine_helper\.py: .*importlib\.reload\(mine_tuner\)"):
        user.run_id(fresh=False)  # which still has the old number
    importlib.reload(sys.modules["mine_tuner"])
    assert user.run_id(fresh=False) == user.run_id()


def test_the_name_is_the_same_in_another_process():
    experiment = Experiment(settings())
    code = f"from runners.config.experiment import Experiment; print(Experiment({settings()!r}).run_id)"
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7"}
    answer = subprocess.run(
        [sys.executable, "-c", code], env=environ, cwd="/", capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == experiment.run_id
    assert experiment.run_id == f"{experiment.key}-{experiment.stamp}"
    assert (len(experiment.key), len(experiment.stamp)) == (20, 12)


def test_every_setting_counts_but_not_how_it_is_written():
    first = Experiment(settings()).key
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
    assert {Experiment(values).key for values in same} == {first}
    assert len({Experiment(values).key for values in other} | {first}) == len(other) + 1
    tuples = settings(algorithm=settings()["algorithm"] | {"tune": ("ridge",)})
    lists = settings(algorithm=settings()["algorithm"] | {"tune": ["ridge"]})
    assert Experiment(tuples).key == Experiment(lists).key


@component
class Nested:
    depth: int = 1
    later: float = neutral(default=0.0)


@component
class Mine(Tuner):
    """A tuner to which a setting was added later."""

    rate: float = 0.5
    later: str = neutral(default="off")
    inner: dict[str, Any] = field(default_factory=dict)


def key(**tuner: Any) -> str:
    return Experiment(settings(tuner={"_target_": f"{__name__}.Mine", **tuner})).key


def test_a_setting_added_later_does_not_count_where_it_changes_nothing():
    """Also below nested components, and not where a setting that was always there has that value."""
    inner = {"_target_": f"{__name__}.Nested", "depth": 2}
    assert key(rate=0.5, inner=inner) == key(rate=0.5, inner={**inner, "later": 0.0}, later="off")
    on = {**inner, "later": 0.1}
    others = [key(rate=0.5, inner=inner), key(rate=0.5, inner=on), key(rate=0.5, later="on"), key(inner=inner)]
    others += [key(rate=0.5, inner=[inner]), key(rate=0.5, inner=[on])]
    assert len(set(others)) == len(others)
    assert key(inner=[inner]) == key(inner=[{**inner, "later": 0.0}])


def test_no_two_classes_of_the_suite_have_the_same_name():
    """Results are filed under the names of classes."""
    for info in pkgutil.walk_packages(bench.__path__, "bench."):
        if not info.name.endswith(".__main__"):
            importlib.import_module(info.name)
    classes: set[type] = set()
    todo = list(BASES.values())
    while todo:
        cls = todo.pop()
        todo += cls.__subclasses__()
        classes.add(cls)
    named: dict[str, list[str]] = {}
    for cls in classes:
        if cls.__module__.startswith("bench."):
            named.setdefault(cls.__name__, []).append(cls.__module__)
    assert len(named) > 100
    assert {name: modules for name, modules in named.items() if len(modules) > 1} == {}


@pytest.mark.parametrize("package", ["numpy", "numba"])
def test_another_version_of_a_package_that_computes_moves_the_stamp_and_not_the_key(monkeypatch, package):
    before = Experiment(settings())
    assert package in before.code.packages
    monkeypatch.setattr(identity, "version", lambda name: "99.0" if name == package else version(name))
    after = Experiment(settings())
    assert (after.key, after.code.packages[package]) == (before.key, "99.0")
    assert after.stamp != before.stamp


def test_packages_count_that_a_class_requires(user):
    user.write("mine_tuner.py", TUNER.replace("class Mine(Tuner):", "class Mine(Tuner):\n    requires = ('rich',)"))
    forget()
    packages = Experiment(settings(tuner={"_target_": "mine_tuner.Mine"})).code.packages
    assert packages["rich"] == version("rich")
    tuned = Experiment(settings(tuner={"_target_": "bench.tuners.gp_minimize.GPMinimize"})).code.packages
    assert {"scikit-optimize", "scikit-learn"} <= tuned.keys()


def test_other_data_gives_another_key(monkeypatch):
    import bench.envs.movielens as movielens

    ids = {}
    for fingerprint in ("surrogate", "abc", "abd"):
        monkeypatch.setattr(movielens, "fingerprint", lambda fingerprint=fingerprint: fingerprint)
        experiment = Experiment(settings(env={"_target_": "bench.envs.movielens.Movielens"}))
        assert experiment.fingerprint == fingerprint
        assert experiment.data_kind.is_replaced == (fingerprint == "surrogate")
        ids[fingerprint] = experiment.key
    assert len(set(ids.values())) == 3
    assert Experiment(settings()).fingerprint is None
