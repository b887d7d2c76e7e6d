"""GP-UCB with a window and with weights, against regression on single rewards."""

import math

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from tuning import LINE

from bench.seeding import Seeds
from bench.tuners.base import Problem
from bench.tuners.space_points import points
from bench.tuners.weighted_gp import SlidingWindowGPUCB, WeightedGPUCB, WeightedRegression

NOISE = 0.2
CONFIGURATIONS, CORRELATIONS = points(LINE, 20, 0.4, np.random.default_rng(0))


def direct(prior, indices, rewards, weights):
    """Return mean, deviation and information from one system of equations for all rewards, in units of the noise.

    In the space of functions: V = K^-1 + sum of w e e', M with w^2, deviation of V^-1 (K^-1 + M) V^-1.
    """
    of_rewards = prior[np.ix_(indices, indices)] + np.diag(1 / weights)
    to_points = prior[:, indices]
    by_ones = np.linalg.solve(of_rewards, np.ones(len(indices)))
    level = by_ones @ rewards / by_ones.sum()
    gains = np.linalg.solve(of_rewards, to_points.T).T  # (points, rewards): V^-1 times w e
    mean = level + gains @ (rewards - level)
    # V^-1 K^-1 = 1 - sum of gains at the points of the rewards; noise of variance 1 enters by the gains.
    shrunk = np.eye(len(prior))
    for column, index in enumerate(indices):
        shrunk[:, index] -= gains[:, column]
    variance = np.einsum("ij,jk,ik->i", shrunk, prior, shrunk) + np.sum(gains**2, axis=1)
    doubled = prior[np.ix_(indices, indices)] * np.outer(weights, weights)
    return mean, np.sqrt(variance), 0.5 * np.linalg.slogdet(np.eye(len(indices)) + doubled)[1]


def play(tuner, rounds, check):
    tuner.start(Problem(LINE, rounds, noise_std=NOISE), Seeds(4))
    indices, rewards = [], []
    for t in range(rounds):
        asked = CONFIGURATIONS.index(tuner.ask())
        if t:
            check(np.array(indices), np.array(rewards), asked)
        indices.append(asked)
        rewards.append(3 - abs(asked - (4 if t < rounds / 2 else 15)) / 20 + NOISE * math.sin(12.9898 * t))
        tuner.tell(rewards[-1])
    return indices


@pytest.mark.parametrize("discount", [0.8, 0.99, 1.0])
def test_regression_by_point_is_that_of_single_rewards(discount):
    rng = np.random.default_rng(1)
    indices, rewards = rng.integers(len(CORRELATIONS), size=150), 5 + rng.standard_normal(150)
    weights = discount ** np.arange(150)[::-1]
    n = len(CORRELATIONS)
    by_point = [np.bincount(indices, of, minlength=n) for of in (weights, weights**2, weights * rewards)]
    found = WeightedRegression(CORRELATIONS).posterior(*by_point)
    for one, other in zip(found, direct(CORRELATIONS, indices, rewards, weights), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7, rtol=0)


def test_without_weights_it_is_the_posterior_of_scikit_learn():
    """With the level taken off, as scikit-learn has none."""
    rng = np.random.default_rng(2)
    indices, rewards = rng.integers(20, size=60), rng.standard_normal(60)
    counts, sums = np.bincount(indices, minlength=20).astype(float), np.bincount(indices, rewards, minlength=20)
    mean, deviation, _ = WeightedRegression(CORRELATIONS).posterior(counts, counts, sums)
    level = direct(CORRELATIONS, indices, rewards, np.ones(60))[0][0] - mean[0]
    assert level == pytest.approx(0, abs=1e-7)
    from sklearn.gaussian_process.kernels import Matern

    x = np.linspace(0, 1, 20)[:, None]
    process = GaussianProcessRegressor(Matern(0.4, nu=1.5), alpha=1.0, optimizer=None).fit(x[indices], rewards)
    np.testing.assert_allclose(deviation, process.predict(x, return_std=True)[1], atol=1e-7)


def assert_largest(asked, mean, deviation, gained, delta=0.1, norm=1.0):
    bound = mean + (norm + math.sqrt(2 * (gained - math.log(delta)))) * NOISE * deviation
    assert bound[asked] == pytest.approx(bound.max(), abs=1e-7)


def test_sliding_window_gp_ucb_asks_for_the_largest_bound():
    prior = CORRELATIONS / (1 + 2 / 130)

    def check(indices, rewards, asked):
        latest = slice(max(0, len(indices) - 30), None)
        found = direct(prior, indices[latest], rewards[latest], np.ones(len(indices[latest])))
        assert_largest(asked, *found, delta=0.05, norm=2.0)

    assert len(set(play(SlidingWindowGPUCB(window=30, delta=0.05, norm=2.0), 130, check))) > 3


def test_weighted_gp_ucb_asks_for_the_largest_bound():
    prior = CORRELATIONS / (1 + 2 / 130)

    def check(indices, rewards, asked):
        assert_largest(asked, *direct(prior, indices, rewards, 0.95 ** np.arange(len(indices))[::-1]))

    assert len(set(play(WeightedGPUCB(discount=0.95), 130, check))) > 3


def test_all_rewards_count_the_same_with_the_longest_window_and_no_discount():
    runs = [play(tuner, 80, lambda *_: None) for tuner in (SlidingWindowGPUCB(window=80), WeightedGPUCB(discount=1.0))]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("variation", [0.5, 4.0])
def test_memory_is_that_of_the_theory(variation):
    horizon = 5_000
    prior = CORRELATIONS / (1 + 2 / horizon)
    gained = 0.5 * np.linalg.slogdet(np.eye(20) + horizon / 20 * prior)[1]
    window = math.ceil(gained**0.25 * math.sqrt(horizon / variation))
    tuners = SlidingWindowGPUCB(variation=variation), WeightedGPUCB(variation=variation)
    for tuner in tuners:
        tuner.start(Problem(LINE, horizon), Seeds(1))
    assert tuners[0]._window == window
    assert tuners[1]._discount == pytest.approx(1 - 1 / window, abs=1e-12)
