import numpy as np
import pytest
from scipy import stats as reference

from bench.errors import BenchError
from bench.stats import (
    holm,
    mean_band,
    mean_interval,
    resampled,
    standard_deviation,
)


def test_mean_interval_agrees_with_scipy() -> None:
    values = np.random.default_rng(1).gamma(2.0, 10.0, size=30)
    ours = mean_interval(values)
    theirs = reference.ttest_1samp(values, 0.0).confidence_interval(0.95)
    np.testing.assert_allclose(ours, (values.mean(), theirs.low, theirs.high, 30), rtol=1e-12)


@pytest.mark.parametrize(("values", "estimate"), [([], np.nan), ([7.5], 7.5)])
def test_fewer_than_two_values_have_no_interval(values: list[float], estimate: float) -> None:
    interval = mean_interval(values)
    np.testing.assert_equal(interval, (estimate, np.nan, np.nan, len(values)))


def test_equal_values_have_an_interval_of_width_zero() -> None:
    assert mean_interval([1.1 - 1.0] * 7)[1:3] == (1.1 - 1.0, 1.1 - 1.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_an_error(bad: float) -> None:
    for call in (
        lambda: mean_interval([1.0, bad]),
        lambda: mean_band([[1.0, bad]]),
        lambda: standard_deviation([1.0, bad]),
        lambda: resampled(lambda a: a.mean(axis=1), [1.0, bad]),
    ):
        with pytest.raises(BenchError, match=r"finite numbers.*position.*1"):
            call()


def test_band_is_the_interval_of_each_column() -> None:
    curves = np.random.default_rng(4).normal(size=(12, 450)).cumsum(axis=1)
    mean, low, high = mean_band(curves)
    for column in (0, 200, 449):
        assert (mean[column], low[column], high[column], 12) == mean_interval(curves[:, column])


def test_standard_deviation_has_divisor_n_minus_1() -> None:
    assert standard_deviation([1.0, 3.0]) == pytest.approx(np.sqrt(2))
    assert np.isnan(standard_deviation([1.0]))


def test_resampling_is_joint_and_the_same_on_every_call() -> None:
    values = np.random.default_rng(6).normal(size=15)
    np.testing.assert_allclose(resampled(lambda a, b: (a - b).mean(axis=1), values, values - 4.0), 4.0)
    means = resampled(lambda a: a.mean(axis=1), values)
    np.testing.assert_array_equal(means, resampled(lambda a: a.mean(axis=1), values))
    assert len(means) == 10_000
    assert means.std() == pytest.approx(values.std() / np.sqrt(15), rel=0.03)


def test_resamples_of_a_median_agree_with_scipy() -> None:
    values = np.random.default_rng(7).gamma(2.0, 10.0, size=25)
    theirs = reference.bootstrap(
        (values,), np.median, n_resamples=10_000, method="percentile", random_state=np.random.default_rng(5)
    ).confidence_interval
    low, high = np.quantile(resampled(lambda a: np.median(a, axis=1), values), [0.025, 0.975])
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.05 * (theirs.high - theirs.low))


def test_undefined_values_are_left_out_of_the_resamples() -> None:
    def relative(a: np.ndarray) -> np.ndarray:
        return np.mean(a, axis=1) / np.std(a, axis=1)

    assert 0 < 10_000 - len(resampled(relative, [1.0, 2.0, 3.0, 4.0, 5.0])) < 50  # all alike in 1 of 625


@pytest.mark.parametrize(
    ("p_values", "kept"),
    [
        # 0.01 <= 0.05 / 4, 0.015 <= 0.05 / 3, 0.03 > 0.05 / 2, and so 0.04 is not looked at
        ([0.03, 0.01, 0.04, 0.015], [False, True, False, True]),
        ([0.0125, 0.0125, 0.0125, 0.0125], [True] * 4),
        ([0.0126, 0.0126, 0.0126, 0.0126], [False] * 4),
        ([0.04, float("nan")], [True, False]),
        ([], []),
    ],
)
def test_holm_by_hand(p_values: list[float], kept: list[bool]) -> None:
    assert holm(p_values) == kept


@pytest.mark.parametrize("exponent", [-300, -160, -3, 0, 3, 160, 290])
def test_intervals_do_not_depend_on_the_unit(exponent):
    values, unit = np.random.default_rng(3).normal(2.0, 1.0, 30), 10.0**exponent
    found, expected = ((*mean_interval(each)[:3], standard_deviation(each)) for each in (values * unit, values))
    np.testing.assert_allclose(np.divide(found, unit), expected, rtol=1e-12)
