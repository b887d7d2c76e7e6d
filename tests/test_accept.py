"""Committed runs that other code or packages made are confirmed where they come out the same, and nowhere else."""

import copy
import importlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_committed import FIGURE

from bench.errors import ConfigError
from bench.report.figure import read_figure
from runners.config.classes import version
from runners.config.experiment import Experiment
from runners.config.runner import Runner
from runners.execute import accept, verify
from runners.execute.figure_run import AskedFigure
from runners.execute.reproduce_figure import reproduce_figure
from runners.execute.workers import workers
from runners.results import golden, replay, stamps, store
from runners.results.capture import environment

TUNER = """
from accepted_helper import STEP
from bench.tuners.base import Tuner


class Mine(Tuner):
    def __init__(self, power=1):
        self.power = power

    def _start(self, problem, seeds):
        self.rate = 0.1

    def _ask(self):
        return {"exploration_rate": self.rate}

    def _tell(self, reward, outcome):
        change = STEP * reward**self.power
        self.rate = min(max(self.rate + change, 0.1), 5.0)
"""
COMMAND = "python -m runners.reproduce figure=mine/small scale=paper"


class Checkout:
    """A folder with a tuner of its own, and a committed figure that uses it beside one of the suite's."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.results = folder / "code", folder / "results"
        self.result = self.results / "mine" / "small" / "paper"
        self.figure = copy.deepcopy(FIGURE)
        self.use("tuner.power=1")
        self._ticks = time.time()
        self._capsys = capsys
        self.folder.mkdir()
        self.write("accepted_tuner.py", TUNER)
        self.write("accepted_helper.py", "STEP = 0.01\n")

    def use(self, *words: str, target: str = "accepted_tuner.Mine") -> None:
        mine = ["tuner=custom", f"tuner._target_={target}", *[f"+{word}" for word in words]]
        self.figure["runs"] = [{"method": {"mine": mine, "TL": ["tuner=tl"]}}]

    def write(self, name: str, text: str) -> None:
        """Write a module, and forget what was imported of it."""
        (self.folder / name).write_text(text)
        self._ticks += 10  # within one second, Python takes an old compiled file for a new one
        os.utime(self.folder / name, (self._ticks, self._ticks))
        for module in [module for module in sys.modules if module.startswith("accepted_")]:
            del sys.modules[module]
        importlib.invalidate_caches()

    def edit(self, before: str, after: str) -> None:
        assert before in TUNER
        self.write("accepted_tuner.py", TUNER.replace(before, after))

    def reproduce(self, **options: Any) -> str:
        """Make the figure and return what is printed."""
        run = AskedFigure(copy.deepcopy(self.figure), "mine/small/paper", "paper", [], COMMAND, True, **options)
        reproduce_figure(run, jobs=1, runner=Runner(progress=False))
        return self._capsys.readouterr().out

    def confirm(self, **options: Any) -> tuple[bool, str]:
        complete = verify.confirm(figure="mine/small", jobs=1, **options)
        return complete, self._capsys.readouterr().out

    def verify(self) -> tuple[bool, str]:
        is_right = verify.verify(figure="mine/small", seconds=1, jobs=1)
        return is_right, self._capsys.readouterr().out

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.result.iterdir() if path.name != stamps.FILE}


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    """Stands for the files of the committed figure, which the first test makes."""
    return {}


@pytest.fixture
def checkout(tmp_path, monkeypatch, capsys, made) -> Iterator[Checkout]:
    place = Checkout(tmp_path, capsys)
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(place.results))
    monkeypatch.syspath_prepend(place.folder)
    monkeypatch.setenv("PYTHONPATH", f"{place.folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setattr(Experiment, "is_suites", True)  # its class is run in this process, which is quicker
    for module in (replay, golden):
        monkeypatch.setattr(module, "load_figure", lambda _: read_figure(copy.deepcopy(place.figure)))
    if not made:
        place.reproduce()
        shutil.rmtree(place.results / "raw")
        made.update((str(path.relative_to(tmp_path)), path.read_bytes()) for path in files_in(place.results))
    for name, content in made.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    yield place
    place.write("accepted_tuner.py", TUNER)


def test_a_run_that_comes_out_the_same_is_confirmed_once(checkout, monkeypatch):
    """A variable is renamed, factors are exchanged, a constant is added; test_identity.py has each alone."""
    before = checkout.files()
    assert "to be confirmed" not in checkout.verify()[1]
    monkeypatch.setattr(Experiment, "is_suites", False)  # in workers, as a user's class is run
    text = TUNER.replace("change", "difference").replace("STEP * reward**self.power", "reward**self.power * STEP")
    checkout.write("accepted_tuner.py", "OTHER = 1\n" + text)
    with workers(Runner(), 1):  # kept: starting one takes longer than what it plays
        is_right, out = checkout.verify()
        assert is_right
        assert "to be confirmed: mine/small/paper: 1 of 2 runs, made by other code\n" in out
        assert "make verify ACCEPT=1 FIGURE=mine/small, about " in out
        complete, out = checkout.confirm()
        assert complete
        assert "1 runs to confirm: 3 repetitions to play, about " in out
        assert "mine/small/paper: 1 of 1 runs confirmed\n1 runs confirmed by 3 repetitions, 0 not\n" in out
        confirmed = json.loads((checkout.result / stamps.FILE).read_text())["confirmed"]
        assert (confirmed["repetitions"], confirmed["exact"], confirmed["left"]) == (3, True, 0)
        assert checkout.files() == before  # one file alone is written
        assert "to be confirmed" not in checkout.verify()[1]
        stamps.note_left(checkout.result, 2)  # as if it had been counted with other code
        assert "nothing to confirm" in checkout.confirm()[1]
        assert json.loads((checkout.result / stamps.FILE).read_text())["confirmed"] == confirmed
        assert not stamps.damage(checkout.result)


def test_a_constant_moved_by_a_millionth_is_named_and_not_confirmed(checkout):
    before = checkout.files(), (checkout.result / stamps.FILE).read_bytes()
    checkout.write("accepted_helper.py", f"STEP = {0.01 * (1 + 1e-6)!r}\n")
    complete, out = checkout.confirm()
    assert not complete
    assert "  not confirmed: mine: repetition 0, exploration_rate: committed 0." in out
    assert "renew=true" in out
    assert (checkout.files(), (checkout.result / stamps.FILE).read_bytes()) == before
    out = checkout.reproduce()
    assert "1 runs to be confirmed" in out
    assert checkout.files()["repetitions.parquet"] == before[0]["repetitions.parquet"]  # nothing was added
    assert "6 repetitions, 0 new" in checkout.reproduce(renew=True)
    assert checkout.files()["repetitions.parquet"] != before[0]["repetitions.parquet"]
    assert "nothing to confirm" in checkout.confirm()[1]


def test_more_repetitions_are_not_added_to_those_of_other_code(checkout):
    before = checkout.files()
    checkout.edit("change", "difference")
    checkout.figure["repetitions"] = 4
    assert "6 repetitions, 0 new, 1 runs to be confirmed" in checkout.reproduce()
    assert checkout.files() == before
    checkout.confirm()
    assert "8 repetitions, 2 new" in checkout.reproduce()


def test_a_module_that_moves_keeps_the_results_of_a_suites_class(checkout, monkeypatch):
    """It stands for the suite's own: the class counts by name, and the code that moved is played once more."""
    checkout.write("accepted_place.py", TUNER)
    checkout.use("tuner.power=1", target="accepted_place.Mine")
    (checkout.folder / "renamed.yaml").write_text("renamed: {accepted_tuner.Mine: accepted_place.Mine}\n")
    monkeypatch.setenv("BENCH_CONF_DIR", str(checkout.folder))
    complete, out = checkout.confirm()
    assert (complete, "1 of 1 runs confirmed" in out) == (True, True)


def test_a_setting_that_is_renamed_is_confirmed_where_a_file_says_so(checkout, monkeypatch):
    monkeypatch.setenv("BENCH_CONF_DIR", str(checkout.folder))
    checkout.edit("power", "exponent")
    checkout.use("tuner.exponent=1")
    is_right, out = checkout.verify()
    assert not is_right
    assert "outdated: mine/small/paper: settings or data of 1 of 2 runs changed" in out
    assert "its settings or its data have changed" in checkout.confirm()[1]
    names = "renamed:\n  accepted_tuner.Mine.power: accepted_tuner.Mine.exponent\n"
    (checkout.folder / "renamed.yaml").write_text(names)
    is_right, out = checkout.verify()
    assert (is_right, "to be confirmed: mine/small/paper: 1 of 2 runs" in out) == (True, True)
    assert checkout.confirm()[0]
    assert "to be confirmed" not in checkout.verify()[1]


def test_a_name_that_is_only_claimed_is_played_and_refused(checkout, monkeypatch):
    """Another setting of other effect: no code has changed, and the file of names is wrong."""
    checkout.edit("power=1", "power=1, other=3")
    checkout.edit("power=1):\n        self.power = power", "power=1, other=3):\n        self.power = other")
    checkout.use("tuner.other=1.5")
    monkeypatch.setenv("BENCH_CONF_DIR", str(checkout.folder))
    names = "renamed: {accepted_tuner.Mine.power: accepted_tuner.Mine.other}\n"
    (checkout.folder / "renamed.yaml").write_text(names)
    complete, out = checkout.confirm()
    assert not complete
    assert "  not confirmed: mine: " in out


def test_another_version_of_numpy_is_noticed_and_confirmed_within_a_tolerance(checkout):
    then = version("numpy")
    installed = checkout.folder / "numpy-99.0.dist-info"  # found before the one that is installed
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 99.0\n")
    forget_versions()
    try:
        is_right, out = checkout.verify()
        assert is_right, out
        assert f"2 of 2 runs, made by other versions (numpy {then}, now 99.0), perhaps other code\n" in out
        complete, out = checkout.confirm()
        assert complete, out
        assert (
            "2 of 2 runs confirmed, equal to a relative 1e-06: made on another kind of machine or with other v" in out
        )
        assert "to be confirmed" not in checkout.verify()[1]
        assert json.loads((checkout.result / stamps.FILE).read_text())["confirmed"]["exact"] is False
    finally:
        shutil.rmtree(installed)
        forget_versions()
    assert "to be confirmed: mine/small/paper: 2 of 2 runs" in checkout.verify()[1]


def forget_versions() -> None:
    importlib.invalidate_caches()
    version.cache_clear()
    environment.cache_clear()


def test_what_is_damaged_is_named_and_not_confirmed(checkout):
    checkout.edit("change", "difference")
    (checkout.result / "manifest.json").write_text((checkout.result / "manifest.json").read_text() + "\n")
    before = (checkout.result / stamps.FILE).read_bytes()
    complete, out = checkout.confirm()
    assert not complete
    assert "damaged, and not confirmed: " in out
    assert (checkout.result / stamps.FILE).read_bytes() == before


def test_a_run_for_which_there_is_no_time_is_named_and_confirmed_later(checkout):
    checkout.edit("change", "difference")
    complete, out = checkout.confirm(seconds=0)
    assert not complete
    assert "and there was not enough time" in out
    assert checkout.confirm()[0]


def test_a_second_process_is_told_that_the_first_is_at_work(checkout):
    checkout.edit("change", "difference")
    raw = checkout.results / "raw"
    raw.mkdir()
    text = (
        "import sys\nfrom pathlib import Path\nfrom runners.results.store import alone\n"
        "with alone(Path(sys.argv[1]), ''):\n    print('in', flush=True)\n    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", text, str(raw / ".confirm.lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        with pytest.raises(ConfigError, match=r"accept: found another process that confirms .*again when"):
            checkout.confirm()
        other.kill()
    assert checkout.confirm()[0]  # a lock ends with its process


class Killed(BaseException):
    """Stands for the end of a process: nothing that is written after it is."""


def test_after_a_kill_at_any_write_it_goes_on_where_it_was(checkout, monkeypatch):
    """Before and after each write of a file; what has been played is not played again, and the end is the same."""
    runs = list(replay.committed_runs("mine/small", checkout.result))
    suites = next(run.key for run in runs if run.labels["method"] == "TL")  # it is played in this very process
    stamps.write_stamps(checkout.result, stamps.read_stamps(checkout.result) | {suites: "0" * 12})
    pristine = checkout.results.with_name("pristine")
    shutil.copytree(checkout.results, pristine)
    with workers(Runner(), 1):  # kept for all moments: starting one takes longer than what it plays
        assert checkout.confirm()[0]
        assert "to be confirmed" not in checkout.verify()[1]
        wanted = without_time(checkout)
        write, moments = store._write, 0
        for moment in range(100):
            shutil.rmtree(checkout.results)
            shutil.copytree(pristine, checkout.results)
            left = iter(range(moment))

            def dying(contents: Mapping[Path, bytes], left: Iterator[int] = left) -> None:
                for path, content in contents.items():
                    if next(left, None) is None:
                        raise Killed
                    write({path: content})
                    if next(left, None) is None:
                        raise Killed

            monkeypatch.setattr(store, "_write", dying)
            try:
                assert checkout.confirm()[0]
            except Killed:
                moments += 1
            else:
                break
            finally:
                monkeypatch.setattr(store, "_write", write)
            played = {path.parent.name + path.name: path.stat().st_mtime_ns for path in traces(checkout)}
            assert checkout.confirm()[0]
            assert without_time(checkout) == wanted
            after = {path.parent.name + path.name: path.stat().st_mtime_ns for path in traces(checkout)}
            assert after.items() >= played.items()
    assert moments >= 2 * (1 + 3 * 2 + 1)  # a description, three traces with what stands beside, and the stamps


def traces(place: Checkout) -> list[Path]:
    return list(place.results.glob("raw/*/rep-*.parquet"))


def without_time(place: Checkout) -> dict[str, Any]:
    noted = json.loads((place.result / stamps.FILE).read_text())
    return {**noted, "confirmed": {**noted["confirmed"], "day": ""}, "result": place.files()}


def test_without_a_terminal_a_line_says_what_is_left(checkout, monkeypatch):
    checkout.edit("change", "difference")
    monkeypatch.setattr(accept, "EVERY", 0.0)
    lines = [line for line in checkout.confirm()[1].splitlines() if line.startswith("left: ")]
    assert [line.split(" repetitions")[0] for line in lines] == ["left: 2", "left: 1"]


def test_the_time_left_follows_committed_seconds_until_todays_pace_is_known(monkeypatch):
    now = 0.0
    monkeypatch.setattr(accept, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(accept, "EVERY", 1e9)
    left = accept._TimeLeft(jobs=2)
    left.expect(8, 30.0)
    assert str(left) == "8 repetitions to play, about 2 min"  # 8 of 30 s, two at a time
    now = 1800.0
    left.advance(30.0)
    assert str(left) == "7 repetitions to play, about 2 min"  # the first trained an encoder: no pace yet
    now += 50.0
    left.advance(30.0)
    assert str(left) == "6 repetitions to play, about 5 min"  # 6 of 50 s: one took 50 s
