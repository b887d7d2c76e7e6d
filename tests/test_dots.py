"""The kind dots: it draws the measured values, and can be read."""

import functools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from rendered import assert_apart, assert_readable, draw, finals_of, parts, shown

from bench.errors import ConfigError
from bench.report.plot import Plot
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
    values = {(p, m): 1 + 0.1 * i + rng.gamma(1.5, 0.05, n) for p in panels for i, m in enumerate(methods)}
    return finals_of(values, "panel", "method", rounds=1000, column="reward")


def plot(figure: dict[str, Any], table: pd.DataFrame, note: str = NOTE) -> Plot:
    return shown(figure, pd.DataFrame(), table, note=note)


@functools.cache
def examples() -> dict[str, Figure]:
    six, regret = finals(PANELS, METHODS, 20), finals(("A", "B", "C")).rename(columns={"reward": "regret"})
    regret["random_regret"] = np.where(regret["panel"] == "A", 2.0, 900.0)
    line = {"reference_line": 1.0, "reference_label": "V(pi0)"}
    title = "Final values of ten methods in six cases, which is a title that certainly needs more than a line"
    given = {
        "dots_six": ({**DOTS, **line, "title": title, "published": PRINTED}, six, NOTE),
        "dots_log": ({**DOTS, "x_scale": "log"}, finals(("A", "B")), "Surrogate data."),
        "dots_regret": ({**DOTS, "column": "regret"}, regret, NOTE),
        "quantiles_six": ({**SPREAD, **line}, six, NOTE),
        "quantiles_one": (SPREAD, finals(), NOTE),
    }
    return {name: draw(figure, pd.DataFrame(), table, note=note) for name, (figure, table, note) in given.items()}


@pytest.mark.parametrize("name", ["dots_six", "dots_log", "dots_regret", "quantiles_six", "quantiles_one"])
def test_nothing_overlaps_and_nothing_is_cut_off(name: str) -> None:
    figure = examples()[name]
    assert_readable(figure)
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    for axes in figure.axes:
        words = [*axes.texts, *(axes.get_yticklabels() if axes.axison else ())]
        assert_apart([(word.get_text(), word.get_window_extent(renderer)) for word in words if word.get_text()], figure)


def test_dots_are_means_with_their_intervals_in_the_colour_of_the_method() -> None:
    table = finals()
    made = plot(DOTS, table)
    for row, method in enumerate(METHODS[:3]):
        values = table.loc[table["method"] == method, "reward"].to_numpy()
        ((dot,), (ones,)) = parts(made, "line", method), parts(made, "repetitions", method)
        interval = mean_interval(values)
        np.testing.assert_allclose([*dot.numbers, *dot.low, *dot.high], [values.mean(), interval.low, interval.high])
        np.testing.assert_allclose(ones.numbers, values)
        assert np.abs(ones.y - row).max() < 0.5, "a dot stands in another row"  # type: ignore[operator]
        assert len(np.unique(ones.y)) == len(values)
        assert {dot.look.color, ones.look.color} == {made.look(method).color}
    axes = draw(DOTS, pd.DataFrame(), table).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(METHODS[:3])
    assert axes.get_ylim()[0] > axes.get_ylim()[1], "the first method is not on top"


@pytest.mark.parametrize("figure", [DOTS, SPREAD])
def test_the_reference_line_is_drawn_within_the_axis_and_named(figure: dict[str, Any]) -> None:
    made = plot({**figure, "reference_line": -3.0, "reference_label": "V(pi0)"}, finals(("A", "B")))
    for panel in (0, 1):
        assert [(mark.name, mark.numbers[0]) for mark in parts(made, "reference", panel=panel)] == [("V(pi0)", -3.0)]
        assert made.panels[panel].x.low < -3.0  # type: ignore[operator]
    assert "V(pi0)" in made.legend
    with pytest.raises(ConfigError, match=r"key 'reference_line': found 'one', expected a valid number"):
        plot({**figure, "reference_line": "one"}, finals())


def test_whiskers_are_means_of_their_columns_and_belong_to_the_rows_that_have_them() -> None:
    table = finals().assign(low=lambda rows: rows["reward"] - 0.5, high=lambda rows: rows["reward"] + 2.0)
    whiskers = {"low": "low", "high": "high", "label": "by chance of the log", "only": {"method": "Grid"}}
    made = plot({**DOTS, "whiskers": whiskers}, table)
    mean = table.loc[table["method"] == "Grid", "reward"].mean()
    (whisker,) = parts(made, "whiskers")
    assert whisker.name == "Grid"
    np.testing.assert_allclose(whisker.numbers, [mean - 0.5, mean + 2.0])
    assert made.panels[0].x.high > mean + 2.0  # type: ignore[operator]
    assert "by chance of the log" in made.legend
    below, above = (parts(made, part, "Grid")[0].look.order for part in ("repetitions", "line"))
    assert below < whisker.look.order < above


def test_quantiles_show_all_values_with_mean_quartiles_and_tail() -> None:
    """Values 0 to 20: mean 10, quartiles 5 and 15, 95 % quantile 19."""
    labels = {"panel": "A", "method": "TPE", "repetition": range(21), "rounds": 1000}
    made = plot({**SPREAD, "column": "bias"}, pd.DataFrame({**labels, "bias": np.arange(21.0)}))
    numbers = {mark.part: mark.numbers.tolist() for mark in made.marks()}
    assert numbers == {"line": [10.0], "repetitions": list(range(21)), "box": [10.0], "quantile": [19.0]}
    (box,) = parts(made, "box")
    assert (box.low, box.high) == (5.0, 15.0)
    assert [text.words for text in made.panels[0].texts] == ["mean", "10.0", "95 %", "19.0"]
