"""What a class of a user's own reads is part of the fingerprint of its data, although its author does nothing."""

import os
import signal
import sys

import pandas as pd
import psutil
import pytest
from commands import PATIENCE, has_ended, until

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
    return Experiment(
        {
            "env": {"_target_": f"{module}.{name}"} | settings,
            "algorithm": {"_target_": "bench.algorithms.linucb.LinUCB"},
            "tuner": {"_target_": "bench.tuners.baselines.Fixed"},
            "task": {"_target_": "bench.tasks.contextual_bandit.ContextualBandit"},
            "horizon": 10,
            "seed": 0,
        }
    )


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
def test_other_data_is_another_run(way, folder):
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


def test_what_opens_files_otherwise_is_said(folder):
    (folder / "own_opens.py").write_text(
        OWN.format(top="import pandas", start='pandas.read_csv("rows.csv")', name="Clicks").replace(
            "from bench.data.read import read\n", ""
        )
    )
    own = experiment("own_opens", "Clicks")
    assert own.fingerprint is None
    (line,) = own.data_notes()
    assert line.startswith("env: Clicks seems to open files with read_csv: if one changes, finished repetitions")


def test_reading_results_is_no_reading_of_data(folder):
    """As a script does that compares a class of its own and loads what is committed."""
    source = OWN.format(top="import bandit_bench as bb", start="pass", name="Clicks")
    (folder / "own_loads.py").write_text(source + 'def other():\n    bb.load("cdt/figure2")\n')
    assert not experiment("own_loads", "Clicks").data_notes()
    (folder / "own_loads_data.py").write_text(source + 'def other():\n    np.load("rows.npy")\n')
    assert "seems to open files with load" in experiment("own_loads_data", "Clicks").data_notes()[0]


def test_what_an_author_declares_is_the_fingerprint(folder):
    source = OWN.format(top="", start="pass", name="Clicks").replace(
        "    def observe", '    @property\n    def fingerprint(self):\n        return "mine"\n\n    def observe'
    )
    (folder / "own_declares.py").write_text(source)
    assert experiment("own_declares", "Clicks", path="rows.csv").fingerprint == "mine"


def test_a_class_that_ends_its_process_does_not_end_this_one(folder):
    (folder / "own_exits.py").write_text(OWN.format(top="import os", start="os._exit(3)", name="Clicks"))
    assert experiment("own_exits", "Clicks").fingerprint is None


def test_the_processes_in_which_it_is_started_end(folder):
    """At once: a command may have nothing more to do."""
    start = 'open("pids", "a").write(f"{os.getpid()}\\n"); read("rows.csv")'
    (folder / "own_pids.py").write_text(OWN.format(top="import os", start=start, name="Clicks"))
    assert experiment("own_pids", "Clicks").fingerprint is not None
    pids = (folder / "pids").read_text().split()
    assert pids
    assert not [pid for pid in pids if psutil.pid_exists(int(pid))]


@pytest.mark.parametrize(("kind", "hangs"), [(2, "start"), (9, "start"), (9, "fingerprint")])
def test_nothing_is_left_of_a_command_that_is_stopped_while_it_tries_an_environment(commands, kind, hangs):
    """Both are done in processes of their own: the start that finds the files that are read, too."""
    wait = "import time\n        open('started', 'w').close()\n        time.sleep(86400)"
    source = OWN.format(top="", start=wait if hangs == "start" else "pass", name="Clicks")
    if hangs == "fingerprint":
        source += f"\n    @property\n    def fingerprint(self):\n        {wait}\n"
    (commands.cwd / "own_slow.py").write_text(source)
    child = commands.popen("run", "env=own_slow.Clicks", "algorithm=linucb", "tuner=random", "horizon=10")
    until(lambda: child.poll() is not None or (commands.cwd / "started").exists())
    assert child.poll() is None
    started = psutil.Process(child.pid).children(recursive=True)
    assert started
    os.killpg(child.pid, kind) if kind == signal.SIGINT else child.kill()
    child.communicate(timeout=PATIENCE)
    until(lambda: all(map(has_ended, started)))


def test_a_setting_that_begins_with_a_tilde_is_a_word(folder):
    """Which is no file, and no error for want of a user of that name."""
    (folder / "own_word.py").write_text(OWN.format(top="", start="pass", name="Clicks"))
    assert experiment("own_word", "Clicks", path="~no such user").fingerprint is None
