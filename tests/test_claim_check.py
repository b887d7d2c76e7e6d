"""All claims of a figure: Holm's correction, required repetitions, repeated looks."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from claim_cases import CENTRED, LESS, NOISE, SHARED, compare, judged, methods, pairs, row_of
from rendered import still_open
from scipy import stats as reference


def panels(shifts: Mapping[str, float]) -> pd.DataFrame:
    rng = np.random.default_rng(10)
    return pairs(shifts, lambda panel, m: 1000 + 10 * rng.normal(size=20) + shifts[panel] * (m == "A"))


def test_holm_counts_all_tested_cases_of_a_figure() -> None:
    finals = panels({"far": -100, "near": -7.5, "none": 0.0})
    rows = judged(LESS, of=finals).set_index("case")
    assert rows["verdict"].to_dict() == {"far": "holds", "near": "holds", "none": "open"}
    assert 0.025 < rows["p"]["near"] <= 0.05  # of the two smallest p-values of three tests
    assert rows["holm"].to_dict() == {"far": "yes", "near": "no", "none": ""}
    assert judged(LESS, of=finals[finals["panel"] == "near"])["holm"].tolist() == ["yes"]


def test_needed_repetitions_decide_in_four_of_five_cases() -> None:
    rng, values = np.random.default_rng(11), np.resize([-8.0, 12, -28], 12)
    row = row_of(compare("less", tie=0), methods(A=1000 + values, B=np.full(12, 1000.0)))
    needed = int(row["repetitions_needed"])
    assert (row["verdict"], 12 < needed < 200) == ("open", True)
    draws = rng.normal(-8, values.std(ddof=1), (2000, needed))
    decided = reference.ttest_1samp(draws, 0, axis=1).pvalue <= 0.05
    assert decided.mean() == pytest.approx(0.8, abs=0.05)
    row = row_of(compare("less", tie=0), methods(A=1000 + CENTRED, B=np.full(20, 1000.0)))
    assert (row["verdict"], math.isnan(row["repetitions_needed"])) == ("open", True)  # no number decides it
    row = row_of(compare("less"), methods(A=1000 + 400 * CENTRED, B=np.full(20, 1000.0)))
    assert (row["verdict"], 100 < row["repetitions_needed"] < 2000) == ("open", True)  # a tie


def test_looking_repeatedly_needs_more() -> None:
    finals = panels({"far": -100, "near": -8})
    fixed, sequential = (judged(LESS, of=finals, until_decided=most).set_index("case") for most in (None, 400))
    assert fixed["verdict"].tolist() == ["holds", "holds"]
    assert sequential["verdict"].tolist() == ["holds", "open"]
    assert (sequential["ci_high"] > fixed["ci_high"]).all()
    assert sequential["p"]["far"] >= fixed["p"]["far"]
    for n, verdict in ((9, "open"), (10, "holds")):
        (row,) = judged(compare("less"), of=methods(A=NOISE[:n], B=1000 + SHARED[:n]), until_decided=400).to_dict(
            "records"
        )
        assert (row["verdict"], "at least 10 repetitions" in row["note"]) == (verdict, n < 10)
    # What is still open names experiments and repetitions
    figure = {"claims": [{"id": "1", "text": "t", **LESS}]}
    found = still_open(figure, finals)
    assert list(found) == [("1", "near")]
    experiments, repetitions = found["1", "near"]
    assert experiments == [{"panel": "near", "method": "A"}, {"panel": "near", "method": "B"}]
    assert repetitions == sequential["repetitions_needed"]["near"] > 20
    assert still_open(figure, finals, most=None) == {}
