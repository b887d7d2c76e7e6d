"""Functions whose peak jumps: their formulas by optimisation and integration, and the assumptions of theory."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import kstest

from bench.envs.moving_peak import NewPeak, PiecewiseLipschitz, SwitchingSine, SwitchingTriangle
from bench.errors import ConfigError
from bench.seeding import Seeds


def started(make, rounds, seed=1, **settings):
    environment = make(**settings)
    environment.start(rounds, Seeds(seed))
    return environment


def at(environment, x):
    """Play ``x`` and return its expected reward."""
    environment.play({"x": x})
    return environment.mean


SWITCHING = {"changes": [10, 20, 30], "of_rounds": 40}


@pytest.mark.parametrize(
    ("make", "settings", "value", "slope"),
    [
        (SwitchingSine, {}, 2 / (3 * np.pi), 1.0),
        (SwitchingTriangle, {}, 0.9, 0.95),
        (PiecewiseLipschitz, {"changes": 3}, 0.9, 1.0),
        (PiecewiseLipschitz, {"changes": 3, "height": 0.3}, 0.3, 1.0),
    ],
)
def test_the_peak_is_the_best_the_slope_is_the_stated_one_and_the_average_is_the_integral(make, settings, value, slope):
    """Of every piece, from its expected rewards alone; the sine of the cdt paper has slope 1, peak 2 / (3 pi)."""
    settings = SWITCHING | settings if make is not PiecewiseLipschitz else settings
    environment, peaks, played = started(make, 40_000, **settings), set(), 0

    def mean(x):
        nonlocal played
        played += 1
        return at(environment, x)

    for end in (*environment.change_points, 40_000):
        grid = np.linspace(0, 1, 401)
        means = np.array([mean(x) for x in grid.tolist()])
        near = grid[means.argmax()]
        best = minimize_scalar(lambda x: -mean(x), bounds=(max(near - 0.01, 0), min(near + 0.01, 1))).x
        assert mean(best) == pytest.approx(environment.best_mean, abs=1e-5)
        assert best == pytest.approx(environment.peak, abs=1e-4)
        assert environment.best_mean == pytest.approx(value, abs=1e-12)
        assert environment.average_mean == pytest.approx(quad(mean, 0, 1, points=[best], limit=200)[0], abs=1e-6)
        slopes = np.abs(np.diff(means)) * 400
        assert slope * 0.99 < slopes.max() <= slope + 1e-9
        peaks.add(environment.peak)
        assert played < end
        while played < end:
            mean(0.5)
    assert len(peaks) == 4


def test_the_sine_by_hand():
    """Peak 0.45: at 0.05 the argument is 3 pi / 2 (-0.4 + 1/3) = -0.1 pi; it is odd around there."""
    environment = started(SwitchingSine, 100, peaks=[0.45, 0.7, 0.95, 0.05], peak_order="given", noise_std=0.0)
    assert environment.play({"x": 0.05}) == at(environment, 0.05)
    assert at(environment, 0.05) == pytest.approx(-np.sin(0.1 * np.pi) * 2 / (3 * np.pi), rel=1e-12)
    assert at(environment, 0.45 - 1 / 3) == pytest.approx(0, abs=1e-15)
    assert environment.space.parameters[0].candidates == pytest.approx(np.linspace(0, 1, 11))


@pytest.mark.parametrize("make", [SwitchingSine, SwitchingTriangle, PiecewiseLipschitz])
def test_means_change_at_the_change_points_only(make):
    environment = started(make, 90_000)
    means = np.array([at(environment, 0.5) for _ in range(90_000)])
    assert (1 + np.flatnonzero(np.diff(means))).tolist() == list(environment.change_points)
    assert len(environment.change_points) == (10 if make is PiecewiseLipschitz else 3)
    if make is not PiecewiseLipschitz:
        assert environment.change_points == (22761, 47734, 70317)
        assert started(make, 900).change_points == (228, 477, 703)


@pytest.mark.parametrize("make", [SwitchingSine, SwitchingTriangle])
def test_noise_is_normal_and_peaks_are_drawn_or_given(make):
    environment = started(make, 5_000)
    noise = [environment.play({"x": 0.2}) - environment.mean for _ in range(1_000)]
    assert kstest(noise, "norm", (0, np.sqrt(0.1))).pvalue > 1e-3
    for order in ("given", "drawn"):
        peaks = set()
        for repetition in range(6):
            environment = make(peaks=[0.95, 0.7, 0.05, 0.45], peak_order=order, **SWITCHING)
            environment.start(40, Seeds(0, repetition))
            peaks.add(tuple(environment.play({"x": 0.5}) and environment.peak for _ in range(40))[::10])
        assert peaks == {(0.95, 0.7, 0.05, 0.45)} if order == "given" else len(peaks) > 1
    with pytest.raises(ConfigError, match=r"^env\.changes: found .* expected increasing rounds, fewer than"):
        started(make, 100, changes=[5, 4])
    with pytest.raises(ConfigError, match=r"^env\.changes: found .* with 2 peaks"):
        started(make, 100, changes=[5, 9], peaks=[0.1, 0.2])


def test_runs_of_all_lengths_change_at_the_same_shares_to_the_same_functions():
    short, long = started(PiecewiseLipschitz, 1_000), started(PiecewiseLipschitz, 1_000_000)
    shares = np.array(short.change_points) / 1000, np.array(long.change_points) / 1_000_000
    np.testing.assert_allclose(*shares, atol=2e-3)
    assert at(short, 0.5) == at(long, 0.5)
    seeds = [started(PiecewiseLipschitz, 10_000, seed=seed).change_points for seed in range(300)]
    assert kstest(np.concatenate(seeds) / 10_000, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("rounds", [1, 2, 3, 12])
def test_short_runs_have_fewer_changes(rounds):
    environment = started(PiecewiseLipschitz, rounds)
    points = environment.change_points
    assert all(1 <= point < rounds for point in points)
    assert len(set(points)) == len(points)
    for _ in range(rounds + 5):
        at(environment, 0.1)
    assert started(PiecewiseLipschitz, rounds, changes=0).change_points == ()


def test_rewards_are_bernoulli_and_shared_by_all_arms():
    """A round's noise is the same for every arm, so an arm with a higher mean never earns less."""
    left, right = (started(PiecewiseLipschitz, 5000, changes=0) for _ in range(2))
    rewards = np.array([(left.play({"x": 0.2}), right.play({"x": 0.8})) for _ in range(5000)])
    assert set(np.unique(rewards)) == {0.0, 1.0}
    assert np.abs(rewards.mean(axis=0) - [left.mean, right.mean]).max() < 4 * 0.5 / np.sqrt(5000)
    better = int(right.mean > left.mean)
    assert (rewards[:, better] >= rewards[:, 1 - better]).all()


@pytest.mark.parametrize(("make", "dimension"), [(SwitchingTriangle, 0.0), (SwitchingSine, 0.5)])
def test_zooming_dimensions_are_those_of_appendix_c(make, dimension):
    """The number of balls of radius r / 3 that cover {r / 2 < badness <= r} grows as r^-dimension, by counting."""
    environment = started(make, 10**6, changes=[999_999], peaks=[0.45, 0.7], peak_order="given")
    places = np.linspace(0.0, 1.0, 100_001)
    values = np.array([at(environment, x) for x in places.tolist()])
    badness = environment.best_mean - values
    radii = 2.0 ** -np.arange(8, 15)
    numbers = [len(np.unique(places[(badness > r / 2) & (badness <= r)] // (2 * r / 3))) for r in radii]
    assert np.polyfit(-np.log(radii), np.log(numbers), 1)[0] == pytest.approx(dimension, abs=0.06)


def test_a_new_peak_is_the_best_from_then_on_and_leaves_the_old_one_unchanged():
    environment = started(NewPeak, 8_000, after=0.25)
    assert environment.change_points == (2_000,)
    for end, best, value in ((2_000, 0.23, 0.5), (8_000, 0.77, 0.9)):
        grid = np.linspace(0, 1, 1_001)
        means = np.array([at(environment, x) for x in grid.tolist()])
        assert grid[means.argmax()] == pytest.approx(best)
        assert environment.best_mean == means.max() == pytest.approx(value)
        points = [0.23, 0.77, 0.57, 0.97]
        integral = quad(lambda x: at(environment, x), 0, 1, points=points, limit=200)[0]
        assert environment.average_mean == pytest.approx(integral, abs=1e-6)
        assert at(environment, 0.23) == 0.5
        while environment._round < end:
            environment.play({"x": 0.5})
    assert started(NewPeak, 100, after=1.0).change_points == ()
