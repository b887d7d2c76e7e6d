"""Gaussian processes that forget, against the posterior over all observations at once."""

import math

import numpy as np
import pytest
from tuning import LINE, SQUARE

from bench.seeding import Seeds
from bench.space import Space
from bench.tuners.base import Problem
from bench.tuners.space_points import points
from bench.tuners.time_varying_gp import RGPUCB, TVGPUCB, KalmanFilter

NOISE = 0.2


def correlations_of(space, length=0.4, n=20):
    return points(space, n, length, np.random.default_rng(0))[1]


def direct(prior, eps, indices, rewards):
    """Return mean and variance, in units of the noise variance, of the next function, from one system of equations."""
    times = np.arange(len(indices))
    among = prior[np.ix_(indices, indices)] * (1 - eps) ** (np.abs(times[:, None] - times) / 2)
    to_next = prior[:, indices] * (1 - eps) ** ((len(indices) - times) / 2)
    of_rewards = among + np.eye(len(indices))
    solved = np.linalg.solve(of_rewards, to_next.T)
    by_ones = np.linalg.solve(of_rewards, np.ones(len(indices)))
    level = by_ones @ rewards / by_ones.sum()
    return level + (rewards - level) @ solved, np.diag(prior) - np.einsum("ij,ji->i", to_next, solved)


@pytest.mark.parametrize("space", [LINE, SQUARE], ids=["line", "square"])
@pytest.mark.parametrize("eps", [0.0, 0.001, 0.05, 0.7])
def test_the_filter_is_the_posterior_over_all_observations(space, eps):
    prior = 3.0 * correlations_of(space)
    rng = np.random.default_rng(3)
    indices, rewards = rng.integers(len(prior), size=300), 5 + rng.standard_normal(300)
    kalman = KalmanFilter(prior, eps)
    for n, (index, reward) in enumerate(zip(indices, rewards, strict=True), start=1):
        kalman.observe(index, reward)
        if n in (1, 2, 40, 300):
            mean, variance = kalman.posterior()
            expected, expected_variance = direct(prior, eps, indices[:n], rewards[:n])
            np.testing.assert_allclose(mean, expected, atol=1e-8, rtol=0)
            np.testing.assert_allclose(variance, expected_variance, atol=1e-8, rtol=0)


def test_squared_errors_are_those_of_generalised_least_squares():
    prior = 3.0 * correlations_of(LINE)
    rng = np.random.default_rng(5)
    indices, rewards = rng.integers(len(prior), size=200), 5 + rng.standard_normal(200)
    kalman = KalmanFilter(prior, 0.02)
    for index, reward in zip(indices, rewards, strict=True):
        kalman.observe(index, reward)
    times = np.arange(200)
    among = prior[np.ix_(indices, indices)] * 0.98 ** (np.abs(times[:, None] - times) / 2) + np.eye(200)
    by_ones = np.linalg.solve(among, np.ones(200))
    errors = rewards - by_ones @ rewards / by_ones.sum()
    assert kalman.squared_errors == pytest.approx(errors @ np.linalg.solve(among, errors), rel=1e-9)


@pytest.mark.parametrize("n", [2, 60])
@pytest.mark.parametrize("noise_variance", [0.7, None])
def test_the_likelihood_is_the_restricted_one_of_all_rewards(n, noise_variance):
    """Differences of filters, against the density of the rewards without their level: n - 1 contrasts."""
    rng = np.random.default_rng(6)
    indices, rewards = rng.integers(20, size=n), 5 + rng.standard_normal(n)
    contrasts = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, : n - 1]]))[0][:, 1:]
    times, found, expected = np.arange(n), [], []
    for signal, eps in [(3.0, 0.02), (0.3, 0.0), (30.0, 0.1)]:
        prior = signal * correlations_of(LINE)[:20, :20]
        kalman = KalmanFilter(prior, eps)
        for index, reward in zip(indices, rewards, strict=True):
            kalman.observe(index, reward)
        found.append(kalman.log_likelihood(noise_variance))
        among = prior[np.ix_(indices, indices)] * (1 - eps) ** (np.abs(times[:, None] - times) / 2) + np.eye(n)
        covariance, values = contrasts.T @ among @ contrasts, contrasts.T @ rewards
        square = values @ np.linalg.solve(covariance, values)
        variance = square / (n - 1) if noise_variance is None else noise_variance
        expected.append(-0.5 * (np.linalg.slogdet(covariance)[1] + (n - 1) * math.log(variance) + square / variance))
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-9, atol=1e-12)


def follow(tuner, rounds, reward, check, space=LINE):
    """Play; ``check`` receives all earlier points and rewards, and the present point."""
    tuner.start(Problem(space, rounds, noise_std=NOISE), Seeds(4))
    configurations = points(space, 20, 0.4, np.random.default_rng(0))[0]
    indices, rewards = [], []
    for t in range(rounds):
        asked = configurations.index(tuner.ask())
        check(np.array(indices, dtype=int), np.array(rewards), asked)
        indices.append(asked)
        rewards.append(reward(asked, t))
        tuner.tell(rewards[-1])
    return indices


def noisy_peak(asked, t):
    peak = 4 if t < 60 else 15
    return 1 - abs(asked - peak) / 20 + NOISE * math.sin(12.9898 * t)


@pytest.mark.parametrize("eps", [0.001, 0.05])
def test_tv_gp_ucb_asks_for_the_largest_bound(eps):
    prior = 3.0 * correlations_of(LINE)

    def check(indices, rewards, asked):
        if len(indices):
            mean, variance = direct(prior, eps, indices, rewards)
            bound = mean + math.sqrt(0.8 * math.log(4 * (len(indices) + 1))) * NOISE * np.sqrt(variance)
            assert bound[asked] == pytest.approx(bound.max(), abs=1e-8)

    indices = follow(TVGPUCB(eps=eps), 120, noisy_peak, check)
    assert len(set(indices)) > 3


def test_r_gp_ucb_asks_for_the_largest_bound_of_its_block():
    prior = 3.0 * correlations_of(LINE)
    firsts = []

    def check(indices, rewards, asked):
        begin = len(indices) // 50 * 50
        if len(indices) == begin:
            firsts.append(asked)
            return
        mean, variance = direct(prior, 0.0, indices[begin:], rewards[begin:])
        bound = mean + math.sqrt(0.8 * math.log(4 * (len(indices) + 1))) * NOISE * np.sqrt(variance)
        assert bound[asked] == pytest.approx(bound.max(), abs=1e-8)

    follow(RGPUCB(block=50), 120, noisy_peak, check)
    assert len(firsts) == 3
    assert len(set(firsts)) == 1


@pytest.mark.parametrize(("eps", "horizon", "block"), [(0.001, 10_000, 68), (0.001, 50, 50), (0.0, 700, 700)])
def test_blocks_of_r_gp_ucb(eps, horizon, block):
    tuner = RGPUCB(eps=eps)
    tuner.start(Problem(LINE, horizon), Seeds(1))
    assert tuner._block == block


def test_without_drift_a_block_of_all_rounds_is_the_same():
    asks = []
    for tuner in (TVGPUCB(eps=0.0), RGPUCB(block=100)):
        asks.append(follow(tuner, 100, noisy_peak, lambda *_: None))
    assert asks[0] == asks[1]


@pytest.mark.parametrize("noise", [0.05, 2.0])
def test_the_noise_is_estimated(noise):
    """From a function drawn from the process itself, with 4,000 rewards; the problem states a wrong value."""
    rng = np.random.default_rng(8)
    space = Space.of(x={"candidates": tuple(np.linspace(0, 1, 12).tolist()), "low": 0.0, "high": 1.0})
    configurations, correlations = points(space, 20, 0.4, np.random.default_rng(0))
    root = np.linalg.cholesky(3.0 * noise**2 * correlations + 1e-12 * np.eye(len(correlations)))
    eps, f = 0.01, root @ rng.standard_normal(len(correlations))
    tuner = TVGPUCB(eps=eps, noise="estimated")
    tuner.start(Problem(space, 4_000, noise_std=0.5), Seeds(2))
    for _ in range(4_000):
        tuner.tell(7.0 + f[configurations.index(tuner.ask())] + noise * rng.standard_normal())
        f = math.sqrt(1 - eps) * f + math.sqrt(eps) * root @ rng.standard_normal(len(correlations))
    assert tuner.noise_std == pytest.approx(noise, rel=0.05)


@pytest.mark.parametrize(("signal", "eps"), [(3.0, 0.01), (30.0, 0.0), (30.0, 0.1)])
def test_scale_and_drift_are_estimated(signal, eps):
    """From a function drawn from the process itself; signal, eps and noise are not told."""
    rng = np.random.default_rng(9)
    configurations, correlations = points(LINE, 20, 0.4, np.random.default_rng(0))
    root = np.linalg.cholesky(signal * correlations + 1e-12 * np.eye(len(correlations)))
    f = root @ rng.standard_normal(len(correlations))
    tuner = TVGPUCB(eps="estimated", signal="estimated", noise="estimated")
    tuner.start(Problem(LINE, 2_000, noise_std=0.1), Seeds(2))
    for _ in range(2_000):
        tuner.tell(7.0 + f[configurations.index(tuner.ask())] + rng.standard_normal())
        f = math.sqrt(1 - eps) * f + math.sqrt(eps) * root @ rng.standard_normal(len(correlations))
    found = tuner._filter
    assert found.eps == eps
    assert found.prior[0, 0] == pytest.approx(signal * correlations[0, 0])
    assert tuner.noise_std == pytest.approx(1.0, rel=0.1)


def test_unit_of_the_rewards_does_not_matter():
    """A power of two changes no digit, so the asks are the same to the last one."""
    asks = []
    for unit in (1.0, 2.0**-8):
        tuner = TVGPUCB(noise="estimated")
        asks.append(follow(tuner, 100, lambda asked, t, unit=unit: unit * noisy_peak(asked, t), lambda *_: None))
    # Before there are two rewards that differ the width does not matter either: all means are equal.
    assert asks[0] == asks[1]
