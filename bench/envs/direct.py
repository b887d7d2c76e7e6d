"""The contract of environments in which the configuration itself is the arm."""

from abc import abstractmethod
from dataclasses import field

from bench.component import component
from bench.envs.base import Environment
from bench.space import Configuration, Space


@component
class DirectEnvironment(Environment):
    """Pays a noisy reward for a configuration of its own search space.

    After ``start``: ``sub_gaussian`` (constant of the reward noise) and ``change_points`` (the last rounds of all its
    stationary pieces but the last). After ``play``: the expected rewards ``mean`` of the configuration played,
    ``best_mean`` of the best one and ``average_mean`` of one drawn uniformly, all of the round just played.
    """

    sub_gaussian: float = field(init=False, repr=False)
    change_points: tuple[int, ...] = field(init=False, repr=False, default=())
    mean: float = field(init=False, repr=False)
    best_mean: float = field(init=False, repr=False)
    average_mean: float = field(init=False, repr=False)

    @property
    @abstractmethod
    def space(self) -> Space:
        """The configurations there are."""

    @abstractmethod
    def play(self, configuration: Configuration) -> float:
        """Play a round and return its reward."""
