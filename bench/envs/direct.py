from abc import abstractmethod
from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from bench.component import component
from bench.envs.base import Environment
from bench.space import Configuration, Space


@component
class DirectEnvironment(Environment):
    """An environment whose arms are the configurations of its search space, and which pays a noisy reward.

    ``start`` sets ``sub_gaussian`` (constant of the reward noise) and ``change_points`` (the last rounds of all
    stationary pieces except the last). ``play`` sets the expected rewards of the round: ``mean`` for the configuration
    played, ``best_mean`` for the best configuration and ``average_mean`` for a uniformly drawn configuration. If the
    environment reveals all rewards, ``play`` also sets ``rewards`` of all candidates, in the order of
    ``space.product()``. A log that ends has no means, and sets ``expected_rounds``, the horizon of schedules, and
    ``traced_rounds``, over which a trace spreads its rows.
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
        """Play a round and return its reward, or None if there are no more rounds."""

    def values(self) -> dict[str, Any]:
        """Return further values of the round just played, for the trace."""
        return {"regret": self.best_mean - self.mean, "random_regret": self.best_mean - self.average_mean}
