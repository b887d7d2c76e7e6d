"""GLOC against plain numpy, its projection against general convex solvers; the code's descent against its limits."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit as sigmoid

from bench.algorithms.contextual import BanditInfo
from bench.algorithms.gloc import GLOC, GLOCCode, descend, project
from bench.seeding import Seeds

DIM = 5
ARMS = 8
INFO = BanditInfo(dim=DIM, n_arms=ARMS, rounds=1000, sub_gaussian=0.5, feature_norm=2.0)


def project_by_eigenvalues(matrix, radius, point):
    if np.linalg.norm(point) <= radius:
        return point
    values, vectors = np.linalg.eigh(matrix)
    turned = values * (vectors.T @ point)

    def excess(nu):
        return np.linalg.norm(turned / (values + nu)) - radius

    nu = brentq(excess, 0, np.linalg.norm(turned) / radius, xtol=1e-14, rtol=1e-14, maxiter=1000)
    return vectors @ (turned / (values + nu))


def descend_in_numpy(matrix, radius, point):
    """Return the last point of the descent that `GLOCCode` describes."""
    if np.linalg.norm(point) <= radius:
        return point
    theta = np.zeros_like(point)
    for number in range(1000):
        gradient = 2 * matrix @ (theta - point)
        if np.linalg.norm(gradient) <= 1e-4:
            break
        theta = theta - 0.5 ** (1 + number // 100) * gradient
        theta = theta * min(1.0, radius / np.linalg.norm(theta))
    return theta


def random_case(rng, points, length):
    rows = rng.normal(size=(points, DIM)) * np.array([3.0, 1.0, 0.3, 0.1, 0.01])
    point = rng.normal(size=DIM)
    return rows.T @ rows, length * point / np.linalg.norm(point)


@pytest.mark.parametrize("length", [0.5, 1.0, 1.0001, 1.5, 20.0, 1e6])
@pytest.mark.parametrize("radius", [0.1, 1.0])
def test_projection_is_exact(length, radius):
    rng = np.random.default_rng(1)
    for points in (0, 3, 50, 3000):
        gram, point = random_case(rng, points, length * radius)
        theta = point.copy()
        project(gram, 0.7, radius, theta)
        np.testing.assert_allclose(theta, project_by_eigenvalues(gram + 0.7 * np.eye(DIM), radius, point), atol=1e-12)
        assert np.linalg.norm(theta) <= radius * (1 + 1e-15)
        if length < 1:
            np.testing.assert_array_equal(theta, point)


def test_descent_with_short_steps_reaches_the_projection():
    """At most 1/2 is half the inverse of an eigenvalue of at most 1."""
    rng = np.random.default_rng(5)
    for length in (0.8, 1.2, 3.0):
        gram, point = random_case(rng, 4, length)
        gram *= 0.7 / np.linalg.eigvalsh(gram).max()
        exact, theta = point.copy(), point.copy()
        project(gram, 0.3, 1.0, exact)
        descend(gram, 0.3, 1.0, theta)
        np.testing.assert_allclose(theta, exact, atol=1e-3)


def plain_run(recorded, kappas, rates, after, ridge, radius, projected):
    """Return arms, theta and theta_hat of GLOC written with whole matrices, and the sum in the bound of the regret."""
    gram, moment = ridge * np.eye(DIM), np.zeros(DIM)
    theta, theta_hat, total, arms = np.zeros(DIM), np.zeros(DIM), 0.0, []
    for (contexts, uniform), kappa, rate in zip(recorded, kappas, rates, strict=True):
        inverse = np.linalg.inv(gram)
        width = np.sqrt(np.einsum("ki,ij,kj->k", contexts, inverse, contexts))
        arm = int(np.argmax(contexts @ theta_hat + rate * width))
        x, reward = contexts[arm], reward_of(contexts, arm, uniform)
        gram += np.outer(x, x)
        before = x @ theta
        slope = sigmoid(before) - reward
        total += slope**2 * x @ np.linalg.solve(gram, x)
        theta = projected(gram, radius, theta - slope / kappa * np.linalg.solve(gram, x))
        moment += (x @ theta if after else before) * x
        theta_hat = np.linalg.solve(gram, moment)
        arms.append(arm)
    return arms, theta, theta_hat, total


def reward_of(contexts, arm, uniform):
    return float(uniform < sigmoid(contexts[arm] @ np.linspace(-0.6, 0.6, DIM)))


def record(rounds):
    rng = np.random.default_rng(3)
    return [(rng.uniform(-0.8, 0.8, (DIM, ARMS)).T, rng.random()) for _ in range(rounds)]


def drive(algorithm, recorded, kappas, rates):
    algorithm.start(INFO, Seeds(1).child("algorithm"))
    arms = []
    for (contexts, uniform), kappa, rate in zip(recorded, kappas, rates, strict=True):
        arm = algorithm.choose(contexts, {"exploration_rate": rate, "kappa": kappa})
        algorithm.update(contexts, arm, reward_of(contexts, arm, uniform))
        arms.append(arm)
    return arms


CASES = [(GLOC, prediction, ridge, 1.0, 1.0) for prediction in ("before", "after") for ridge in (1.0, 0.3)]
CASES += [(GLOCCode, prediction, 1.0, 0.1, 5.0) for prediction in ("before", "after")]
"""The code with long features, for which the descent does not converge, in a ball that is often left."""


@pytest.mark.parametrize(("cls", "prediction", "ridge", "radius", "scale"), CASES)
def test_run_in_plain_numpy(cls, prediction, ridge, radius, scale):
    rounds = 250
    rng = np.random.default_rng(4)
    kappas, rates = rng.uniform(0.1, 2.0, rounds), rng.uniform(0.0, 2.0, rounds)
    recorded = [(scale * contexts, uniform) for contexts, uniform in record(rounds)]
    settings = {"prediction": prediction, "ridge": ridge, "theta_norm": radius}
    algorithm = cls(**settings)
    projected = project_by_eigenvalues if cls is GLOC else descend_in_numpy
    arms, theta, theta_hat, total = plain_run(recorded, kappas, rates, prediction == "after", ridge, radius, projected)
    assert drive(algorithm, recorded, kappas, rates) == arms
    assert len(set(arms)) > 3
    np.testing.assert_allclose(algorithm.theta, theta, atol=1e-9)
    np.testing.assert_allclose(algorithm.theta_hat, theta_hat, atol=1e-9)
    if cls is GLOCCode:
        assert drive(GLOC(**settings), recorded, kappas, rates) != arms
        return
    kappa, rate = by_hand(regret_sum=total, ridge=ridge, delta=0.05)
    assert algorithm.theory(rounds + 1) == pytest.approx({"exploration_rate": rate, "kappa": kappa}, rel=1e-9)


def by_hand(regret_sum=0.0, ridge=1.0, delta=0.05, s=1.0, length=1.0, kappa=None):
    """Return kappa and the exploration rate of Jun et al., theorems 1 and 3, with R = 1/2."""
    kappa = kappa or math.exp(-s * length) / (1 + math.exp(-s * length)) ** 2
    regret = regret_sum / (2 * kappa) + 2 * kappa * s**2 * ridge
    root = math.sqrt(1 + 2 / kappa * regret + 4 * 0.5**4 / (kappa**4 * delta**2))
    beta = 1 + 4 / kappa * regret + 8 * 0.5**2 / kappa**2 * math.log(2 / delta * root) + ridge * s**2
    return kappa, math.sqrt(beta)


@pytest.mark.parametrize(
    ("settings", "values", "kappa"),
    [
        ({"theta_norm": 2.0, "feature_norm": "largest", "delta": 0.1}, {"s": 2, "length": 2, "delta": 0.1}, 0.0176627),
        ({"theory_kappa": 0.1}, {"kappa": 0.1}, 0.1),
    ],
)
def test_theory_before_the_first_round(settings, values, kappa):
    algorithm = GLOC(**settings)
    algorithm.start(INFO, Seeds(1))
    expected = by_hand(**values)
    assert expected[0] == pytest.approx(kappa, abs=1e-7)
    assert algorithm.theory(1) == pytest.approx({"exploration_rate": expected[1], "kappa": expected[0]}, rel=1e-12)


def test_warm_up_is_learnt_with_the_theoretical_kappa():
    recorded = record(20)
    untouched, chosen = GLOC(), GLOC()
    untouched.start(INFO, Seeds(1))
    chosen.start(INFO, Seeds(1))
    for contexts, _ in recorded:
        untouched.update(contexts, 2, 1.0)
        chosen.choose(contexts, {"exploration_rate": 1.0, "kappa": 0.19661193324148185})
        chosen.update(contexts, 2, 1.0)
    np.testing.assert_allclose(untouched.theta, chosen.theta, rtol=1e-12)


def test_long_run_keeps_the_inverse_exact():
    algorithm = GLOC()
    recorded = record(6000)
    drive(algorithm, recorded, [0.2] * 6000, [1.0] * 6000)
    matrix = algorithm._gram + np.eye(DIM)
    np.testing.assert_allclose(algorithm._inverse @ matrix, np.eye(DIM), atol=1e-10)
    np.testing.assert_allclose(algorithm.theta_hat, np.linalg.solve(matrix, algorithm._moment), atol=1e-11)
