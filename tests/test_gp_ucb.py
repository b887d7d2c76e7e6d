"""The Gaussian process against scikit-learn, and the choices of GP-UCB."""

import math

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from tuning import LINE, SQUARE, play

from bench.seeding import Seeds
from bench.tuners.base import Problem
from bench.tuners.gaussian_process import GaussianProcess, log_marginal_likelihood
from bench.tuners.gp_ucb import GPUCB

COVARIANCES = ["squared_exponential", "matern"]


def reference(covariance, parameters, optimizer=None, **settings):
    """Return scikit-learn's process with the same parameters, and bounds where it is to fit them."""
    signal, *lengths, noise = np.exp(parameters)
    bounds = (1e-2, 1e1)
    stationary = RBF(lengths, bounds) if covariance == "squared_exponential" else Matern(lengths, bounds, nu=2.5)
    kernel = ConstantKernel(signal, (1e-3, 1e2)) * stationary + WhiteKernel(noise, (1e-6, 1e1))
    return GaussianProcessRegressor(kernel, alpha=0.0, optimizer=optimizer, **settings)


def data(n, dim, seed, noise=0.3):
    rng = np.random.default_rng(seed)
    points = rng.random((40, dim))
    indices = rng.integers(40, size=n)
    values = 5 + 2 * np.sin(5 * points[indices].sum(axis=1)) + noise * rng.standard_normal(n)
    return points, indices, values


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_posterior_is_that_of_scikit_learn(covariance, dim):
    points, indices, values = data(120, dim, 1)
    process = GaussianProcess(points, covariance)
    process.parameters = np.log([0.8, *[0.2, 0.5, 1.5][:dim], 0.05])
    process._reset()
    for n, (index, value) in enumerate(zip(indices, values, strict=True), start=1):
        process.observe(index, value)
        if n in (2, 17, 120):
            mean, deviation = process.posterior()
            other = reference(covariance, process.parameters, normalize_y=True)
            other.fit(points[indices[:n]], values[:n])
            expected, with_noise = other.predict(points, return_std=True)
            scale = values[:n].std()
            np.testing.assert_allclose(mean, expected, atol=1e-8)
            np.testing.assert_allclose(deviation, np.sqrt(with_noise**2 - 0.05 * scale**2), atol=1e-8)


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_marginal_likelihood_and_gradient_are_those_of_scikit_learn(covariance, dim):
    points, indices, values = data(60, dim, 2)
    x, targets = points[indices], (values - values.mean()) / values.std()
    gaps = (x[:, None] - x[None]) ** 2
    for parameters in (np.log([1.0, *[0.3] * dim, 0.1]), np.log([0.1, *[0.05, 2.0, 0.7][:dim], 2.0])):
        other = reference(covariance, parameters).fit(x, targets)
        expected, gradient = other.log_marginal_likelihood(other.kernel_.theta, eval_gradient=True)
        value, own = log_marginal_likelihood(covariance, parameters, gaps, targets)
        assert value == pytest.approx(expected, rel=1e-10)
        np.testing.assert_allclose(own, gradient, rtol=1e-7, atol=1e-8)


@pytest.mark.filterwarnings("ignore:The optimal value found for dimension")  # of scikit-learn, where there is no noise
@pytest.mark.parametrize("noise", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_fit_is_as_likely_as_that_of_scikit_learn(covariance, dim, noise):
    points, indices, values = data(50, dim, 3, noise)
    process = GaussianProcess(points, covariance)
    start = process.parameters
    for index, value in zip(indices, values, strict=True):
        process.observe(index, value)
    process.fit()
    x, targets = points[indices], (values - values.mean()) / values.std()
    own, _ = log_marginal_likelihood(covariance, process.parameters, (x[:, None] - x[None]) ** 2, targets)
    other = reference(covariance, start, optimizer="fmin_l_bfgs_b").fit(x, targets)
    assert own >= other.log_marginal_likelihood_value_ - 1e-3
    # The posterior is made anew with the parameters found.
    expected = reference(covariance, process.parameters, normalize_y=True).fit(x, values).predict(points)
    np.testing.assert_allclose(process.posterior()[0], expected, atol=1e-5)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_asks_are_the_largest_upper_confidence_bounds(covariance):
    grid = np.linspace(0, 1, 2_000)  # fine enough for a wrong beta to show
    tuner = GPUCB(covariance=covariance, n_points=2_000, delta=0.2, beta_scale=0.7, train_share=1.0)
    tuner.start(Problem(LINE, 10), Seeds(5))
    xs, rewards = [], []
    for t in range(1, 11):
        x = tuner.ask()["x"]
        if t >= 3:
            other = reference(covariance, np.log([1.0, 0.25, 0.1]), normalize_y=True)
            other.fit(np.array(xs)[:, None], rewards)
            mean, with_noise = other.predict(grid[:, None], return_std=True)
            deviation = np.sqrt(with_noise**2 - 0.1 * np.var(rewards))
            beta = 0.7 * 2 * math.log(2_000 * t**2 * math.pi**2 / (6 * 0.2))
            bound = mean + math.sqrt(beta) * deviation
            assert bound[np.abs(grid - x).argmin()] == pytest.approx(bound.max(), abs=1e-9)
        xs.append(x)
        rewards.append(math.sin(7 * x) + 0.1 * t)
        tuner.tell(rewards[-1])


def test_unit_of_the_rewards_does_not_matter():
    """A power of two changes no digit, so the asks are the same to the last one."""
    noise = np.random.default_rng(2).standard_normal(300)
    first, second = (
        play(GPUCB(train_share=0.5), lambda c, t, unit=unit: unit * (c["x"] + noise[t]), 200)
        for unit in (1.0, 2.0**-30)
    )
    assert first == second


def test_points_of_several_hyper_parameters_fill_the_cube_evenly():
    tuner = GPUCB(n_points=1_000)
    tuner.start(Problem(SQUARE, 10), Seeds(1))
    counts, *_ = np.histogram2d(*tuner._points.T, bins=5, range=[[0, 1], [0, 1]])
    assert counts.sum() == 1_000
    assert np.abs(counts - 40).max() <= 6  # independent uniform points: deviation 6.2
    first = tuner._points
    tuner.start(Problem(SQUARE, 10), Seeds(2))
    assert not np.array_equal(first, tuner._points)
