"""Coefficients for each arm, epsilon-greedy and SquareCB against other libraries and the whole data, solved anew."""

import math

import numpy as np
import pytest

from bench.algorithms.contextual import BanditInfo
from bench.algorithms.greedy import EpsilonGreedy, SquareCB
from bench.algorithms.lints import LinTS
from bench.algorithms.linucb import LinUCB
from bench.seeding import Seeds

DIM, N_ARMS, ROUNDS = 4, 5, 400
RIDGES = [1.0] * 7 + [0.1] * 7


def start(algorithm, shared=True, dim=DIM, rounds=ROUNDS):
    algorithm.start(BanditInfo(dim, N_ARMS, rounds, 0.5, 1.0, shared), Seeds(4).child("algorithm"))
    return algorithm


def problem(rounds=ROUNDS):
    """Yield one context, and the reward of every arm, of each round."""
    rng = np.random.default_rng(1)
    thetas = rng.normal(size=(N_ARMS, DIM))
    for _ in range(rounds):
        x = rng.normal(size=DIM) / 2
        yield x, thetas @ x + rng.normal(0, 0.3)


def rows(x):
    """Return contexts as an environment gives them: contiguous along the arms, every row the same."""
    return np.repeat(x[:, None], N_ARMS, axis=1).T


def blocks(x):
    """Return the features of the same model with one vector of coefficients: each arm's in a block of its own."""
    return np.kron(np.eye(N_ARMS), x)


def sklearn_ridges(xs, arms, ys, ridge):
    """Return the coefficients of each arm, by scikit-learn, shape (arms, dim)."""
    from sklearn.linear_model import Ridge

    coefficients = np.zeros((N_ARMS, DIM))
    for arm in set(arms):
        own = [i for i, pulled in enumerate(arms) if pulled == arm]
        model = Ridge(alpha=ridge, fit_intercept=False, solver="cholesky")
        coefficients[arm] = model.fit(np.array(xs)[own], np.array(ys)[own]).coef_
    return coefficients


def test_linucb_is_that_of_one_model_with_a_block_for_each_arm():
    ours, joint, pulled = start(LinUCB()), start(LinUCB(), shared=False, dim=N_ARMS * DIM), []
    for t, (x, rewards) in enumerate(problem()):
        configuration = {"exploration_rate": [0.0, 0.3, 2.0][t % 3], "ridge": RIDGES[t % 14]}
        arm = ours.choose(rows(x), configuration)
        assert arm == joint.choose(blocks(x), configuration)
        ours.update(rows(x), arm, rewards[arm])
        joint.update(blocks(x), arm, rewards[arm])
        np.testing.assert_allclose(ours.theta_hat.ravel(), joint.theta_hat, rtol=0, atol=1e-9)
        theirs = joint.expect(blocks(x), arm)
        assert ours.expect(rows(x), arm) == {name: pytest.approx(value, abs=1e-9) for name, value in theirs.items()}
        pulled.append(arm)
    assert set(pulled) == set(range(N_ARMS))


def test_linucb_pulls_the_arms_of_obps():
    linear = pytest.importorskip("obp.policy.linear", reason="needs obp")
    theirs = linear.LinUCB(dim=DIM, n_actions=N_ARMS, epsilon=0.5, batch_size=1, random_state=1)
    ours, pulled = start(LinUCB()), []
    for t, (x, rewards) in enumerate(problem()):
        arm = ours.choose(rows(x), {"exploration_rate": 0.5, "ridge": 1.0}) if t >= N_ARMS else t
        assert t < N_ARMS or arm == theirs.select_action(x[None])[0]  # ties, before that, are broken in another way
        ours.update(rows(x), arm, rewards[arm])
        theirs.update_params(arm, rewards[arm], x[None])
        pulled.append(arm)
    assert set(pulled) == set(range(N_ARMS))


def test_lints_pulls_as_often_as_draws_of_all_coefficients():
    algorithm = start(LinTS())
    for t, (x, rewards) in enumerate(problem(60)):
        algorithm.choose(rows(x), {"exploration_rate": 1.0, "ridge": RIDGES[t % 14]})
        algorithm.update(rows(x), t % N_ARMS, rewards[t % N_ARMS])
    data = list(problem(60))
    ridge, rate, n = RIDGES[59 % 14], 0.4, 20_000
    x = np.array([0.3, -0.2, 0.5, 0.1])
    rng, scores = np.random.default_rng(5), np.empty((n, N_ARMS))
    for arm in range(N_ARMS):
        own = np.array([c for t, (c, _) in enumerate(data) if t % N_ARMS == arm])
        y = np.array([r[arm] for t, (_, r) in enumerate(data) if t % N_ARMS == arm])
        covariance = np.linalg.inv(own.T @ own + ridge * np.eye(DIM))
        scores[:, arm] = rng.multivariate_normal(covariance @ own.T @ y, rate**2 * covariance, n) @ x
    expected = np.bincount(scores.argmax(axis=1), minlength=N_ARMS) / n
    arms = [algorithm.choose(rows(x), {"exploration_rate": rate, "ridge": ridge}) for _ in range(n)]
    shares = np.bincount(arms, minlength=N_ARMS) / n
    assert np.abs(shares - expected).max() < 4 * math.sqrt(2 * 0.25 / n)
    assert (expected > 0.02).sum() >= 3


@pytest.mark.parametrize("shared", [True, False])
def test_epsilon_greedy_pulls_the_arm_that_scikit_learn_predicts_best(shared):
    algorithm = start(EpsilonGreedy(), shared, DIM if shared else N_ARMS * DIM)
    features = rows if shared else blocks
    xs, arms, ys = [], [], []
    for t, (x, rewards) in enumerate(problem(60)):
        ridge = RIDGES[t % 14]
        arm = algorithm.choose(features(x), {"epsilon": 0.0, "decay": 0.0, "ridge": ridge})
        scores = sklearn_ridges(xs, arms, ys, ridge) @ x
        assert scores[arm] == pytest.approx(scores.max(), abs=1e-9)
        arm = t % N_ARMS  # learns from others' pulls
        algorithm.update(features(x), arm, rewards[arm])
        xs.append(x), arms.append(arm), ys.append(rewards[arm])


@pytest.mark.parametrize(("epsilon", "decay", "round_"), [(0.3, 0.0, 50), (0.3, 0.5, 50), (2.0, 1 / 3, 50), (0, 1, 9)])
def test_epsilon_greedy_explores_as_often_as_epsilon_says(epsilon, decay, round_):
    algorithm, n = start(EpsilonGreedy()), 20_000
    configuration = {"epsilon": epsilon, "decay": decay, "ridge": 1.0}
    x = np.array([1.0, 0.0, 0.0, 0.0])
    for _ in range(round_ - 1):
        algorithm.choose(rows(x), configuration)
        algorithm.update(rows(x), 2, 1.0)
    arms = np.array([algorithm.choose(rows(x), configuration) for _ in range(n)])
    expected = min(1.0, epsilon / round_**decay) * (N_ARMS - 1) / N_ARMS
    assert np.mean(arms != 2) == pytest.approx(expected, abs=4 * math.sqrt(max(expected, 1e-9) / n))


def test_ties_are_broken_at_random():
    algorithm = start(EpsilonGreedy())
    x = np.ones(DIM)
    arms = [algorithm.choose(rows(x), {"epsilon": 0.0, "decay": 0.0, "ridge": 1.0}) for _ in range(2_000)]
    assert np.bincount(arms, minlength=N_ARMS).min() > 300


@pytest.mark.parametrize("gamma", [1.0, 30.0, 1e6])
def test_squarecb_draws_from_its_probabilities_of_scikit_learns_predictions(gamma):
    algorithm, n = start(SquareCB()), 40_000
    xs, arms, ys = [], [], []
    configuration = {"gamma": gamma, "ridge": 0.1}
    for t, (x, rewards) in enumerate(problem(50)):
        algorithm.choose(rows(x), configuration)
        arm = t % N_ARMS
        algorithm.update(rows(x), arm, rewards[arm])
        xs.append(x), arms.append(arm), ys.append(rewards[arm])
    x = np.array([0.3, -0.2, 0.5, 0.1])
    scores = sklearn_ridges(xs, arms, ys, 0.1) @ x
    expected = 1.0 / (N_ARMS + gamma * (scores.max() - scores))
    expected[scores.argmax()] = 0.0
    expected[scores.argmax()] = 1.0 - expected.sum()
    shares = np.bincount([algorithm.choose(rows(x), configuration) for _ in range(n)], minlength=N_ARMS) / n
    assert np.abs(shares - expected).max() < 4 * math.sqrt(0.25 / n)


def test_theory_of_random_exploration():
    """By hand: (5 ln 9)^(1/3) = 2.2230; with 20 coefficients 20 ln 21 + ln 20 = 63.886, root of 2,000 / 63.886."""
    greedy = start(EpsilonGreedy())
    assert greedy.theory(8) == {"epsilon": pytest.approx(2.2230, abs=1e-4), "decay": 1 / 3}
    assert greedy.theory(8, {"epsilon": 0.1}) == {}
    assert start(SquareCB()).theory(8) == {"gamma": pytest.approx(5.5951, abs=1e-4)}


def test_theory_of_linucb_shares_delta_among_the_arms():
    alone, shared = start(LinUCB(delta=0.02), shared=False), start(LinUCB(delta=0.1))
    assert shared.theory(9) == alone.theory(9)
