"""The kinds curves, grid, cases and dots with improvements; and how pictures are saved."""

import functools
from itertools import chain
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from gallery_site import FIGURES_MADE, made_up
from matplotlib.figure import Figure
from rendered import NO_CURVES as NONE
from rendered import assert_readable, draw, finals_of, parts, render, shown, tables, words_in

from bench.errors import ConfigError
from bench.report.claims.judgement import MIN_REPETITIONS
from bench.report.drawing import in_digits
from bench.report.figure import read_figure
from bench.report.pictures import content
from bench.report.plot import RANDOM_ARMS
from bench.stats import mean_band

ROUNDS = np.linspace(1, 1000, 50).round().astype(int)
METHODS = ("Theory", "OP", "TL", "TL-Combined", "Syndicated")
NOTE = "Quick scale: T = 1,000, 6 repetitions."


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
    "axis": "alpha",
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
CASES = {
    "name": "bound", "title": "Bounds", "kind": "bench.papers.syndicated.Cases", "column": "regret",
    "claims": [CLAIM], "reference_line": 1,
    "x_scale": "log",
}  # fmt: skip


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
        "cases": draw(CASES, NONE, bound_finals(), note=NOTE),
    }


@pytest.mark.parametrize("name", ["six", "one", "log", "grid", "cases"])
def test_nothing_overlaps_and_nothing_is_cut_off(name: str) -> None:
    assert_readable(examples()[name])


@pytest.mark.parametrize("name", [name for name, figure in FIGURES_MADE.items() if figure.get("column")])
def test_published_numbers_are_never_shown_with_surrogate_data(name: str) -> None:
    figure = FIGURES_MADE[name]
    for note, is_shown in (("", "published" in figure), ("surrogate data", False)):
        plot = shown(figure, *made_up(figure), note=note)
        columns = [*chain(*tables(figure, made_up(figure)[1], made_up(figure)[0], surrogate=bool(note)).values())]
        assert any(column.startswith(("published", "ratio_")) for column in columns) == is_shown
        if figure["kind"] in ("grid", "dots", "timing"):  # the others show none
            assert any(word.startswith("published") for word in plot.legend) == is_shown
            assert any(mark.part.startswith("published") for mark in plot.marks()) == is_shown
        assert plot.mark == note.upper()


@pytest.mark.parametrize("name", [name for name, figure in FIGURES_MADE.items() if figure.get("column")])
def test_figures_without_results_say_so(name: str) -> None:
    said = words_in(draw(FIGURES_MADE[name], NONE, NONE))
    assert any(words.startswith(("no results yet", "open: ")) for words in said)  # a bound has a row for each case


def test_published_numbers_are_shown_where_they_belong() -> None:
    made = shown(GRID, NONE, grid_finals(), note=NOTE)
    assert [mark.numbers[0] for mark in parts(made, "published line")] == [7.25]
    assert [(mark.x, mark.y) for mark in parts(made, "published")] == [(7.25, 357.21)]
    assert made.legend["published best"].marker == "D"
    without_mean = shown({**GRID, "published": GRID["published"][:1]}, NONE, grid_finals())
    assert not without_mean.legend["published best"].marker


def test_grid_marks_the_best_value_and_theory() -> None:
    finals = grid_finals()
    made = shown(GRID, NONE, finals)
    assert list(made.legend)[:3] == ["mean on the grid", "best on the grid", "Theory"]
    for star, theory, panel, best in zip(
        parts(made, "best"), parts(made, "theory", "Theory"), ("fixed", "changing"), (4.0, 1.5), strict=True
    ):
        assert star.x[0] == pytest.approx(best, abs=0.5)
        own = finals[(finals["panel"] == panel) & (finals["method"] == "Theory")]["regret"]
        assert theory.numbers[0] == pytest.approx(own.mean())
    highest = shown({**GRID, "best": "highest"}, NONE, finals)
    assert parts(highest, "best")[0].x == pytest.approx([10.0], abs=0.5)


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
def test_a_grid_marks_the_best_only_of_values_that_can_be_chosen(override, keys, is_marked) -> None:
    runs = [{"method": {"A": ["env.n_arms=3"]}, "x": {"values": [1, 2], "override": override}}]
    figure = {"kind": "grid", "column": "regret", "axis": "x", "runs": runs, **keys}
    finals = pd.DataFrame(
        {"method": "A", "x": ["1", "1", "2", "2"], "repetition": [0, 1] * 2, "regret": [1.0, 2, 3, 5]}
    )
    rendered = render(figure, pd.DataFrame(), finals)
    assert bool(parts(rendered.plot, "best")) == is_marked
    assert ("best" in rendered.tables, "best" in read_figure(figure).table_titles()) == (is_marked, is_marked)


def test_cases_are_drawn_a_row_each_and_those_without_evidence_are_open() -> None:
    finals = bound_finals()
    made = shown(CASES, NONE, finals)
    names = [name.replace("\n", " ") for name in made.panels[0].y.names or ()]
    assert names == ["7: LinUCB, simulation", "7: LinTS, simulation"]
    price = 2 * np.sqrt((np.e - 1) * 2 * 1000 * np.log(2))
    cases = [mark for mark in made.marks() if mark.part.startswith("case")]
    assert [mark.y for mark in cases] == [0, 1]
    for mark, panel in zip(cases, ("LinUCB, simulation", "LinTS, simulation"), strict=True):
        of_panel = finals[finals["panel"] == panel]
        measured = of_panel[of_panel["method"] == "TL"]["regret"].mean()
        best = of_panel[of_panel["method"] != "TL"].groupby("alpha")["regret"].mean().min()
        assert mark.numbers[0] == pytest.approx(measured / (best + price))
        assert mark.low[0] < mark.numbers[0] < mark.high[0] < 1
        assert mark.look.fill != "none"
    idle = shown(CASES, NONE, finals.assign(random_regret=50.0))
    assert {mark.look.fill for mark in idle.marks() if mark.part.startswith("case")} == {"none"}
    part = finals.query("panel != 'LinTS, simulation' or alpha != 1")
    assert [mark.y for mark in shown(CASES, NONE, part).marks() if mark.part.startswith("case")] == [0]
    runs = [{"panel": {"P": []}, "method": {"TL": []}}]
    with pytest.raises(ConfigError, match="found no claims"):
        shown({**CASES, "claims": [], "runs": runs}, NONE, NONE)


def test_improvement_is_the_ratio_of_paired_means_with_the_error_of_the_delta_method() -> None:
    rng = np.random.default_rng(3)
    n = 4000
    base = rng.normal(10, 1, n)
    values = {"whole": base + rng.normal(0, 0.1, n), "part": 0.8 * base, "other": 0.9 * base + rng.normal(0, 0.2, n)}
    finals = finals_of(values, "method", column="value").drop(index=n)  # without the first of "part"
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
    assert any("No bands" in words for words in words_in(figure))


def test_bands_need_as_many_repetitions_as_verdicts_and_early_ones_do_not_stretch_the_axis() -> None:
    """Means of 0/1 rewards: Student's interval of the first rounds ends far beyond 0 and 1."""
    rounds = np.arange(10, 610, 10)
    mean, half = np.full(60, 0.5), np.where(rounds < 60, 40.0, 1.0) / rounds
    for n, has_bands in ((MIN_REPETITIONS - 1, False), (MIN_REPETITIONS, True)):
        labels = {"panel": "P", "method": "TL"}
        band = {"mean": mean, "std": half, "ci_low": mean - half, "ci_high": mean + half, "n": n}
        curves = pd.DataFrame({**labels, "column": "mean_reward", "round": rounds, **band})
        finals = pd.DataFrame({**labels, "repetition": range(n), "rounds": 600, "mean_reward": 0.5})
        figure = draw({**CURVES, "column": "mean_reward"}, curves, finals)
        assert bool(figure.axes[0].collections) == has_bands
        low, high = figure.axes[0].get_ylim()
        assert high - low < 0.6
        said = " ".join(words_in(figure))
        assert (f"they need {MIN_REPETITIONS} repetitions" in said) != has_bands
        assert ("first rounds go beyond the picture" in said) == has_bands


def test_a_picture_has_the_same_bytes_under_any_settings_of_matplotlib() -> None:
    curves, finals = results(("P", "Q"), 450.0)
    page = draw(CURVES, curves, finals, note=NOTE)
    first = [content(page, kind) for kind in ("png", "svg")]
    with mpl.rc_context({"font.size": 20, "svg.fonttype": "path", "lines.linewidth": 9}):
        page = draw(CURVES, curves, finals, note=NOTE)
        assert first == [content(page, kind) for kind in ("png", "svg")]
        assert first == [content(page, kind) for kind in ("png", "svg")]
    svg = first[1].decode()
    assert "TL-Combined</text>" in svg
    assert "date" not in svg.lower().split("<defs>")[0]


def test_numbers_of_an_axis_have_as_many_digits_as_tell_them_apart() -> None:
    assert in_digits([0.1, 0.25, 1000.0]) == ["0.1", "0.25", "1,000"]
    assert in_digits([0.1, 0.1 + 1e-11]) == ["0.1", "0.10000000001"]


def test_two_labels_that_are_one_place_on_a_grid_are_refused() -> None:
    runs = [{"panel": {"fixed": []}, "alpha": {"1.1": [], "1.10": []}}]
    with pytest.raises(ConfigError, match=r"axis 'alpha' has 1\.1 and 1\.10"):
        read_figure({**GRID, "published": [], "runs": runs})


def test_single_repetitions_are_thin_lines_of_their_method():
    curves, finals = results(("a",), 900.0, n=3)
    own = pd.concat(
        [curves[curves["column"] == "regret"].assign(column=f"regret@{k}", n=1, mean=lambda x, k=k: x["mean"] + k)
         for k in range(3)]
    )  # fmt: skip
    plot = shown({**CURVES, "show_individual": True}, pd.concat([curves, own], ignore_index=True), finals)
    marks = [mark for mark in plot.marks() if mark.part.startswith("repetition")]
    assert len(marks) == 3 * len(METHODS)
    (mean,) = [mark for mark in plot.marks() if (mark.name, mark.part) == ("TL", "line")]
    lines = {mark.part: mark for mark in marks if mark.name == "TL"}
    np.testing.assert_allclose(lines["repetition 2"].y, mean.y + 2)
    assert all(0 < line.look.width < 1 and line.look.color == mean.look.color for line in lines.values())
    assert "Thin lines: single repetitions." in plot.caption
    assert not [mark for mark in shown(CURVES, curves, finals).marks() if mark.part.startswith("repetition")]


def test_regret_of_random_arms_is_a_line_of_its_own():
    (random,) = [mark for mark in shown(CURVES, *results(("P",), 450.0)).marks() if mark.name == RANDOM_ARMS]
    np.testing.assert_allclose(random.y, 450.0 * ROUNDS / 1000)
