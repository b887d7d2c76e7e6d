"""The softmax policy against scikit-learn, row by row."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from bench.algorithms.softmax_policy import SoftmaxPolicy
from bench.envs.logged import LoggedData
from bench.envs.synthetic_logged import SyntheticLogged
from bench.errors import TaskError
from bench.seeding import Seeds


def started(n_actions=10, action_dim=10, **settings):
    env = SyntheticLogged(n_actions=n_actions, action_dim=action_dim, dim=6, n_train=500, n_test=100)
    env.start(1, Seeds(4))
    algorithm = SoftmaxPolicy(**settings)
    algorithm.start(env.train, env.action_features, Seeds(4).child("algorithm"))
    return env, algorithm


def joined(contexts, action_features):
    """Return the features of every pair of context and action, the actions of a context together."""
    n, n_actions = len(contexts), len(action_features)
    return np.hstack([np.repeat(contexts, n_actions, axis=0), np.tile(action_features, (n, 1))])


def by_sklearn(env, model, contexts):
    taken = np.hstack([env.train.contexts, env.action_features[env.train.actions]])
    model.fit(taken, env.train.rewards)
    predicted = model.predict_proba(joined(contexts, env.action_features))[:, 1]
    return predicted.reshape(len(contexts), -1)


def random_state():
    return int(Seeds(4).child("algorithm").generator("training").integers(2**31))


@pytest.mark.parametrize(
    ("max_depth", "min_samples_split", "max_samples"), [(2, 2, 0.1), (8, 5, 0.5), (32, 2, 0.9), (32, 32, 0.3)]
)
@pytest.mark.parametrize(("n_actions", "action_dim"), [(10, 10), (3, 1), (130, 4)])
def test_forest_predicts_the_very_numbers_of_sklearn(n_actions, action_dim, max_depth, min_samples_split, max_samples):
    env, algorithm = started(n_actions, action_dim)
    contexts = env.validation.contexts[:200]
    forest = {"max_depth": max_depth, "min_samples_split": min_samples_split, "max_samples": max_samples}
    model = RandomForestClassifier(n_estimators=10, random_state=random_state(), **forest)
    expected = by_sklearn(env, model, contexts)
    made = algorithm.train({"model": "random_forest", **forest}).predict(contexts)
    np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize(("C", "l1_ratio"), [(0.001, 0.1), (1.0, 0.5), (50.0, 0.9)])
def test_regression_predicts_as_sklearn(C, l1_ratio):
    env, algorithm = started()
    contexts = env.validation.contexts
    model = LogisticRegression(C=C, l1_ratio=l1_ratio, solver="saga", max_iter=1000, random_state=random_state())
    expected = by_sklearn(env, model, contexts)
    made = algorithm.train({"model": "logistic_regression", "C": C, "l1_ratio": l1_ratio}).predict(contexts)
    np.testing.assert_allclose(made, expected, atol=1e-13)


@pytest.mark.parametrize("model", ["logistic_regression", "random_forest"])
@pytest.mark.parametrize("beta", [0.01, 3.0, 100.0])
def test_policy_is_the_softmax_of_the_predictions(model, beta):
    env, algorithm = started()
    data = env.validation
    policy = algorithm.policy({"model": model, "beta": beta})(data.contexts, data.policy)
    weights = np.exp(beta * algorithm.train({"model": model}).predict(data.contexts))
    np.testing.assert_allclose(policy, weights / weights.sum(axis=1, keepdims=True), rtol=1e-12)


def test_regression_with_products_predicts_as_sklearn_and_orders_actions_by_context():
    env, algorithm = started(products=True)
    contexts, e = env.validation.contexts, env.action_features

    def features(x, actions):
        return np.hstack([x, actions, np.stack([np.outer(a, b).ravel() for a, b in zip(x, actions, strict=True)])])

    model = LogisticRegression(C=1.0, l1_ratio=0.5, solver="saga", max_iter=1000, random_state=random_state())
    model.fit(features(env.train.contexts, e[env.train.actions]), env.train.rewards)
    columns = [model.predict_proba(features(contexts, np.tile(a, (len(contexts), 1))))[:, 1] for a in e]
    made = algorithm.train({"model": "logistic_regression"}).predict(contexts)
    np.testing.assert_allclose(made, np.stack(columns, axis=1), rtol=1e-9)
    assert len(set(made.argmax(axis=1))) > 1
    _, plain = started()
    without = plain.train({"model": "logistic_regression"}).predict(contexts)
    assert len(set(without.argmax(axis=1))) == 1
    forest = {"model": "random_forest"}
    np.testing.assert_array_equal(algorithm.train(forest).predict(contexts), plain.train(forest).predict(contexts))


def test_a_new_run_forgets_and_repeats_itself():
    env, algorithm = started()
    contexts = env.validation.contexts
    for model in ("logistic_regression", "random_forest"):
        one = algorithm.train({"model": model})
        assert algorithm.train({"model": model, "beta": 99.0}) is one
        assert algorithm.train({"model": model, "C": 2.0, "max_depth": 3}) is not one
        algorithm.start(env.train, env.action_features, Seeds(4).child("algorithm"))
        again = algorithm.train({"model": model})
        assert again is not one
        np.testing.assert_array_equal(one.predict(contexts), again.predict(contexts))
    algorithm.start(env.train, env.action_features, Seeds(4, repetition=1).child("algorithm"))
    assert (algorithm.train({"model": "random_forest"}).predict(contexts) != one.predict(contexts)).any()


@pytest.mark.parametrize("model", ["logistic_regression", "random_forest"])
@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_equal_rewards_give_a_uniform_policy(model, reward):
    env, algorithm = started()
    data = env.train
    rewards = np.full(len(data), reward)
    algorithm.start(
        LoggedData(data.contexts, data.actions, rewards, data.propensities, data.policy), env.action_features, Seeds(0)
    )
    np.testing.assert_allclose(algorithm.policy({"model": model})(data.contexts, data.policy), 0.1, rtol=1e-12)


def test_rewards_other_than_0_and_1_are_one_sentence():
    env, algorithm = started()
    data = env.train
    rewards = data.rewards.copy()
    rewards[7] = 0.5
    log = LoggedData(data.contexts, data.actions, rewards, data.propensities, data.policy)
    with pytest.raises(TaskError, match=r"found the logged reward 0\.5, expected rewards of 0 and 1"):
        algorithm.start(log, env.action_features, Seeds(0))
