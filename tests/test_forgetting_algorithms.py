"""D-LinUCB and SW-LinUCB against their definitions, solved from all data in every round."""

import math

import numpy as np
import pytest

from bench.algorithms.contextual import BanditInfo
from bench.algorithms.forgetting import DLinUCB, SWLinUCB
from bench.algorithms.linucb import LinUCB
from bench.errors import ConfigError
from bench.seeding import Seeds

DIM, N_ARMS, ROUNDS = 5, 8, 500


def rounds(seed=1):
    """Yield contexts and the reward of every arm; theta changes half-way."""
    rng = np.random.default_rng(seed)
    thetas = rng.uniform(-1, 1, (2, DIM))
    for t in range(ROUNDS):
        contexts = rng.uniform(-1, 1, (DIM, N_ARMS)).T
        yield contexts, contexts @ thetas[int(t >= ROUNDS // 2)] + rng.normal(0, 0.3)


def start(algorithm, n_rounds=ROUNDS, dim=DIM, **info):
    settings = {"sub_gaussian": 0.5, "feature_norm": 1.0} | info
    algorithm.start(BanditInfo(dim, N_ARMS, n_rounds, **settings), Seeds(4).child("algorithm"))
    return algorithm


def play(algorithm, configurations):
    """Yield the contexts, configuration, what was learnt before (features, rewards), and the arm of every round."""
    features, rewards = [], []
    for t, (contexts, earned) in enumerate(rounds()):
        arm = algorithm.choose(contexts, configurations(t))
        yield contexts, configurations(t), np.reshape(features, (-1, DIM)), np.array(rewards), arm
        algorithm.update(contexts, arm, earned[arm])
        features.append(contexts[arm].copy())
        rewards.append(earned[arm])


def widths(contexts, norm):
    return np.array([math.sqrt(max(x @ norm @ x, 0.0)) for x in contexts])


RIDGES = {"steady": lambda t: 1.0, "changing": lambda t: (0.01, 0.1, 1.0)[t % 3]}


@pytest.mark.parametrize("ridge", RIDGES.values(), ids=RIDGES)
def test_d_linucb_chooses_by_the_weighted_sums(ridge):
    """Weights gamma^(t-s) in V and in the estimate, gamma^(2(t-s)) in W, as the paper defines them."""
    pulled = set()
    settings = {"exploration_rate": 0.7, "discount": 0.97}
    algorithm = start(DLinUCB())
    for contexts, configuration, x, y, arm in play(algorithm, lambda t: settings | {"ridge": ridge(t)}):
        ages = np.arange(len(y))[::-1]
        eye = configuration["ridge"] * np.eye(DIM)
        inverse = np.linalg.inv((x.T * 0.97**ages) @ x + eye)
        theta = inverse @ (x.T @ (0.97**ages * y))
        norm = inverse @ ((x.T * 0.97 ** (2 * ages)) @ x + eye) @ inverse
        assert arm == np.argmax(contexts @ theta + 0.7 * widths(contexts, norm))
        np.testing.assert_allclose(algorithm.theta_hat, theta, atol=1e-9)
        pulled.add(arm)
    assert len(pulled) == N_ARMS


@pytest.mark.parametrize("window", [lambda t: 40, lambda t: (30, 200, 5)[(t // 20) % 3]], ids=["steady", "changing"])
def test_sw_linucb_chooses_by_the_rewards_in_the_window(window):
    pulled = set()
    settings = {"exploration_rate": 0.7, "ridge": 0.5}
    algorithm = start(SWLinUCB())
    for contexts, configuration, x, y, arm in play(algorithm, lambda t: settings | {"window": window(t)}):
        x, y = x[-configuration["window"] :], y[-configuration["window"] :]
        inverse = np.linalg.inv(x.T @ x + 0.5 * np.eye(DIM))
        theta = inverse @ x.T @ y
        assert arm == np.argmax(contexts @ theta + 0.7 * widths(contexts, inverse))
        np.testing.assert_allclose(algorithm.theta_hat, theta, atol=1e-9)
        pulled.add(arm)
    assert len(pulled) == N_ARMS


@pytest.mark.parametrize(
    ("algorithm", "limit"), [(DLinUCB(), {"discount": 1.0}), (SWLinUCB(), {"window": ROUNDS})], ids=["d", "sw"]
)
def test_what_forgets_nothing_is_linucb(algorithm, limit):
    configuration = {"exploration_rate": 0.5, "ridge": 1.0}
    pulled = [row[-1] for row in play(start(algorithm), lambda t: configuration | limit)]
    assert pulled == [row[-1] for row in play(start(LinUCB()), lambda t: configuration)]


def test_a_refreshed_window_is_the_window():
    """Sums are made anew after 4,096 rewards; a log may also be longer than expected."""
    algorithm = start(SWLinUCB(), n_rounds=100, dim=2)
    rng = np.random.default_rng(3)
    features, rewards = rng.uniform(-1, 1, (5_000, 2)), rng.normal(size=5_000)
    for x, y in zip(features, rewards, strict=True):
        algorithm.choose(x[None].T.copy().T, {"exploration_rate": 1.0, "ridge": 1.0, "window": 50})
        algorithm.update(x[None], 0, y)
    algorithm.choose(x[None].T.copy().T, {"exploration_rate": 1.0, "ridge": 1.0, "window": 50})
    x, y = features[-50:], rewards[-50:]
    np.testing.assert_allclose(algorithm.theta_hat, np.linalg.solve(x.T @ x + np.eye(2), x.T @ y), atol=1e-10)


def test_what_theory_forgets_is_what_the_authors_of_d_linucb_print():
    """Abrupt changes in YRussac/WeightedLinearBandits at 9cc1edf: d = 2, T = 6,000, B = 4 + sqrt(2)."""
    variation = 4 + math.sqrt(2)
    discounted = start(DLinUCB(variation=variation), 6_000, 2).theory(1)
    assert discounted["discount"] == pytest.approx(0.9941173985691094, rel=1e-12)
    assert start(SWLinUCB(variation=variation), 6_000, 2).theory(1)["window"] == math.ceil(169.99281895061446)


def test_theoretical_rates():
    """Russac et al. 2019, equation 7, with the sum of the squared weights so far; Cheung et al. 2019, theorem 2."""
    d = start(DLinUCB(delta=0.01, theta_norm=2.0), sub_gaussian=0.3)
    weights = sum(0.9 ** (2 * age) for age in range(6))  # round 7: six rewards
    log_det = 2 * math.log(100) + DIM * math.log(1 + weights / (0.5 * DIM))
    rate = d.theory(7, {"ridge": 0.5, "discount": 0.9})["exploration_rate"]
    assert rate == pytest.approx(math.sqrt(0.5) * 2 + 0.3 * math.sqrt(log_det))
    assert d.theory(7, {"ridge": 0.5, "discount": 1.0})["exploration_rate"] == pytest.approx(
        math.sqrt(0.5) * 2 + 0.3 * math.sqrt(2 * math.log(100) + DIM * math.log(1 + 6 / (0.5 * DIM)))
    )
    sw = start(SWLinUCB(delta=0.01, theta_norm=2.0), sub_gaussian=0.3)
    rate = sw.theory(7, {"ridge": 0.5, "window": 60})["exploration_rate"]
    assert rate == pytest.approx(math.sqrt(0.5) * 2 + 0.3 * math.sqrt(DIM * math.log((1 + 60 / 0.5) / 0.01)))


@pytest.mark.parametrize(
    ("algorithm", "wrong"),
    [(DLinUCB(), {"discount": 0.0}), (DLinUCB(), {"discount": 1.1}), (SWLinUCB(), {"window": 0.5})],
)
def test_a_value_out_of_range_is_one_sentence(algorithm, wrong):
    (name,) = wrong
    contexts, _ = next(rounds())
    with pytest.raises(ConfigError, match=f"^hyper-parameter '{name}': found"):
        start(algorithm).choose(contexts, {"exploration_rate": 1.0, "ridge": 1.0} | wrong)
