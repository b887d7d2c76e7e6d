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
from rendered import assert_readable, draw, tables

from bench.errors import ConfigError
from bench.report.saving import save
from bench.report.style import STYLES, line_style
from bench.report.typeset import typeset
from bench.stats import MEAN_INTERVAL, mean_band

ROUNDS = np.linspace(1, 1000, 50).round().astype(int)
METHODS = ("Theory", "OP", "TL", "TL-Combined", "Syndicated")
NOTE = "Quick scale: T = 1,000, 6 repetitions."


def results(panels: tuple[str, ...], random: float, n: int = 6) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(0)
    curves, finals = [], []
    for panel in panels:
        for level, method in enumerate(METHODS, start=2):
            regret = 50 * level * np.sqrt(ROUNDS / 1000) * (1 + 0.05 * rng.normal(size=(n, 1)))
            arms = random * np.repeat([ROUNDS / 1000], n, axis=0)
            for column, values in (("regret", regret), ("random_regret", arms)):
                mean, low, high = mean_band(values)
                band = {"mean": mean, "std": values.std(axis=0), "ci_low": low, "ci_high": high, "n": n}
                curves.append(
                    pd.DataFrame({"panel": panel, "method": method, "column": column, "round": ROUNDS, **band})
                )
            ends = {"regret": regret[:, -1], "random_regret": arms[:, -1]}
            finals.append(
                pd.DataFrame({"panel": panel, "method": method, "repetition": range(n), "rounds": 1000, **ends})
            )
    return pd.concat(curves, ignore_index=True), pd.concat(finals, ignore_index=True)


CURVES = {
    "name": "figure2",
    "title": "Cumulative regret of five ways to set hyper-parameters",
    "kind": "curves",
    "column": "regret",
    "y_label": "cumulative regret",
}


def grid_figure() -> tuple[dict[str, Any], pd.DataFrame]:
    rng = np.random.default_rng(1)
    rows = []
    for panel, at in (("fixed", 4.0), ("changing", 1.5)):
        for alpha in [*np.arange(0, 10.5, 0.5), np.nan]:
            mean = 400.0 if np.isnan(alpha) else 300 + 10 * (alpha - at) ** 2
            rows.append(
                pd.DataFrame(
                    {
                        "panel": panel,
                        "alpha": alpha,
                        "method": "Theory" if np.isnan(alpha) else np.nan,
                        "repetition": range(5),
                        "rounds": 1000,
                        "regret": mean + rng.normal(0, 5, 5),
                        "random_regret": 900.0,
                    }
                )
            )
    published = [
        {"panel": "fixed", "what": "best", "value": 7.25},
        {"panel": "fixed", "what": "mean", "value": 357.21},
    ]
    figure = {"name": "table1", "title": "Grid", "kind": "grid", "column": "regret", "published": published}
    return figure, pd.concat(rows, ignore_index=True)


def bound_figure() -> tuple[dict[str, Any], pd.DataFrame]:
    rng = np.random.default_rng(2)
    rows = []
    for panel in ("LinUCB, simulation", "LinTS, simulation"):
        for method, alpha in [("TL", np.nan), (np.nan, 0.0), (np.nan, 1.0)]:
            labels = {"panel": panel, "method": method, "alpha": alpha}
            values = {"regret": 100 + rng.normal(0, 5, 6), "random_regret": 900.0}
            rows.append(pd.DataFrame({**labels, "repetition": range(6), "rounds": 1000, **values}))
    claim = {
        "id": "7",
        "text": "under the bound",
        "kind": "bound",
        "measured": {"method": "TL"},
        "over": {"alpha": "*"},
        "candidates": [2],
        "per": ["panel"],
    }
    figure = {"name": "bound", "title": "Bounds", "kind": "bound", "column": "regret", "claims": [claim]}
    return figure, pd.concat(rows, ignore_index=True)


def legend(figure: Figure) -> list[str]:
    """Return the names in the legend, or, of a single panel of lines, those at their ends."""
    texts = figure.legends[0].get_texts() if figure.legends else figure.axes[0].texts
    return [text.get_text() for text in texts]


def texts(figure: Figure) -> str:
    own = [text.get_text() for text in figure.texts]
    return "\n".join(own + [text.get_text() for axes in figure.axes for text in axes.texts])


@functools.cache
def examples() -> dict[str, Figure]:
    six = tuple(f"panel {letter}, simulation" for letter in "ABCDEF")
    curves, finals = results(six, 450.0)
    long_title = (
        "Cumulative regret of five ways to set hyper-parameters, in words that need more than one line of a page"
    )
    grid, grid_finals = grid_figure()
    bound, bound_finals = bound_figure()
    is_first = curves["panel"] == six[0]
    return {
        "six": draw({**CURVES, "title": long_title}, curves, finals, note=NOTE + " Surrogate data."),
        "one": draw(CURVES, curves[is_first], finals[finals["panel"] == six[0]], note=NOTE),
        "log": draw({**CURVES, "y_scale": "log"}, curves, finals, note=NOTE),
        "grid": draw(grid, pd.DataFrame(), grid_finals, note=NOTE),
        "bound": draw(bound, pd.DataFrame(), bound_finals, note=NOTE),
        "bound_log": draw({**bound, "x_scale": "log"}, pd.DataFrame(), bound_finals, note=NOTE),
    }


@pytest.mark.parametrize("name", ["six", "one", "log", "grid", "bound", "bound_log"])
def test_nothing_overlaps_and_nothing_is_cut_off(name: str) -> None:
    assert_readable(examples()[name])


def test_curves_show_each_method_once_in_the_legend_and_say_what_the_band_is() -> None:
    curves, finals = results(("P", "Q"), 450.0)
    figure = draw(CURVES, curves, finals, note=NOTE)
    assert legend(figure) == [*METHODS, "Random arms"]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["P", "Q"]
    assert figure.axes[0].get_xlabel() == "round"
    assert figure.axes[0].get_ylabel() == "cumulative regret"
    assert MEAN_INTERVAL in texts(figure)
    assert typeset(NOTE) in texts(figure)
    line = next(line for line in figure.axes[1].lines if line.get_color() == STYLES["TL"].color)
    mean = curves.query("panel == 'Q' and method == 'TL' and column == 'regret'")["mean"]
    np.testing.assert_allclose(np.asarray(line.get_ydata(), dtype=float), mean)


@pytest.mark.parametrize(("random", "is_drawn"), [(430.0, True), (5000.0, False)])
def test_random_arms_far_above_are_mentioned_not_drawn(random: float, is_drawn: bool) -> None:
    curves, finals = results(("P",), random)
    figure = draw(CURVES, curves, finals, note=NOTE)
    assert ("Random arms" in legend(figure)) == is_drawn
    assert ("random arms: 5,000 ↑" in texts(figure)) != is_drawn
    assert 300 < figure.axes[0].get_ylim()[1] < 600
    logarithmic = draw({**CURVES, "y_scale": "log"}, curves, finals, note=NOTE)
    assert "Random arms" in legend(logarithmic)
    assert logarithmic.axes[0].get_ylim()[1] >= random


def test_no_random_arms_where_the_column_is_not_regret() -> None:
    curves, finals = results(("P",), 450.0)
    curves["column"] = curves["column"].replace("regret", "score")
    figure = draw({**CURVES, "column": "score"}, curves, finals.rename(columns={"regret": "score"}), note=NOTE)
    assert legend(figure) == list(METHODS)
    assert "andom" not in texts(figure)


def test_surrogate_data_is_marked_and_stands_beside_no_published_number() -> None:
    figure, finals = grid_figure()
    real = draw(figure, pd.DataFrame(), finals, note=NOTE)
    surrogate = draw(figure, pd.DataFrame(), finals, note=NOTE + " Surrogate data.")
    assert "SURROGATE DATA" in texts(surrogate)
    assert "SURROGATE DATA" not in texts(real)
    assert "published best" in legend(real)
    assert "published best" not in legend(surrogate)

    def drawn_at(picture: Figure, x: float) -> bool:
        return any(x in np.asarray(line.get_xdata(), dtype=float) for line in picture.axes[0].lines)

    assert drawn_at(real, 7.25)
    assert not drawn_at(surrogate, 7.25)


def test_grid_marks_the_best_value_and_theory() -> None:
    figure, finals = grid_figure()
    picture = draw(figure, pd.DataFrame(), finals, note=NOTE)
    assert legend(picture)[:3] == ["mean on the grid", "best on the grid", "Theory"]
    for axes, panel, best in zip(picture.axes, ("fixed", "changing"), (4.0, 1.5), strict=True):
        star = next(line for line in axes.lines if line.get_marker() == "*")
        assert np.asarray(star.get_xdata(), dtype=float)[0] == pytest.approx(best, abs=0.5)
        is_theory = (finals["panel"] == panel) & (finals["method"] == "Theory")
        theory = finals[is_theory]["regret"].mean()
        heights = [np.asarray(line.get_ydata(), dtype=float)[0] for line in axes.lines if len(line.get_xdata()) == 2]  # type: ignore[arg-type]
        assert any(height == pytest.approx(theory) for height in heights)
    highest = draw({**figure, "best": "highest"}, pd.DataFrame(), finals, note=NOTE)
    star = next(line for line in highest.axes[0].lines if line.get_marker() == "*")
    assert np.asarray(star.get_xdata(), dtype=float)[0] == 10.0


def test_bound_has_a_row_per_case_and_leaves_open_what_is_missing() -> None:
    figure, finals = bound_figure()
    picture = draw(figure, pd.DataFrame(), finals, note=NOTE)
    labels = [label.get_text().replace("\n", " ") for label in picture.axes[0].get_yticklabels()]
    assert labels == ["TL: LinUCB, simulation", "TL: LinTS, simulation"]
    own = finals.query("panel == 'LinTS, simulation' and method == 'TL'")["regret"].mean()
    dots = [(line.get_xdata()[0], line.get_ydata()[0]) for line in picture.axes[0].lines if line.get_marker() == "o"]  # type: ignore[index]
    assert any(x == pytest.approx(own) and y == 1 for x, y in dots)
    part = finals.query("panel != 'LinTS, simulation' or alpha != 1")
    assert "open: 'over' selects 1 runs, the candidates make 2" in texts(draw(figure, pd.DataFrame(), part, note=NOTE))
    with pytest.raises(ConfigError, match="there are none"):
        draw({**figure, "claims": []}, pd.DataFrame(), finals, note=NOTE)


@pytest.mark.parametrize("kind", ["curves", "grid"])
def test_figures_without_results_say_so(kind: str) -> None:
    runs = [{"panel": {"P": []}, "alpha": {"values": [1, 2], "override": "a={}"}}]
    figure = {"name": "f", "kind": kind, "column": "regret", "runs": runs}
    assert "no results yet" in texts(draw(figure, pd.DataFrame(), pd.DataFrame(), note=NOTE))


def test_improvement_is_the_ratio_of_paired_means_with_the_error_of_the_delta_method() -> None:
    rng = np.random.default_rng(3)
    n = 4000
    base = rng.normal(10, 1, n)
    values = {"whole": base + rng.normal(0, 0.1, n), "part": 0.8 * base, "other": 0.9 * base + rng.normal(0, 0.2, n)}
    rows = [
        {"method": name, "repetition": i, "rounds": 5, "value": value}
        for name, own in values.items()
        for i, value in enumerate(own)
        if (name, i) != ("part", 0)
    ]
    figure = {
        "name": "f",
        "kind": "dots",
        "column": "improvement",
        "better": {"method": "whole"},
        "in_column": "value",
        "runs": [{"method": {name: [] for name in values}}],
        "published": [{"method": "part", "what": "mean", "value": 24.5}],
    }
    table = tables(figure, pd.DataFrame(rows))["table"].set_index("method")
    assert table["n"].to_dict() == {"part": n - 1, "other": n}
    ratio = values["whole"].mean() / values["other"].mean()
    assert table.loc["other", "mean"] == pytest.approx(100 * (ratio - 1))
    resamples = rng.integers(0, n, (500, n))
    means = [values[name][resamples].mean(axis=1) for name in ("whole", "other")]
    assert table.loc["other", "std"] / np.sqrt(n) == pytest.approx(100 * (means[0] / means[1]).std(), rel=0.15)
    assert table.loc["part", "published_mean"] == 24.5
    draw(figure, pd.DataFrame(), pd.DataFrame(rows))
    with pytest.raises(ConfigError, match="key 'better': fits 2 experiments, expected one"):
        tables({**figure, "better": {"method": ["whole", "part"]}}, pd.DataFrame(rows))


def test_one_repetition_has_a_line_but_no_band() -> None:
    curves, finals = results(("P",), 450.0, n=1)
    figure = draw(CURVES, curves, finals, note=NOTE)
    assert not figure.axes[0].collections
    assert "No bands" in texts(figure)


def test_unknown_kind_and_missing_column() -> None:
    with pytest.raises(ConfigError, match=r"figure 'f': unknown kind 'pie', choose from bound, computed, curves"):
        draw({"name": "f", "kind": "pie"}, pd.DataFrame(), pd.DataFrame(), note="")
    with pytest.raises(ConfigError, match=r"figure 'f': key 'column' is missing"):
        draw({"name": "f", "kind": "grid"}, pd.DataFrame(), pd.DataFrame(), note="")


def test_saved_files_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    curves, finals = results(("P", "Q"), 450.0)
    first = save(draw(CURVES, curves, finals, note=NOTE), tmp_path / "a" / "b", "figure2")
    with mpl.rc_context({"font.size": 20, "svg.fonttype": "path", "lines.linewidth": 9}):
        figure = draw(CURVES, curves, finals, note=NOTE)
        second = save(figure, tmp_path, "figure2")
        third = save(figure, tmp_path, "again")
    assert [path.name for path in first] == ["figure2.png", "figure2.svg"]
    for one, two, three in zip(first, second, third, strict=True):
        assert one.read_bytes() == two.read_bytes() == three.read_bytes()
    svg = second[1].read_text()
    assert "TL-Combined</text>" in svg
    assert "date" not in svg.lower().split("<defs>")[0]
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == ["figure2.png", "figure2.svg"]


def test_a_figure_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    curves, finals = results(("P",), 450.0)
    figure = draw(CURVES, curves, finals, note=NOTE)
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


def test_no_two_methods_look_alike() -> None:
    looks = [(style.color, style.linestyle) for style in STYLES.values()]
    assert len({(*look, style.marker) for look, style in zip(looks, STYLES.values(), strict=True)}) == len(STYLES)
    main = ("Theory", "OP", "TL", "TL-Combined", "Syndicated", "CDT", "CDT (code)", "Fixed", "Random", "Random arms")
    main += ("Oracle", "Zooming", "Zooming TS-R")
    assert len({STYLES[name].color for name in main}) == len(main)


def test_unknown_methods_have_a_stable_look_in_any_process() -> None:
    program = "from bench.report.style import line_style; print(line_style('my tuner'))"
    path = os.pathsep.join(sys.path)
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert seen == {str(line_style("my tuner"))}
    assert line_style("my tuner").color not in {style.color for style in STYLES.values()}


def test_drawing_needs_no_pyplot_and_nothing_that_runs_experiments() -> None:
    program = (
        "import sys, bench.report.kinds, bench.report.claims, bench.report.tables;"
        "unwanted = ('matplotlib.pyplot', 'runners', 'hydra', 'joblib', 'numba', 'bench.loop');"
        "print([name for name in unwanted if name in sys.modules])"
    )
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
