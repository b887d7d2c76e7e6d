"""Only changed results are written again."""

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest
from test_committed import FIGURE

from runners.config.runner import Runner
from runners.execute.asked_figure import AskedFigure
from runners.execute.reproduce_figure import reproduce_figure
from runners.results.pages import write_gallery


@pytest.fixture
def make(tmp_path, monkeypatch, capsys):
    """Make a figure; return its line, and the time of each of its files."""
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


def edit(tmp_path: Path) -> None:
    (tmp_path / "mine/small/quick/claims.csv").write_text("")


def run_anew(tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "raw")


@pytest.mark.parametrize("harm", [edit, run_anew])
def test_removed_or_edited_files_are_made_again(make, tmp_path, harm):
    _, first = make()
    before = (tmp_path / "mine/small/quick/table.csv").read_bytes()
    harm(tmp_path)
    line, second = make()
    assert first["small.svg"] != second["small.svg"]
    assert ("0 new" in line) == (harm is not run_anew)
    assert (tmp_path / "mine/small/quick/table.csv").read_bytes() == before


@pytest.mark.parametrize("changes", [{"title": "Another"}, {"repetitions": 2}, {"formats": ("tex",)}])
def test_changed_results_are_made_again(make, changes):
    _, first = make()
    _, second = make(**changes)
    assert first["manifest.json"] != second["manifest.json"]


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
