"""The synthetic log against its formulas, a larger sample, obp's generator and the published table."""

import math

import numpy as np
import pytest

from bench.envs.synthetic_logged import SyntheticLogged
from bench.errors import ConfigError
from bench.seeding import Seeds


def started(repetition=0, **settings):
    env = SyntheticLogged(**{"n_test": 5000, **settings})
    env.start(1, Seeds(0, repetition).child("env"))
    return env


def parameters(repetition=0):
    """Draw M, eta_x, eta_a and e_a as the environment does."""
    seeds = Seeds(0, repetition).child("env")
    rng = seeds.generator("reward_function")
    m, of_context, of_action = rng.uniform(-1, 1, (10, 10)), rng.uniform(-1, 1, 10), rng.uniform(-1, 1, 10)
    return m, of_context, of_action, seeds.generator("actions").uniform(-1, 1, (10, 10))


def logits(contexts, actions, repetition=0):
    """Evaluate x'M e + eta_x'x + eta_a'e."""
    m, of_context, of_action, _ = parameters(repetition)
    return np.array([[x @ m @ e + of_context @ x + of_action @ e for e in actions] for x in contexts])


@pytest.mark.parametrize("representation", ["uniform", "one_hot"])
def test_reward_function_is_that_of_the_paper(representation):
    env = started(representation=representation, standardize_logits=False)
    contexts = env.validation.contexts[:20]
    actions = parameters()[3] if representation == "uniform" else np.eye(10)
    np.testing.assert_array_equal(env.action_features, actions)
    expected = 1 / (1 + np.exp(-logits(contexts, actions)))
    np.testing.assert_allclose(env.mean_rewards(contexts), expected, rtol=1e-9)


@pytest.mark.parametrize("representation", ["uniform", "one_hot"])
def test_standardised_logits_have_mean_0_and_variance_1(representation):
    env = started(representation=representation)
    means = env.mean_rewards(np.random.default_rng(0).standard_normal((200_000, 10)))
    made = np.log(means / (1 - means))
    assert made.mean() == pytest.approx(0, abs=0.01)
    assert made.std() == pytest.approx(1, abs=0.01)
    raw = logits(env.validation.contexts[:5], env.action_features).ravel()
    means = env.mean_rewards(env.validation.contexts[:5]).ravel()
    made = np.log(means / (1 - means))
    assert np.corrcoef(raw, made)[0, 1] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("beta0", [-3.0, 0.0, 20.0])
def test_the_log_is_drawn_from_the_softmax_of_the_means(beta0):
    env = started(beta0=beta0)
    data = env.draw(40_000, np.random.default_rng(5))
    means = env.mean_rewards(data.contexts)
    weights = np.exp(beta0 * means)
    np.testing.assert_allclose(data.policy, weights / weights.sum(axis=1, keepdims=True), rtol=1e-12)
    rows = np.arange(len(data))
    np.testing.assert_array_equal(data.propensities, data.policy[rows, data.actions])
    for action in range(10):  # how often each is taken, and how well it pays
        taken = data.actions == action
        assert taken.mean() == pytest.approx(data.policy[:, action].mean(), abs=4 * 0.5 / math.sqrt(40_000))
        if taken.sum() > 100:
            assert data.rewards[taken].mean() == pytest.approx(
                means[taken, action].mean(), abs=4 * 0.5 / math.sqrt(taken.sum())
            )
    if beta0 == 0:
        np.testing.assert_allclose(data.policy, 0.1, rtol=1e-15)


@pytest.mark.parametrize(
    ("beta0", "measured", "published"),
    [(-3, 0.412, 0.412), (0, 0.500, 0.501), (3, 0.588, 0.580), (10, 0.702, 0.677), (20, 0.744, 0.719)],
)
def test_the_logging_policy_has_the_value_of_table_3(beta0, measured, published):
    """Over draws of the reward function, whose standard deviation is 0.01 to 0.02; near the best a little more.

    The best policy is worth 0.744 in print.
    """
    envs = [started(r, beta0=beta0, n_train=1, n_validation=1) for r in range(40)]
    value = np.mean([env.logging_value for env in envs])
    assert value == pytest.approx(measured, abs=0.01)
    assert value == pytest.approx(published, abs=0.015 if beta0 < 10 else 0.035)
    assert np.mean([env.best_value for env in envs]) == pytest.approx(0.767, abs=0.01)


def test_part_of_the_test_data_is_its_first_rows():
    env = started()
    seen = []

    def policy(contexts, logging_policy):
        seen.append((contexts, logging_policy))
        return logging_policy

    few = env.value(policy, 70)
    env.value(policy)
    np.testing.assert_array_equal(seen[0][0], seen[1][0][:70])
    assert seen[0][1].shape == (70, 10)
    assert few == pytest.approx((seen[0][1] * env.mean_rewards(seen[0][0])).sum() / 70, rel=1e-12)
    assert env.value(policy, 10**9) == env.logging_value


def test_values_do_not_depend_on_how_contexts_are_grouped():
    """More contexts than one block, and no whole number of blocks."""
    env = started(n_test=20_001)
    sizes = []

    def policy(contexts, logging_policy):
        sizes.append(len(contexts))
        return np.eye(10)[[3] * len(contexts)]

    assert env.value(policy) == pytest.approx(env._means[:, 3].mean(), rel=1e-12)
    assert len(sizes) > 1
    assert sum(sizes) == 20_001


def test_repetitions_differ_and_logging_policies_share_contexts_and_rewards():
    one, again, steeper, other = started(), started(), started(beta0=20.0), started(repetition=1)
    np.testing.assert_array_equal(one.validation.actions, again.validation.actions)
    for name in ("train", "validation"):
        np.testing.assert_array_equal(getattr(one, name).contexts, getattr(steeper, name).contexts)
    x = one.train.contexts
    np.testing.assert_array_equal(one.mean_rewards(x), steeper.mean_rewards(x))
    assert (one.train.contexts != other.train.contexts).all()
    assert (one.mean_rewards(x) != other.mean_rewards(x)).all()
    assert not np.array_equal(one.train.contexts, one.validation.contexts)


def test_a_seed_of_the_reward_function_fixes_it_and_nothing_else():
    one, other = started(reward_seed=3), started(repetition=1, reward_seed=3)
    x = one.train.contexts
    np.testing.assert_array_equal(one.action_features, other.action_features)
    np.testing.assert_array_equal(one.mean_rewards(x), other.mean_rewards(x))
    np.testing.assert_array_equal(x, started().train.contexts)
    assert (x != other.train.contexts).all()
    assert (one.mean_rewards(x) != started(reward_seed=4).mean_rewards(x)).all()


def test_one_hot_actions_need_as_many_features():
    with pytest.raises(ConfigError, match=r"env.action_dim: found 4 with 10 one-hot actions, expected"):
        started(representation="one_hot", action_dim=4)
