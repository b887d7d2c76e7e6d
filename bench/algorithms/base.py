"""The contract of every contextual bandit algorithm."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from bench.component import component
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter, Space


@dataclass(frozen=True)
class BanditInfo:
    """What an algorithm may know of its environment.

    Parameters
    ----------
    dim
        Number of features.
    n_arms
        Largest number of arms in a round.
    rounds
        Number of rounds of the run, T.
    sub_gaussian
        Constant of the reward noise.
    feature_norm
        Upper bound of the features' Euclidean norms.
    """

    dim: int
    n_arms: int
    rounds: int
    sub_gaussian: float
    feature_norm: float


@component
class Algorithm(ABC):
    """A contextual bandit algorithm with named hyper-parameters.

    Parameters
    ----------
    tune
        Names of the hyper-parameters that tuners search; a tuner of just one takes the first. The others stand at
        their theoretical value where there is one, else at their default.
    space
        Candidates, interval and default of hyper-parameters, in place of the class's own.
    """

    spaces: ClassVar[dict[str, dict[str, Any]]] = {}
    links: ClassVar[tuple[str, ...]] = ("linear", "logistic")

    tune: list[str] = field(default_factory=list)
    space: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def hyper_parameters(self) -> Space:
        """All hyper-parameters, tuned or not.

        Raises
        ------
        ConfigError
            When ``space`` names a hyper-parameter that the algorithm does not have.
        """
        for name in self.space:
            if name not in self.spaces:
                raise ConfigError(f"algorithm.space: found '{name}', expected one of: {', '.join(self.spaces)}")
        return Space(
            tuple(HyperParameter(name, **{**own, **self.space.get(name, {})}) for name, own in self.spaces.items())
        )

    @property
    def tuned(self) -> Space:
        """The hyper-parameters that tuners search; by default the first."""
        return self.hyper_parameters.restrict(self.tune or list(self.spaces)[:1])

    @property
    def warm_up(self) -> int:
        """The number of random pulls before its first decision."""
        return 0

    @property
    def rounds_per_decision(self) -> int:
        """The number of rounds for which it keeps one configuration."""
        return 1

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        """Return the theoretical values for round ``round_`` (from 1), of those hyper-parameters that have one.

        ``configuration`` holds what a tuner has set, where a theoretical value depends on it.
        """
        return {}

    @abstractmethod
    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        """Forget everything and prepare for a run."""

    @abstractmethod
    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        """Return the arm to pull, given the contexts, shape (arms, dim), and a value for every hyper-parameter."""

    @abstractmethod
    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        """Learn the reward of ``arm``."""
