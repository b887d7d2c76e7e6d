"""SGD-TS against a run written out in plain numpy."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit as sigmoid

from bench.algorithms.contextual import BanditInfo
from bench.algorithms.sgd_ts import SGDTS
from bench.errors import ConfigError
from bench.seeding import Seeds

DIM = 4
ARMS = 7
ROUNDS = 300
INFO = BanditInfo(dim=DIM, n_arms=ARMS, rounds=ROUNDS, sub_gaussian=0.5, feature_norm=1.0)
SEEDS = Seeds(5).child("algorithm")
TRUTH = np.array([1.5, -1.0, 0.5, 0.0])


def record(rounds, seed=1):
    """Return contexts, a uniform number for the reward, and a random arm of every round."""
    rng = np.random.default_rng(seed)
    return [(rng.uniform(-1, 1, (DIM, ARMS)).T, rng.random(), int(rng.integers(ARMS))) for _ in range(rounds)]


def reward_of(contexts, arm, uniform):
    return float(uniform < sigmoid(contexts[arm] @ TRUTH))


def drive(algorithm, recorded, warm_up, configurations):
    """Play at random for ``warm_up`` rounds, then as the algorithm chooses; return the arms chosen."""
    algorithm.start(INFO, SEEDS)
    arms = []
    for t, (contexts, uniform, arm) in enumerate(recorded):
        if t >= warm_up:
            arm = algorithm.choose(contexts, configurations(t))
            arms.append(arm)
        algorithm.update(contexts, arm, reward_of(contexts, arm, uniform))
    return arms


def likelihood_estimate(rows, rewards):
    """Maximise the likelihood of a few observations, without a penalty."""

    def loss(theta):
        return np.logaddexp(0, rows @ theta).sum() - rewards @ rows @ theta

    def gradient(theta):
        return rows.T @ (sigmoid(rows @ theta) - rewards)

    return minimize(loss, np.zeros(DIM), jac=gradient, method="BFGS", options={"gtol": 1e-10}).x


@pytest.mark.parametrize("covariance", ["one", "two"])
@pytest.mark.parametrize(("learning_rate", "warm_up"), [(0.02, 50), (50.0, 50), (0.02, 64)])
def test_three_epochs_by_hand(covariance, learning_rate, warm_up):
    """50 rounds an epoch; with the large learning rate the projection is at work; a longer warm-up is all used."""
    tau = 50
    recorded = record(warm_up + 3 * tau)
    algorithm = SGDTS(epoch_factor=10, covariance=covariance)
    assert 10 * max(math.floor(math.log(ROUNDS)), DIM) == tau

    def configurations(t):
        # other values inside an epoch must not matter
        epoch, place = divmod(t - warm_up, tau)
        if place:
            return dict.fromkeys(algorithm.hyper_parameters.names, 9.0)
        rates = {"exploration_rate": 0.3 + 0.1 * epoch}
        if covariance == "two":
            rates = {"exploration_rate_1": 0.1 + 0.1 * epoch, "exploration_rate_2": 0.2}
        return rates | {"learning_rate": learning_rate * (1 + epoch)}

    arms = drive(algorithm, recorded, warm_up, configurations)

    rows = np.array([contexts[arm] for contexts, _, arm in recorded[:warm_up]])
    rewards = np.array([reward_of(contexts, arm, uniform) for contexts, uniform, arm in recorded[:warm_up]])
    theta_hat = likelihood_estimate(rows, rewards)
    np.testing.assert_allclose(algorithm.theta_hat, theta_hat, atol=1e-5)

    draws = SEEDS.generator("posterior")
    theta_tilde, tildes, gradient, expected, far = theta_hat.copy(), [], np.zeros(DIM), [], []
    for epoch in range(3):
        values = configurations(warm_up + epoch * tau)
        theta_tilde = theta_tilde - values["learning_rate"] / (epoch + 1) * gradient
        distance = np.linalg.norm(theta_tilde - theta_hat)
        far.append(distance > 2)
        if distance > 2:
            theta_tilde = theta_hat + 2 * (theta_tilde - theta_hat) / distance
        tildes.append(theta_tilde)
        variance = 2 * sum(value**2 for name, value in values.items() if name != "learning_rate") / (epoch + 1)
        theta = np.mean(tildes, axis=0) + math.sqrt(variance) * draws.standard_normal(DIM)
        gradient = np.zeros(DIM)
        for contexts, uniform, _ in recorded[warm_up + epoch * tau : warm_up + (epoch + 1) * tau]:
            arm = int(np.argmax(contexts @ theta))
            gradient += (sigmoid(contexts[arm] @ theta_tilde) - reward_of(contexts, arm, uniform)) * contexts[arm]
            expected.append(arm)
    assert any(far) == (learning_rate > 10)
    assert arms == expected
    assert len(set(arms)) > 2
    np.testing.assert_allclose(algorithm.theta_tilde, theta_tilde, atol=1e-4)
    np.testing.assert_allclose(algorithm.theta_bar, np.mean(tildes, axis=0), atol=1e-4)
    np.testing.assert_allclose(algorithm.theta, theta, atol=1e-4)


def test_theory_by_hand():
    """T = 300, dim = 4: tau = 50. Rounds 51 to 100 are epoch 1, rounds 151 to 200 epoch 3."""
    two, one = SGDTS(), SGDTS(covariance="one")
    for algorithm in (one, two):
        algorithm.start(INFO, SEEDS)
    for round_, epoch in ((1, 1), (51, 1), (100, 1), (101, 2), (151, 3), (200, 3)):
        first = 0.5 * math.sqrt(2 * math.log(1 + 25 * epoch) + 2 * math.log(300))
        second = 50 * math.sqrt(1 + math.log(epoch))
        assert two.theory(round_) == pytest.approx(
            {"learning_rate": 1.0, "exploration_rate_1": first, "exploration_rate_2": second}, rel=1e-12
        )
        assert one.theory(round_) == pytest.approx(
            {"exploration_rate": math.sqrt(first**2 + second**2), "learning_rate": 1.0}, rel=1e-12
        )
        given = two.theory(round_, {"learning_rate": 10.0})
        assert given["exploration_rate_2"] == pytest.approx(second / 10, rel=1e-12)
    with pytest.raises(ConfigError, match=r"'learning_rate': found 0, expected a positive number"):
        two.theory(1, {"learning_rate": 0})


def test_theory_counts_epochs_from_the_end_of_a_longer_warm_up():
    algorithm = SGDTS()
    drive(algorithm, record(70), 70, lambda t: {})
    assert algorithm.theory(120) == algorithm.theory(71) == algorithm.theory(1)
    assert algorithm.theory(121)["exploration_rate_2"] == pytest.approx(50 * math.sqrt(1 + math.log(2)), rel=1e-12)


@pytest.mark.parametrize(("rounds", "dim", "factor"), [(14_000, 25, 6), (10_000, 5, 10), (2, 1, 1), (1, 1, 3)])
def test_both_stated_forms_of_the_epoch_length_agree(rounds, dim, factor):
    algorithm = SGDTS(epoch_factor=factor)
    algorithm.start(BanditInfo(dim, 3, rounds, 0.5, 1.0), SEEDS)
    assert algorithm.random_rounds == algorithm.rounds_per_decision == factor * math.floor(max(math.log(rounds), dim))


def test_covariance_decides_which_hyper_parameters_there_are():
    assert SGDTS().hyper_parameters.names == ("learning_rate", "exploration_rate_1", "exploration_rate_2")
    assert SGDTS().tuned.names == ("learning_rate",)
    assert SGDTS(covariance="one").hyper_parameters.names == ("exploration_rate", "learning_rate")
    assert SGDTS(covariance="one").tuned.names == ("exploration_rate",)
    both = ["learning_rate", "exploration_rate"]
    changed = SGDTS(covariance="one", tune=both, space={"learning_rate": {"candidates": (7.0,)}})
    assert changed.tuned.names == tuple(both)
    assert changed.tuned.parameters[0].candidates == (7.0,)
    with pytest.raises(ConfigError, match="'exploration_rate'"):
        _ = SGDTS(tune=["exploration_rate"]).tuned
    with pytest.raises(ConfigError, match="found 'nonsense'"):
        _ = SGDTS(space={"nonsense": {}}).tuned


@pytest.mark.parametrize("warm_up", [0, 1, 4])
def test_separable_random_pulls_give_a_finite_estimate(warm_up):
    """So few points can always be separated; the estimate has the right signs."""
    algorithm = SGDTS(epoch_factor=1)
    recorded = record(warm_up + 1)
    configuration = {"learning_rate": 1.0, "exploration_rate_1": 0.0, "exploration_rate_2": 0.0}
    drive(algorithm, recorded, warm_up, lambda t: configuration)
    assert np.isfinite(algorithm.theta_hat).all()
    for contexts, uniform, arm in recorded[:warm_up]:
        assert (contexts[arm] @ algorithm.theta_hat > 0) == (reward_of(contexts, arm, uniform) == 1)
