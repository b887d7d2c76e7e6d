"""Files that a user's class reads are part of the fingerprint of its data, without any work of its author."""

import sys

import pandas as pd
import pytest
from commands import linucb_settings

from bench.data.read import files_of
from bench.errors import BenchError
from runners.config.experiment import Experiment

OWN = """
from bench.component import component
from bench.data.read import read
from bench.envs.contextual import ContextualEnvironment

{top}

@component
class {name}(ContextualEnvironment):
    path: str = ""

    def start(self, rounds, seeds):
        self.dim, self.n_arms, self.sub_gaussian, self.feature_norm = 1, 2, 0.5, 1.0
        {start}

    def observe(self):
        return None

    def pull(self, arm):
        return 0.0
"""
WAYS = {
    "reads_at_start": ("", 'self.clicks = read("rows.csv")', {}),
    "reads_when_imported": ('CLICKS = read("rows.csv")', "pass", {}),
    "keeps_what_it_read": (
        "from functools import lru_cache\n\n@lru_cache\ndef load():\n    return read('rows.csv')\n",
        "load()",
        {},
    ),
    "names_it_in_a_setting": ("import pandas", "pandas.read_csv(self.path)", {"path": "rows.csv"}),
}


def experiment(module, name, **settings):
    return Experiment(linucb_settings(env={"_target_": f"{module}.{name}"} | settings))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    pd.DataFrame({"click": [0, 1, 1]}).to_csv("rows.csv", index=False)
    return tmp_path


def flip():
    table = pd.read_csv("rows.csv")
    table["click"] = 1 - table["click"]
    table.to_csv("rows.csv", index=False)


@pytest.mark.parametrize("way", WAYS)
def test_other_data_gives_another_run(way, folder):
    top, start, settings = WAYS[way]
    (folder / f"own_{way}.py").write_text(OWN.format(top=top, start=start, name="Clicks"))
    runs = []
    for _ in range(3):
        own = experiment(f"own_{way}", "Clicks", **settings)
        runs.append((own.run_id, own.fingerprint, own.data_notes()))
        flip()
    first, other, again = runs
    assert (first[1] is None, first[2]) == (False, [])
    assert again == first != other
    assert other[0] != first[0]


def test_a_log_for_a_start_counts_by_its_content_from_any_folder(folder, monkeypatch):
    task = {"_target_": "bench.tasks.contextual_bandit.ContextualBandit"}
    without = Experiment(linucb_settings(task=task)).key
    keys = []
    for name, text in (("a.csv", "x,reward\n1,2\n"), ("a.csv", "x,reward\n1,3\n"), ("b.csv", "x,reward\n1,2\n")):
        (folder / name).write_text(text)
        keys.append(Experiment(linucb_settings(task=task | {"history": name})).fingerprint)
    assert keys[0] == keys[2] != keys[1]
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)  # where the name is that of no file
    assert Experiment(linucb_settings(task=task | {"history": "a.csv"})).fingerprint not in keys
    assert Experiment(linucb_settings(task=task | {"history": None})).key == without


def test_a_file_named_twice_is_refused_because_its_rows_would_count_twice(folder):
    first, pattern = str(folder / "rows.csv"), str(folder / "r*.csv")
    assert files_of([pattern]) == [folder / "rows.csv"]
    for path in ([first, pattern], [first, first], ["rows.csv", first]):
        with pytest.raises(BenchError, match=r"env\.path: found '.*rows\.csv' twice"):
            files_of(path, "env.path")


def test_a_file_named_by_an_own_tuner_counts_besides_the_suites_data(folder):
    (folder / "own_tuner.py").write_text(
        "from bench.tuners.baselines import Random\nfrom bench.component import component\n\n"
        "@component\nclass Mine(Random):\n    prior: str = ''\n"
    )

    def own(**changes):
        tuner = {"_target_": "own_tuner.Mine", "prior": "prior.json"}
        return Experiment(linucb_settings(tuner=tuner, **changes)).fingerprint

    (folder / "prior.json").write_text("1")
    movielens = {"env": {"_target_": "bench.envs.movielens.Movielens"}}
    before = own(), own(**movielens)
    assert before[1].startswith(Experiment(linucb_settings(**movielens)).fingerprint)
    (folder / "prior.json").write_text("2")
    assert not {own(), own(**movielens)} & set(before)
