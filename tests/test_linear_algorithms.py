"""LinUCB, LinTS and their theoretical exploration rate against direct solutions of the whole data."""

import math

import numpy as np
import pytest

from bench.algorithms.contextual import BanditInfo
from bench.algorithms.lints import LinTS
from bench.algorithms.linucb import LinUCB
from bench.envs.synthetic_linear import SyntheticLinear
from bench.errors import ConfigError
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.baselines import Fixed, Theory


class SlowRidge:
    """V = ridge I + sum x x' and theta_hat = V^-1 sum x y, entry by entry, solved from scratch each time."""

    def __init__(self, dim):
        self.gram = np.zeros((dim, dim))
        self.moment = np.zeros(dim)

    def learn(self, x, reward):
        self.gram = self.gram + np.outer(x, x)
        self.moment = self.moment + reward * np.array(x)

    def design(self, ridge):
        return self.gram + ridge * np.eye(len(self.gram))

    def solve(self, ridge):
        design = self.design(ridge)
        return np.linalg.solve(design, self.moment), np.linalg.solve(design, np.eye(len(design)))


def rounds(n_rounds, dim, n_arms, seed):
    """Yield contexts in either memory order, and a function that rewards an arm."""
    rng = np.random.default_rng(seed)
    theta = rng.uniform(-1, 1, dim)
    for t in range(n_rounds):
        contexts = rng.uniform(-1, 1, (dim, n_arms)).T
        noise = rng.normal(0, 0.3)
        yield np.ascontiguousarray(contexts) if t % 5 == 0 else contexts, contexts @ theta + noise


def constant(t):
    return {"exploration_rate": 0.7, "ridge": 1.0}


def both_change(t):
    """A new ridge each round, as under TL-Combined and Syndicated."""
    return {"exploration_rate": (0.0, 0.01, 1.0, 10.0)[t % 4], "ridge": (0.01, 0.1, 1.0)[t % 3]}


def ridge_jumps(t):
    """The same ridge for a while, then another, with updates in between."""
    return {"exploration_rate": 1.0, "ridge": (1.0, 0.01, 0.3)[(t // 37) % 3]}


def start(algorithm, dim, n_arms, n_rounds, sub_gaussian=0.5, feature_norm=1.0):
    algorithm.start(BanditInfo(dim, n_arms, n_rounds, sub_gaussian, feature_norm), Seeds(4).child("algorithm"))
    return algorithm


@pytest.mark.parametrize("configurations", [constant, both_change, ridge_jumps])
def test_linucb_chooses_like_a_naive_loop_and_keeps_the_exact_state(configurations):
    dim, n_arms, n_rounds = 6, 9, 1_000
    algorithm, slow = start(LinUCB(), dim, n_arms, n_rounds), SlowRidge(dim)
    pulled = []
    for t, (contexts, rewards) in enumerate(rounds(n_rounds, dim, n_arms, 1)):
        configuration = configurations(t)
        theta_hat, inverse = slow.solve(configuration["ridge"])
        rate = configuration["exploration_rate"]
        indices = [float(x @ theta_hat) + rate * math.sqrt(float(x @ inverse @ x)) for x in contexts]
        arm = algorithm.choose(contexts, configuration)
        assert arm == int(np.argmax(indices))
        np.testing.assert_allclose(algorithm.theta_hat, theta_hat, rtol=0, atol=1e-8)
        algorithm.update(contexts, arm, rewards[arm])
        slow.learn(contexts[arm], rewards[arm])
        pulled.append(arm)
    theta_hat, inverse = slow.solve(configuration["ridge"])
    np.testing.assert_allclose(algorithm.theta_hat, theta_hat, rtol=0, atol=1e-8)
    assert len(set(pulled)) == n_arms


def test_the_refresh_removes_an_error_that_crept_in():
    dim, n_arms = 3, 4
    algorithm, slow = start(LinUCB(), dim, n_arms, 5_000), SlowRidge(dim)
    for t, (contexts, rewards) in enumerate(rounds(4_096, dim, n_arms, 3)):
        arm = algorithm.choose(contexts, constant(t))
        algorithm.update(contexts, arm, rewards[arm])
        slow.learn(contexts[arm], rewards[arm])
        if t == 100:
            algorithm._inverse[0, 0] *= 1.5
        if t == 4_094:
            assert np.abs(algorithm._inverse - slow.solve(1.0)[1]).max() > 1e-6
    np.testing.assert_allclose(algorithm._inverse, slow.solve(1.0)[1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("configurations", [constant, both_change, ridge_jumps])
def test_lints_draws_from_the_exact_posterior(configurations):
    """The factor is numpy's, and with the normal vector that was drawn the sample and the arm follow exactly."""
    dim, n_arms, n_rounds = 6, 9, 1_000
    algorithm, slow = start(LinTS(), dim, n_arms, n_rounds), SlowRidge(dim)
    normals = Seeds(4).child("algorithm").generator("posterior")
    pulled = []
    for t, (contexts, rewards) in enumerate(rounds(n_rounds, dim, n_arms, 1)):
        configuration = configurations(t)
        theta_hat, _ = slow.solve(configuration["ridge"])
        lower = np.linalg.cholesky(slow.design(configuration["ridge"]))
        z = normals.standard_normal(dim)
        theta = theta_hat + configuration["exploration_rate"] * np.linalg.solve(lower.T, z)
        arm = algorithm.choose(contexts, configuration)
        assert arm == int(np.argmax([x @ theta for x in contexts]))
        np.testing.assert_allclose(algorithm.theta_hat, theta_hat, rtol=0, atol=1e-8)
        algorithm.update(contexts, arm, rewards[arm])
        slow.learn(contexts[arm], rewards[arm])
        pulled.append(arm)
    np.testing.assert_allclose(algorithm.theta_hat, slow.solve(configuration["ridge"])[0], rtol=0, atol=1e-8)
    assert len(set(pulled)) == n_arms


@pytest.mark.parametrize("algorithm", [LinUCB(), LinTS()])
def test_warm_up_data_counts(algorithm):
    """What is learnt before the first decision, when no ridge is known yet, is all there at the first decision."""
    dim, n_arms = 4, 5
    start(algorithm, dim, n_arms, 100)
    slow = SlowRidge(dim)
    for t, (contexts, rewards) in enumerate(rounds(60, dim, n_arms, 5)):
        algorithm.update(contexts, t % n_arms, rewards[t % n_arms])
        slow.learn(contexts[t % n_arms], rewards[t % n_arms])
    algorithm.choose(contexts, {"exploration_rate": 0.0, "ridge": 0.5})
    np.testing.assert_allclose(algorithm.theta_hat, slow.solve(0.5)[0], rtol=0, atol=1e-10)


@pytest.mark.parametrize("algorithm", [LinUCB(), LinTS()])
@pytest.mark.parametrize("ridge", [0.0, -1.0, math.nan])
def test_a_ridge_must_be_positive(algorithm, ridge):
    start(algorithm, 2, 3, 10)
    with pytest.raises(ConfigError, match="'ridge': found"):
        algorithm.choose(np.ones((3, 2)), {"exploration_rate": 1.0, "ridge": ridge})


# By hand, with sigma = 0.5, d = 2, t = 3, delta = 0.1, lambda = 1, L = 1, S = 1:
# ln((1 + 3 * 1 / 1) / 0.1) = ln 40 = 3.6888795, times d = 7.3777589, root 2.7162030, times 0.5 = 1.3581015, plus 1.
BY_HAND = [
    ({}, 2.3581015),
    ({"delta": 0.05}, 2.4802073),  # ln 80 = 4.3820266, root of twice that 2.9604143
    ({"theta_norm": 3.0}, 4.3581015),
    ({"sigma_factor": 0.2}, 1.2716203),  # 0.1 * 2.7162030
    ({"feature_norm": "largest"}, 2.5600536),  # L = 2: ln(13 / 0.1) = 4.8675345, root of twice that 3.1201072
    ({"space": {"ridge": {"default": 4.0}}}, 3.1962860),  # ln 17.5 = 2.8622009, root 2.3925720; plus S sqrt(4)
]


@pytest.mark.parametrize("kind", [LinUCB, LinTS])
@pytest.mark.parametrize(("settings", "expected"), BY_HAND)
def test_theoretical_exploration_rate(kind, settings, expected):
    algorithm = start(kind(**settings), 2, 3, 100, sub_gaussian=0.5, feature_norm=2.0)
    assert algorithm.theory(3) == {"exploration_rate": pytest.approx(expected, abs=2e-7)}


def test_the_theory_tuner_plays_the_value_of_the_round():
    """Of the round of the run, t = 1 first, and its ridge is the one that is not tuned."""
    env = SyntheticLinear(dim=3, n_arms=4, noise_std=0.5)
    columns = run(ContextualBandit(env, LinUCB()), Theory(), rounds=60, seeds=Seeds(1)).columns()
    expected = [0.5 * math.sqrt(3 * math.log((1 + t) / 0.1)) + 1.0 for t in range(1, 61)]
    np.testing.assert_allclose(columns["exploration_rate"], expected, rtol=1e-12)


def test_the_theory_of_the_ridge_in_play():
    """Where the ridge alone is tuned, the exploration rate beside it is that of the ridge proposed."""
    algorithm = start(LinUCB(), 2, 3, 100)
    assert algorithm.theory(3, {"ridge": 4.0})["exploration_rate"] == pytest.approx(2.1962860 + 1.0, abs=2e-7)
    assert algorithm.theory(3, {})["exploration_rate"] == pytest.approx(2.3581015, abs=2e-7)
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
