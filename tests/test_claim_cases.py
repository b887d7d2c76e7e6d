"""The cases of a claim, and the treatment of missing results."""

import math

import numpy as np
import pandas as pd
import pytest
from claim_cases import BOUND, NOISE, RUNS, SHARED, compare, judged, methods, pairs, row_of, verdict_of
from rendered import finals_of

from bench.errors import DataError
from bench.report.claims.judgement import MIN_REPETITIONS


def test_cases_are_limited_by_only_and_by_every_axis_that_cannot_be_felt() -> None:
    values = {
        (panel, env, method): 100 + NOISE + 50 * (method == "B")
        for panel in "QP"  # the order of the figure, not of the alphabet
        for env in "FE"
        for method in "AB"
    }
    finals = finals_of(values, "panel", "env", "method")
    claim = compare("less", per=["panel", "env"], only={"env": "E"}, only_note="no random arms")
    rows = judged(claim, of=finals)
    assert rows["case"].tolist() == ["Q, F", "Q, E", "P, F", "P, E"]
    assert rows["verdict"].tolist() == ["no evidence", "holds", "no evidence", "holds"]
    assert rows["note"].tolist() == ["no random arms", "", "no random arms", ""]
    np.testing.assert_allclose(rows["estimate"], -50)
    assert judged({**claim, "only_note": ""}, of=finals)["case"].tolist() == ["Q, E", "P, E"]


@pytest.mark.parametrize("kind", ["paired_difference", "ratio", "spread"])
def test_missing_experiments_leave_their_case_open(kind: str) -> None:
    finals = pairs("PQ", lambda _, method: 100 + NOISE / 2 if method == "A" else 200 + NOISE)
    finals = finals[(finals["panel"] == "P") | (finals["method"] == "B")]
    rows = judged(compare("less", kind, per=["panel"]), of=finals, runs=RUNS)
    assert rows["case"].tolist() == ["P", "Q"]
    assert rows["verdict"].tolist() == ["holds", "open"]
    assert math.isnan(rows["estimate"][1])
    assert rows["note"][1] == "no results of Q, A"


def test_without_any_results_every_claim_is_open() -> None:
    claims = [
        compare("less", per=["panel"]),
        {"kind": "count", "of": "1"},
        {"kind": "count", "of": 1},  # as YAML reads an id without quotes
        {"kind": "slope", "measured": {"panel": "P", "method": "A"}, "expect": "at_most", "threshold": 1},
        {**BOUND, "measured": {"method": "A"}, "over": {"method": "B"}, "candidates": [1], "per": ["panel"]},
    ]
    for finals in (pd.DataFrame(), finals_of({("P", "A"): [1.0]}, "panel", "method").iloc[:0]):
        for runs in (RUNS, []):
            rows = judged(*claims, of=finals, runs=runs)
            assert set(rows["verdict"]) == {"open"}
            assert rows["note"].str.len().gt(0).all()
    row = row_of(compare("less", column="seconds"), methods(A=NOISE, B=NOISE))
    assert (row["verdict"], row["note"]) == ("open", "the results have no column 'seconds'")


def test_too_few_repetitions_decide_nothing() -> None:
    row = row_of(compare("less"), methods(A=[1], B=[2]))
    assert (row["estimate"], row["verdict"], row["n"]) == (-1, "open", 1)
    assert np.isnan([row["ci_low"], row["ci_high"]]).all()
    few = MIN_REPETITIONS - 1
    row = row_of(compare("less"), methods(A=100 + NOISE[:few], B=200 - NOISE[:few]))
    assert (row["verdict"], row["repetitions_needed"]) == ("open", MIN_REPETITIONS)
    assert f"at least {MIN_REPETITIONS} repetitions, there are {few}" in row["note"]
    enough = methods(A=100 + NOISE[: few + 1], B=200 - NOISE[: few + 1])
    assert verdict_of(compare("less"), enough) == "holds"
    row = row_of(compare("less", tie=0), methods(A=[96, 98], B=[100, 100]))  # the least number would do
    assert (row["verdict"], row["repetitions_needed"]) == ("open", MIN_REPETITIONS)


def test_repetitions_that_are_not_in_all_runs_are_left_out_and_counted() -> None:
    row = row_of(compare("less"), methods(A=SHARED[:15] - 5, B=SHARED))
    assert (row["n"], row["verdict"], row["note"]) == (15, "holds", "15 of 20 repetitions are in all runs")
    finals = methods(A=SHARED - 5, B=SHARED)
    finals.loc[3, "regret"] = np.nan
    assert row_of(compare("less"), finals)["n"] == 19


def test_a_repetition_given_twice_is_an_error() -> None:
    finals = methods(A=NOISE, B=NOISE)
    with pytest.raises(DataError, match="repetition 0 of A twice"):
        row_of(compare("less"), pd.concat([finals, finals.iloc[:1]]))
    with pytest.raises(DataError, match="lack the column 'repetition'"):
        row_of(compare("less"), finals.drop(columns="repetition"))
