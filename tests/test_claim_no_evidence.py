"""Cases that are no evidence."""

import math

import numpy as np
import pytest
from claim_cases import (
    BOUND,
    MOSTLY,
    NOISE,
    SHARED,
    bound_finals,
    compare,
    judged,
    methods,
    pairs,
    row_of,
    verdict_of,
)

from bench.report.claims.bound import largest_regret
from bench.report.claims.judgement import MIN_REPETITIONS


def test_cases_without_evidence_are_not_counted() -> None:
    finals = pairs(("p0", "p1", "p2"), lambda panel, m: 100 + NOISE - 50 * (m == "A" and panel != "p0"))
    claims = compare("less", per=["panel"]), MOSTLY
    rows = judged(*claims, of=finals)
    assert rows["verdict"].tolist() == ["no evidence", "holds", "holds", "holds"]
    assert rows["note"].iloc[-1] == "2 hold, 0 tie, 0 open, 0 fail of 2 after Holm's correction; 1 no evidence"
    for data, note in (("surrogate", "generated in place"), ("packaged", "packaged sample"), ("altered", "altered")):
        rows = judged(*claims, of=finals, **{data: True})
        assert (set(rows["verdict"]), note in rows["note"].iloc[1]) == ({"no evidence"}, True)
    genuine = [{"panel": "p1", "method": "A"}, {"panel": "p1", "method": "B"}, {"panel": "p2", "method": "A"}]
    rows = judged(*claims, of=finals, surrogate=True, genuine=genuine)
    assert rows["verdict"].tolist() == ["no evidence", "holds", "no evidence", "holds"]


@pytest.mark.parametrize("kind", ["paired_difference", "ratio", "spread"])
@pytest.mark.parametrize("expect", ["less", "at_most"])
def test_identical_sides_are_no_evidence(kind: str, expect: str) -> None:
    row = row_of(compare(expect, kind), methods(A=SHARED + 300, B=SHARED + 300))
    assert (row["verdict"], row["note"]) == ("no evidence", "both sides are identical in every repetition")
    assert (math.isnan(row["p"]), row["holm"]) == (True, "")
    almost = SHARED + 300
    almost[7] += 1e-9
    assert verdict_of(compare(expect, kind), methods(A=SHARED + 300, B=almost)) != "no evidence"


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ((1.0, 1.02), "no evidence"),
        ((1.3, 1.5), "no evidence"),
        ((0.99, 1.5), "no evidence"),  # reaches it
        ((0.5, 1.02), "holds"),
        ((1.3, 0.5), "fails"),
    ],
)
def test_sides_no_better_than_random_arms_are_no_evidence(shares: tuple[float, float], verdict: str) -> None:
    random = 1000 + SHARED
    finals = methods(A=shares[0] * random + 60 * NOISE, B=shares[1] * random + 60 * NOISE[::-1])
    finals["random_regret"] = np.tile(random, 2)
    row = row_of(compare("less", tie=0.01), finals)
    assert (row["verdict"], "random arms" in row["note"]) == (verdict, verdict == "no evidence")
    renamed = finals.rename(columns={"regret": "reward"})
    assert verdict_of(compare("less", column="reward"), renamed) != "no evidence"
    few, enough = (finals[finals["repetition"] < n] for n in (MIN_REPETITIONS - 1, MIN_REPETITIONS))
    assert verdict_of(compare("less"), few) == "open"
    assert verdict != "no evidence" or verdict_of(compare("less"), enough) == verdict


@pytest.mark.parametrize(
    ("random", "n", "verdict"),
    [(200.0, 20, "no evidence"), (200.0, 2, "no evidence"), (2000.0, 20, "holds"), (500.0, 20, "holds")],
)
def test_a_bound_that_random_arms_satisfy_is_no_evidence(random: float, n: int, verdict: str) -> None:
    finals = bound_finals(100, [120, 90], rounds=2500)  # the bound is 90 + 309 = 199 to 399
    finals["random_regret"] = random + 1e-6 * finals["repetition"]
    assert verdict_of({**BOUND, "candidates": [2]}, finals[finals["repetition"] < n]) == verdict
    # A repetition that one candidate lacks: random arms of the others are not paired with these.
    lacking = finals.drop(index=finals[(finals["alpha"] == 1) & (finals["repetition"] == 3)].index)
    assert verdict_of({**BOUND, "candidates": [2]}, lacking) == "holds" or n == 2


EXP3 = {"kind": "bound", "measured": {"method": "A"}, "formula": {"name": "exp3", "n_arms": 5}}


def test_a_bound_above_the_largest_regret_is_no_evidence() -> None:
    regret = methods(A=10 + NOISE)
    row = row_of(EXP3, regret.assign(rounds=30))  # 2 sqrt(5 * 30 * ln 5) = 31.08
    assert row["note"] == "the bound, 31.08 or more, is not below the largest regret possible, 30"
    assert (row["verdict"], verdict_of(EXP3, regret.assign(rounds=40))) == ("no evidence", "holds")
    gaps = {**EXP3, "formula": {"name": "ucb1", "gaps": [0, 0.1]}}
    assert verdict_of(gaps, regret.assign(rounds=1000)) == "no evidence"  # 8 ln 1000 / 0.1 = 553, at most 100
    assert largest_regret({"name": "ucb1", "gaps": [0, 0.1, 0.5]}, 100) == 50


@pytest.mark.parametrize(("share", "verdict"), [(0.64, "no evidence"), (9.7, "holds"), (1.0, "holds")])
def test_a_bound_that_a_tuner_satisfies_which_does_not_learn_is_no_evidence(share: float, verdict: str) -> None:
    idle = share * 2 * math.sqrt(5 * 900 * math.log(5)) + NOISE
    row = row_of({**EXP3, "against": {"method": "B"}}, methods(A=10 + NOISE, B=idle).assign(rounds=900))
    assert row["verdict"] == verdict
    assert (row["note"] == "B stays below the bound, too") == (verdict == "no evidence")


def test_repetitions_that_are_all_the_same_are_no_evidence() -> None:
    """Unless one column differs: a score may be the best possible in every repetition."""
    same = methods(A=np.full(20, 5.0), B=np.full(20, 8.0))
    row = row_of(compare("less"), same)
    assert (row["verdict"], row["note"][:55]) == (
        "no evidence",
        "all 20 repetitions have the same numbers and count as o",
    )
    assert verdict_of(compare("less"), same.assign(reward=same["repetition"] * 1.0)) == "holds"
    assert verdict_of(compare("less"), same.assign(seconds=same["repetition"] * 1.0)) == "no evidence"
