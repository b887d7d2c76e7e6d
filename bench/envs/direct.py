from abc import abstractmethod
from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from bench.component import component
from bench.envs.base import Environment
from bench.space import Configuration, Space


@component
class DirectEnvironment(Environment):
    """Pays a noisy reward for a configuration of its search space: the configuration is the arm.

    After ``start``: ``sub_gaussian`` (constant of the reward noise) and ``change_points`` (the last rounds of all its
    stationary pieces except the last). After ``play``: the expected rewards of the round, ``mean`` of the configuration
    played, ``best_mean`` of the best one and ``average_mean`` of one drawn uniformly; if the environment reveals them,
    ``rewards`` of all candidates, in the order of ``space.product()``. A log that ends has no means, and sets
    ``expected_rounds``, the horizon of schedules, and ``traced_rounds``, over which a trace spreads its rows.
    """

    sums: ClassVar[tuple[str, ...]] = ("reward", "regret", "random_regret")
    """The reward and the entries of ``values`` that a run sums."""

    full_information: ClassVar[bool] = False
    """Whether it reveals ``rewards``."""

    sub_gaussian: float = field(init=False, repr=False)
    change_points: tuple[int, ...] = field(init=False, repr=False, default=())
    mean: float = field(init=False, repr=False)
    best_mean: float = field(init=False, repr=False)
    average_mean: float = field(init=False, repr=False)
    rewards: np.ndarray | None = field(init=False, repr=False, default=None)
    expected_rounds: int | None = field(init=False, repr=False, default=None)
    traced_rounds: int | None = field(init=False, repr=False, default=None)

    @property
    @abstractmethod
    def space(self) -> Space:
        """The allowed configurations."""

    @abstractmethod
    def play(self, configuration: Configuration) -> float | None:
        """Play a round and return its reward; None if there are no more rounds."""

    def values(self) -> dict[str, Any]:
        """Return further values of the round just played, for the trace."""
        return {"regret": self.best_mean - self.mean, "random_regret": self.best_mean - self.average_mean}
