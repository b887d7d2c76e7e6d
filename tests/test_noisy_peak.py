"""The hill with uneven noise: noise by its quantiles, peaks by their moves, averages by quadrature."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from bench.envs.noisy_peak import NoisyPeak
from bench.seeding import Seeds

ROUNDS = 30_000


def started(rounds=ROUNDS, seed=1, **settings):
    environment = NoisyPeak(**settings)
    environment.start(rounds, Seeds(seed))
    return environment


def noise(**settings):
    """Return the noise of all rounds in units of its standard deviation."""
    environment = started(noise_std=0.5, **settings)
    return np.array([environment.play({"x": 0.5}) - environment.mean for _ in range(ROUNDS)]) / 0.5


def peaks(motion, rounds=3_000, seed=1):
    environment = started(rounds, seed, motion=motion)
    found = []
    for _ in range(rounds):
        environment.play({"x": 0.5})
        found.append(environment.peak)
    return np.array(found), environment


def test_one_outlier_and_normal_noise_else():
    for after, place in ((0.2, ROUNDS // 5), (0.0, 0), (1.0, ROUNDS - 1)):
        found = noise(noise="outlier", outlier=500.0, outlier_after=after)
        assert np.flatnonzero(np.abs(found) > 10).tolist() == [place]
        assert abs(found[place]) == pytest.approx(500.0)
        assert stats.kstest(np.delete(found, place), "norm").pvalue > 0.001
    signs = {np.sign(started(10, seed, outlier_after=0.0, noise="outlier").play({"x": 0.5})) for seed in range(20)}
    assert signs == {-1.0, 1.0}


def test_student_noise_and_a_share_of_outliers_have_their_distributions():
    assert stats.kstest(noise(noise="student"), "t", args=(2,)).pvalue > 0.001

    def mixed(x):
        return 0.98 * stats.norm.cdf(x) + 0.02 * stats.norm.cdf(x / 25.0)

    found = noise(noise="outliers")
    assert stats.kstest(found, mixed).pvalue > 0.001
    assert np.mean(np.abs(found) > 10) == pytest.approx(0.02 * 2 * stats.norm.sf(10 / 25), rel=0.15)


def test_noise_is_ten_times_as_large_in_the_middle_third():
    thirds = noise(noise="changing").reshape(3, -1)
    for third, std in zip(thirds, (1.0, 10.0, 1.0), strict=True):
        assert stats.kstest(third / std, "norm").pvalue > 0.001


def test_the_noise_of_a_round_is_the_same_for_any_play():
    for kind in ("normal", "outlier", "outliers", "student", "changing"):
        left, right = (started(200, noise=kind) for _ in range(2))
        for _ in range(200):
            one, other = left.play({"x": 0.1}) - left.mean, right.play({"x": 0.8}) - right.mean
            assert one == pytest.approx(other, abs=1e-12)


def test_peaks_move_as_they_should():
    assert np.ptp(peaks("still")[0]) == 0.0
    jumping, environment = peaks("jumps")
    assert (np.flatnonzero(np.diff(jumping)) + 1).tolist() == list(environment.change_points)
    assert len(environment.change_points) == 3
    wandering = np.array([peaks("wanders", 10_000, seed)[0] for seed in range(8)])
    inside = (wandering > 0.05) & (wandering < 0.95)
    steps = np.diff(wandering)[inside[:, :-1]]
    assert steps.std() == pytest.approx(0.004, rel=0.03)
    assert stats.kstest(steps / 0.004, "norm").pvalue > 0.001
    assert 0.0 <= wandering.min() < 0.05
    assert 0.95 < wandering.max() <= 1.0
    swinging, _ = peaks("swings", 4_000)
    quarter = 1_000
    np.testing.assert_allclose((swinging[quarter:] - 0.5) ** 2 + (swinging[:-quarter] - 0.5) ** 2, 0.16)
    assert np.argmax(swinging) == (np.argmin(swinging) + 2_000) % 4_000
    starts = {round(peaks("swings", 10, seed)[0][0], 6) for seed in range(5)}
    assert len(starts) == 5


def test_the_best_and_the_average_are_those_of_the_hill():
    environment = started(motion="jumps")
    environment.play({"x": 0.3})
    assert environment.best_mean == 1.0
    assert environment.mean == pytest.approx(np.exp(-((0.3 - environment.peak) ** 2) / (2 * 0.15**2)))
    assert environment.average_mean == pytest.approx(quad(environment._value, 0.0, 1.0)[0], abs=1e-9)
