import math
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from pydantic import PositiveInt

from bench.algorithms.base import Algorithm
from bench.arithmetic import softmax
from bench.component import component
from bench.envs.logged import LoggedData, Policy
from bench.errors import TaskError
from bench.off_policy.elastic_net import fit_logistic
from bench.off_policy.reward_models import ForestRewards, LogisticRewards, RewardModel
from bench.seeding import Seeds
from bench.space import Configuration

_TENTHS = tuple(i / 10 for i in range(1, 10))
_OF_MODEL = {
    "logistic_regression": ("C", "l1_ratio"),
    "random_forest": ("max_depth", "min_samples_split", "max_samples"),
}


@component
class SoftmaxPolicy(Algorithm):
    """The policy pi(a|x) = exp(beta mu(x, a)) / sum_b exp(beta mu(x, b)), with mu learnt from logged rewards 0 and 1.

    mu is a logistic regression with an elastic net or a random forest, on the context joined with the action's
    features. Without ``products``, a logistic regression orders the actions in the same way in every context. Models
    are kept for the run, because beta does not affect the training and the random state is fixed. Source: opl_hpo,
    equation 6 and table 2.

    Parameters
    ----------
    n_trees
        Number of trees of the random forest.
    max_iter
        Maximum number of passes over the data for the logistic regression (saga), converged or not.
    products
        Whether the logistic regression also has the products of the context's features with the action's.
    """

    requires: ClassVar[tuple[str, ...]] = ("scikit-learn",)
    spaces: ClassVar[dict[str, dict[str, Any]]] = {
        "model": {"candidates": tuple(_OF_MODEL), "default": "logistic_regression"},
        "C": {
            "candidates": (0.001, 0.1, 10.0, 1000.0),
            "low": 0.001,
            "high": 1000.0,
            "log": True,
            "when": ("model", "logistic_regression"),
            "default": 1.0,
        },
        "l1_ratio": {"candidates": _TENTHS, "when": ("model", "logistic_regression"), "default": 0.5},
        "max_depth": {
            "candidates": (2, 8, 32),
            "low": 2,
            "high": 32,
            "integer": True,
            "when": ("model", "random_forest"),
            "default": 8,
        },
        "min_samples_split": {
            "candidates": (2, 8, 32),
            "low": 2,
            "high": 32,
            "integer": True,
            "when": ("model", "random_forest"),
            "default": 2,
        },
        "max_samples": {"candidates": _TENTHS, "when": ("model", "random_forest"), "default": 0.9},
        "beta": {"candidates": (0.1, 1.0, 10.0, 100.0), "low": 0.01, "high": 100.0, "log": False, "default": 10.0},
    }

    tune: list[str] = field(default_factory=lambda: list(SoftmaxPolicy.spaces))
    n_trees: PositiveInt = 10
    max_iter: PositiveInt = 1000
    products: bool = False

    def start(self, train: LoggedData, action_features: np.ndarray, seeds: Seeds) -> None:
        """Forget everything and take the training data; ``action_features`` has shape (n_actions, d_a).

        Raises TaskError if a reward is neither 0 nor 1.
        """
        other = train.rewards[(train.rewards != 0) & (train.rewards != 1)]
        if other.size:
            raise TaskError(f"softmax_policy: found the logged reward {other[0]:g}, expected rewards of 0 and 1")
        self._log = train
        self._defaults = self.hyper_parameters.defaults
        self._action_features = action_features
        self._random_state = int(seeds.generator("training").integers(2**31))
        self._trained: dict[tuple[Any, ...], RewardModel] = {}

    def train(self, configuration: Configuration) -> RewardModel:
        complete = self._defaults | configuration
        key = tuple(complete[name] for name in ("model", *_OF_MODEL[complete["model"]]))
        if key not in self._trained:
            self._trained[key] = self._fit(complete)
        return self._trained[key]

    def policy(self, configuration: Configuration) -> Policy:
        model, beta = self.train(configuration), float((self._defaults | configuration)["beta"])

        return lambda contexts, logging_policy: softmax(model.predict(contexts), beta)

    def _fit(self, configuration: Configuration) -> RewardModel:
        log, actions = self._log, self._action_features
        taken = actions[log.actions]
        features = np.hstack([log.contexts, taken])
        if log.rewards.min() == log.rewards.max():  # an infinite intercept predicts the constant
            intercepts = np.full(len(actions), math.inf if log.rewards[0] else -math.inf)
            return LogisticRewards(np.zeros(log.contexts.shape[1]), intercepts)
        if configuration["model"] == "random_forest":
            from sklearn.ensemble import RandomForestClassifier

            forest = RandomForestClassifier(
                n_estimators=self.n_trees,
                max_depth=int(configuration["max_depth"]),
                min_samples_split=int(configuration["min_samples_split"]),
                max_samples=float(configuration["max_samples"]),
                random_state=self._random_state,
            )
            return ForestRewards.of(forest.fit(features, log.rewards), actions)
        if self.products:
            each = (log.contexts[:, :, None] * taken[:, None, :]).reshape(len(taken), -1)
            features = np.hstack([features, each])
        c, l1_ratio = float(configuration["C"]), float(configuration["l1_ratio"])
        fitted = fit_logistic(features, log.rewards, c, l1_ratio, self.max_iter, self._random_state)
        return LogisticRewards.of(*fitted, actions, self.products)
