"""The contract of environments that hold logged bandit data."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bench.component import component
from bench.envs.base import Environment

Policy = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Maps contexts, shape (m, d), and the logging policy's probabilities there, shape (m, n_actions), to its own
probabilities, shape (m, n_actions)."""


@dataclass(frozen=True, eq=False)
class LoggedData:
    """What a logging policy left behind, one row for each decision.

    Parameters
    ----------
    contexts
        Shape (n, d).
    actions
        The actions taken, integers in 0 .. n_actions - 1, shape (n,).
    rewards
        What they paid, shape (n,).
    propensities
        The probabilities, all positive, with which the actions taken were chosen, shape (n,).
    policy
        The logging policy's probabilities of all actions, shape (n, n_actions).
    """

    contexts: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    propensities: np.ndarray
    policy: np.ndarray

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.actions)


@component
class LoggedEnvironment(Environment):
    """Holds the log of one policy, split into training and validation data, and knows what other policies are worth.

    After ``start``: ``n_actions``; ``action_features``, shape (n_actions, d_a); ``train`` and ``validation``;
    ``logging_value``, the value of the logging policy, and ``best_value``, that of the best policy, None where it is
    not known.
    """

    n_actions: int = field(init=False, repr=False)
    action_features: np.ndarray = field(init=False, repr=False)
    train: LoggedData = field(init=False, repr=False)
    validation: LoggedData = field(init=False, repr=False)
    logging_value: float = field(init=False, repr=False)
    best_value: float | None = field(init=False, repr=False, default=None)

    @abstractmethod
    def value(self, policy: Policy, rows: int | None = None) -> float:
        """Return the value of ``policy``: the expected reward of a decision, on data that tuning never sees.

        ``rows``: take only so many rows of those data, the same ones each time, where less precision will do.
        """

    def value_interval(self, policy: Policy) -> tuple[float, float] | None:
        """Return a 95 % confidence interval of ``value``, None where the value is known, not estimated."""
        return None
