"""GLM-TSL and the Hessian that it samples with."""

import math
from typing import Any

import numpy as np
import pytest

from bench.algorithms.contextual import BanditInfo
from bench.algorithms.glm_tsl import GLMTSL
from bench.algorithms.logistic_regression import LogisticRegression
from bench.envs.synthetic_linear import SyntheticLinear
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.tasks.contextual_bandit import ContextualBandit


def started(n_arms: int = 6, dim: int = 4, rounds: int = 1000, seed: int = 0, **settings: Any) -> GLMTSL:
    algorithm = GLMTSL(**settings)
    info = BanditInfo(dim=dim, n_arms=n_arms, rounds=rounds, sub_gaussian=0.5, feature_norm=1.0)
    algorithm.start(info, Seeds(seed))
    return algorithm


def data(n: int, dim: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    x = rng.uniform(-scale, scale, (n, dim))
    theta = np.linspace(-1.0, 1.5, dim)
    return x, (rng.random(n) < 1 / (1 + np.exp(-x @ theta))).astype(float)


def exact_hessian(x: np.ndarray, theta: np.ndarray, ridge: float) -> np.ndarray:
    p = 1 / (1 + np.exp(-x @ theta))
    return (x.T * (p * (1 - p))) @ x + ridge * np.eye(theta.size)


def hessian_errors(ridges: tuple[float, ...], scale: float, **settings: float) -> np.ndarray:
    x, y = data(1200, 5, scale)
    regression = LogisticRegression(5, **settings)
    errors = []
    for t in range(len(x)):
        regression.add(x[t], y[t])
        ridge = ridges[t % len(ridges)]
        regression.fit(ridge)
        expected = exact_hessian(x[: t + 1], regression.theta, ridge)
        errors.append(np.linalg.norm(regression.upper.T @ regression.upper - expected) / np.linalg.norm(expected))
    return np.array(errors)


@pytest.mark.parametrize("ridges", [(1.0,), (0.01, 1.0, 30.0)])
@pytest.mark.parametrize("scale", [0.2, 2.0])
def test_hessian_is_within_its_tolerance_in_every_round(ridges: tuple[float, ...], scale: float) -> None:
    assert hessian_errors(ridges, scale).max() <= 1e-3


def test_hessian_tolerance_is_what_decides() -> None:
    errors = hessian_errors((1.0,), 2.0, hessian_tolerance=0.3)
    assert 1e-3 < errors.max() <= 0.3


@pytest.mark.parametrize("tolerance", [1e-7, 1.0])
def test_every_weight_in_the_hessian_is_within_the_tolerance(tolerance: float) -> None:
    x, y = data(1200, 5, 2.0)
    regression = LogisticRegression(5, tolerance=tolerance)
    largest = 0.0
    for t in range(len(x)):
        regression.add(x[t], y[t])
        regression.fit(1.0)
        p = 1 / (1 + np.exp(-x[: t + 1] @ regression.theta))
        used = regression._weights.ravel()[: t + 1]
        largest = max(largest, np.abs(used / (p * (1 - p)) - 1).max())
    assert 0.5e-3 < largest <= 1e-3  # below: work is wasted


def test_estimate_has_no_gradient_left_in_any_round() -> None:
    x, y = data(300, 4, 1.5)
    algorithm = started()
    for t in range(300):
        ridge = (1.0, 0.05)[t % 2]
        algorithm.choose(x[:6], {"exploration_rate": 1.0, "ridge": ridge})
        p = 1 / (1 + np.exp(-x[:t] @ algorithm.theta_bar))
        gradient = x[:t].T @ (p - y[:t]) + ridge * algorithm.theta_bar
        # the distance to the minimum, to first order
        newton = np.linalg.solve(exact_hessian(x[:t], algorithm.theta_bar, ridge), gradient)
        assert np.linalg.norm(newton) <= 1.1e-7
        algorithm.update(x, t, y[t])


def test_draws_have_the_laplace_posterior() -> None:
    x, y = data(120, 4, 1.5)
    algorithm = started()
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


def test_theory() -> None:
    algorithm = started(dim=25, rounds=14_000)
    assert GLMTSL(random_pulls=9).random_rounds == 9
    # 0.5 / 0.1 * sqrt(25 ln 560 + 2 ln 14000) * 0.5 = 2.5 sqrt(158.1984 + 19.0936)
    assert algorithm.theory(1)["exploration_rate"] == pytest.approx(33.2877, abs=1e-3)
    assert algorithm.theory(1) == algorithm.theory(14_000)
    assert started(dim=25, rounds=3).theory(1)["exploration_rate"] == 0.0


def test_wrong_settings() -> None:
    with pytest.raises(ConfigError, match="needs logistic rewards"):
        ContextualBandit(SyntheticLinear(), GLMTSL())
    with pytest.raises(ConfigError, match="'ridge': found -1"):
        started().choose(np.ones((6, 4)), {"exploration_rate": 1.0, "ridge": -1.0})
    unknown: Any = {"penalty": "code"}
    with pytest.raises(ConfigError, match="unknown key 'penalty'"):
        GLMTSL(**unknown)
