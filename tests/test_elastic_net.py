"""Our SAGA against scikit-learn's, and against the conditions of a minimum."""

import warnings

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from bench.errors import TaskError
from bench.off_policy.elastic_net import fit_logistic


def data(n=300, d=8, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d)) * rng.uniform(0.2, 2.0, d)
    return features, (rng.random(n) < expit(features[:, 0] - 0.5 * features[:, 1])).astype(float)


@pytest.mark.parametrize("max_iter", [1, 3, 1000])
@pytest.mark.parametrize("l1_ratio", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("c", [0.001, 0.02, 1.0, 1000.0])
def test_coefficients_are_those_of_scikit_learn(c, l1_ratio, max_iter):
    """After the same steps in the same order, converged or not; with the smallest c all coefficients may be 0."""
    for n, d, seed in ((300, 8, 1), (60, 12, 2), (1, 3, 3)):
        features, rewards = data(n, d, seed)
        rewards[0] = 1.0 - rewards[-1] if n > 1 else rewards[0]
        if n == 1:
            features, rewards = np.vstack([features, -features]), np.array([0.0, 1.0])
        model = LogisticRegression(C=c, l1_ratio=l1_ratio, solver="saga", max_iter=max_iter, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(features, rewards)
        coefficients, intercept = fit_logistic(features, rewards, c, l1_ratio, max_iter, seed)
        np.testing.assert_allclose(coefficients, model.coef_[0], rtol=1e-9, atol=1e-11)
        assert intercept == pytest.approx(model.intercept_[0], rel=1e-9, abs=1e-11)


def test_with_many_passes_no_direction_leads_down():
    """The subgradient of the objective contains 0 at every coefficient; some coefficients are exactly 0."""
    features, rewards = data()
    c, l1_ratio = 0.05, 0.7
    w, b = fit_logistic(features, rewards, c, l1_ratio, 1000, 5)
    slope = c * features.T @ (expit(features @ w + b) - rewards) + (1 - l1_ratio) * w
    at_zero = w == 0
    assert 0 < at_zero.sum() < len(w)
    assert (np.abs(slope[at_zero]) <= l1_ratio + 1e-3).all()
    np.testing.assert_allclose(slope[~at_zero], -l1_ratio * np.sign(w[~at_zero]), atol=5e-3)
    assert abs((expit(features @ w + b) - rewards).mean()) < 1e-3


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_that_are_not_finite_are_one_sentence(value):
    features, rewards = data()
    features[3, 2] = value
    with pytest.raises(TaskError, match=r"^logistic regression: found [^\n]*, expected [^\n]*$"):
        fit_logistic(features, rewards, 1.0, 0.5, 100, 0)
