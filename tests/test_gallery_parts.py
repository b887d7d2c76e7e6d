"""Parts of pages, against numbers computed by hand."""

import math
from typing import Any

import pytest

from bench.gallery.claims import forest
from bench.report.claims.check import KINDS

SIDES = {"left": {"method": "a"}, "right": {"method": "b"}}


def case(estimate: float, low: float, high: float, **more: Any) -> dict[str, Any]:
    values = {"estimate": estimate, "ci_low": low, "ci_high": high, "repetitions_needed": math.nan}
    values |= dict.fromkeys(("relative", "relative_low", "relative_high"), math.nan)
    given = {"claim": "1", "text": "a is less than b", "case": "x", "kind": "ratio", "expect": "less"}
    return {**given, "threshold": 1.0, "verdict": "holds", "holm": "", "origin": "ours", "values": values} | more


def test_cases_lie_on_one_axis_with_the_line_that_decides() -> None:
    """From 0.5 to 1.5, with 4 % of room on both sides: 0.5 is at 4, 1 at 50, 1.5 at 96."""
    found = forest([case(0.75, 0.5, 1.0), case(1.25, 1.0, 1.5), case(math.nan, math.nan, math.nan)])
    assert found is not None
    assert (found.ends, found.threshold, found.at, found.side) == (("0.5", "1.5"), "1", 50, "below")
    assert [spot and spot[:3] for spot in found.spots] == [(4, 50, 27), (50, 96, 73), None]
    assert forest([case(math.nan, math.nan, math.nan)]) is None


def test_a_case_far_from_the_others_is_cut_off() -> None:
    found = forest([case(1.1, 1.0, 1.2), case(1.1, 1.0, 1.2), case(9, 8, 10)])
    assert found is not None
    assert found.spots[2] == (100, 100, 99, "r")
    assert found.ends == ("1", "1.8")  # four times as far as the median case


def test_ratios_over_powers_of_ten_have_a_logarithmic_axis() -> None:
    found = forest([case(0.1, 0.01, 1.0), case(10.0, 1.0, 100.0)])
    assert found is not None
    assert [spot and spot[2] for spot in found.spots] == [27, 73]


def test_differences_are_shown_as_shares_where_all_are_known() -> None:
    relative = {"relative": 0.1, "relative_low": 0.0, "relative_high": 0.2}
    one = case(10, 0, 20, kind="paired_difference", threshold=0.0)
    both = [{**one, "values": one["values"] | relative}, {**one, "values": one["values"] | relative}]
    assert [found.ends for found in (forest(both), forest([one])) if found] == [("0 %", "+20 %"), ("0", "20")]
    assert [found.shares for found in (forest(both), forest([one])) if found] == [
        [("+10 %", "0 to +20 %")] * 2, [("", "")]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "threshold"),
    [
        ({"kind": "paired_difference", **SIDES, "expect": "less"}, 0),
        ({"kind": "paired_difference", **SIDES, "expect": "similar", "margin": 0.1}, 0),
        ({"kind": "paired_difference", **SIDES, "expect": "at_most", "margin": 0.1}, 0.1),
        ({"kind": "paired_difference", **SIDES, "expect": "at_least", "margin": 0.1}, -0.1),
        ({"kind": "relative_difference", **SIDES, "reference": {}, "over": ["task"], "expect": "less"}, 0),
        ({"kind": "ratio", **SIDES, "expect": "less", "threshold": 2.0}, 2),
        ({"kind": "ratio", **SIDES, "expect": "less"}, 1),
        ({"kind": "spread", **SIDES, "expect": "less"}, 1),
        ({"kind": "bound", "measured": {}, "formula": {"name": "exp3", "n_arms": 5}}, 1),
        ({"kind": "slope", "expect": "less", "threshold": 0.75}, 0.75),
        ({"kind": "slope", "expect": "less", "threshold": 0.75, "log_power": 1}, None),
        ({"kind": "best_on_grid", "axis": "c", "differs": {"panel": ["a", "b"]}}, 0),
        ({"kind": "best_on_grid", "axis": "c", "expect": "less", "threshold": 4}, 4),
        ({"kind": "count", "of": "2"}, 0.5),
    ],
)
def test_the_number_that_decides_is_that_of_the_claim(claim: dict[str, Any], threshold: float | None) -> None:
    column = {} if claim["kind"] == "count" else {"column": "regret"}
    assert KINDS[claim["kind"]].model_validate({"id": "1", "text": "a", **column, **claim}).compared_with() == threshold
