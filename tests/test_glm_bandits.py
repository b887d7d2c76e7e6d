"""UCB-GLM, GLM-TSL, and the online maximum-likelihood estimate and Hessian below them."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as SklearnRegression

from bench.algorithms.contextual import BanditInfo
from bench.algorithms.glm_tsl import GLMTSL
from bench.algorithms.logistic_regression import HESSIAN_TOLERANCE, LogisticRegression
from bench.algorithms.ucb_glm import UCBGLM
from bench.envs.synthetic_linear import SyntheticLinear
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.tasks.contextual_bandit import ContextualBandit

RIDGES = (1.0, 0.01, 0.3, 10.0, 0.001)


def sigmoid(z: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0.0, -z))


def reference_estimate(x: np.ndarray, y: np.ndarray, penalty: float) -> np.ndarray:
    """Newton's method with halved steps, far beyond the required precision."""

    def objective(theta: np.ndarray) -> float:
        return float(np.logaddexp(0.0, x @ theta).sum() - y @ (x @ theta) + penalty / 2 * theta @ theta)

    theta = np.zeros(x.shape[1])
    for _ in range(200):
        p = sigmoid(x @ theta)
        gradient = x.T @ (p - y) + penalty * theta
        step = np.linalg.solve((x.T * (p * (1 - p))) @ x + penalty * np.eye(x.shape[1]), -gradient)
        if np.abs(step).max() < 1e-8:  # what is left after it is of the order of its square
            return theta + step
        size = 1.0  # halved only where the decrease can be told from rounding
        while np.abs(step).max() > 1e-5 and objective(theta + size * step) > objective(theta):
            size /= 2
        theta = theta + size * step
    raise AssertionError("the reference did not converge")


def started(n_arms: int = 8, dim: int = 5, rounds: int = 1000, cls: Any = UCBGLM, **settings: Any) -> Any:
    algorithm = cls(**settings)
    algorithm.start(BanditInfo(dim, n_arms, rounds, sub_gaussian=0.5, feature_norm=1.0), Seeds(0))
    return algorithm


def played(algorithm: Any, rounds: int, ridges: tuple[float, ...], scale: float = 1.5, n_arms: int = 8) -> Any:
    """Let ``algorithm`` play; yield after each decision (x, y so far, contexts, ridge, arm)."""
    rng = np.random.default_rng(3)
    dim = algorithm.estimate.size
    theta = rng.normal(size=dim)
    memory = np.empty((dim, n_arms))
    x, y = np.empty((rounds, dim)), np.empty(rounds)
    for t, ridge in zip(range(rounds), itertools.cycle(ridges)):
        memory[:] = rng.uniform(-scale, scale, (dim, n_arms))
        arm = algorithm.choose(memory.T, {"exploration_rate": 0.7, "ridge": ridge})
        yield x[:t], y[:t], memory.T, ridge, arm
        x[t] = memory[:, arm]
        y[t] = float(rng.random() < sigmoid(x[t] @ theta))
        algorithm.update(memory.T, arm, y[t])
        memory[:] = np.nan  # the environment reuses the array: what is kept must be copied


@pytest.mark.parametrize("penalty", ["lambda", "code"])
@pytest.mark.parametrize("ridges", [(1.0,), (0.01,), RIDGES])
def test_estimate_is_scikit_learns_in_every_round(penalty, ridges):
    algorithm = started(penalty=penalty)
    compared = 0
    for x, y, _, ridge, _ in played(algorithm, 300, ridges):
        if len(set(y)) < 2 or len(y) % 5:
            continue
        strength = 1.0 / ridge if penalty == "lambda" else ridge
        model = SklearnRegression(C=strength, fit_intercept=False, solver="newton-cholesky", tol=1e-10, max_iter=1000)
        expected = model.fit(x, y).coef_[0]
        assert np.linalg.norm(algorithm.theta_hat - expected) <= 1e-6
        compared += 1
    assert compared > 57


@pytest.mark.parametrize("cls", [UCBGLM, GLMTSL])
@pytest.mark.parametrize("scale", [0.001, 0.05, 1.5, 8.0])
def test_estimate_keeps_its_guarantee_and_the_upper_bound_of_the_current_ridge_is_pulled(cls, scale):
    """Also where labels are all equal."""
    algorithm = started(cls=cls)
    for x, y, contexts, ridge, arm in played(algorithm, 150, RIDGES, scale=scale):
        theta = reference_estimate(x, y, ridge)
        assert np.linalg.norm(algorithm.estimate - theta) <= 1.1e-7
        inverse = np.linalg.inv(ridge * np.eye(5) + x.T @ x)
        scores = contexts @ theta + 0.7 * np.sqrt(np.einsum("ki,ij,kj->k", contexts, inverse, contexts))
        assert cls is GLMTSL or scores[arm] == pytest.approx(scores.max(), abs=1e-6)


def test_history_grows_and_jumps_from_far_are_safe():
    rng = np.random.default_rng(1)
    x = rng.uniform(-20, 20, (2500, 3))
    y = (rng.random(2500) < sigmoid(x @ np.array([0.1, -0.2, 0.3]))).astype(float)
    regression = LogisticRegression(3)
    for features, label in zip(x, y, strict=True):  # never fitted on the way: more than one growth, a far start
        regression.add(features, label)
    for penalty in (1e4, 1e-3, 1e4):
        regression.fit(penalty)
        np.testing.assert_allclose(regression.theta, reference_estimate(x, y, penalty), atol=2e-7, rtol=0)


def test_inverse_stays_exact_over_thousands_of_rounds():
    algorithm = started(n_arms=2, dim=3)
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, (4500, 3))
    algorithm.choose(x[:2], {"exploration_rate": 1.0, "ridge": 0.5})
    for row in x:
        algorithm.update(row[None, :], 0, 1.0)
    np.testing.assert_allclose(algorithm._inverse, np.linalg.inv(0.5 * np.eye(3) + x.T @ x), rtol=1e-9)


@pytest.mark.parametrize(("rewards", "learnt"), [((1, 1), (1, 0)), ((0, 0), (0, 1)), ((1, 0), (1, 0))])
def test_second_label_is_flipped_when_both_are_equal(rewards, learnt):
    x = np.array([[1.0, 0.5], [-0.2, 1.0], [0.3, 0.3]])
    for flip, labels in ((True, learnt), (False, rewards)):
        algorithm = started(n_arms=3, dim=2, flip_second_label=flip)
        for arm, reward in enumerate((*rewards, 1)):
            algorithm.update(x, arm, float(reward))
        algorithm.choose(x, {"exploration_rate": 1.0, "ridge": 1.0})
        expected = reference_estimate(x, np.array([*labels, 1.0]), 1.0)
        np.testing.assert_allclose(algorithm.theta_hat, expected, atol=2e-7)


def test_the_theoretical_exploration_rate_by_hand_is_that_of_any_round():
    # 2.5510204 sqrt(12.5 ln 1121 + ln 20) = 2.5510204 sqrt(87.7753 + 2.9957)
    algorithm = started(120, 25, 14_000, delta=0.05)
    assert algorithm.theory(1)["exploration_rate"] == pytest.approx(24.3045, abs=1e-3)
    assert algorithm.theory(1) == algorithm.theory(9000)
    # 0.5 / 0.1 * sqrt(25 ln 560 + 2 ln 14000) * 0.5 = 2.5 sqrt(158.1984 + 19.0936)
    algorithm = started(120, 25, 14_000, cls=GLMTSL)
    assert algorithm.theory(1)["exploration_rate"] == pytest.approx(33.2877, abs=1e-3)
    assert algorithm.theory(1) == algorithm.theory(14_000)
    assert started(dim=25, rounds=3, cls=GLMTSL).theory(1)["exploration_rate"] == 0.0
    # With the ridge in play: 0.5 sqrt(25 ln(10 (1 + 9000 / 0.01))) + sqrt(0.01)
    for ridge in (1.0, 0.01):
        expected = 0.5 * math.sqrt(25 * math.log((1 + 9000 / ridge) / 0.1)) + math.sqrt(ridge)
        algorithm = started(120, 25, 14_000, theory_form="equation_3")
        assert algorithm.theory(9000, {"ridge": ridge})["exploration_rate"] == pytest.approx(expected)
    assert algorithm.theory(9000) == algorithm.theory(9000, {"ridge": 1.0})


@pytest.mark.parametrize("cls", [UCBGLM, GLMTSL])
def test_wrong_settings(cls):
    assert cls(random_pulls=7).random_rounds == 7
    with pytest.raises(ConfigError, match="needs logistic rewards"):
        ContextualBandit(SyntheticLinear(), cls())


def data(n: int, dim: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    x = rng.uniform(-scale, scale, (n, dim))
    theta = np.linspace(-1.0, 1.5, dim)
    return x, (rng.random(n) < sigmoid(x @ theta)).astype(float)


def exact_hessian(x: np.ndarray, theta: np.ndarray, ridge: float) -> np.ndarray:
    p = sigmoid(x @ theta)
    return (x.T * (p * (1 - p))) @ x + ridge * np.eye(theta.size)


@pytest.mark.parametrize("ridges", [(1.0,), (0.01, 1.0, 30.0)])
@pytest.mark.parametrize("scale", [0.2, 2.0])
def test_hessian_is_within_its_tolerance_in_every_round(ridges, scale):
    x, y = data(1200, 5, scale)
    regression = LogisticRegression(5)
    errors = []
    for t in range(len(x)):
        regression.add(x[t], y[t])
        ridge = ridges[t % len(ridges)]
        regression.fit(ridge)
        expected = exact_hessian(x[: t + 1], regression.theta, ridge)
        errors.append(np.linalg.norm(regression.upper.T @ regression.upper - expected) / np.linalg.norm(expected))
    assert 1e-5 < max(errors) <= HESSIAN_TOLERANCE  # below: work is wasted


def test_draws_have_the_laplace_posterior():
    x, y = data(120, 4, 1.5)
    algorithm = started(6, 4, cls=GLMTSL)
    for t in range(120):
        algorithm.update(x, t, y[t])
    rate, ridge, n = 0.8, 0.5, 20_000
    draws = np.empty((n, 4))
    for draw in draws:
        arm = algorithm.choose(x[:6], {"exploration_rate": rate, "ridge": ridge})
        draw[:] = algorithm.theta
        assert arm == (x[:6] @ draw).argmax()
    hessian = exact_hessian(x, algorithm.theta_bar, ridge)
    # whitened with an independent factor, draws are standard normal
    white = (draws - algorithm.theta_bar) @ np.linalg.cholesky(hessian) / rate
    assert np.abs(white.mean(axis=0)).max() < 4.5 / math.sqrt(n)
    assert np.abs(np.cov(white.T) - np.eye(4)).max() < 4.5 * math.sqrt(2 / n)
