"""Committed repetitions are carried over to changed code where they come out the same, and nowhere else."""

import copy
import importlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from commands import ROOT
from test_committed import FIGURE

from bench.errors import ConfigError
from bench.report.figure import read_figure
from runners.config.runner import Runner
from runners.execute import carry, earlier
from runners.execute.figure_run import FigureRun
from runners.execute.final_state import state
from runners.execute.reproduce_figure import reproduce_figure
from runners.results import replay
from runners.results.committed import FILE, CommittedRepetitions, write_repetitions
from runners.results.derive import needs

TUNER = """
from carried_helper import STEP
from bench.tuners.base import Tuner


class Mine(Tuner):
    def _start(self, problem, seeds):
        self.rate = 0.1
        self.unseen = 0.0
        self.unused = self.rate

    def _ask(self):
        return {"exploration_rate": self.rate}

    def _tell(self, reward, outcome):
        change = STEP * reward
        self.unseen += change / 3.0
        self.rate = min(max(self.rate + change, 0.1), 5.0)
"""
MINE = ["tuner=custom", "tuner._target_=carried_tuner.Mine"]
COMMAND = "python -m runners.reproduce figure=mine/small scale=paper"
FILES = {"carried_tuner.py": TUNER, "carried_helper.py": "STEP = 0.01\n", "carried_new.py": "STEP = 0.01\n"}


class Checkout:
    """A folder with a tuner of its own, and a committed figure that uses it beside one of the suite's."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.result = folder / "code", folder / "results" / "mine" / "small" / "paper"
        self.figure = copy.deepcopy(FIGURE)
        self.figure["runs"] = [{"method": {"mine": MINE, "TL": ["tuner=tl"]}}]
        self._ticks = time.time()
        self._capsys = capsys
        self.folder.mkdir()
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        """Write a module, and forget what was imported of it."""
        (self.folder / name).write_text(text)
        self._ticks += 10  # within one second, Python takes an old compiled file for a new one
        os.utime(self.folder / name, (self._ticks, self._ticks))
        for module in [module for module in sys.modules if module.startswith("carried_")]:
            del sys.modules[module]
        importlib.invalidate_caches()

    @contextmanager
    def earlier(self, commit: str) -> Iterator[Path]:
        """Stand for the checkout of the commit that made the results."""
        assert commit == "b" * 40
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for package in ("bench", "runners", "conf"):
                (folder / package).symlink_to(ROOT / package)
            for file, text in FILES.items():
                (folder / file).write_text(text)
            yield folder

    def edit(self, before: str, after: str) -> None:
        self.write("carried_tuner.py", TUNER.replace(before, after))

    def reproduce(self) -> str:
        """Make the figure and return what is printed."""
        plan = FigureRun(copy.deepcopy(self.figure), "mine/small/paper", "paper", [], COMMAND, True)
        reproduce_figure(plan, jobs=1, runner=Runner(progress=False))
        return self._capsys.readouterr().out

    def carry(self, **options: int) -> tuple[bool, str]:
        """Carry the figure over; return whether all runs were carried, and what is printed."""
        runs = list(replay.committed_runs("mine/small", self.result))
        complete = carry.carry(runs, jobs=1, **options)
        return complete, self._capsys.readouterr().out

    def tables(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.result.glob("*.csv") if path.name != "seconds.csv"}

    def environment(self) -> dict:
        return json.loads((self.result / "environment.json").read_text())

    def change_environment(self, **values: object) -> None:
        (self.result / "environment.json").write_text(json.dumps(self.environment() | values))


@pytest.fixture
def checkout(tmp_path, monkeypatch, capsys):
    place = Checkout(tmp_path, capsys)
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path / "results"))
    monkeypatch.syspath_prepend(place.folder)
    monkeypatch.setattr(replay, "load_figure", lambda _: read_figure(copy.deepcopy(place.figure)))
    clean = {"git": {"commit": "c" * 40, "dirty": False}}
    monkeypatch.setattr(carry, "environment", lambda: clean)
    monkeypatch.setattr(earlier, "_checkout", place.earlier)
    monkeypatch.setenv("PYTHONPATH", str(place.folder))
    assert "6 repetitions" in place.reproduce()
    place.change_environment(git={"commit": "b" * 40, "dirty": False})
    shutil.rmtree(tmp_path / "results" / "raw")
    return place


def new_names(place: Checkout) -> set[str]:
    return {entry["run_id"] for entry in json.loads((place.result / "manifest.json").read_text())["runs"]}


@pytest.mark.parametrize(
    "edit",
    [
        ("change", "difference"),
        ("carried_helper", "carried_new"),
        ("STEP * reward", "reward * STEP"),
        ("unseen", "renamed"),
        ("unused = self.rate", "unused = [self.rate, 3.0 * self.rate]"),
    ],
    ids=["local variable", "module", "commuted", "attribute", "constant"],
)
def test_what_an_edit_leaves_equal_is_carried_and_not_run_again(checkout, edit):
    tables, before = checkout.tables(), new_names(checkout)
    checkout.edit(*edit)
    complete, text = checkout.carry()
    assert complete
    assert "mine/small/paper: 1 of 1 runs carried" in text  # the suite's own tuner has not changed
    assert "1 distinct runs, 1 repetitions played, 1 carried, 0 not" in text
    assert len(new_names(checkout) - before) == 1
    [proof] = checkout.environment()["carried"]
    assert (proof["from"], proof["to"], proof["runs"], proof["repetitions"]) == ("b" * 40, "c" * 40, 1, 1)
    shutil.rmtree(checkout.result.parents[2] / "raw")
    assert "0 new" in checkout.reproduce()
    assert checkout.tables() == tables
    assert checkout.environment()["carried"] == [proof]


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (("STEP * reward", "STEP * reward * 1.000001"), "repetition 0, exploration_rate: committed "),
        (("/ 3.0", "/ 3.000003"), "after 1000 plays or fewer tuner.unseen differs from the state of the earlier code"),
        (("STEP * reward", "STEP / 0 * reward"), "repetition 0, failed: round "),
    ],
    ids=["number", "state alone", "failure"],
)
def test_what_moves_a_number_or_the_state_is_refused_and_named(checkout, edit, why):
    files = {path.name: path.read_bytes() for path in checkout.result.iterdir()}
    checkout.edit(*edit)
    complete, text = checkout.carry(repetitions=2)
    assert not complete
    assert f"not carried: mine: {why}" in text
    assert {path.name: path.read_bytes() for path in checkout.result.iterdir()} == files


@pytest.mark.parametrize("trains", [False, True])
def test_three_equal_repetitions_prove_a_run_whose_state_has_another_form(checkout, monkeypatch, trains):
    """Of a run that trains an encoder, they are played anyway: its states would need another training."""
    monkeypatch.setattr(replay.CommittedRun, "trains_first", trains)
    checkout.edit("unseen += change / 3.0", "unseen -= change")
    if not trains:
        assert "the state of the earlier code" in checkout.carry(repetitions=2)[1]
    assert checkout.carry(repetitions=1 if trains else 3, train=trains)[0]
    [proof] = checkout.environment()["carried"]
    assert (proof["runs"], proof["repetitions"]) == (1, 3)


def test_what_is_not_the_same_twice_is_no_difference(monkeypatch):
    """As with seconds that a task measures: the earlier code is asked twice where states differ."""
    run = SimpleNamespace(commits=("b" * 40,), run_id="r")
    states = {"b" * 40: iter([{"x": "tuner.rate", "1 s": "task.seconds"}, {"x": "tuner.rate", "2 s": "task.seconds"}])}
    states[""] = iter([{"x": "tuner.rate", "3 s": "task.seconds"}])
    answer = lambda _, commit, runs, *__: [{"run_id": "r", "state": next(states[commit])} for _ in runs]  # noqa: E731
    monkeypatch.setattr(earlier.EarlierCode, "_play", answer)
    assert earlier.EarlierCode(1).differences([run]) == [""]


def test_the_state_is_made_of_numbers_whatever_holds_them():
    class Kept:
        __slots__ = ("weights",)

        def __init__(self, weights: object) -> None:
            self.weights = weights

    numbers = [0.1, 2.0, 3.5]
    digests = [
        set(state({"a": {"b": numbers, "text": "x"}})),
        set(state({"c": Kept(np.array(numbers))})),
        set(state({"d": [{"e": tuple(numbers)}], "f": Kept(numbers)})),
    ]
    assert digests[0] == digests[1] == digests[2]
    assert len(digests[0]) == 1
    assert digests[0] != set(state({"a": np.nextafter(numbers, 9)}))
    first, second = np.random.default_rng(1), np.random.default_rng(1)
    assert state({"a": first}) == state({"a": second})
    second.random()
    assert state({"a": first}) != state({"a": second})


def test_other_settings_are_refused_even_where_they_move_no_number(checkout):
    checkout.figure["runs"][0]["method"]["TL"] = ["tuner=tl", "env.noise_std=0.3"]
    complete, text = checkout.carry()
    assert not complete
    assert "not carried: TL: its settings or its data have changed" in text


def test_runs_that_there_is_no_time_for_are_left_and_named(checkout):
    checkout.edit("change", "difference")
    checkout.change_environment(seconds_per_repetition=dict.fromkeys(new_names(checkout), 100.0))
    complete, text = checkout.carry(seconds=60)
    assert not complete
    assert "not carried: mine: a repetition takes 100 s, for which there was no time" in text
    assert "0 repetitions to play, 0.0 s of" in text
    assert "0 repetitions played" in text
    complete, text = checkout.carry(seconds=200)
    assert complete
    assert "1 repetitions to play, 2 min of" in text
    assert checkout.carry() == (True, "nothing to carry over: no run has changed\n")


def test_an_interrupted_call_goes_on_where_it_was(checkout, monkeypatch):
    checkout.edit("change", "difference")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(carry, "_prove", interrupt)
        with pytest.raises(KeyboardInterrupt):
            checkout.carry()
    played = sorted((checkout.result.parents[2] / "raw").glob("*/rep-*.parquet"))
    stamps = [path.stat().st_mtime_ns for path in played]
    assert len(played) == 1
    assert checkout.carry()[0]
    assert [path.stat().st_mtime_ns for path in played] == stamps


def tamper(place: Checkout, by: float) -> None:
    """Change the last digits of all committed curves, as another machine would."""
    runs = json.loads((place.result / "manifest.json").read_text())["runs"]
    figure = read_figure(copy.deepcopy(place.figure))
    stored = CommittedRepetitions([place.result], needs(figure), {run["run_id"] for run in runs}).runs
    for kept in (kept for repetitions in stored.values() for kept in repetitions.values()):
        kept.curves["regret"] = kept.curves["regret"] * (1 + by)
    write_repetitions(place.result, needs(figure), stored)


@pytest.mark.parametrize(("edit", "is_carried"), [(("change", "difference"), True), (("0.1", "0.1000001"), False)])
def test_on_another_machine_both_codes_are_run(checkout, edit, is_carried):
    """Where last digits differ from the committed ones, the traces of both codes decide."""
    tamper(checkout, 1e-12)
    repetitions = (checkout.result / FILE).read_bytes()
    checkout.edit(*edit)
    assert not checkout.carry()[0]  # on the same machine a difference is a difference
    checkout.change_environment(cpu="another")
    complete, text = checkout.carry()
    assert complete == is_carried
    assert ((checkout.result / FILE).read_bytes() != repetitions) == is_carried
    if not is_carried:
        assert "differs from the trace of the earlier code on this machine" in text


def test_code_that_is_not_committed_proves_nothing(checkout, monkeypatch):
    monkeypatch.setattr(carry, "environment", lambda: {"git": {"commit": "c" * 40, "dirty": True}})
    with pytest.raises(ConfigError, match="changes that are not committed"):
        checkout.carry()
