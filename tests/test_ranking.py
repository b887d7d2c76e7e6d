"""Methods over several tasks: ratios to a reference, and mean ranks."""

import numpy as np
import pandas as pd
import pytest
from rendered import finals_of, tables

from bench.report.tasks import BEST_FIXED

FIGURE = {
    "name": "made_up",
    "title": "Made up",
    "kind": "ranking",
    "column": "regret",
    "reference": {"method": "A"},
    "runs": [
        {"task": {"one": [], "two": [], "not run": []}, "method": {"A": [], "B": [], "C": []}},
        {"task": {"some only": []}, "method": {"A": [], "B": []}},
    ],
}
VALUES = {
    ("one", "A"): [4.0, 4.0], ("one", "B"): [2.0, 6.0], ("one", "C"): [1.0, 5.0],
    ("two", "A"): [10.0, 10.0], ("two", "B"): [10.0, 20.0], ("two", "C"): [30.0, 30.0],
    ("some only", "A"): [5.0, 5.0], ("some only", "B"): [1.0, 1.0],
}  # fmt: skip


def finals(values=VALUES, axes=("task", "method")) -> pd.DataFrame:
    return finals_of(values, *axes)


def test_values_are_relative_to_the_reference_on_the_same_task():
    table = tables(FIGURE, finals())["tasks"].set_index(["task", "method"])["relative"]
    assert table["one", "A"] == table["two", "A"] == 1.0
    assert table["one", "B"] == 1.0
    assert table["one", "C"] == 0.75
    assert table["two", "C"] == 3.0
    assert table["some only", "B"] == 0.2
    assert ("some only", "C") not in table.index
    assert np.isnan(table["not run", "A"])


def test_ranks_by_hand():
    # Task one: 3 2 1, then 1 3 2; task two: 1.5 1.5 3, then 1 2 3. Means: A 2.25 and 1, B 1.75 and 2.5, C 2 and 2.5
    table = tables(FIGURE, finals())["ranks"]
    assert table["method"].tolist() == ["A", "B", "C"]
    assert table["mean_rank"].tolist() == [1.625, 2.125, 2.25]
    assert table["tasks"].tolist() == [2, 2, 2]
    assert (table["ci_low"] <= table["mean_rank"]).all()
    assert (table["mean_rank"] <= table["ci_high"]).all()


def test_only_repetitions_that_all_methods_have_count():
    short = VALUES | {("two", "B"): [10.0]}
    table = tables(FIGURE, finals(short))["ranks"].set_index("method")
    assert table["n"].tolist() == [1, 1, 1]
    assert table["mean_rank"].to_dict() == {"A": 2.25, "B": 1.75, "C": 2.0}


def test_without_results_there_are_no_ranks():
    nothing = pd.DataFrame(columns=["task", "method", "repetition", "rounds", "regret"])
    ranks = tables(FIGURE, nothing)["ranks"]
    assert len(ranks)
    assert ranks[["mean_rank", "ci_low", "ci_high", "relative"]].isna().all(axis=None)
    assert (ranks[["families", "tasks", "n"]] == 0).all(axis=None)


FAMILIES = {
    "name": "made_up",
    "kind": "ranking",
    "column": "regret",
    "reference": {"method": "R"},
    "duplicates": [["A", "A2"]],
    "apart": {"real": ["one"]},
    "runs": [
        {"family": {"F": []}, "task": {"one": [], "two": []}, "method": {"R": [], "A": [], "A2": [], "B": []}},
        {"family": {"G": []}, "task": {"three": []}, "method": {"R": [], "A": [], "A2": [], "B": []}},
        {"family": {"H": []}, "task": {"four": []}, "method": {"R": [], "B": []}},
        {"family": {"G": []}, "task": {"three": []}, "fixed": {"values": [0, 1], "override": "x={}"}},
    ],
}
BY_FAMILY = {
    ("F", "one", "R", ""): [10.0, 30.0], ("F", "one", "A", ""): [5.0, 15.0], ("F", "one", "A2", ""): [5.0, 15.0],
    ("F", "one", "B", ""): [8.0, 32.0], ("F", "two", "R", ""): [2.0, 2.0], ("F", "two", "A", ""): [4.0, 4.0],
    ("F", "two", "A2", ""): [1.0, 3.0], ("F", "two", "B", ""): [1.0, 1.0], ("G", "three", "R", ""): [1.0, 3.0],
    ("G", "three", "A", ""): [0.5, 1.5], ("G", "three", "A2", ""): [0.5, 1.5], ("G", "three", "B", ""): [2.0, 6.0],
    ("H", "four", "R", ""): [1.0, 1.0], ("H", "four", "B", ""): [0.5, 0.5],
    ("G", "three", "", "0"): [1.0, 1.0], ("G", "three", "", "1"): [0.4, 1.2],
}  # fmt: skip


def family_finals() -> pd.DataFrame:
    return finals(BY_FAMILY, ("family", "task", "method", "fixed"))


def test_each_family_counts_once_and_variants_share_a_place():
    # Ranks, the first repetition: one: R 3 (B and all of A's group below), A 1, A2 1, B 2; two: R 1 + 1 + .5 = 2.5,
    # A 3, A2 1.5, B 1.25 (half of its equal A2, which is half of the group); three: R 2, A 1, A2 1, B 3.
    # The second: one: R 2, A 1, A2 1, B 3; two: R 2, A 3, A2 3, B 1; three as in the first.
    found = tables(FAMILIES, family_finals())
    ranks = found["ranks"].set_index("method")
    assert ranks.loc["B", "families"] == 2
    assert ranks.loc["B", "tasks"] == 3
    first, second = {"R": 2.375, "A": 1.5, "A2": 1.125, "B": 2.3125}, {"R": 2.0, "A": 1.5, "A2": 1.5, "B": 2.5}
    for method in first:
        assert ranks.loc[method, "mean_rank"] == pytest.approx((first[method] + second[method]) / 2)
    # Ratios: one .5 .5 1, two 2 1 .5, three .5 .5 2
    assert ranks["relative"].to_dict() == pytest.approx({"R": 1, "A": 0.875, "A2": 0.625, "B": 1.375})
    assert ranks.loc["A", "relative_low"] == pytest.approx(0.875)  # A is half or twice of R in every repetition
    assert ranks.loc["B", "relative_low"] < 1.3


def test_the_best_fixed_configuration_is_a_limit_without_a_rank_and_some_tasks_stand_apart():
    found = tables(FAMILIES, family_finals())
    table, apart = (found["table"].set_index(["family", "method"]), found["apart"].set_index(["part", "method"]))
    assert table.loc[("G", BEST_FIXED), "relative"] == pytest.approx(0.4)
    assert np.isnan(table.loc[("G", BEST_FIXED), "mean_rank"])
    assert table.loc[("H", "B"), "relative"] == 0.5
    assert ("H", "A") not in table.index
    assert apart.loc[("real", "A"), "relative"] == pytest.approx(0.5)
    assert apart.loc[("real", "A"), "tasks"] == 1
    assert apart.loc[("other tasks", "B"), "families"] == 3


def test_profile_by_hand():
    """Families F (two tasks) and G weigh one half each; A's factors are 1, 4 and 1 (twice it has the lowest mean)."""
    kept = {key: value for key, value in FAMILIES.items() if key != "kind"}
    figure = kept | {"kind": "bench.papers.tournament.Profile"}
    found = tables(figure, family_finals())
    factors = found["factors"].set_index(["task", "method"])["factor"]
    assert factors["two", "A"] == 4.0
    assert factors["one", "B"] == 2.0
    assert factors["three", BEST_FIXED] == 1.0
    shares = found["table"].set_index("method")
    assert shares.loc["A", "within 1.05"] == 0.75
    assert shares.loc["A", "within 5"] == 1.0
    assert shares.loc["B", "within 2"] == 0.5


def test_tasks_of_two_families_may_have_the_same_name():
    figure = FIGURE | {
        "runs": [{"family": {"early": [], "late": []}, "task": {"one": []}, "method": {"A": [], "B": []}}],
        "claims": [],
    }
    values = {
        ("early", "one", "A"): [2.0],
        ("early", "one", "B"): [1.0],
        ("late", "one", "A"): [4.0],
        ("late", "one", "B"): [6.0],
    }
    found = tables(figure, finals(values, ("family", "task", "method")))
    assert found["tasks"].set_index(["family", "method"])["relative"].to_dict() == {
        ("early", "A"): 1.0, ("early", "B"): 0.5, ("late", "A"): 1.0, ("late", "B"): 1.5,
    }  # fmt: skip
    assert found["ranks"].set_index("method")["relative"].to_dict() == {"A": 1.0, "B": 1.0}
