"""The kinds dots, distribution and computed: what is drawn is what was measured, and can be read."""

import functools
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from rendered import assert_apart, assert_readable, draw

from bench.errors import ConfigError
from bench.report.computed import COMPUTATIONS
from bench.report.saving import save
from bench.report.style import line_style
from bench.report.typeset import typeset
from bench.stats import mean_interval

NOTE = "scale paper: 20 repetitions of 10,000 rounds"
LONG = "CIR-HPO with the lower bound of Bernstein in place of Student's, beta0 = 20"
METHODS = ("Grid", "Random", "Hyperband", "Bayes-SE", "Bayes-Matern", "SD2ME-soft", "AD2ME-soft", "HABO", "TPE", LONG)
PANELS = (*"ABCDE", "a case whose name is so long that it takes two lines above its panel")
DOTS: dict[str, Any] = {"name": "table1", "title": "Final values", "kind": "dots", "column": "reward"}
SPREAD: dict[str, Any] = {**DOTS, "name": "figure2", "quantiles": True}
PRINTED = [{"panel": "A", "method": "Grid", "what": "mean", "value": 1.31}]


def finals(panels: tuple[str, ...] = ("A",), methods: tuple[str, ...] = METHODS[:3], n: int = 10) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    parts = []
    for panel in panels:
        for level, method in enumerate(methods):
            labels = {"panel": panel, "method": method, "repetition": range(n), "rounds": 1000}
            parts.append(pd.DataFrame({**labels, "reward": 1 + 0.1 * level + rng.gamma(1.5, 0.05, n)}))
    return pd.concat(parts, ignore_index=True)


def drawn(figure: dict[str, Any], table: pd.DataFrame, note: str = NOTE) -> Figure:
    return draw(figure, pd.DataFrame(), table, note=note)


def part(axes: Axes, name: str, method: str) -> np.ndarray:
    """Return the points of the one part of a method, shape (points, 2)."""
    found = [artist for artist in axes.get_lines() if unquote(artist.get_gid() or "").startswith(f"{name}:")]
    found = [artist for artist in found if unquote(artist.get_gid() or "").endswith(f":{method}")]
    assert len(found) == 1, (name, method)
    return np.column_stack([np.asarray(values, dtype=float) for values in found[0].get_data()])


def has_part(figure: Figure, name: str) -> bool:
    return any((line.get_gid() or "").startswith(f"{name}:") for axes in figure.axes for line in axes.get_lines())


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def rows(axes: Axes) -> list[str]:
    return [label.get_text().replace("\n", " ") for label in axes.get_yticklabels()]


@functools.cache
def examples() -> dict[str, Figure]:
    six, regret = finals(PANELS, METHODS, 20), finals(("A", "B", "C")).rename(columns={"reward": "regret"})
    regret["random_regret"] = np.where(regret["panel"] == "A", 2.0, 900.0)
    line = {"reference_line": 1.0, "reference_label": "V(pi0)"}
    computed = {"name": "worked_examples", "title": "Again", "kind": "computed", "compute": "worked_examples"}
    title = "Final values of ten methods in six cases, which is a title that certainly needs more than a line"
    return {
        "dots_six": drawn({**DOTS, **line, "title": title, "published": PRINTED}, six),
        "dots_one": drawn(DOTS, finals()),
        "dots_log": drawn({**DOTS, "x_scale": "log"}, finals(("A", "B")), note="Surrogate data."),
        "dots_regret": drawn({**DOTS, "column": "regret"}, regret),
        "distribution_six": drawn({**SPREAD, **line}, six),
        "distribution_one": drawn(SPREAD, finals()),
        "computed": drawn({**computed, "caption": "A word on it."}, pd.DataFrame()),
    }


@pytest.mark.parametrize(
    "name",
    ["dots_six", "dots_one", "dots_log", "dots_regret", "distribution_six", "distribution_one", "computed"],
)
def test_nothing_overlaps_and_nothing_is_cut_off(name: str) -> None:
    figure = examples()[name]
    assert_readable(figure)
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    for axes in figure.axes:
        words = [*axes.texts, *(axes.get_yticklabels() if axes.axison else ())]
        assert_apart([(word.get_text(), word.get_window_extent(renderer)) for word in words if word.get_text()], figure)


def test_dots_are_means_with_their_intervals() -> None:
    table = finals()
    axes = drawn(DOTS, table).axes[0]
    for row, method in enumerate(METHODS[:3]):
        values = table.loc[table["method"] == method, "reward"].to_numpy()
        interval = mean_interval(values)
        np.testing.assert_allclose(part(axes, "line", method), [[values.mean(), row]])
        np.testing.assert_allclose(part(axes, "bars", method), [[interval.low, row], [interval.high, row]])
        ones = part(axes, "repetitions", method)
        np.testing.assert_allclose(ones[:, 0], values)
        assert np.abs(ones[:, 1] - row).max() < 0.5, "a dot stands in another row"
        assert len(np.unique(ones[:, 1])) == len(values)
    assert rows(axes) == list(METHODS[:3])
    assert axes.get_ylim()[0] > axes.get_ylim()[1], "the first method is not on top"


def test_a_method_has_its_colour_everywhere() -> None:
    axes = drawn(DOTS, finals()).axes[0]
    for line in axes.get_lines():
        kind, _, method = unquote(line.get_gid() or "::").split(":")
        if kind in ("line", "bars", "repetitions"):
            assert to_hex(line.get_color()) == line_style(method).color.lower()


@pytest.mark.parametrize(
    ("n", "ones", "bars"), [(1, False, False), (2, True, True), (25, True, True), (26, False, True)]
)
def test_single_repetitions_are_drawn_while_they_are_few(n: int, ones: bool, bars: bool) -> None:
    figure = drawn(DOTS, finals(n=n))
    assert has_part(figure, "repetitions") == ones == ("one repetition" in legend(figure))
    assert has_part(figure, "bars") == bars


@pytest.mark.parametrize("note", [NOTE, "quick; surrogate data in place of the real"])
def test_published_numbers_stand_where_they_belong_and_never_beside_surrogate_data(note: str) -> None:
    figure = drawn({**DOTS, "published": PRINTED}, finals(("A", "B")), note)
    is_shown = "surrogate" not in note
    assert has_part(figure, "published") == is_shown == ("published" in legend(figure))
    if is_shown:
        np.testing.assert_allclose(part(figure.axes[0], "published", "Grid"), [[1.31, 0]])
        low, high = figure.axes[0].get_xlim()
        assert low < 1.31 < high
        assert not any("published" in (line.get_gid() or "") for line in figure.axes[1].get_lines())


@pytest.mark.parametrize("figure", [DOTS, SPREAD])
def test_the_reference_line_is_drawn_within_the_axis_and_named(figure: dict[str, Any]) -> None:
    own = drawn({**figure, "reference_line": -3.0, "reference_label": "V(pi0)"}, finals(("A", "B")))
    for axes in own.axes:
        assert any(np.all(np.asarray(line.get_xdata()) == -3.0) for line in axes.get_lines())
        assert axes.get_xlim()[0] < -3.0
    assert typeset("V(pi0)") in legend(own)
    with pytest.raises(
        ConfigError, match=r"'(table1|figure2)', key 'reference_line': found 'one', expected a valid number"
    ):
        drawn({**figure, "reference_line": "one"}, finals())


def test_limits_are_means_of_their_columns_and_belong_to_the_rows_that_have_them() -> None:
    table = finals().assign(low=lambda rows: rows["reward"] - 0.5, high=lambda rows: rows["reward"] + 2.0)
    limits = {"low": "low", "high": "high", "label": "by chance of the log", "only": {"method": "Grid"}}
    figure = drawn({**DOTS, "limits": limits}, table)
    mean = table.loc[table["method"] == "Grid", "reward"].mean()
    np.testing.assert_allclose(part(figure.axes[0], "limits", "Grid")[:, 0], [mean - 0.5, mean + 2.0])
    low, high = figure.axes[0].get_xlim()
    assert low < mean - 0.5
    assert mean + 2.0 < high
    assert "by chance of the log" in legend(figure)
    with pytest.raises(AssertionError):
        part(figure.axes[0], "limits", "Random")
    assert not has_part(drawn(DOTS, table), "limits")


def test_random_arms_are_drawn_or_said_to_lie_beyond() -> None:
    figure = examples()["dots_regret"]
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[0] == "A"
    assert titles[1] == "B\nrandom arms: 900, right of this axis"
    assert [has_random(axes) for axes in figure.axes] == [True, False, False]
    assert "Random arms" in legend(figure)


def has_random(axes: Axes) -> bool:
    return any("Random arms" in unquote(line.get_gid() or "") for line in axes.get_lines())


def test_a_logarithmic_axis_needs_positive_numbers() -> None:
    table = finals()
    assert drawn({**DOTS, "x_scale": "log"}, table).axes[0].get_xscale() == "log"
    table.loc[0, "reward"] = -5.0
    assert drawn({**DOTS, "x_scale": "log"}, table).axes[0].get_xscale() == "linear"


@pytest.mark.parametrize("figure", [DOTS, SPREAD])
def test_missing_results_leave_their_rows_empty(figure: dict[str, Any]) -> None:
    runs = [{"panel": {"A": [], "B": []}, "method": dict.fromkeys(METHODS[:3], ())}]
    table = finals(("A",))
    table = table[table["method"] != "Random"]
    own = drawn({**figure, "runs": runs}, table)
    assert rows(own.axes[0]) == list(METHODS[:3])
    assert "no results yet" not in [text.get_text() for text in own.axes[0].texts]
    assert [text.get_text() for text in own.axes[1].texts] == ["no results yet"]
    assert part(own.axes[0], "line", "Hyperband")[0, 1] == 2


def test_a_distribution_shows_all_values_with_mean_quartiles_and_tail() -> None:
    """Values 0 to 20: mean 10, quartiles 5 and 15, 95 % quantile 19."""
    labels = {"panel": "A", "method": "TPE", "repetition": range(21), "rounds": 1000}
    figure = drawn({**SPREAD, "column": "bias"}, pd.DataFrame({**labels, "bias": np.arange(21.0)}))
    axes = figure.axes[0]
    np.testing.assert_allclose(part(axes, "line", "TPE"), [[10.0, 0.0]])
    np.testing.assert_allclose(part(axes, "repetitions", "TPE")[:, 0], np.arange(21.0))
    box = next(patch for patch in axes.patches if isinstance(patch, Rectangle))
    assert (box.get_x(), box.get_x() + box.get_width()) == (5.0, 15.0)
    tail = [own for own in axes.collections if (own.get_gid() or "").startswith("quantile:")]
    assert np.allclose(tail[0].get_paths()[0].vertices[:, 0], 19.0)  # type: ignore[arg-type]
    assert [text.get_text() for text in axes.texts] == ["mean", "10.0", "95 %", "19.0"]


def test_the_numbers_of_a_panel_share_their_decimals() -> None:
    table = finals()
    table.loc[table["method"] == "Grid", "reward"] *= 0.001
    shown = [text.get_text() for text in drawn(SPREAD, table).axes[0].texts]
    assert {len(word.partition(".")[2]) for word in shown if "." in word} == {2}


def computed_axes(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> Axes:
    monkeypatch.setitem(COMPUTATIONS, "made_up", lambda: table)
    return drawn({"name": "x", "title": "X", "kind": "computed", "compute": "made_up"}, pd.DataFrame()).axes[0]


def test_a_computed_table_shows_every_cell_and_each_group_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame(
        {
            "example": ["UCB1", "UCB1", "Hedge"],
            "share_of_it": [0.25, float("nan"), 1.0],
            "verdict": ["right", "slip", "inherited"],
            "why": ["", "words " * 30, "short"],
        }
    )
    axes = computed_axes(table, monkeypatch)
    shown = [" ".join(text.get_text().split()) for text in axes.texts]
    for word in ("example", "share of it", "0.25", "–", "right", "slip", "inherited", ("words " * 30).strip()):
        assert word in shown
    assert shown.count("UCB1") == 1
    assert shown.count("Hedge") == 1
    colours = {text.get_text(): text.get_color() for text in axes.texts}
    assert len({colours[word] for word in ("right", "slip", "inherited")}) == 3


def test_a_computed_table_without_rows_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = computed_axes(pd.DataFrame({"example": []}), monkeypatch)
    assert "no results yet" in [text.get_text() for text in axes.texts]


def test_pictures_are_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    program = "import sys; sys.path.insert(0, sys.argv[1]); import test_report_dots as t; t.write(sys.argv[2])"
    subprocess.run([sys.executable, "-c", program, str(Path(__file__).parent), str(tmp_path / "other")], check=True)
    write(str(tmp_path / "own"))
    for path in sorted((tmp_path / "own").iterdir()):
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes(), path.name


def write(folder: str) -> None:
    for figure, name in ((DOTS, "dots"), (SPREAD, "distribution")):
        save(drawn(figure, finals()), folder, name)
