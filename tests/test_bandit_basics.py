"""ETC, UCB1, UCB(delta) and Hedge against hand computations, slow direct evaluation and exact expectations."""

import math

import numpy as np
import pytest
from scipy.stats import chisquare

from bench.errors import ConfigError, TunerError
from bench.seeding import Seeds
from bench.space import Space
from bench.tasks.base import Outcome
from bench.tuners.base import Problem
from bench.tuners.etc import ETC
from bench.tuners.exp3 import EXP3
from bench.tuners.hedge import Hedge
from bench.tuners.ucb1 import UCB1
from bench.tuners.ucb_delta import UCBDelta

MANY = {
    "etc": lambda: ETC(pulls_per_arm=3),
    "ucb1": UCB1,
    "ucb_delta": UCBDelta,
    "hedge": Hedge,
    "exp3": EXP3,
    "exp3 weight": lambda: EXP3(form="weight"),
}


def started(tuner, n_arms, horizon=1_000, seed=0):
    tuner.start(Problem(Space.of(arm=range(n_arms)), horizon), Seeds(seed))
    return tuner


def play(tuner, *rewards):
    """Tell the rewards and return the arms that they were paid for."""
    arms = []
    for reward in rewards:
        arms.append(tuner.ask()["arm"])
        tuner.tell(reward)
    return arms


# UCB


def test_ucb_delta_by_hand():
    """2 ln 40 = 7.3778, its root 2.7162."""
    tuner = started(UCBDelta(delta=0.025), 2)
    play(tuner, 0.5)
    np.testing.assert_allclose(tuner.upper_bounds, [3.2162, np.inf], atol=1e-4)
    assert tuner.ask() == {"arm": 1}


def test_ucb_delta_with_the_width_of_hoeffdings_inequality():
    """ln 40 / 2 = 1.8444, its root 1.3581: half the other width."""
    tuner = started(UCBDelta(delta=0.025, width="hoeffding"), 2)
    play(tuner, 0.5)
    np.testing.assert_allclose(tuner.upper_bounds, [1.8581, np.inf], atol=1e-4)


def test_ucb_delta_is_one_over_horizon_squared_by_default():
    default, given = started(UCBDelta(), 2, 50), started(UCBDelta(delta=1 / 2500), 2, 50)
    for tuner in (default, given):
        play(tuner, 0.0, 1.0, 0.5)
    np.testing.assert_allclose(default.upper_bounds, given.upper_bounds, rtol=1e-14)
    assert np.isfinite(started(UCBDelta(), 1, 1)._width)


@pytest.mark.parametrize(
    ("tuner", "width"), [(UCB1(), lambda t: 2 * math.log(t)), (UCBDelta(delta=0.1), lambda t: 2 * math.log(10))]
)
def test_ucb_chooses_as_a_slow_list_of_rewards_says(tuner, width):
    started(tuner, 6)
    rng = np.random.default_rng(1)
    rewards: list[list[float]] = [[] for _ in range(6)]
    for t in range(600):
        bounds = [
            math.inf if not own else math.fsum(own) / len(own) + math.sqrt(width(t) / len(own)) for own in rewards
        ]
        arm = tuner.ask()["arm"]
        assert bounds[arm] == pytest.approx(max(bounds), abs=1e-12)
        reward = float(rng.normal(0.1 * arm, 0.3))
        rewards[arm].append(reward)
        tuner.tell(reward)
    assert all(rewards)
    np.testing.assert_allclose(tuner._arms.means, [np.mean(own) for own in rewards], rtol=1e-12)


@pytest.mark.parametrize("tuner", [UCB1(), UCBDelta(), ETC(pulls_per_arm=1)])
def test_of_equals_the_first_is_chosen(tuner):
    assert play(started(tuner, 3), *[0.5] * 4) == [0, 1, 2, 0]


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1])
def test_delta_is_a_probability(delta):
    with pytest.raises(ConfigError, match=r"UCBDelta\.delta"):
        UCBDelta(delta=delta)


# ETC


def test_etc_tries_in_turn_and_stays_with_the_best_mean():
    """Means 0.4, 0.7, 0.5 after m K = 6 rounds, not after 5; what comes later does not count."""
    tuner = started(ETC(pulls_per_arm=2), 3)
    assert play(tuner, 0.4, 0.6, 0.9, 0.4, 0.8, 0.1) == [0, 1, 2, 0, 1, 2]
    assert play(tuner, -100.0, 3.0, -100.0, 0.0) == [1, 1, 1, 1]


def test_etc_with_too_short_a_horizon_tries_in_turn_throughout():
    assert play(started(ETC(), 2, 5), 1.0, 0.0, 1.0, 0.0, 1.0) == [0, 1, 0, 1, 0]


# Hedge


def reveal(tuner, *losses):
    """Tell the losses of all arms; return the chances from which the arm was drawn."""
    chances = tuner.probabilities()["configuration"]
    arm = tuner.ask()["arm"]
    rewards = 1.0 - np.array(losses)
    tuner.tell(float(rewards[arm]), Outcome(float(rewards[arm]), rewards=rewards))
    return chances


@pytest.mark.parametrize("eta", [None, 0.3])
def test_hedge_in_the_gain_form_is_the_same(eta):
    tuner = started(Hedge(eta=eta), 4)
    losses = np.random.default_rng(2).random((50, 4))
    weights = np.ones(4)
    for t, own in enumerate(losses, start=1):
        np.testing.assert_allclose(reveal(tuner, *own), weights / weights.sum(), atol=1e-13)
        weights *= np.exp((eta or math.sqrt(math.log(4) / (4 * t))) * (1.0 - own))


@pytest.mark.parametrize(
    "outcome",
    [None, Outcome(0.5), Outcome(0.5, rewards=np.ones(2)), Outcome(0.5, rewards=np.array([0.1, math.nan, 0.2]))],
)
def test_hedge_needs_the_rewards_of_all(outcome):
    tuner = started(Hedge(), 3)
    tuner.ask()
    with pytest.raises(TunerError, match=r"^Hedge: found [^\n]*, expected [^\n]*$"):
        tuner.tell(0.5, outcome)
    assert (tuner.log_weights == 0).all()


# all of them


@pytest.mark.parametrize("name", MANY)
def test_rewards_of_any_size_leave_everything_finite(name):
    tuner = started(MANY[name](), 3)
    rng = np.random.default_rng(4)
    for t in range(3_000):
        tuner.ask()
        rewards = rng.choice([1e308, -1e308, 1.7e308, -1.7e308, 1e6, 0.5, 5e-324], 3) if t % 5 else rng.random(3)
        for chances in tuner.probabilities().values():
            assert (chances > 0).all()
            assert chances.sum() == pytest.approx(1, abs=1e-12)
        tuner.tell(float(rewards[0]), Outcome(float(rewards[0]), rewards=rewards))
    for part in vars(tuner).values():
        for value in vars(part).values() if hasattr(part, "__dict__") else [part]:
            if isinstance(value, float | np.ndarray):
                assert np.isfinite(value).all()


@pytest.mark.parametrize("name", MANY)
def test_every_combination_of_any_values_is_a_candidate(name):
    space = Space.of(depth=[None, 3], features=["sqrt", "log2"])
    tuner = MANY[name]()
    tuner.start(Problem(space, 100), Seeds(0))
    seen = []
    for _ in range(60):
        seen.append(tuner.ask())
        tuner.tell(0.5, Outcome(0.5, rewards=np.full(4, 0.5)))
    assert all(configuration in space.product() for configuration in seen)
    assert all(configuration in seen for configuration in space.product())


@pytest.mark.parametrize("name", ["hedge", "exp3", "exp3 weight"])
def test_draws_are_as_frequent_as_their_probabilities(name):
    tuner = started(MANY[name](), 4, seed=3)
    rewards = np.array([0.1, 0.9, 0.4, 0.4])
    for _ in range(25):
        arm = tuner.ask()["arm"]
        tuner.tell(float(rewards[arm]), Outcome(float(rewards[arm]), rewards=rewards))
    chances = tuner.probabilities()["configuration"]
    assert np.ptp(chances) > 0.05
    counts = np.bincount([tuner.ask()["arm"] for _ in range(20_000)], minlength=4)
    assert chisquare(counts, 20_000 * chances / chances.sum()).pvalue > 1e-3
