"""Estimators against the ones of obp."""

import numpy as np
import pytest

from bench.envs.logged import LoggedData
from bench.off_policy.estimators import estimator_terms


def random_log(n=300, n_actions=4, seed=0):
    rng = np.random.default_rng(seed)
    logging, policy, predictions = (rng.dirichlet(np.ones(n_actions), n) for _ in range(3))
    actions = np.array([rng.choice(n_actions, p=row) for row in logging])
    rewards = (rng.random(n) < 0.4).astype(float)
    data = LoggedData(np.zeros((n, 1)), actions, rewards, logging[np.arange(n), actions], logging)
    return data, policy, predictions


def test_estimates_equal_those_of_obp():
    from obp.ope import DoublyRobust, InverseProbabilityWeighting, SelfNormalizedInverseProbabilityWeighting

    data, policy, predictions = random_log()
    log = {"reward": data.rewards, "action": data.actions, "pscore": data.propensities}
    log["action_dist"] = policy[:, :, None]
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
    data, _, _ = random_log(n_actions=2)
    never = np.eye(2)[1 - data.actions]
    assert (estimator_terms("snips", data, never) == 0).all()


def test_terms_of_snips_are_how_far_each_row_moves_it():
    data, policy, _ = random_log()
    weights = policy[np.arange(300), data.actions] / data.propensities
    total, value = weights.sum(), weights @ data.rewards / weights.sum()
    without = (weights @ data.rewards - weights * data.rewards) / (total - weights)
    moves = 300 * (value - without) * (1 - weights / total)
    np.testing.assert_allclose(estimator_terms("snips", data, policy) - value, moves, atol=1e-9)
