"""Claims that compare two sides: paired and relative differences, their ties and margins."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from claim_cases import CENTRED, NOISE, SHARED, compare, methods, pairs, row_of, verdict_of
from rendered import finals_of
from scipy import stats as reference

from bench.stats import mean_interval


@pytest.mark.parametrize(
    ("shift", "spread", "verdicts"),
    [  # of less, greater, at_most, at_least; right's mean is 1000: within 50 is a tie
        (-100, 1, "holds fails holds fails"),
        (100, 1, "fails holds fails holds"),
        (-100, 400, "open open open open"),
        (100, 400, "open open open open"),
        (0, 400, "open open open open"),
        (-45, 1, "tie tie tie tie"),
        (0, 1, "tie tie tie tie"),
        (45, 1, "tie tie tie tie"),
        (-49.9, 1, "holds fails holds fails"),  # the interval reaches beyond the margin, and is below 0
        (49.9, 1, "fails holds fails holds"),
    ],
)
def test_paired_difference(shift: float, spread: float, verdicts: str) -> None:
    right = 1000 + SHARED - SHARED.mean()
    finals = methods(A=right + spread * CENTRED + shift, B=right)
    rows = [row_of(compare(expect), finals) for expect in ("less", "greater", "at_most", "at_least")]
    assert [row["verdict"] for row in rows] == verdicts.split()
    row = rows[0]
    expected = mean_interval(spread * CENTRED + shift)
    np.testing.assert_allclose([row["estimate"], row["ci_low"], row["ci_high"]], [shift, *expected[1:3]], atol=1e-9)
    assert row["relative"] == pytest.approx(shift / 1000, abs=1e-9)
    assert row["relative_low"] < row["relative"] < row["relative_high"]
    assert row["unit"] == "mean paired difference of final regret, A - B"
    shown = [row[name] for name in ("claim", "kind", "case", "expect", "n")]
    assert shown == ["1", "paired_difference", "all", "less", 20]


def test_a_tie_is_two_one_sided_tests_at_5_percent() -> None:
    """Against SciPy: the tests of left - 0.95 right > 0 and left - 1.05 right < 0."""
    right = 1000 + SHARED
    verdicts = set()
    for spread in np.linspace(40, 200, 41):
        left = 1.01 * right + spread * NOISE
        low = reference.ttest_1samp(left - 0.95 * right, 0, alternative="greater").pvalue
        high = reference.ttest_1samp(left - 1.05 * right, 0, alternative="less").pvalue
        row = row_of(compare("less"), methods(A=left, B=right))
        assert (row["verdict"] == "tie") == (max(low, high) <= 0.05)
        if row["verdict"] == "tie":
            assert row["p"] == pytest.approx(max(low, high), rel=0.01)
        verdicts.add(row["verdict"])
    assert verdicts == {"tie", "open"}


def test_the_margin_of_a_tie_is_written_in_the_claim() -> None:
    finals = methods(A=1020 + NOISE, B=1000 + SHARED / 100)
    assert [verdict_of(compare("less", **tie), finals) for tie in ({}, {"tie": 0.01}, {"tie": 0})] == [
        "tie", "fails", "fails",
    ]  # fmt: skip
    negative = methods(A=-980 - NOISE, B=-1000 - SHARED / 100)  # rewards may be
    assert verdict_of(compare("greater"), negative) == "tie"
    row = row_of(compare("greater", tie=0.01), negative)
    assert (row["verdict"], row["relative"]) == ("holds", pytest.approx(0.02, rel=0.05))


@pytest.mark.parametrize("shift", [-30, 30])
def test_p_is_that_of_students_paired_test(shift: float) -> None:
    left, right = 500 + SHARED + 20 * NOISE + shift, 500 + SHARED
    row = row_of(compare("less", tie=0), methods(A=left, B=right))
    assert row["verdict"] == ("holds" if shift < 0 else "fails")
    assert row["p"] == pytest.approx(reference.ttest_rel(left, right).pvalue, rel=0.01)
    for end in (row["relative_low"], row["relative_high"]):  # Fieller's: not told from the truth at 5 %
        assert reference.ttest_1samp(left - right - end * right, 0).pvalue == pytest.approx(0.05)


def test_pairing_is_by_repetition_number_not_by_position() -> None:
    finals = methods(A=1000 + SHARED - 5, B=1000 + SHARED)
    row = row_of(compare("less", tie=0), finals.sample(frac=1, random_state=3))
    assert (row["verdict"], row["ci_high"]) == ("holds", pytest.approx(-5))
    is_a = finals["method"] == "A"
    finals.loc[is_a, "repetition"] = np.roll(finals.loc[is_a, "repetition"], 1)
    assert verdict_of(compare("less", tie=0), finals) == "open"


@pytest.mark.parametrize(
    ("shift", "spread", "at_most", "similar"),
    [  # the margin is 50 of 1000
        (-100, 1, "holds", "fails"),
        (-40, 1, "holds", "holds"),
        (0, 500, "open", "open"),
        (30, 1, "holds", "holds"),
        (50, 1, "open", "open"),
        (100, 1, "fails", "fails"),
    ],
)
def test_margins_of_no_worse_and_of_equivalence(shift: float, spread: float, at_most: str, similar: str) -> None:
    noise, right = spread * CENTRED, np.full(20, 1000)
    row = row_of(compare("at_most", margin=0.05), methods(A=1000 + noise + shift, B=right))
    assert (row["verdict"], row["estimate"]) == (at_most, pytest.approx(shift / 1000))
    assert "share of B's mean" in row["unit"]
    assert verdict_of(compare("at_least", margin=0.05), methods(A=1000 - noise - shift, B=right)) == at_most
    assert verdict_of(compare("similar", margin=0.05), methods(A=1000 + noise + shift, B=right)) == similar


def test_several_experiments_on_a_side_are_averaged_within_each_repetition() -> None:
    shifts = {("Y", "A"): NOISE, ("Y", "B"): NOISE + 4, ("Z", "A"): SHARED, ("Z", "B"): SHARED - 2}
    finals = pairs("YZ", lambda panel, method: shifts[panel, method])
    row = row_of(compare("less"), finals)
    assert (row["estimate"], row["verdict"]) == (pytest.approx(-1), "holds")


def tasks_of(values: Mapping[tuple[str, str, str], Any]) -> pd.DataFrame:
    return finals_of(values, "family", "task", "method")


def test_relative_differences_are_averaged_over_tasks_then_families() -> None:
    """By hand: -0.1 and -0.3 of the reference on f's tasks, 0.1 on g's; of two experiments the lower counts."""
    parts = {("f", "t"): (1.0, -0.1), ("f", "u"): (10.0, -0.3), ("g", "v"): (100.0, 0.1)}
    values = {}
    for (family, task), (scale, share) in parts.items():
        for method, level in (("A", 2 + share), ("B", 2.0), ("worse", 9.0), ("R", 1.0)):
            values[family, task, method] = scale * (level + 0.01 * np.roll(CENTRED, ord(method[0])))
    values["g", "w", "A"] = NOISE  # not run by the others
    claim = compare("less", "relative_difference", reference={"method": "R"}, over=["family", "task"])
    claim["left"] = {"method": ["A", "worse"]}
    row = row_of(claim, tasks_of(values))
    assert row["estimate"] == pytest.approx(((-0.1 - 0.3) / 2 + 0.1) / 2)
    assert row["relative"] == pytest.approx(-0.05 / 2)
    assert (row["verdict"], verdict_of({**claim, "tie": 0.01}, tasks_of(values))) == ("tie", "holds")
    assert row_of({**claim, "over": ["task"]}, tasks_of(values))["estimate"] == pytest.approx((-0.1 - 0.3 + 0.1) / 3)
    assert "above 0 on f, t" in row_of(claim, tasks_of(values | {("f", "t", "R"): -(NOISE**2)}))["note"]
    again = {**claim, "reference": {"method": ["R", "B"]}}
    assert "several experiments are the reference on f, t" in row_of(again, tasks_of(values))["note"]
    same = tasks_of({key: np.arange(20.0) + 1 for key in values})
    assert row_of({**claim, "left": {"method": "A"}}, same)["note"] == "both sides are identical in every repetition"
