"""A plot on a page: the places of panels, the numbers of axes, and the picture in print."""

import re
import shutil
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from rendered import assert_readable, finals_of, shown

from bench.report.figure import MOST_PANELS, read_figure
from bench.report.formats import SIZES
from bench.report.pictures import SHEETS, draw
from bench.report.plot import Axis, Look, Mark, Panel, Plot
from bench.report.results import Results
from runners.results.checksums import damage
from tools.derive import main as derive

X = np.arange(1.0, 21.0)


def line(name: str, y: Any, **more: Any) -> Mark:
    look = Look({"a": "#000000", "b": "#0072B2"}.get(name, "#E69F00"))
    return Mark(**({"part": "line", "name": name, "case": "", "x": X, "y": np.asarray(y, float), "look": look} | more))


def plot(titles: list[str], **axes: Any) -> Plot:
    panels = [Panel(title, marks=[line("a", X), line("b", 2 * X)], **{"x": Axis("round"), **axes}) for title in titles]
    made = Plot("A title", "A note.", panels, caption=["A caption."])
    for mark in panels[0].marks:
        made.explain(mark.name, mark.look)
    return made


def words(figure: Any) -> list[Text]:
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [1, 7])
def test_print_has_its_width_letters_of_7_to_9_points_and_no_title_note_or_caption(size, count):
    figure = draw(plot([f"panel {i}" for i in range(count)]), size)
    assert figure.get_figwidth() == SHEETS[size].width == {"column": 3.17, "text": 6.75}[size]
    assert {round(text.get_fontsize(), 1) for text in words(figure)} <= {7.0, 7.5, 8.0, 9.0}
    said = " ".join(text.get_text() for text in words(figure))
    assert not any(word in said for word in ("title", "note", "caption"))
    assert_readable(figure)


@pytest.mark.parametrize("count", [MOST_PANELS, MOST_PANELS + 1])
def test_more_panels_than_a_picture_has_room_for_are_left_out_and_said(count):
    axes = {"method": ["A", "B"], "panel": [f"p{i}" for i in range(count)]}
    means = {(method, panel): [1.0, 2.0] for method in axes["method"] for panel in axes["panel"]}
    runs = [{axis: {label: [] for label in labels} for axis, labels in axes.items()}]
    figure = read_figure(
        {"name": "f", "kind": "curves", "column": "regret", "paper": "none", "title": "t", "runs": runs}
    )
    results = Results(figure, finals=finals_of(means, "method", "panel"))
    tables = results.figure.tables(results)
    made = results.figure.picture(results, tables)
    assert made is not None
    assert [panel.title for panel in made.panels] == axes["panel"][:MOST_PANELS]
    assert (f"first {MOST_PANELS} of {count} panels" in made.note) == (count > MOST_PANELS)
    assert set(tables["table"]["panel"]) == {*axes["panel"]}


@pytest.mark.parametrize("lowest", [[1.0, 1.0], []], ids=["the best on two tasks", "on none"])
def test_a_profile_steps_where_a_task_comes_within_the_factor_and_nowhere_else(lowest):
    factors = np.array([*lowest, *(1 + 5 * np.random.default_rng(5).random(8))])
    means = {("F", f"t{i}", m): [mean] for i, x in enumerate(factors) for m, mean in (("best", 1.0), ("x", x))}
    table = finals_of(means, "family", "task", "method")
    axes = {axis: dict.fromkeys(table[axis], ()) for axis in ("family", "task", "method")}
    figure = {
        "name": "f",
        "kind": "bench.papers.tournament.Profile",
        "column": "regret",
        "reference": {"method": "best"},
        "runs": [axes],
    }
    plot = shown(figure, pd.DataFrame(), table)
    (limits, shares) = next((mark.x, mark.y) for mark in plot.marks() if mark.name == "x")
    assert (limits[0], limits[-1]) == (1.0, 10.0)
    for limit in np.random.default_rng(6).uniform(1, 10, 200):
        assert shares[np.flatnonzero(limits <= limit)[-1]] == pytest.approx((factors <= limit).mean())
    assert (np.diff(limits) * np.diff(shares) == 0).all()  # upright or level, never aslant


def test_pictures_are_drawn_again_from_committed_results_and_no_table_changes(reference_results, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    names = ["habo/figure3", "online_hpo/gp_round_time", "online_hpo/constants"]  # the first two of measured seconds
    for name in names:
        shutil.copytree(reference_results / name, tmp_path / name)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    pictures = [path for path in before if path.suffix == ".svg"]
    assert len(pictures) >= len(names)
    for path in pictures:
        path.write_text("old")
    assert derive(names) == 0
    assert damage(tmp_path) == {}  # SHA256SUMS lists the new pictures
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.name != "SHA256SUMS"}
    assert after.keys() == before.keys()
    for path, content in before.items():
        if path in pictures:
            said, again = (re.findall(r">([^<]+)</(?:text|tspan)>", text.decode()) for text in (content, after[path]))
            assert said == again
            assert after[path] != b"old"
        else:
            assert content == after[path], path
