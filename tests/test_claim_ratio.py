"""Claims on ratios and spreads."""

import math

import numpy as np
import pytest
from claim_cases import NOISE, compare, methods, row_of, verdict_of

from bench.stats import mean_interval


def test_a_ratio_that_is_the_same_in_every_repetition_has_no_interval() -> None:
    finals = methods(A=100 + NOISE, B=200 + 2 * NOISE)
    row = row_of(compare("at_most", "ratio", threshold=0.5), finals)
    assert row["verdict"] == "holds"  # exactly one half in every repetition
    np.testing.assert_allclose([row["estimate"], row["ci_low"], row["ci_high"]], 0.5)
    verdicts = [verdict_of(compare("less", "ratio", threshold=limit), finals) for limit in (0.6, 0.4)]
    assert verdicts == ["holds", "fails"]
    assert verdict_of(compare("greater", "ratio"), finals) == "fails"
    assert verdict_of(compare("less", "ratio"), methods(A=100 + NOISE, B=102 + NOISE)) == "tie"
    row = row_of(compare("less", "ratio"), methods(A=NOISE, B=NOISE * 0))
    assert (row["verdict"], math.isnan(row["estimate"])) == ("open", True)


def test_a_ratio_of_medians() -> None:
    a, b = 100 + NOISE, 200 + 2 * NOISE
    a[0], b[1] = 1e4, 1e5
    claim = compare("less", "ratio", statistic="median")
    row = row_of(claim, methods(A=a, B=b))
    assert (row["estimate"], row["verdict"]) == (pytest.approx(np.median(a) / np.median(b)), "holds")
    assert "not positive" in row_of(claim, methods(A=a, B=0 * b))["note"]


def test_a_median_of_paired_ratios() -> None:
    """Changes from pair to pair, far larger than the difference of left and right, do not count."""
    level = np.exp(50 * NOISE / np.abs(NOISE).max())
    a, b = level * (0.95 + 0.0001 * NOISE), level.copy()
    a[0] *= 1e4
    claim = compare("less", "ratio", tie=0.01, statistic="paired_median")
    row = row_of(claim, methods(A=a, B=b))
    assert (row["estimate"], row["verdict"]) == (pytest.approx(np.median(a / b)), "holds")
    assert row["ci_low"] <= row["estimate"] <= row["ci_high"] < 1
    assert verdict_of({**claim, "statistic": "median"}, methods(A=a, B=b)) == "open"
    assert "not positive" in row_of(claim, methods(A=a, B=0 * b))["note"]


@pytest.mark.parametrize("unit", [2.0**-990, 2.0**990])
def test_a_claim_on_spreads_does_not_depend_on_the_unit(unit: float) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(0, 1, 40), rng.normal(0, 5, 40)
    rows = [row_of(compare("less", "spread"), methods(A=a * by, B=b * by)) for by in (1.0, unit)]
    for name in ("verdict", "estimate", "ci_low", "ci_high"):
        assert rows[0][name] == rows[1][name]


def test_a_claim_on_spreads_ignores_the_means() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(0, 1, 40), rng.normal(50, 5, 40)
    claim = compare("less", "spread")
    row = row_of(claim, methods(A=a, B=b))
    assert (row["estimate"], row["verdict"]) == (pytest.approx(a.std() / b.std()), "holds")
    # By Miller's definition: the logarithm's pseudo-values, judged by Student's test
    logs = [math.log(np.delete(a, i).std(ddof=1) / np.delete(b, i).std(ddof=1)) for i in range(40)]
    expected = mean_interval(40 * math.log(a.std() / b.std()) - 39 * np.array(logs))
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(np.exp(expected[1:3]), rel=0.02)
    assert verdict_of(claim, methods(A=b, B=a)) == "fails"
    assert verdict_of(claim, methods(A=a, B=a[::-1])) == "open"
    # The smallest of all, although less than the average of the others' spreads.
    several = {**claim, "right": {"method": ["B", "C"]}}
    assert verdict_of({**several, "combine": {"right": "lowest"}}, methods(A=3 * a, B=b, C=a)) == "fails"
    assert verdict_of(several, methods(A=a, B=b, C=a + 0 * b)) == "holds"
    assert verdict_of(claim, methods(A=[1, 2, 3], B=[1, 5, 9])) == "open"
    assert "3 repetitions" in row_of(claim, methods(A=[1, 2], B=[1, 3]))["note"]
