"""Linear algorithms and their theoretical values against their definitions, solved from all data in every round."""

import itertools
import math

import numpy as np
import pytest

from bench.algorithms.contextual import BanditInfo
from bench.algorithms.forgetting import DLinUCB, SWLinUCB
from bench.algorithms.lints import LinTS
from bench.algorithms.linucb import LinUCB
from bench.envs.synthetic_linear import SyntheticLinear
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.baselines import Fixed, Theory

DIM, N_ARMS, ROUNDS = 5, 8, 500


def start(algorithm, n_rounds=ROUNDS, dim=DIM, n_arms=N_ARMS, sub_gaussian=0.5, feature_norm=1.0):
    algorithm.start(BanditInfo(dim, n_arms, n_rounds, sub_gaussian, feature_norm), Seeds(4).child("algorithm"))
    return algorithm


def rounds(n_rounds=ROUNDS):
    """Yield contexts in either memory order, and the reward of every arm; theta changes half-way."""
    rng = np.random.default_rng(1)
    thetas = rng.uniform(-1, 1, (2, DIM))
    for t in range(n_rounds):
        contexts = rng.uniform(-1, 1, (DIM, N_ARMS)).T
        rewards = contexts @ thetas[int(t >= n_rounds // 2)] + rng.normal(0, 0.3)
        yield np.ascontiguousarray(contexts) if t % 5 == 0 else contexts, rewards


def play(algorithm, configurations, warm_up=0):
    """Yield the contexts, configuration, features and rewards learnt before, and the arm of every round."""
    x, y, seen = np.empty((ROUNDS, DIM)), np.empty(ROUNDS), itertools.cycle(configurations)
    for t, (contexts, rewards) in enumerate(rounds()):
        arm = t % N_ARMS
        if t >= warm_up:
            configuration = next(seen)
            arm = algorithm.choose(contexts, configuration)
            yield contexts, configuration, x[:t], y[:t], arm
        algorithm.update(contexts, arm, rewards[arm])
        x[t], y[t] = contexts[arm], rewards[arm]


def weighted(x, y, ridge, weights):
    """Return the estimate, and the inverse V^-1 W V^-1 with the squares of the weights in W, as they are defined."""
    eye = ridge * np.eye(DIM)
    inverse = np.linalg.inv((x.T * weights) @ x + eye)
    return inverse @ (x.T @ (weights * y)), inverse @ ((x.T * weights**2) @ x + eye) @ inverse


def discounted(x, y, c):
    return weighted(x, y, c["ridge"], c["discount"] ** np.arange(len(y))[::-1])


def windowed(x, y, c):
    return weighted(x, y, c["ridge"], (np.arange(len(y)) >= len(y) - c["window"]).astype(float))


def undiscounted(x, y, c):
    return weighted(x, y, c["ridge"], np.ones(len(y)))


def settings(**values):
    """Return configurations that take the values of each setting in turn."""
    n = math.lcm(*map(len, values.values()))
    return [{name: given[i % len(given)] for name, given in values.items()} for i in range(n)]


STEADY = {"exploration_rate": [0.7], "ridge": [1.0]}
CHANGING = {"exploration_rate": [0.0, 0.01, 1.0, 10.0], "ridge": [0.01, 0.1, 1.0]}
JUMPING = {"exploration_rate": [1.0], "ridge": [1.0] * 37 + [0.01] * 37}


@pytest.mark.parametrize(
    ("cls", "reference", "values", "warm_up"),
    [
        (LinUCB, undiscounted, STEADY, 60),
        (LinUCB, undiscounted, CHANGING, 0),
        (LinUCB, undiscounted, JUMPING, 0),
        (DLinUCB, discounted, STEADY | {"discount": [0.97]}, 0),
        (DLinUCB, discounted, CHANGING | {"discount": [0.97]}, 0),
        (DLinUCB, undiscounted, STEADY | {"discount": [1.0]}, 0),
        (SWLinUCB, windowed, STEADY | {"window": [40]}, 60),
        (SWLinUCB, windowed, CHANGING | {"window": [30] * 20 + [200] * 20 + [5] * 20}, 0),
    ],
)
def test_the_largest_upper_bound_is_pulled(cls, reference, values, warm_up):
    """Also after a warm-up, which is learnt before any ridge is known."""
    algorithm, pulled = start(cls()), set()
    for contexts, configuration, x, y, arm in play(algorithm, settings(**values), warm_up):
        theta, norm = reference(x, y, configuration)
        widths = np.sqrt(np.maximum(np.einsum("ki,ij,kj->k", contexts, norm, contexts), 0.0))
        assert arm == np.argmax(contexts @ theta + configuration["exploration_rate"] * widths)
        np.testing.assert_allclose(algorithm.theta_hat, theta, rtol=0, atol=1e-8)
        pulled.add(arm)
    assert len(pulled) == N_ARMS


@pytest.mark.parametrize(("values", "warm_up"), [(STEADY, 60), (CHANGING, 0), (JUMPING, 0)])
def test_lints_draws_from_the_exact_posterior(values, warm_up):
    """The factor is numpy's, and with the normal vector that was drawn the sample and the arm follow exactly."""
    algorithm, pulled = start(LinTS()), set()
    normals = Seeds(4).child("algorithm").generator("posterior")
    for contexts, configuration, x, y, arm in play(algorithm, settings(**values), warm_up):
        theta_hat, _ = undiscounted(x, y, configuration)
        lower = np.linalg.cholesky(x.T @ x + configuration["ridge"] * np.eye(DIM))
        draw = np.linalg.solve(lower.T, normals.standard_normal(DIM))
        assert arm == np.argmax(contexts @ (theta_hat + configuration["exploration_rate"] * draw))
        np.testing.assert_allclose(algorithm.theta_hat, theta_hat, rtol=0, atol=1e-8)
        pulled.add(arm)
    assert len(pulled) == N_ARMS


@pytest.mark.parametrize("cls", [LinUCB, SWLinUCB])
def test_the_refresh_removes_an_error_that_crept_in(cls):
    """Updated quantities are recomputed after 4,096 rounds; a log may also be longer than expected."""
    algorithm = start(cls(), n_rounds=100, dim=2, n_arms=1)
    rng = np.random.default_rng(3)
    configuration = {"exploration_rate": 1.0, "ridge": 1.0, "window": 50}
    features, rewards = rng.uniform(-1, 1, (4_096, 1, 2)), rng.normal(size=4_096)
    for t, (contexts, reward) in enumerate(zip(features, rewards, strict=True)):
        algorithm.choose(contexts, configuration)
        if t == 100:
            algorithm._inverse[0, 0] *= 1.5
            algorithm._moment[0] += 1.0 if cls is SWLinUCB else 0.0
        algorithm.update(contexts, 0, reward)
    algorithm.choose(features[0], configuration)
    used = slice(-50 if cls is SWLinUCB else 0, None)
    x = features[used, 0]
    exact = np.linalg.inv(x.T @ x + np.eye(2))
    np.testing.assert_allclose(algorithm._inverse, exact, rtol=0, atol=1e-10)
    np.testing.assert_allclose(algorithm.theta_hat, exact @ x.T @ rewards[used], rtol=0, atol=1e-10)


# By hand, with sigma = 0.5, d = 2, t = 3, delta = 0.1, lambda = 1, L = 1, S = 1:
# ln((1 + 3 * 1 / 1) / 0.1) = ln 40 = 3.6888795, times d = 7.3777589, root 2.7162030, times 0.5 = 1.3581015, plus 1.
BY_HAND = [
    ({}, {}, 2.3581015),
    ({"delta": 0.05}, {}, 2.4802073),  # ln 80 = 4.3820266, root of twice that 2.9604143
    ({"theta_norm": 3.0}, {}, 4.3581015),
    ({"sigma_factor": 0.2}, {}, 1.2716203),  # 0.1 * 2.7162030
    ({"feature_norm": "largest"}, {}, 2.5600536),  # L = 2: ln(13 / 0.1) = 4.8675345, root of twice that 3.1201072
    ({"space": {"ridge": {"default": 4.0}}}, {}, 3.1962860),  # ln 17.5 = 2.8622009, root 2.3925720; plus S sqrt(4)
    ({}, {"ridge": 4.0}, 3.1962860),
]


@pytest.mark.parametrize("cls", [LinUCB, LinTS])
@pytest.mark.parametrize(("changes", "played", "expected"), BY_HAND)
def test_theoretical_exploration_rate(cls, changes, played, expected):
    algorithm = start(cls(**changes), 100, dim=2, feature_norm=2.0)
    assert algorithm.theory(3, played) == {"exploration_rate": pytest.approx(expected, abs=2e-7)}


def test_theory_of_forgetting_algorithms():
    """Russac et al. 2019, equation 7, with the sum of the squared weights so far; Cheung et al. 2019, theorem 2."""
    d = start(DLinUCB(delta=0.01, theta_norm=2.0), sub_gaussian=0.3)
    for discount in (0.9, 1.0):
        weights = sum(discount ** (2 * age) for age in range(6))  # round 7: six rewards
        log_det = 2 * math.log(100) + DIM * math.log(1 + weights / (0.5 * DIM))
        rate = d.theory(7, {"ridge": 0.5, "discount": discount})["exploration_rate"]
        assert rate == pytest.approx(math.sqrt(0.5) * 2 + 0.3 * math.sqrt(log_det))
    sw = start(SWLinUCB(delta=0.01, theta_norm=2.0), sub_gaussian=0.3)
    rate = sw.theory(7, {"ridge": 0.5, "window": 60})["exploration_rate"]
    assert rate == pytest.approx(math.sqrt(0.5) * 2 + 0.3 * math.sqrt(DIM * math.log((1 + 60 / 0.5) / 0.01)))


def test_the_theoretical_discount_is_that_of_the_authors_of_d_linucb():
    """Abrupt changes in YRussac/WeightedLinearBandits at 9cc1edf: d = 2, T = 6,000, B = 4 + sqrt(2)."""
    variation = 4 + math.sqrt(2)
    discount = start(DLinUCB(variation=variation), 6_000, 2).theory(1)["discount"]
    assert discount == pytest.approx(0.9941173985691094, rel=1e-12)
    assert start(SWLinUCB(variation=variation), 6_000, 2).theory(1)["window"] == math.ceil(169.99281895061446)


def test_the_theory_tuner_plays_the_value_of_the_round():
    """Its theoretical value for each round t = 1, 2, ..., with the default of the ridge, which is not tuned."""
    env = SyntheticLinear(dim=3, n_arms=4, noise_std=0.5)
    columns = run(ContextualBandit(env, LinUCB()), Theory(), rounds=60, seeds=Seeds(1)).columns()
    expected = [0.5 * math.sqrt(3 * math.log((1 + t) / 0.1)) + 1.0 for t in range(1, 61)]
    np.testing.assert_allclose(columns["exploration_rate"], expected, rtol=1e-12)


def test_the_theoretical_exploration_rate_uses_the_proposed_ridge():
    seen = []

    class Watched(LinUCB):
        def choose(self, contexts, configuration):
            seen.append(configuration)
            return super().choose(contexts, configuration)

    env = SyntheticLinear(dim=3, n_arms=4, noise_std=0.5)
    run(ContextualBandit(env, Watched(tune=["ridge"])), Fixed({"ridge": 0.1}), rounds=20, seeds=Seeds(1))
    assert [c["ridge"] for c in seen] == [0.1] * 20
    expected = [0.5 * math.sqrt(3 * math.log((1 + t / 0.1) / 0.1)) + math.sqrt(0.1) for t in range(1, 21)]
    np.testing.assert_allclose([c["exploration_rate"] for c in seen], expected, rtol=1e-12)
