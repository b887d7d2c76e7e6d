"""Tsallis-INF against a solution by hand, root finding and minimisation by SciPy, and its limits."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from tuning import started

from bench.tuners.exp3 import EXP3
from bench.tuners.tsallis_inf import TsallisINF, chances


def test_a_newton_step_by_hand():
    """Two losses, 0 and 1, rate 2: 1 / x^2 + 1 / (1 - x)^2 = 1. With s = x (x - 1): 2 s + 1 = s^2, s = 1 + sqrt(2)."""
    s = 1 + math.sqrt(2)
    x = (1 - math.sqrt(1 + 4 * s)) / 2
    expected = [1 / x**2, 1 / (1 - x) ** 2]
    assert sum(expected) == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(chances(np.array([0.0, 1.0]), 2.0), expected, atol=1e-14)
    # Newton from x = -1, where the sum is 1.25 and its derivative 2 + 0.25: x = -1 - 0.25 / 2.25 = -10/9, and so on.
    by_hand = -1.0
    for _ in range(6):
        by_hand -= (1 / by_hand**2 + 1 / (1 - by_hand) ** 2 - 1) / (-2 / by_hand**3 + 2 / (1 - by_hand) ** 3)
    assert by_hand == pytest.approx(x, abs=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_chances_are_those_of_root_finding_and_of_the_regularised_leader(seed):
    rng = np.random.default_rng(seed)
    n, rate = int(rng.integers(2, 12)), float(10 ** rng.uniform(-2, 0.6))
    losses = rng.exponential(5.0, n)
    found = chances(losses, rate)
    low, high = losses.min() - 2 * math.sqrt(n) / rate, losses.min() - 2 / rate
    x = brentq(lambda x: np.sum(4 / (rate * (losses - x)) ** 2) - 1, low - 1e-9, high, xtol=1e-13)
    np.testing.assert_allclose(found, 4 / (rate * (losses - x)) ** 2, atol=1e-10)
    # The minimum of <p, losses> + (sum of -4 sqrt(p)) / rate on the simplex, up to a constant.
    result = minimize(
        lambda p: rate * p @ losses - 4 * np.sqrt(np.maximum(p, 1e-12)).sum(),
        np.full(n, 1 / n),
        jac=lambda p: rate * losses - 2 / np.sqrt(np.maximum(p, 1e-12)),
        bounds=[(1e-9, 1)] * n,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones(n)},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(found, result.x, atol=1e-4)


def test_chances_are_equal_at_a_rate_of_0_and_all_on_the_best_at_a_large_one():
    losses = np.array([3.0, 1.0, 2.0])
    np.testing.assert_allclose(chances(losses, 1e-9), 1 / 3, atol=1e-8)
    np.testing.assert_allclose(chances(losses, 1e9), [0, 1, 0], atol=1e-8)
    np.testing.assert_allclose(chances(np.full(7, 1e12), 0.1), 1 / 7, atol=1e-12)
    assert chances(np.array([0.0, 1e300]), 1.0).tolist() == [1.0, 0.0]
    assert chances(np.array([5.0]), 1.0).tolist() == [1.0]


@pytest.mark.parametrize("estimate", ["importance", "reduced_variance"])
def test_losses_are_the_papers_estimates(estimate):
    tuner = started(TsallisINF(estimate=estimate), 3)
    losses = np.zeros(3)
    rng = np.random.default_rng(3)
    for t in range(1, 61):
        rate = (2 if estimate == "importance" else 4) / math.sqrt(t)
        p = tuner.probabilities()["configuration"].copy()
        np.testing.assert_allclose(p, chances(losses, rate), atol=1e-12)
        chosen = tuner.ask()["arm"]
        reward = float(rng.uniform(-0.2, 1.2))
        loss = 1 - min(max(reward, 0), 1)
        for arm in range(3):
            b = 0.5 if estimate == "reduced_variance" and p[arm] >= rate**2 else 0.0
            losses[arm] += ((loss - b) / p[arm] if arm == chosen else 0.0) + b
        tuner.tell(reward)
    assert np.ptp(losses) > 1


def test_it_has_less_regret_than_exp3_where_arms_are_stochastic():
    """10,000 rounds, means 0.6, 0.5, 0.5, 0.5; the bound of the paper for any losses, 4 sqrt(K T) + 1, is 801."""
    regrets = {}
    for name, make in (("tsallis", TsallisINF), ("exp3", EXP3)):
        regrets[name] = []
        for seed in range(5):
            tuner = started(make(), 4, 10_000, seed)
            rng = np.random.default_rng(seed)
            wrong = 0
            for _ in range(10_000):
                arm = tuner.ask()["arm"]
                wrong += arm != 0
                tuner.tell(float(rng.random() < (0.6 if arm == 0 else 0.5)))
            regrets[name].append(0.1 * wrong)
    assert np.mean(regrets["tsallis"]) < 0.7 * np.mean(regrets["exp3"])
