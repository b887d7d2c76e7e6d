"""Estimators against hand computation, obp and repeated draws."""

import numpy as np
import pytest

from bench.envs.logged import LoggedData
from bench.off_policy.estimators import estimator_terms

POLICY = np.array([[0.5, 0.5], [0.2, 0.8], [1.0, 0.0], [0.3, 0.7], [0.6, 0.4]])
"""The policy to evaluate on the five rows."""
PREDICTIONS = np.array([[0.1, 0.9], [0.5, 0.5], [0.2, 0.4], [0.0, 1.0], [0.3, 0.8]])


def five_rows():
    logging = np.array([[0.5, 0.5], [0.4, 0.6], [0.8, 0.2], [0.5, 0.5], [0.9, 0.1]])
    actions = np.array([0, 1, 0, 0, 1])
    rewards = np.array([1.0, 0.0, 1.0, 1.0, 1.0])
    return LoggedData(np.zeros((5, 1)), actions, rewards, logging[np.arange(5), actions], logging)


def random_log(n=300, n_actions=4, seed=0):
    rng = np.random.default_rng(seed)
    logging, policy, predictions = (rng.dirichlet(np.ones(n_actions), n) for _ in range(3))
    actions = np.array([rng.choice(n_actions, p=row) for row in logging])
    rewards = (rng.random(n) < 0.4).astype(float)
    data = LoggedData(np.zeros((n, 1)), actions, rewards, logging[np.arange(n), actions], logging)
    return data, policy, predictions


def test_estimates_of_five_rows_by_hand():
    data = five_rows()
    ips = (1 + 0 + 1.25 + 0.6 + 4) / 5
    snips = (1 + 0 + 1.25 + 0.6 + 4) / (1 + 4 / 3 + 1.25 + 0.6 + 4)
    direct = np.array([0.5 * 0.1 + 0.5 * 0.9, 0.5, 0.2, 0.7, 0.6 * 0.3 + 0.4 * 0.8])
    residual = np.array([1 - 0.1, 0 - 0.5, 1 - 0.2, 1 - 0.0, 1 - 0.8])
    doubly_robust = np.mean(direct + np.array([1, 4 / 3, 1.25, 0.6, 4]) * residual)
    assert estimator_terms("ips", data, POLICY).mean() == pytest.approx(ips, rel=1e-12)
    assert estimator_terms("snips", data, POLICY).mean() == pytest.approx(snips, rel=1e-12)
    assert estimator_terms("dr", data, POLICY, PREDICTIONS).mean() == pytest.approx(doubly_robust, rel=1e-12)


def test_estimates_equal_those_of_obp():
    from obp.ope import DoublyRobust, InverseProbabilityWeighting, SelfNormalizedInverseProbabilityWeighting

    data, policy, predictions = random_log()
    log = {
        "reward": data.rewards,
        "action": data.actions,
        "pscore": data.propensities,
        "action_dist": policy[:, :, None],
    }
    obp = {
        "ips": InverseProbabilityWeighting().estimate_policy_value(**log),
        "snips": SelfNormalizedInverseProbabilityWeighting().estimate_policy_value(**log),
        "dr": DoublyRobust().estimate_policy_value(**log, estimated_rewards_by_reg_model=predictions[:, :, None]),
    }
    for estimator, value in obp.items():
        terms = estimator_terms(estimator, data, policy, predictions)
        assert terms.shape == (300,)
        assert terms.mean() == pytest.approx(value, rel=1e-12), estimator


def test_snips_of_a_policy_without_overlap_is_zero():
    data = five_rows()
    never = np.eye(2)[1 - data.actions]
    assert (estimator_terms("snips", data, never) == 0).all()
