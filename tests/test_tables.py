import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rendered import tables

from bench.errors import DataError
from bench.report.folder import ResultFiles
from bench.report.tables import to_csv, to_markdown
from bench.stats import mean_interval

NOISE = np.random.default_rng(0).normal(size=10)
CURVES = {
    "name": "figure2",
    "kind": "curves",
    "column": "regret",
    "runs": [{"panel": {"P": [], "Q": []}, "method": {"TL": [], "OP": []}}],
    "published": [
        {"panel": "P", "method": "TL", "what": "mean", "value": 50.0},
        {"panel": "P", "method": "TL", "what": "std", "value": 2, "note": "five runs"},
    ],
}
GRID = {
    "name": "table1",
    "kind": "grid",
    "axis": "alpha",
    "column": "regret",
    "runs": [
        {"panel": {"fixed": []}, "alpha": {"values": [0, 1.0, 2.0, 10], "override": "alpha={}"}},
        {"panel": {"fixed": []}, "method": {"Theory": []}},
    ],
    "published": [
        {"panel": "fixed", "what": "best", "value": 4.0},
        {"panel": "fixed", "what": "mean", "value": 200.0},
        {"panel": "fixed", "what": "theory_std", "value": 10.0},
    ],
}


def rows(values: Any, rounds: int = 1000, random: float = 900.0, **labels: Any) -> pd.DataFrame:
    n = len(values)
    axes = {axis: labels.get(axis, np.nan) for axis in ("panel", "alpha", "method")}
    return pd.DataFrame(
        {**axes, "repetition": range(n), "rounds": rounds, "regret": values, "random_regret": random + np.arange(n)}
    )


def curves_finals() -> pd.DataFrame:
    return pd.concat([rows(100 + NOISE, panel="P", method="TL"), rows(200 + NOISE, panel="P", method="OP")]).drop(
        columns="alpha"
    )


def grid_finals() -> pd.DataFrame:
    means = {10.0: 400, 0.0: 300, 1.0: 150, 2.0: 160}
    return pd.concat(
        [rows(mean + NOISE, panel="fixed", alpha=alpha) for alpha, mean in means.items()]
        + [rows(500 + 2 * NOISE, panel="fixed", method="Theory")]
    )


def test_summary_has_a_row_per_experiment_even_without_results() -> None:
    table = tables(CURVES, curves_finals())["table"]
    assert table[["panel", "method"]].to_numpy().tolist() == [["P", "TL"], ["P", "OP"], ["Q", "TL"], ["Q", "OP"]]
    assert table["n"].tolist() == [10, 10, 0, 0]
    first = table.iloc[0]
    expected = mean_interval(100 + NOISE)
    assert (first["mean"], first["ci_low"], first["ci_high"]) == expected[:3]
    assert first["std"] == pytest.approx(np.std(NOISE, ddof=1))
    assert first["rounds"] == 1000
    assert first["random_arms"] == pytest.approx(904.5)
    assert table.loc[2:, ["rounds", "mean", "std", "ci_low", "random_arms"]].isna().to_numpy().all()


def test_published_numbers_are_shown_beside_ours_with_a_ratio() -> None:
    table = tables(CURVES, curves_finals())["table"]
    assert table["published_mean"][0] == 50.0
    assert table["ratio_mean"][0] == pytest.approx((100 + NOISE.mean()) / 50)
    assert table["ratio_std"][0] == pytest.approx(np.std(NOISE, ddof=1) / 2)
    assert table["published_note"].tolist() == ["five runs", "", "", ""]
    assert math.isnan(table["published_mean"][1])


def test_random_arms_only_beside_regret_and_an_unknown_column_is_an_error() -> None:
    finals = curves_finals().rename(columns={"regret": "score"})
    assert "random_arms" not in tables({**CURVES, "column": "score"}, finals)["table"].columns
    with pytest.raises(DataError, match="no column 'regret', they have: rounds, score, random_regret"):
        tables(CURVES, finals)
    assert tables(CURVES, pd.DataFrame())["table"]["n"].tolist() == [0, 0, 0, 0]


def test_grid_summary() -> None:
    found = tables(GRID, grid_finals())
    assert found["table"]["alpha"].tolist() == ["0", "1", "2", "10", ""]
    assert "published_mean" not in found["table"].columns
    table = found["best"]
    assert len(table) == 1
    row = table.iloc[0]
    assert (row["panel"], row["n"], row["best"], row["best_low"], row["best_high"]) == ("fixed", 10, 1, 1, 1)
    assert row["mean"] == pytest.approx(150 + NOISE.mean())
    assert row["std"] == pytest.approx(np.std(NOISE, ddof=1))
    assert row["theory_mean"] == pytest.approx(500 + 2 * NOISE.mean())
    assert row["theory_std"] == pytest.approx(2 * np.std(NOISE, ddof=1))
    assert row["random_arms"] == pytest.approx(904.5)
    assert (row["published_best"], row["published_mean"], row["published_theory_std"]) == (4, 200, 10)
    assert row["ratio_mean"] == pytest.approx(row["mean"] / 200)
    assert row["ratio_theory_std"] == pytest.approx(row["theory_std"] / 10)
    assert "ratio_best" not in table.columns
    assert tables({**GRID, "best": "highest"}, grid_finals())["best"]["best"][0] == 10


def test_markdown_and_csv() -> None:
    columns = {"method": ["TL", "a|b"], "n": [10, 0], "mean": [1234.567, math.nan], "std": [0.51234, 21.25]}
    table = pd.DataFrame({**columns, "best": [4.0, 2.5]})
    assert to_markdown(table, "Regret", ["paper scale", "10 repetitions"]) == (
        "## Regret\n\n"
        "| method | n | mean | std | best |\n"
        "| --- | ---: | ---: | ---: | ---: |\n"
        "| TL | 10 | 1,235 | 0.51 | 4 |\n"
        "| a\\|b | 0 | – | 21.25 | 2.5 |\n"
        "\n- paper scale\n- 10 repetitions\n"
    )
    assert to_csv(pd.DataFrame({"method": ["TL"], "mean": [1 / 3], "n": [3]})) == "method,mean,n\nTL,0.3333333333,3\n"


@pytest.mark.parametrize("rows", ["1,2,3", "1,2\n1,2,3", "x," * 10_000])
def test_a_row_with_more_values_than_columns_is_damage_and_shifts_nothing(rows: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(f"n,mean\n{rows}\n")
    with pytest.raises(DataError, match=r"table\.csv cannot be read: [^\n]*; delete it"):
        ResultFiles(tmp_path).csv("table.csv")
