from typing import Annotated, Literal

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt

from bench.arithmetic import product, sigmoid, softmax
from bench.component import component
from bench.envs.logged import LoggedData, LoggedEnvironment, Policy
from bench.errors import ConfigError
from bench.seeding import Seeds

_BLOCK = 8192
"""Contexts whose policies are computed at once: small enough for the processor's cache."""


@component
class SyntheticLogged(LoggedEnvironment):
    """Rewards of 0 and 1 with mean mu(x, a) = sigmoid(x'M e_a + eta_x'x + eta_a'e_a), logged by softmax(beta0 mu).

    Contexts are N(0, I); the entries of M, eta_x, eta_a and the action features e_a are uniform on [-1, 1], drawn for
    each repetition unless ``reward_seed`` is given. Values of policies are exact expectations over the actions,
    averaged over ``n_test`` contexts, the same for all policies. Raises ConfigError if the number of one-hot features
    differs from that of actions. Source: opl_hpo, section 3.1, equations 4 and 5.

    Parameters
    ----------
    beta0
        Inverse temperature of the logging policy, at least -700. The policy is uniform for 0, near-optimal for large
        values and worse than uniform for negative values.
    n_actions, dim, action_dim
        Number of actions, of features of a context and of an action.
    representation
        Representation e_a of an action: ``uniform`` on [-1, 1], or ``one_hot``, which needs as many features as
        actions.
    standardize_logits
        Whether the argument of the sigmoid is shifted and scaled to mean 0 and variance 1 over contexts and actions.
    reward_seed
        Seed of one reward function, with its action features, for all repetitions; null: a function for each
        repetition.
    n_train, n_validation, n_test
        Rows to train on, rows to tune on, and contexts to evaluate on.
    """

    beta0: Annotated[float, Field(ge=-700)] = 3.0
    n_actions: PositiveInt = 10
    dim: PositiveInt = 10
    action_dim: PositiveInt = 10
    representation: Literal["uniform", "one_hot"] = "uniform"
    standardize_logits: bool = True
    reward_seed: NonNegativeInt | None = None
    n_train: PositiveInt = 1000
    n_validation: PositiveInt = 1000
    n_test: PositiveInt = 100_000

    def start(self, rounds: int, seeds: Seeds) -> None:
        if self.representation == "one_hot" and self.action_dim != self.n_actions:
            raise ConfigError(
                f"env.action_dim: found {self.action_dim} with {self.n_actions} one-hot actions, expected as many "
                "features as actions"
            )
        of_function = seeds if self.reward_seed is None else Seeds(self.reward_seed)
        rng = of_function.generator("reward_function")
        matrix = rng.uniform(-1, 1, (self.dim, self.action_dim))
        of_context, of_action = rng.uniform(-1, 1, self.dim), rng.uniform(-1, 1, self.action_dim)
        uniform = of_function.generator("actions").uniform(-1, 1, (self.n_actions, self.action_dim))
        self.action_features = np.eye(self.n_actions) if self.representation == "one_hot" else uniform
        self._slopes = product(self.action_features, matrix.T) + of_context
        self._offsets = product(self.action_features, of_action[:, None])[:, 0]
        if self.standardize_logits:
            # Over x ~ N(0, I) and uniform actions the logit x's_a + o_a has these moments
            mean = self._offsets.mean()
            std = np.sqrt(((self._slopes**2).sum(axis=1) + (self._offsets - mean) ** 2).mean())
            self._slopes, self._offsets = self._slopes / std, (self._offsets - mean) / std
        self.train = self.draw(self.n_train, seeds.generator("train"))
        self.validation = self.draw(self.n_validation, seeds.generator("validation"))
        self._contexts = seeds.generator("test").standard_normal((self.n_test, self.dim))
        self._means = self.mean_rewards(self._contexts)
        self._policy = self.logging_policy(self._means)
        self.logging_value = self.value(lambda contexts, policy: policy)
        self.best_value = float(self._means.max(axis=1).mean())

    def mean_rewards(self, contexts: np.ndarray) -> np.ndarray:
        """Return mu(x, a) of every action, shape (m, n_actions), for contexts of shape (m, dim)."""
        return sigmoid(product(contexts, self._slopes.T) + self._offsets)

    def logging_policy(self, means: np.ndarray) -> np.ndarray:
        """Return softmax(beta0 mu), shape (m, n_actions), from mu(x, a)."""
        return softmax(means, self.beta0)

    def draw(self, n: int, rng: np.random.Generator) -> LoggedData:
        contexts = rng.standard_normal((n, self.dim))
        means = self.mean_rewards(contexts)
        policy = self.logging_policy(means)
        # Inversion; rounding may leave the last sum below a draw
        actions = (policy.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=self.n_actions - 1)
        rows = np.arange(n)
        rewards = (rng.random(n) < means[rows, actions]).astype(np.float64)
        return LoggedData(contexts, actions, rewards, policy[rows, actions], policy)

    def value(self, policy: Policy, rows: int | None = None) -> float:
        n = self.n_test if rows is None else min(rows, self.n_test)
        total = 0.0
        for start in range(0, n, _BLOCK):
            block = slice(start, min(start + _BLOCK, n))
            chosen = policy(self._contexts[block], self._policy[block])
            total += float((chosen * self._means[block]).sum())
        return total / n
