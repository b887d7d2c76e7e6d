"""The table of columns: better direction and name of each, also against the claims of the papers."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bench.columns import column_of, is_measured, is_regret
from runners.config.figures import figure_names, load_figure

RESULTS = Path(__file__).parents[1] / "results"


@pytest.mark.parametrize(
    ("name", "better", "label"),
    [
        ("regret", "less", "cumulative regret"),
        ("mean_best_score", "more", "mean best score"),
        ("dr", "more", "mean reward by DR"),
        ("alpha", "", "alpha"),
    ],
)
def test_a_column_has_a_direction_and_a_label(name: str, better: str, label: str) -> None:
    assert column_of(name)[1:] == (better, label)


def test_seconds_alone_are_measured_and_regret_alone_has_random_arms() -> None:
    names = ["regret", "dynamic_regret", "reward", "seconds", "cpu_seconds", "seconds_total", "secondsbest"]
    assert [name for name in names if is_measured(name)] == ["seconds", "cpu_seconds", "seconds_total"]
    assert [name for name in names if is_regret(name)] == ["regret", "dynamic_regret"]


def test_a_figure_names_the_columns_that_its_runs_have() -> None:
    """Independent of a first round: the committed repetitions are of whole runs."""
    read = 0
    for name in figure_names():
        figure, path = load_figure(name), RESULTS / name / "paper" / "repetitions.parquet"
        if path.exists():
            columns = {*pq.read_schema(path).names, "rounds"}
            assert {column for column in figure.trace_columns() if not is_measured(column)} <= columns, name
            read += 1
    assert read > 50


def test_directions_agree_with_the_stated_claims_of_the_papers() -> None:
    """Independent of the table: authors claim that their own method, on the left, has less regret or more reward."""
    for name in figure_names():
        for claim in load_figure(name).claims:
            if claim["kind"] == "paired_difference" and claim.get("origin", "ours") == "stated":
                better = column_of(claim.get("column") or load_figure(name).column).better
                assert not (better == "less" and claim["expect"] == "greater"), (name, claim["id"])
