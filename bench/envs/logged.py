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
    """Data logged by a policy, with one row per decision.

    ``contexts`` has shape (n, d). ``actions``, integers in 0 .. n_actions - 1, ``rewards``, and ``propensities``, the
    positive probabilities with which the actions were chosen, have shape (n,). ``policy``, shape (n, n_actions), holds
    the logging policy's probabilities of all actions.
    """

    contexts: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    propensities: np.ndarray
    policy: np.ndarray

    def __len__(self) -> int:
        return len(self.actions)


@component
class LoggedEnvironment(Environment):
    """The log of one policy, split into training and validation data, and the values of other policies.

    ``start`` sets ``n_actions``, ``action_features`` with shape (n_actions, d_a), ``train`` and ``validation``,
    ``logging_value``, the value of the logging policy, and ``best_value``, the value of the best policy, or None if it
    is unknown.
    """

    n_actions: int = field(init=False, repr=False)
    action_features: np.ndarray = field(init=False, repr=False)
    train: LoggedData = field(init=False, repr=False)
    validation: LoggedData = field(init=False, repr=False)
    logging_value: float = field(init=False, repr=False)
    best_value: float | None = field(init=False, repr=False, default=None)

    @abstractmethod
    def value(self, policy: Policy, rows: int | None = None) -> float:
        """Return the value of ``policy``: the expected reward of a decision, on data not used in tuning.

        ``rows`` limits the data to a fixed set of rows, for a faster and less precise value.
        """

    def value_interval(self, policy: Policy) -> tuple[float, float] | None:
        """Return a 95 % confidence interval of ``value``, or None if the value is known exactly."""
        return None
