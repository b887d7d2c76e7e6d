"""What is made stays made: only what has changed is written again."""

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest
from test_committed import FIGURE

from runners.config.runner import Runner
from runners.execute.asked_figure import AskedFigure
from runners.execute.reproduce_figure import reproduce_figure
from runners.results.made_of import code
from runners.results.pages import write_gallery


@pytest.fixture
def make(tmp_path, monkeypatch, capsys):
    """Make a figure, and return its line and when each of its files was written."""
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))

    def call(*, scale: str = "quick", **changes: Any) -> tuple[str, dict[str, int]]:
        asked = {key: changes.pop(key) for key in ("formats", "renew") if key in changes}
        figure = {**copy.deepcopy(FIGURE), **changes}
        plan = AskedFigure(figure, f"mine/small/{scale}", scale, [], "command", scale == "paper", **asked)
        folder = reproduce_figure(plan, jobs=1, runner=Runner(progress=False)).folder
        return capsys.readouterr().out, {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}

    return call


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_nothing_is_written_again_where_nothing_has_changed(make, scale):
    line, first = make(scale=scale)
    again, second = make(scale=scale)
    assert second == first
    assert again == line.replace("6 repetitions", "6 repetitions, 0 new")


def remove(tmp_path: Path) -> None:
    (tmp_path / "mine/small/quick/table.csv").unlink()


def edit(tmp_path: Path) -> None:
    (tmp_path / "mine/small/quick/claims.csv").write_text("")


def run_anew(tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "raw")


@pytest.mark.parametrize("harm", [remove, edit, run_anew])
def test_what_is_gone_or_edited_is_made_again(make, tmp_path, harm):
    _, first = make()
    before = (tmp_path / "mine/small/quick/table.csv").read_bytes()
    harm(tmp_path)
    line, second = make()
    assert first["small.svg"] != second["small.svg"]
    assert ("0 new" in line) == (harm is not run_anew)
    assert (tmp_path / "mine/small/quick/table.csv").read_bytes() == before


@pytest.mark.parametrize(
    "changes", [{"title": "Another"}, {"column": "reward"}, {"repetitions": 2}, {"formats": ("tex",)}, {"renew": True}]
)
def test_what_has_changed_is_made_again(make, changes):
    _, first = make()
    _, second = make(**changes)
    assert first["manifest.json"] != second["manifest.json"]


def test_what_failed_is_tried_again(make, tmp_path, monkeypatch):
    """A figure with a repetition that failed has nothing noted."""
    make(repetitions=2)
    from runners.execute import repetition

    monkeypatch.setattr(repetition, "run_repetition", lambda experiment, number: 1 / 0)
    with pytest.MonkeyPatch.context():
        line, _ = make(repetitions=3)
    assert "2 failed" in line
    monkeypatch.undo()
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    assert "2 new" in make(repetitions=3)[0]


def test_pages_are_not_written_again_where_nothing_has_changed(make, tmp_path):
    make()
    page, written = write_gallery(tmp_path)
    assert written
    assert write_gallery(tmp_path) == (page, 0)
    edit(tmp_path)
    assert write_gallery(tmp_path)[1]
    page.unlink()
    assert write_gallery(tmp_path)[1]
    assert page.is_file()


@pytest.mark.parametrize("file", ["bench/report/page.py", "bench/gallery/templates/figure.html.j2", "runners/new.py"])
def test_code_that_draws_or_judges_makes_all_again(tmp_path, file):
    before, after = tmp_path / "before", tmp_path / "after"
    for root in (before, after):
        for name in ("bench/report/page.py", "bench/gallery/templates/figure.html.j2"):
            (root / name).parent.mkdir(parents=True)
            (root / name).write_text("x = 1\n")
    (after / "README.md").write_text("Another\n")
    assert code(after) == code(before)
    code.cache_clear()
    (after / file).parent.mkdir(exist_ok=True, parents=True)
    (after / file).write_text("x = 2\n")
    assert code(after) != code(before)
