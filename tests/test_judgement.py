"""Borders between verdicts: intervals whose ends lie exactly on a threshold or a margin."""

import math

import numpy as np
import pandas as pd
import pytest
from rendered import check, figure_of, finals_of
from scipy import stats as reference

from bench.critical import fixed
from bench.report.claims.comparisons import is_random
from bench.report.claims.judgement import ERROR, Conditions, Question
from bench.report.claims.quantities import (
    BandSlope,
    BestValue,
    Difference,
    Extreme,
    Mean,
    Quantity,
    RatioOfMeans,
    Resampled,
)
from bench.report.results import Results

INF, NAN = math.inf, math.nan


class Between(Quantity):
    """Has these ends at any error."""

    def __init__(self, low, high, n=20, estimate=None):
        self.low, self.high, self.n = low, high, n
        self.estimate = (low + high) / 2 if estimate is None else estimate

    def ends(self, error, rule, n):
        return self.low, self.high


def verdict(low, high, expect, threshold=0.0, *, relative=None, margin=None, n=20):
    question = Question(Between(low, high, n), expect, threshold, relative, margin)
    return question.answer("all", "unit", Conditions()).verdict


@pytest.mark.parametrize(
    ("low", "high", "verdicts"),
    [  # of less, at_most, greater, at_least, differs, against 1
        (0.5, 0.9, ("holds", "holds", "fails", "fails", "holds")),
        (0.5, 1.0, ("open", "holds", "open", "open", "open")),
        (0.5, 1.5, ("open", "open", "open", "open", "open")),
        (1.0, 1.5, ("open", "open", "open", "holds", "open")),
        (1.1, 1.5, ("fails", "fails", "holds", "holds", "holds")),
        (1.0, 1.0, ("open", "holds", "open", "holds", "fails")),
    ],
)
def test_ends_on_the_threshold(low, high, verdicts):
    expected = ("less", "at_most", "greater", "at_least", "differs")
    assert tuple(verdict(low, high, expect, 1.0) for expect in expected) == verdicts


@pytest.mark.parametrize(
    ("low", "high", "similar"),
    [(-0.1, 0.1, "holds"), (-0.11, 0.1, "open"), (-0.1, 0.11, "open"), (0.1, 0.2, "open"), (0.11, 0.2, "fails"),
     (-0.2, -0.1, "open"), (-0.2, -0.11, "fails")],
)  # fmt: skip
def test_ends_on_the_margin(low, high, similar):
    assert verdict(low, high, "similar", margin=0.1) == similar
    relative = Between(low, high)
    assert (verdict(-1, 1, "less", relative=relative, margin=0.1) == "tie") == (similar == "holds")
    # Without a margin, or without a comparison as a share, there is no tie
    assert verdict(-1, 1, "less", relative=relative) == "open"
    assert verdict(-0.05, 0.05, "less", margin=0.1) == "open"


@pytest.mark.parametrize(
    ("expect", "low", "high", "wanted", "error"),
    [
        ("less", -2, -1, "holds", 0.025),
        ("less", 1, 2, "fails", 0.025),
        ("at_least", 1, 2, "holds", 0.025),
        ("less", -0.1, 0.1, "tie", 0.05),
        ("differs", 1, 2, "holds", 0.025),
        ("differs", 0, 0, "fails", 0.025),
        ("similar", -0.1, 0.1, "holds", 0.05),
        ("similar", 0.2, 0.3, "fails", 0.025),
    ],
)
def test_each_verdict_has_its_error_at_each_end(expect, low, high, wanted, error):
    """It is 2.5 % at each of two ends, and 5 % in one-sided tests (a tie, equivalence)."""

    class Decided(Between):
        def ends(self, asked, rule, n):
            return (low, high) if math.isclose(asked, error) else (-INF, INF)

    quantity = Decided(low, high)
    question = Question(quantity, expect, relative=quantity, margin=0.1)
    assert question.answer("", "unit", Conditions()).verdict == wanted


def test_an_estimate_on_the_margin_agrees():
    def agrees(estimate):
        return (
            Question(Between(-1, 1, estimate=estimate), "similar", margin=0.1).answer("", "unit", Conditions()).agrees
        )

    assert [agrees(estimate) for estimate in (-0.11, -0.1, 0.1, 0.11)] == [False, True, True, False]


@pytest.mark.parametrize(("low", "high"), [(-INF, 1.0), (1.0, INF), (NAN, NAN)])
def test_an_interval_with_an_end_at_infinity_is_not_defined(low, high):
    finding = Question(Between(low, high, estimate=1.0), "less", 0.0).answer("", "unit", Conditions())
    assert math.isnan(finding.interval.low)
    assert math.isnan(finding.interval.high)
    assert finding.note == "the interval is not defined"
    alone = Question(Between(low, high, n=1, estimate=1.0), "less", 0.0).answer("", "unit", Conditions())
    assert "not defined" not in alone.note


def test_one_repetition_predicts_nothing():
    """Not even of the best value of a grid, which has no deviation then and hence no competitor."""
    best = BestValue(np.array([1.0, 2.0]), np.array([[5.0, 3.0]]))
    finding = Question(best, "less", 3.0).answer("", "unit", Conditions())
    assert (finding.verdict, math.isnan(finding.repetitions_needed)) == ("open", True)


def test_a_ratio_whose_denominator_just_reaches_0_has_no_interval():
    ratio = RatioOfMeans(np.array([1.0, 2.0]), np.array([1.0, 3.0]))  # squared relative error of the mean: 0.5 / 2
    assert ratio.ends(0.025, lambda n, error, skewness=0.0: 2.0, 2) == (-INF, INF)
    low, high = ratio.ends(0.025, lambda n, error, skewness=0.0: 1.9, 2)
    assert -INF < low < ratio.estimate < high < INF


def test_values_that_may_be_best_share_the_error():
    rng = np.random.default_rng(2)
    values = rng.normal([0.0, 0.4, 0.5, 3.0], 1.0, size=(12, 4))
    best = BestValue(np.arange(4.0), values)
    for error in np.geomspace(0.3, 1e-5, 30):  # closer than a factor of 2, so that half an error is noticed
        tests = [[reference.ttest_rel(a, b, alternative="greater").pvalue for b in values.T if b is not a]
                 for a in values.T]  # fmt: skip
        wanted = [min(p[:i] + p[i + 1 :]) > error / 3 for i, p in enumerate(tests)]  # the strongest competitor's
        wanted[int(best.estimate)] = True
        assert best.candidates(error, fixed, 12).tolist() == wanted
        assert best.ends(error / 2, fixed, 12) == (wanted.index(True), 3 - wanted[::-1].index(True))
    assert BestValue(np.array([7.0]), values[:, :1]).ends(0.05, fixed, 12) == (7.0, 7.0)


@pytest.mark.parametrize(("n", "wider"), [(5, 2.776445 / 1.959964), (20, 2.093024 / 1.959964 / 2)])
def test_resamples_are_widened_as_students_quantile_is(n, wider):
    """Of values spread evenly over [0, 2] the quantiles of 2.5 % and 97.5 % lie 0.95 from the estimate of 1."""
    ends = Resampled(1.0, np.linspace(0, 2, 101), 5).ends(0.025, fixed, n)
    assert ends == pytest.approx((1 - 0.95 * wider, 1 + 0.95 * wider), rel=1e-5)
    assert np.isnan(Resampled(1.0, np.empty(0), 5).ends(0.025, fixed, n)).all()


def test_each_side_of_a_difference_has_half_of_the_error():
    a, b = (Mean(values) for values in np.random.default_rng(6).normal(size=(2, 8)))
    (low, high), (low_b, high_b) = a.ends(0.01, fixed, 8), b.ends(0.01, fixed, 8)
    assert Difference(a, b).ends(0.02, fixed, 8) == (low - high_b, high - low_b)


def test_the_extreme_of_several_shares_the_error_where_one_suffices():
    rng = np.random.default_rng(6)
    means = [[Mean(rng.normal(size=8)) for _ in range(3)] for _ in range(2)]
    ends = {
        error: np.array([[part.ends(error, fixed, 8) for part in row] for row in means])
        for error in (0.02, 0.01, 0.02 / 3)
    }
    low, high = Extreme(means, "max", "min").ends(0.02, fixed, 8)
    assert low == ends[0.01][..., 0].min(axis=1).max()
    assert high == ends[0.02 / 3][..., 1].min(axis=1).max()
    low, high = Extreme(means, "min", "max").ends(0.02, fixed, 8)
    assert low == ends[0.02 / 3][..., 0].max(axis=1).min()
    assert high == ends[0.01][..., 1].max(axis=1).min()
    (one,) = means[0][:1]
    assert Extreme([[one]], "max", "min").ends(0.02, fixed, 8) == one.ends(0.02, fixed, 8)


@pytest.mark.parametrize(("reach", "defined"), [(0.5, True), (1.0, False), (2.0, False)])
def test_a_band_that_reaches_0_anywhere_has_no_slope(reach, defined):
    slope = BandSlope(np.array([-1.0, 1.0]), np.array([1.0, 10.0]), np.array([reach, 0.1]), 4)
    low, high = slope.ends(0.025, lambda n, error, skewness=0.0: 2.0, 4)
    assert math.isfinite(low) == math.isfinite(high) == defined
    if defined:
        assert (low, high) == pytest.approx((np.log(9.9 / 1.5), np.log(10.1 / 0.5)))


def finals(**methods):
    return finals_of(methods, "method", rounds=100)


def judged(claim, table):
    return check({"claims": [{"id": "1", "text": "t", **claim}]}, table).iloc[0]


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_side_without_spread_has_no_ratio(side):
    other = "right" if side == "left" else "left"
    claim = {"kind": "spread", side: {"method": ["A", "B"]}, other: {"method": "C"}, "expect": "less"}
    rng = np.random.default_rng(1)
    a, b, c = rng.normal(size=(3, 25))
    assert judged(claim, finals(A=a, B=b, C=c))["verdict"] in ("open", "tie")
    assert "standard deviation is 0" in judged(claim, finals(A=0 * a, B=b, C=c))["note"]
    assert "standard deviation is 0" in judged(claim, finals(A=a, B=b, C=0 * c))["note"]
    single = np.zeros(25)
    single[7] = 1.0
    assert "rests on that repetition" in judged(claim, finals(A=single, B=single, C=c))["note"]
    three = judged(claim, finals(A=a[:3], B=b[:3], C=c[:3]))
    assert math.isfinite(three["estimate"])


def random_table(regret, random):
    return pd.DataFrame({"repetition": range(len(regret)), "rounds": 100, "regret": regret, "random_regret": random})


def test_a_side_is_random_where_its_interval_reaches_random_arms():
    noise = np.array([-1.0, 1.0] * 10)

    def judged_random(regret, random):
        data = Results(figure_of({}), finals=random_table(regret, random))
        return is_random(data, data.experiments[0], fixed)

    hundred = np.full(20, 100.0)
    assert judged_random(100 + noise, hundred)
    assert judged_random(99.9 + noise, hundred)  # reaches it
    assert not judged_random(98 + noise, hundred)  # lies below
    assert not judged_random(70 + 100 * noise, hundred)  # reaches it, but is clearly below by itself
    assert judged_random(hundred, hundred)
    assert not judged_random(np.array([100.0, NAN, NAN]), np.full(3, 100.0))  # one repetition
    assert judged_random(np.array([100.0, 101.0, NAN]), np.array([100.0, 100.0, NAN]))
    assert judged_random(np.array([100.0, 101.0, 5.0]), np.array([100.0, 100.0, NAN]))


def test_a_bound_on_the_largest_regret_or_on_that_of_random_arms():
    # Of two repetitions: sqrt(K T ln K) with K = 5: the bound of exp3, 2 sqrt(5 T ln 5), equals T at T = 20 ln 5
    claim = {"kind": "bound", "measured": {}, "formula": {"name": "exp3", "n_arms": 5}}
    own = np.arange(20.0)
    bound = 2 * math.sqrt(5 * 100 * math.log(5))
    table = random_table(own, np.full(20, bound))
    assert judged(claim, table)["verdict"] == "holds"  # random arms are on the bound, not below
    assert judged(claim, random_table(own, np.full(20, bound - 1)))["verdict"] == "no evidence"
    gap = random_table(own, np.where(own == 3, NAN, bound - 1))
    assert judged(claim, gap)["verdict"] == "holds"  # not known of all repetitions
    assert ERROR == 0.05


@pytest.mark.parametrize(("left", "wanted"), [("highest", 7.0), ("lowest", 1.0), ("mean", 4.0)])
def test_several_on_the_left_against_one(left, wanted):
    noise = 0.01 * np.sin(np.arange(20.0))
    table = finals(A=11 + noise, B=17 - noise, C=10 + noise[::-1])
    claim = {"kind": "paired_difference", "left": {"method": ["A", "B"]}, "right": {"method": "C"}, "expect": "greater"}
    row = judged({**claim, "combine": {"left": left}}, table)
    assert row["estimate"] == pytest.approx(wanted, abs=0.02)
    side = "A/B" if left == "mean" else f"{left} of A/B"
    assert row["unit"] == f"mean paired difference of final regret, {side} - C"
    swapped = {**claim, "left": claim["right"], "right": claim["left"], "combine": {"right": left}}
    assert judged(swapped, table)["estimate"] == pytest.approx(-wanted, abs=0.02)


def test_an_average_is_fair_if_each_side_has_the_same_runs():
    numbers = np.arange(10.0, 16.0)
    table = finals_of({(m, d): numbers for m in "AB" for d in (1, 2, 3) if (m, d) != ("A", 3)}, "method", "dim")
    claim = {"kind": "paired_difference", "left": {"method": "A"}, "right": {"method": "B"}, "expect": "less"}
    assert "no fair average" in judged(claim, table)["note"]
    # One side has some of its runs twice
    cells = [("A", 1, 1), ("A", 1, 2), ("A", 2, 1), ("B", 1, 1), ("B", 2, 1)]
    table = finals_of(dict.fromkeys(cells, numbers), "method", "dim", "x")
    uneven = {**claim, "left": {"method": "A", "x": [1, 2]}, "right": {"method": "B", "x": 1}}
    assert "no fair average" in judged(uneven, table)["note"]
    assert "no fair average" not in judged({**uneven, "left": {"method": "A", "x": 1}}, table)["note"]


@pytest.mark.parametrize("exponent", [-300, -160, 160, 290])
@pytest.mark.parametrize("difference", [0.0, 0.02, 1.0, -1.0])
def test_a_verdict_does_not_depend_on_the_unit(difference, exponent):
    values = np.random.default_rng(4).normal(difference, 0.5, 20)
    verdicts = {
        Question(Mean(values * unit), "less").answer("", "", Conditions()).verdict for unit in (1.0, 10.0**exponent)
    }
    assert len(verdicts) == 1
