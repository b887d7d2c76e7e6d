import numpy as np
import pytest
from scipy import stats as reference

from bench.errors import BenchError
from bench.stats import (
    bootstrap,
    mean_band,
    mean_interval,
    paired_difference,
    paired_differences,
    standard_deviation,
)


def test_mean_interval_agrees_with_scipy() -> None:
    values = np.random.default_rng(1).gamma(2.0, 10.0, size=30)
    ours = mean_interval(values)
    theirs = reference.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert ours.estimate == pytest.approx(values.mean(), rel=1e-12)
    assert ours.low == pytest.approx(theirs.low, abs=0.03 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.03 * width)
    assert ours.n == 30


def test_interval_of_the_mean_covers_about_95_percent_on_normal_data() -> None:
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(400):
        interval = mean_interval(rng.normal(3.0, 2.0, size=40), n_resamples=1000)
        hits += interval.low <= 3.0 <= interval.high
    assert 0.91 <= hits / 400 <= 0.98


def test_interval_is_the_same_on_every_call() -> None:
    values = np.random.default_rng(9).normal(size=20)
    assert mean_interval(values) == mean_interval(values)
    assert mean_interval(values, seed=1).low != mean_interval(values).low


def test_level_sets_the_width() -> None:
    values = np.random.default_rng(3).normal(size=50)
    wide, narrow = mean_interval(values, level=0.99), mean_interval(values, level=0.5)
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize(("values", "estimate"), [([], np.nan), ([7.5], 7.5)])
def test_fewer_than_two_values_have_no_interval(values: list[float], estimate: float) -> None:
    interval = mean_interval(values)
    np.testing.assert_equal(interval, (estimate, np.nan, np.nan, len(values)))


def test_equal_values_have_an_interval_of_width_zero() -> None:
    assert mean_interval([0.1] * 7) == (0.1, 0.1, 0.1, 7)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_an_error(bad: float) -> None:
    for call in (
        lambda: mean_interval([1.0, bad]),
        lambda: mean_band([[1.0, bad]]),
        lambda: paired_difference([1.0, bad], [1.0, 2.0]),
        lambda: standard_deviation([1.0, bad]),
        lambda: bootstrap(lambda a: a.mean(axis=1), [1.0, bad]),
    ):
        with pytest.raises(BenchError, match=r"finite numbers.*position.*1"):
            call()


def test_shapes_are_checked() -> None:
    with pytest.raises(BenchError, match="one number per repetition"):
        mean_interval([[1.0]])
    with pytest.raises(BenchError, match="repetitions, rounds"):
        mean_band([1.0])
    with pytest.raises(BenchError, match="same repetitions"):
        paired_differences([1.0], [1.0, 2.0])
    with pytest.raises(BenchError, match="lengths: 1, 2"):
        bootstrap(lambda a, b: a.mean(axis=1), [1.0], [1.0, 2.0])
    with pytest.raises(BenchError, match="lengths: none"):
        bootstrap(lambda: 0.0)


def test_band_is_the_interval_of_each_column() -> None:
    curves = np.random.default_rng(4).normal(size=(12, 450)).cumsum(axis=1)
    mean, low, high = mean_band(curves)
    for column in (0, 200, 449):
        assert (mean[column], low[column], high[column], 12) == mean_interval(curves[:, column])


def test_pairing_narrows_the_interval_when_repetitions_share_their_noise() -> None:
    rng = np.random.default_rng(5)
    shared, own = rng.normal(0, 50, size=20), rng.normal(0, 1, size=(2, 20))
    left, right = 100 + shared + own[0], 102 + shared + own[1]
    paired = paired_difference(left, right)
    shuffled = paired_difference(left, rng.permutation(right))
    assert paired.estimate == pytest.approx(shuffled.estimate)
    assert paired.high < 0
    assert shuffled.low < 0 < shuffled.high
    assert shuffled.high - shuffled.low > 10 * (paired.high - paired.low)


def test_paired_differences() -> None:
    np.testing.assert_array_equal(paired_differences([3, 5], [1, 10]), [2, -5])


def test_standard_deviation_has_divisor_n_minus_1() -> None:
    assert standard_deviation([1.0, 3.0]) == pytest.approx(np.sqrt(2))
    assert np.isnan(standard_deviation([1.0]))


def test_bootstrap_resamples_jointly() -> None:
    values = np.random.default_rng(6).normal(size=15)
    interval = bootstrap(lambda a, b: (a - b).mean(axis=1), values, values - 4.0)
    np.testing.assert_allclose(interval, (4.0, 4.0, 4.0, 15))


def test_bootstrap_of_the_mean_is_mean_interval() -> None:
    values = np.random.default_rng(7).normal(size=25)
    np.testing.assert_allclose(bootstrap(lambda a: a.mean(axis=1), values), mean_interval(values), rtol=1e-10)


@pytest.mark.parametrize("block", [7, 500, 20_000])
def test_intervals_do_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    values = np.random.default_rng(8).normal(size=(9, 4))
    whole = bootstrap(lambda a: a.mean(axis=1).min(axis=1), values), *mean_band(values)
    monkeypatch.setattr("bench.stats._BLOCK", block)
    parts = bootstrap(lambda a: a.mean(axis=1).min(axis=1), values), *mean_band(values)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


def test_statistic_undefined_in_few_resamples_still_has_an_interval() -> None:
    def relative(a: np.ndarray) -> np.ndarray:
        return np.mean(a, axis=1) / np.std(a, axis=1)

    assert np.isfinite(bootstrap(relative, [1.0, 2.0, 3.0, 4.0, 5.0]).low)  # all alike in 1 of 625 resamples
    assert np.isnan(bootstrap(relative, [1.0, 2.0, 3.0]).low)  # ... in 1 of 9
