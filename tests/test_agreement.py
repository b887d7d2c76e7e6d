"""Statistics of printed numbers beside ours: by hand, against scipy, and in simulations with a known truth."""

import math

import numpy as np
import pytest
from scipy import stats

from bench.audit.agreement import DRAWS, FACTORS, Placebo, level, of_mean, of_std, order, placebo, rounding

PANELS = np.repeat([f"panel {i}" for i in range(14)], 3)


def test_intervals_by_hand():
    # t = 3.182446 with 3 degrees of freedom; chi-square 0.2157953 and 9.348404; F(2, 3) 0.0255327 and 16.04411
    assert of_mean(1.0, 2.0, 4, 12) == pytest.approx(
        (1 - 3.182446, 1 + 3.182446, 1 - 3.182446 * 2 * np.sqrt(1 / 3), 1 + 3.182446 * 2 * np.sqrt(1 / 3)), rel=1e-6
    )
    ends = (np.sqrt(3 / 9.348404), np.sqrt(3 / 0.2157953), np.sqrt(0.0255327), np.sqrt(16.04411))
    assert of_std(2.0, 4, 3) == pytest.approx([2 * end for end in ends], rel=1e-5)
    assert np.isnan(of_mean(1.0, np.nan, 1, 5)).all()


@pytest.mark.parametrize(("n", "further"), [(4, 10), (10, 3), (100, 5)])
def test_prediction_intervals_cover_as_often_as_they_say(n, further):
    rng = np.random.default_rng(5)
    means = stds = 0
    for _ in range(4000):
        ours, theirs = rng.normal(3.0, 2.0, n), rng.normal(3.0, 2.0, further)
        _, _, low, high = of_mean(ours.mean(), ours.std(ddof=1), n, further)
        means += low <= theirs.mean() <= high
        _, _, low, high = of_std(ours.std(ddof=1), n, further)
        stds += low <= theirs.std(ddof=1) <= high
    # 4 standard errors of a share of 95 % in 4,000
    assert np.array([means, stds]) / 4000 == pytest.approx(0.95, abs=0.014)


def test_half_units_of_the_last_digit():
    assert [rounding(value) for value in (9.7, 9.71, 12, 0.0042)] == pytest.approx([0.05, 0.005, 0.05, 0.00005])


def prediction(rng, truth, n=20, std=0.1):
    """Return the estimates of 20 repetitions with means ``truth`` and a tenth of these as deviation: (numbers, 1)."""
    sets = rng.normal(truth, std * truth, size=(n, len(truth)))
    ends = [of_mean(own.mean(), own.std(ddof=1), n, n)[2:] for own in sets.T]
    low, high = np.array(ends).T
    return low[:, None], high[:, None]


def outcomes(number, printed_of):
    """Return how many of ``number`` papers with 14 panels of 3 methods a reading reaches."""
    rng, reaches = np.random.default_rng(8), 0
    for _ in range(number):
        truth = 400 * np.exp(rng.normal(0, 0.4, len(PANELS)))
        printed = printed_of(rng, truth)
        reaches += placebo(printed, np.zeros(len(truth)), *prediction(rng, truth), PANELS).reaches
    return reaches


def further(rng, truth):
    return rng.normal(truth, 0.1 * truth / np.sqrt(20))


def swapped(rng, truth):
    places = np.concatenate([start + rng.permutation(3) for start in range(0, len(truth), 3)])
    return further(rng, truth)[places]


def test_a_true_reading_reaches_its_numbers_and_scaled_ones_are_not_reached():
    assert outcomes(40, further) == 40
    assert outcomes(40, lambda rng, truth: 1.25 * further(rng, truth)) == 0


def test_swapped_numbers_exceed_their_swaps_in_about_one_of_twenty():
    """Without the scaled numbers: the rank of a count among draws of the same law is uniform, but for ties.

    At most 5 % of 400 and 4 standard errors; with the scaled numbers a reading reaches less often still.
    """
    rng, above = np.random.default_rng(12), 0
    for _ in range(400):
        truth = 400 * np.exp(rng.normal(0, 0.15, len(PANELS)))
        found = placebo(swapped(rng, truth), np.zeros(len(truth)), *prediction(rng, truth), PANELS)
        above += found._replace(scaled=np.zeros(4, dtype=int)).reaches
    assert 4 <= above <= 20 + 4 * math.sqrt(400 * 0.05 * 0.95)


def test_placebo_by_hand():
    printed, low, high = np.array([10.0, 20.0, 30.0]), np.array([[9.0], [19.0], [24.0]]), np.array([[10], [20], [26.0]])
    found = placebo(printed, np.array([0.5] * 3), low, high, np.array(["a", "a", "b"]))
    assert found.within == 2
    # "a" has two orders, of which one keeps both within; 30 stays outside
    assert set(found.swapped) == {0, 2}
    assert abs((found.swapped == 2).mean() - 0.5) < 4 * math.sqrt(0.25 / DRAWS)
    # times 0.8: 8, 16, 24 with half a unit of 0.4; 0.9: 9, 18, 27; 1.1: 11, 22, 33; 1.25: 12.5, 25, 37.5
    assert dict(zip(FACTORS, found.scaled.tolist(), strict=True)) == {0.8: 1, 0.9: 1, 1.1: 0, 1.25: 0}
    more = (np.hstack([ends, column]) for ends, column in ((low, [[np.nan], [0], [29]]), (high, [[np.nan], [1], [31]])))
    either = placebo(printed, np.zeros(3), *more, np.array(["a", "a", "b"]))
    assert either.within == 3
    same = placebo(printed, np.array([0.5] * 3), low, high, np.array(["a", "a", "b"]))
    assert (same.swapped == found.swapped).all()


def test_a_count_must_lie_above_the_swaps_and_above_every_scaled_one():
    swaps = np.array([3] * 190 + [9] * 10)
    assert not Placebo(9, swaps, np.array([1, 2, 3, 4])).reaches  # above 95.0 %, not more
    assert Placebo(9, np.array([3] * 191 + [9] * 9), np.array([1, 2, 3, 4])).reaches
    assert not Placebo(9, np.full(200, 3), np.array([1, 2, 3, 9])).reaches


def test_a_level_by_hand():
    printed, ours = np.array([100.0, 200.0]), np.array([200.0, 100.0])
    # ln 2 and -ln 2; half widths of 10 % and 30 % of ours
    found = level(printed, ours, np.array([180.0, 70.0]), np.array([220.0, 130.0]))
    assert found[:3] == pytest.approx((1.0, math.exp(-0.2), math.exp(0.2)))
    assert level(printed, np.array([200.0, 400.0]), printed, printed).estimate == pytest.approx(2.0)


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_level_covers_however_panels_depend_on_each_other(is_shared):
    rng, truth, n, covered = np.random.default_rng(3), np.array([100.0, 300.0, 900.0, 200.0, 500.0]), 20, 0
    for _ in range(1500):
        ours, theirs = (
            truth * (1 + 0.2 * np.repeat(rng.normal(size=(n, 1)), 5, axis=1) if is_shared else
                     1 + 0.2 * rng.normal(size=(n, 5)))
            for _ in range(2)
        )  # fmt: skip
        ends = np.array([of_mean(own.mean(), own.std(ddof=1), n, n)[2:] for own in ours.T])
        _, low, high, _ = level(theirs.mean(axis=0), ours.mean(axis=0), *ends.T)
        covered += low <= 1 <= high
    share, error = covered / 1500, 4 * math.sqrt(0.05 * 0.95 / 1500)
    assert share == pytest.approx(0.95, abs=error) if is_shared else share > 0.95 + error


def test_an_order_by_hand_and_by_welchs_test():
    panels = np.array(["a", "a", "a", "b", "b"])
    printed, ours = np.array([1.0, 2.0, 3.0, 5.0, 4.0]), np.array([10.0, 12.0, 10.5, 20.0, 10.0])
    std, n = np.array([1.0, 2.0, 1.0, 1.0, 3.0]), np.array([10.0, 20.0, 15.0, 10.0, 10.0])
    pairs = [(0, 1), (0, 2), (1, 2), (3, 4)]
    decided = [pair for pair in pairs if stats.ttest_ind_from_stats(
        *(values[at] for at in pair for values in (ours, std, n)), equal_var=False).pvalue < 0.05]  # fmt: skip
    assert decided == [(0, 1), (1, 2), (3, 4)]
    found = order(printed, ours, std, n, panels)
    assert (found.agree, found.decided) == (2, 3)  # 1 before 2 and 4 before 5 as printed, 3 before 2 not
    # Two panels decide: 4/3 of 2 draws
    low, high = stats.beta.ppf(0.025, 4 / 3, 2 / 3 + 1), stats.beta.ppf(0.975, 4 / 3 + 1, 2 / 3)
    assert found.share[:3] == pytest.approx((2 / 3, low, high))
    whole = stats.binomtest(2, 2).proportion_ci(method="exact")
    same = order(-ours, -ours, std, n, panels)
    assert same.share[:3] == pytest.approx((1.0, whole.low, whole.high))
    assert order(ours, -ours, std, n, panels).share[:2] == (0.0, 0.0)


def test_an_order_that_nothing_decides_has_no_share():
    found = order(np.array([1.0, 2.0]), np.array([1.0, 1.1]), np.ones(2), np.full(2, 5.0), np.array(["a", "a"]))
    assert (found.agree, found.decided) == (0, 0)
    assert np.isnan(found.share[:3]).all()


def test_the_share_of_the_order_covers_when_pairs_of_a_panel_go_together():
    """Each of eight panels with three methods is in the printed order or in the opposite one, by a fair coin."""
    rng, covered = np.random.default_rng(4), 0
    panels, ours = np.repeat(np.arange(8), 3), np.tile([1.0, 2.0, 3.0], 8)
    for _ in range(400):
        printed = ours * np.repeat(rng.choice([-1, 1], size=8, p=[0.3, 0.7]), 3)
        _, low, high, _ = order(printed, ours, np.full(24, 0.1), np.full(24, 10.0), panels).share
        covered += low <= 0.7 <= high
    assert covered / 400 >= 0.95 - 4 * math.sqrt(0.05 * 0.95 / 400)
