"""Environments of arms: their distributions, full information, and regret against an adversary."""

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from bench.envs.arms import AdversarialArms, BernoulliArms, GaussianArms
from bench.errors import ConfigError
from bench.loop import run
from bench.seeding import Seeds
from bench.tasks.direct import Direct
from bench.tuners.baselines import Fixed
from bench.tuners.ucb import UCB1

ALL = [GaussianArms, BernoulliArms, AdversarialArms, lambda: AdversarialArms(adversary="adaptive")]


def table(env, rounds, choose=lambda t: t % 2, seed=0):
    """Play; return the rewards of all arms in every round, the rewards paid, and the environment's values."""
    env.start(rounds, Seeds(seed).child("env"))
    rewards, paid, values = [], [], []
    for t in range(rounds):
        paid.append(env.play({"arm": choose(t)}))
        rewards.append(env.rewards.copy())
        values.append(env.values())
    return np.array(rewards), np.array(paid), values


@pytest.mark.parametrize("make", ALL[:2])
def test_regret_and_that_of_random_play_are_differences_to_the_best_arm(make):
    env = make()
    _, _, values = table(env, 40, lambda t: t % 5)
    means = [env.best_mean, env.average_mean, env.mean]  # of the last round
    assert means[0] > means[1]
    assert values[-1]["regret"] == means[0] - means[2]
    assert values[-1]["random_regret"] == means[0] - means[1]


@pytest.mark.parametrize("make", ALL)
def test_the_reward_paid_is_the_one_revealed(make):
    rewards, paid, _ = table(make(), 3_000, lambda t: t % 5)
    np.testing.assert_array_equal(paid, rewards[np.arange(3_000), np.arange(3_000) % 5])


@pytest.mark.parametrize("make", ALL[:3])
def test_rewards_do_not_depend_on_the_arms_played(make):
    np.testing.assert_array_equal(table(make(), 2_500)[0], table(make(), 2_500, lambda t: 4)[0])
    assert (table(make(), 2_500)[0] != table(make(), 2_500, seed=1)[0]).any()


def test_gaussian_rewards():
    env = GaussianArms(means=[0.0, 2.0, -1.0], variance=0.25)
    rewards = table(env, 20_000)[0]
    for arm, mean in enumerate(env.means):
        assert kstest(rewards[:, arm], "norm", (mean, 0.5)).pvalue > 1e-3
    correlations = np.corrcoef(rewards.T)[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() < 4 / np.sqrt(20_000)
    assert len(np.unique(rewards)) == rewards.size
    assert env.sub_gaussian == 0.5


def test_bernoulli_rewards():
    means = [0.0, 0.25, 0.5, 1.0]
    rewards = table(BernoulliArms(means=means), 20_000)[0]
    assert set(np.unique(rewards)) == {0.0, 1.0}
    assert rewards[:, 0].sum() == 0
    assert rewards[:, 3].sum() == 20_000
    for arm in (1, 2):
        ones = rewards[:, arm].sum()
        chances = np.array([1 - means[arm], means[arm]])
        assert chisquare([20_000 - ones, ones], 20_000 * chances).pvalue > 1e-3
    assert abs(np.corrcoef(rewards[:, 1], rewards[:, 2])[0, 1]) < 4 / np.sqrt(20_000)


def test_regret_of_stochastic_arms_is_the_gap_of_the_means():
    trace = run(Direct(GaussianArms()), Fixed(configuration={"arm": 4}), rounds=200).columns()
    assert trace["regret"][-1] == pytest.approx(200 * 0.15)
    assert trace["random_regret"][-1] == pytest.approx(200 * 0.1)


@pytest.mark.parametrize("arm", [5, -1, 1.5, "a", None, [1]])
def test_an_unknown_arm_is_refused(arm):
    env = GaussianArms()
    env.start(10, Seeds(0))
    with pytest.raises(ConfigError, match=r"^env: found the configuration .*, expected an arm from 0 to 4$"):
        env.play({"arm": arm})


# adversaries


def test_the_oblivious_adversary_changes_sides_once():
    rewards = table(AdversarialArms(arms=4), 20_000)[0]
    first, second = rewards[:10_000].mean(axis=0), rewards[10_000:].mean(axis=0)
    np.testing.assert_allclose(np.sort(first), [0.5, 0.5, 0.5, 0.75], atol=0.02)
    np.testing.assert_allclose(np.sort(second), [0.1, 0.1, 0.1, 0.9], atol=0.02)
    assert first.argmax() != second.argmax()
    assert rewards.sum(axis=0).argmax() == second.argmax()
    roles = [table(AdversarialArms(arms=4), 2_000, seed=seed)[0][1_000:].sum(axis=0).argmax() for seed in range(30)]
    assert set(roles) == {0, 1, 2, 3}


@pytest.mark.parametrize("adversary", ["oblivious", "adaptive"])
def test_regret_is_against_the_best_arm_in_hindsight(adversary):
    arms = np.random.default_rng(0).integers(5, size=3_000).tolist()
    rewards, paid, values = table(AdversarialArms(adversary=adversary), 3_000, lambda t: arms[t])
    totals = rewards.cumsum(axis=0)
    np.testing.assert_allclose([v["regret"] for v in values], totals.max(axis=1) - paid.cumsum(), atol=1e-9)
    if adversary == "oblivious":
        random = totals.max(axis=1) - totals.mean(axis=1)
        np.testing.assert_allclose([v["random_regret"] for v in values], random, atol=1e-9)
    else:  # what random play would have met there is another sequence
        assert set(values[0]) == {"regret"}


def test_the_trace_keeps_regret_unsummed():
    env = AdversarialArms()
    trace = run(Direct(env), Fixed(configuration={"arm": 2}), rounds=1_000, max_rows=1_000).columns()
    _, paid, values = table(AdversarialArms(), 1_000, lambda t: 2)
    np.testing.assert_array_equal(trace["reward"], paid.cumsum())
    np.testing.assert_array_equal(trace["regret"], [v["regret"] for v in values])


def test_the_adaptive_adversary_never_pays_ucb1():
    """The arms then take turns, so that the best of them could have earned (K - 1) / K a round."""
    for rounds in (5, 1_000, 4_000):
        trace = run(Direct(AdversarialArms(adversary="adaptive")), UCB1(), rounds=rounds).columns()
        assert trace["reward"][-1] == 0
        assert trace["regret"][-1] == rounds * 4 / 5


def test_the_adaptive_adversary_pays_all_arms_but_the_one_it_foresees():
    rewards = table(AdversarialArms(arms=3, adversary="adaptive"), 500, lambda t: (t * t) % 3)[0]
    assert (np.sort(rewards, axis=1) == [0, 1, 1]).all()
