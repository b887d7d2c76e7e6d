"""Laplace-TS against plain numpy, and its two ways to the posterior's mean against general minimisers."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import expit

from bench.algorithms.contextual import BanditInfo
from bench.algorithms.kernels import best_linear
from bench.algorithms.laplace_ts import LaplaceTS
from bench.seeding import Seeds

DIM = 6
ARMS = 9
INFO = BanditInfo(dim=DIM, n_arms=ARMS, rounds=1000, sub_gaussian=0.5, feature_norm=1.0)
SEEDS = Seeds(3).child("algorithm")


def started(**settings):
    algorithm = LaplaceTS(**settings)
    algorithm.start(INFO, SEEDS)
    return algorithm


def contexts_of(rng, scale=0.4):
    return rng.uniform(-scale, scale, (DIM, ARMS)).T


def in_state(rng, precision, **settings):
    """Return an algorithm in the middle of a run, with precisions around ``precision``."""
    algorithm = started(**settings)
    algorithm.mean[:] = rng.uniform(-0.5, 0.5, DIM)
    algorithm.precision[:] = precision * rng.uniform(0.95, 1.05, DIM)
    return algorithm


def exact(x, label, mean, precision):
    """Solve for the scalar c in w = m + label c x / q."""

    def gradient(c):
        return c - 1 / (1 + math.exp(label * x @ mean + c * (x**2 / precision).sum()))

    return mean + label * brentq(gradient, 0, 1, xtol=1e-15) * x / precision


def descent(x, label, mean, precision, step, start, first_halving=100):
    w = start.copy()
    for iteration in range(1000):
        if iteration in range(first_halving, 1000, 100):
            step /= 2
        gradient = precision * (w - mean) - label * x * expit(-label * x @ w)
        if np.linalg.norm(gradient) <= 1e-4:
            break
        w = w - step * gradient
    return w


@pytest.mark.parametrize("reward", [0.0, 1.0])
@pytest.mark.parametrize("scale", [0.0, 0.3, 30.0])
def test_exact_solver_finds_the_minimum(reward, scale):
    rng = np.random.default_rng(1)
    algorithm = in_state(rng, 3.0, solver="exact")
    mean, precision, label = algorithm.mean.copy(), algorithm.precision.copy(), 2 * reward - 1
    contexts = contexts_of(rng, scale)
    x = contexts[4]
    algorithm.update(contexts, 4, reward)
    np.testing.assert_allclose(algorithm.mean, exact(x, label, mean, precision), atol=1e-12)

    def objective(w):
        return 0.5 * (precision * (w - mean) ** 2).sum() + np.logaddexp(0, -label * x @ w)

    general = minimize(objective, mean, method="BFGS", options={"gtol": 1e-8}).x
    np.testing.assert_allclose(algorithm.mean, general, atol=1e-5)
    p = 1 / (1 + math.exp(-(x @ algorithm.mean)))
    np.testing.assert_allclose(algorithm.precision, precision + p * (1 - p) * x**2, rtol=1e-12)


@pytest.mark.parametrize("first_halving", [0, 100])
@pytest.mark.parametrize("step", [0.1, 1.0, 1.7])
def test_descent_is_the_stated_one(step, first_halving):
    rng = np.random.default_rng(2)
    algorithm = in_state(rng, 1.0, first_halving=first_halving)
    draws = SEEDS.generator("descent")
    for _ in range(30):
        contexts = contexts_of(rng)
        arm, reward = int(rng.integers(ARMS)), float(rng.integers(2))
        mean, precision = algorithm.mean.copy(), algorithm.precision.copy()
        start = mean + draws.uniform(-1, 1, DIM)
        w = descent(contexts[arm], 2 * reward - 1, mean, precision, step, start, first_halving)
        p = 1 / (1 + np.exp(-contexts[arm] @ w))
        algorithm.choose(contexts, {"step_size": step})
        algorithm.update(contexts, arm, reward)
        np.testing.assert_allclose(algorithm.mean, w, atol=1e-12)
        np.testing.assert_allclose(algorithm.precision, precision + p * (1 - p) * contexts[arm] ** 2, rtol=1e-12)


def test_descent_diverges_for_large_steps_and_stays_finite():
    rng = np.random.default_rng(5)
    contexts = contexts_of(rng)
    far = in_state(rng, 10.0)
    far.choose(contexts, {"step_size": 1.0})
    far.update(contexts, 0, 1.0)
    assert np.linalg.norm(far.mean) > 1e10

    overflowing = in_state(rng, 100.0)
    mean, precision = overflowing.mean.copy(), overflowing.precision.copy()
    overflowing.choose(contexts, {"step_size": 5.0})
    overflowing.update(contexts, 0, 1.0)
    np.testing.assert_array_equal(overflowing.mean, mean)
    np.testing.assert_array_equal(overflowing.precision, precision)


def test_draws_from_the_posterior():
    rng = np.random.default_rng(6)
    algorithm = in_state(rng, 4.0)
    draws = SEEDS.generator("posterior")
    for _ in range(50):
        contexts = contexts_of(rng)
        theta = algorithm.mean + draws.standard_normal(DIM) / np.sqrt(algorithm.precision)
        assert algorithm.choose(contexts, {"step_size": 1.0}) == np.argmax(contexts @ theta)


def test_the_theoretical_step_size_is_1_in_any_round():
    algorithm = started()
    assert algorithm.theory(1) == algorithm.theory(9999) == {"step_size": 1.0}


def test_of_equal_arms_the_first_is_the_best():
    contexts = np.array([[1.0, 0.0], [1.0, 0.0], [0.5, 2.0], [2.0, -1.0]])
    assert [best_linear(contexts, np.array(theta)) for theta in ([0.0, 0.0], [0.0, 1.0], [1.0, 1.0])] == [0, 2, 2]
    assert best_linear(contexts[:3], np.array([1.0, 0.0])) == 0
