"""The kinds curves, grid, bound and dots with improvements; and how pictures are saved."""

import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from rendered import assert_readable, draw, shown, tables

from bench.errors import ConfigError
from bench.report.figure import read_figure
from bench.report.plot import Mark, Plot
from bench.report.render import render
from bench.report.saving import save
from bench.report.style import STYLES, line_style
from bench.stats import MEAN_INTERVAL, mean_band

ROUNDS = np.linspace(1, 1000, 50).round().astype(int)
METHODS = ("Theory", "OP", "TL", "TL-Combined", "Syndicated")
NOTE = "Quick scale: T = 1,000, 6 repetitions."
NONE = pd.DataFrame()


def results(panels: tuple[str, ...], random: float, n: int = 6) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(0)
    curves, finals = [], []
    for panel in panels:
        for level, method in enumerate(METHODS, start=2):
            labels = {"panel": panel, "method": method}
            regret = 50 * level * np.sqrt(ROUNDS / 1000) * (1 + 0.05 * rng.normal(size=(n, 1)))
            arms = random * np.repeat([ROUNDS / 1000], n, axis=0)
            for column, values in (("regret", regret), ("random_regret", arms)):
                mean, low, high = mean_band(values)
                band = {"mean": mean, "std": values.std(axis=0), "ci_low": low, "ci_high": high, "n": n}
                curves.append(pd.DataFrame({**labels, "column": column, "round": ROUNDS, **band}))
            ends = {"regret": regret[:, -1], "random_regret": arms[:, -1]}
            finals.append(pd.DataFrame({**labels, "repetition": range(n), "rounds": 1000, **ends}))
    return pd.concat(curves, ignore_index=True), pd.concat(finals, ignore_index=True)


CURVES = {
    "name": "figure2",
    "title": "Cumulative regret of five ways to set hyper-parameters",
    "kind": "curves",
    "column": "regret",
    "y_label": "cumulative regret",
}
GRID = {
    "name": "table1",
    "title": "Grid",
    "kind": "grid",
    "column": "regret",
    "published": [
        {"panel": "fixed", "what": "best", "value": 7.25},
        {"panel": "fixed", "what": "mean", "value": 357.21},
    ],
}
CLAIM = {
    "id": "7", "text": "under the bound", "kind": "bound", "measured": {"method": "TL"}, "over": {"alpha": "*"},
    "candidates": [2], "per": ["panel"],
}  # fmt: skip
BOUND = {"name": "bound", "title": "Bounds", "kind": "bound", "column": "regret", "claims": [CLAIM]}


def rows(n: int, values: Any, **labels: Any) -> pd.DataFrame:
    return pd.DataFrame({**labels, "repetition": range(n), "rounds": 1000, "regret": values, "random_regret": 900.0})


def grid_finals() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    parts = []
    for panel, at in (("fixed", 4.0), ("changing", 1.5)):
        parts.append(rows(5, 400 + rng.normal(0, 5, 5), panel=panel, alpha=np.nan, method="Theory"))
        for alpha in np.arange(0, 10.5, 0.5):
            values = 300 + 10 * (alpha - at) ** 2 + rng.normal(0, 5, 5)
            parts.append(rows(5, values, panel=panel, alpha=alpha, method=np.nan))
    return pd.concat(parts, ignore_index=True)


def bound_finals() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    parts = []
    for panel in ("LinUCB, simulation", "LinTS, simulation"):
        for method, alpha in [("TL", np.nan), (np.nan, 0.0), (np.nan, 1.0)]:
            parts.append(rows(6, 100 + rng.normal(0, 5, 6), panel=panel, method=method, alpha=alpha))
    return pd.concat(parts, ignore_index=True)


def parts(made: Plot, part: str, name: str = "") -> list[Mark]:
    return [mark for mark in made.marks() if mark.part == part and name in ("", mark.name)]


def texts(figure: Figure) -> str:
    axes = [text.get_text() for axes in figure.axes for text in axes.texts]
    return "\n".join([*(text.get_text() for text in figure.texts), *axes])


@functools.cache
def examples() -> dict[str, Figure]:
    six = tuple(f"panel {letter}, simulation" for letter in "ABCDEF")
    curves, finals = results(six, 450.0)
    title = "Cumulative regret of five ways to set hyper-parameters, in words that need more than one line of a page"
    is_first = curves["panel"] == six[0]
    return {
        "six": draw({**CURVES, "title": title}, curves, finals, note=NOTE + " Surrogate data."),
        "one": draw(CURVES, curves[is_first], finals[finals["panel"] == six[0]], note=NOTE),
        "log": draw({**CURVES, "y_scale": "log"}, curves, finals, note=NOTE),
        "grid": draw(GRID, NONE, grid_finals(), note=NOTE),
        "bound": draw(BOUND, NONE, bound_finals(), note=NOTE),
        "bound_log": draw({**BOUND, "x_scale": "log"}, NONE, bound_finals(), note=NOTE),
    }


@pytest.mark.parametrize("name", ["six", "one", "log", "grid", "bound", "bound_log"])
def test_nothing_overlaps_and_nothing_is_cut_off(name: str) -> None:
    assert_readable(examples()[name])


def test_curves_show_each_method_once_in_the_legend_and_say_what_the_band_is() -> None:
    curves, finals = results(("P", "Q"), 450.0)
    figure = draw(CURVES, curves, finals, note=NOTE)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [*METHODS, "Random arms"]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["P", "Q"]
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("round", "cumulative regret")
    assert MEAN_INTERVAL in texts(figure)
    line = next(line for line in figure.axes[1].lines if line.get_color() == STYLES["TL"].color)
    mean = curves.query("panel == 'Q' and method == 'TL' and column == 'regret'")["mean"]
    np.testing.assert_allclose(np.asarray(line.get_ydata(), dtype=float), mean)


@pytest.mark.parametrize(("random", "is_drawn"), [(430.0, True), (5000.0, False)])
def test_random_arms_far_above_are_mentioned_not_drawn(random: float, is_drawn: bool) -> None:
    curves, finals = results(("P",), random)
    made = shown(CURVES, curves, finals)
    assert ("Random arms" in made.legend) == is_drawn
    assert ("random arms: 5,000 ↑" in [text.words for text in made.panels[0].texts]) != is_drawn
    assert 300 < draw(CURVES, curves, finals).axes[0].get_ylim()[1] < 600
    logarithmic = {**CURVES, "y_scale": "log"}
    assert "Random arms" in shown(logarithmic, curves, finals).legend
    assert draw(logarithmic, curves, finals).axes[0].get_ylim()[1] >= random


def test_surrogate_data_is_marked_and_stands_beside_no_published_number() -> None:
    note = NOTE + " Surrogate data."
    assert "SURROGATE DATA" in texts(draw(GRID, NONE, grid_finals(), note=note))
    assert "SURROGATE DATA" not in texts(examples()["grid"])
    real, surrogate = (shown(GRID, NONE, grid_finals(), note=words) for words in (NOTE, note))
    assert [mark.numbers[0] for mark in parts(real, "published line")] == [7.25]
    assert [(mark.x, mark.y) for mark in parts(real, "published")] == [(7.25, 357.21)]
    assert not [mark for mark in surrogate.marks() if "published" in mark.part]
    assert ("published best" in real.legend, "published best" in surrogate.legend) == (True, False)


def test_grid_marks_the_best_value_and_theory() -> None:
    finals = grid_finals()
    made = shown(GRID, NONE, finals)
    assert list(made.legend)[:3] == ["mean on the grid", "best on the grid", "Theory"]
    for star, theory, panel, best in zip(
        parts(made, "best"), parts(made, "line", "Theory"), ("fixed", "changing"), (4.0, 1.5), strict=True
    ):
        assert star.places[0] == pytest.approx(best, abs=0.5)
        own = finals[(finals["panel"] == panel) & (finals["method"] == "Theory")]["regret"]
        assert theory.numbers[0] == pytest.approx(own.mean())
    highest = shown({**GRID, "best": "highest"}, NONE, finals)
    assert parts(highest, "best")[0].places == [10.0]


@pytest.mark.parametrize(
    ("override", "keys", "is_marked"),
    [
        ("tuner.x={}", {}, True),
        ("+algorithm.x={}", {}, True),
        ("horizon={}", {}, False),
        ("env.dim={}", {}, False),
        ("+task.n={}", {}, False),
        ("env.dim={}", {"best": "lowest"}, True),
        ("tuner.x={}", {"best": "none"}, False),
    ],
)
@pytest.mark.parametrize("axis", ["x", ""])
def test_a_grid_marks_the_best_only_of_what_can_be_chosen(override, keys, is_marked, axis) -> None:
    runs = [{"method": {"A": ["env.n_arms=3"]}, "x": {"values": [1, 2], "override": override}}]
    figure = {"kind": "grid", "column": "regret", "axis": axis, "runs": runs, **keys}
    finals = pd.DataFrame(
        {"method": "A", "x": ["1", "1", "2", "2"], "repetition": [0, 1] * 2, "regret": [1.0, 2, 3, 5]}
    )
    rendered = render(figure, pd.DataFrame(), finals)
    assert bool(parts(rendered.plot, "best")) == is_marked
    assert ("best" in rendered.tables, "best" in read_figure(figure).table_titles()) == (is_marked, is_marked)


def test_bound_has_a_row_per_case_and_leaves_open_what_is_missing() -> None:
    finals = bound_finals()
    made = shown(BOUND, NONE, finals)
    names = [name.replace("\n", " ") for name in made.panels[0].y.names or ()]
    assert names == ["TL: LinUCB, simulation", "TL: LinTS, simulation"]
    price = 2 * np.sqrt((np.e - 1) * 2 * 1000 * np.log(2))
    for row, panel in enumerate(("LinUCB, simulation", "LinTS, simulation")):
        of_panel = finals[finals["panel"] == panel]
        measured = of_panel[of_panel["method"] == "TL"]["regret"].mean()
        best = of_panel[of_panel["method"] != "TL"].groupby("alpha")["regret"].mean().min()
        assert [mark.numbers[0] for mark in parts(made, "line", "TL") if mark.y == row] == [pytest.approx(measured)]
        assert [mark.numbers[0] for mark in parts(made, "bound") if mark.y == row] == [pytest.approx(best + price)]
    part = finals.query("panel != 'LinTS, simulation' or alpha != 1")
    words = [text.words for text in shown(BOUND, NONE, part).panels[0].texts]
    assert words == ["open: 'over' selects 1 runs, the candidates make 2"]
    with pytest.raises(ConfigError, match="there are none"):
        shown({**BOUND, "claims": []}, NONE, finals)


@pytest.mark.parametrize("kind", ["curves", "grid"])
def test_figures_without_results_say_so(kind: str) -> None:
    runs = [{"panel": {"P": []}, "alpha": {"values": [1, 2], "override": "a={}"}}]
    figure = {"name": "f", "kind": kind, "column": "regret", "runs": runs}
    assert "no results yet" in texts(draw(figure, NONE, NONE))


def test_improvement_is_the_ratio_of_paired_means_with_the_error_of_the_delta_method() -> None:
    rng = np.random.default_rng(3)
    n = 4000
    base = rng.normal(10, 1, n)
    values = {"whole": base + rng.normal(0, 0.1, n), "part": 0.8 * base, "other": 0.9 * base + rng.normal(0, 0.2, n)}
    finals = pd.concat(
        [pd.DataFrame({"method": name, "repetition": range(n), "rounds": 5, "value": v}) for name, v in values.items()]
    ).iloc[[i for i in range(3 * n) if i != n]]  # without the first of "part"
    figure = {
        "name": "f", "kind": "dots", "column": "improvement", "better": {"method": "whole"}, "in_column": "value",
        "runs": [{"method": {name: [] for name in values}}],
        "published": [{"method": "part", "what": "mean", "value": 24.5}],
    }  # fmt: skip
    finals = finals.reset_index(drop=True)
    table = tables(figure, finals)["table"].set_index("method")
    assert table["n"].to_dict() == {"part": n - 1, "other": n}
    ratio = values["whole"].mean() / values["other"].mean()
    assert table.loc["other", "mean"] == pytest.approx(100 * (ratio - 1))
    resamples = rng.integers(0, n, (500, n))
    means = [values[name][resamples].mean(axis=1) for name in ("whole", "other")]
    assert table.loc["other", "std"] / np.sqrt(n) == pytest.approx(100 * (means[0] / means[1]).std(), rel=0.15)
    assert table.loc["part", "published_mean"] == 24.5
    assert {mark.name for mark in shown(figure, NONE, finals).marks()} == {"part", "other"}
    with pytest.raises(ConfigError, match="key 'better': fits 2 experiments, expected one"):
        tables({**figure, "better": {"method": ["whole", "part"]}}, finals)


def test_one_repetition_has_a_line_but_no_band() -> None:
    figure = draw(CURVES, *results(("P",), 450.0, n=1))
    assert not figure.axes[0].collections
    assert "No bands" in texts(figure)


def test_saved_files_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    curves, finals = results(("P", "Q"), 450.0)
    first = save(draw(CURVES, curves, finals, note=NOTE), tmp_path / "a" / "b", "figure2")
    with mpl.rc_context({"font.size": 20, "svg.fonttype": "path", "lines.linewidth": 9}):
        figure = draw(CURVES, curves, finals, note=NOTE)
        second, third = (save(figure, tmp_path, name) for name in ("figure2", "again"))
    for one, two, three in zip(first, second, third, strict=True):
        assert one.read_bytes() == two.read_bytes() == three.read_bytes()
    svg = second[1].read_text()
    assert "TL-Combined</text>" in svg
    assert "date" not in svg.lower().split("<defs>")[0]
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == ["figure2.png", "figure2.svg"]


def test_a_figure_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = draw(CURVES, *results(("P",), 450.0))
    png, _ = save(figure, tmp_path, "figure2")
    before = png.read_bytes()

    def broken(file: Any, **_: Any) -> None:
        file.write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(figure, "savefig", broken)
    with pytest.raises(OSError, match="no space left"):
        save(figure, tmp_path, "figure2")
    assert png.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 2


def printed(program: str, **environment: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_unknown_methods_have_a_stable_look_in_any_process() -> None:
    program = "from bench.report.style import line_style; print(line_style('my tuner'))"
    assert {printed(program, PYTHONHASHSEED=seed) for seed in "12"} == {str(line_style("my tuner"))}
    assert line_style("my tuner").color not in {style.color for style in STYLES.values()}


def test_drawing_needs_no_pyplot_and_nothing_that_runs_experiments() -> None:
    unwanted = ("matplotlib.pyplot", "runners", "hydra", "joblib", "numba", "bench.loop")
    program = f"import sys, bench.report.page, bench.report.claims; print([n for n in {unwanted} if n in sys.modules])"
    assert printed(program) == "[]"
