from abc import abstractmethod
from dataclasses import field
from typing import ClassVar

import numpy as np

from bench.component import component
from bench.envs.direct import DirectEnvironment
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter, Space


@component
class Arms(DirectEnvironment):
    """K arms, the values 0 to K - 1 of ``arm``; the rewards of all arms are revealed in every round.

    Rewards are drawn before the arm is chosen, in blocks of rounds for speed.
    """

    full_information: ClassVar[bool] = True

    _arms: dict[int, int] = field(init=False, repr=False)
    _block: np.ndarray = field(init=False, repr=False)
    _row: int = field(init=False, repr=False)

    @property
    @abstractmethod
    def n_arms(self) -> int:
        """Number of arms, K."""

    @property
    def space(self) -> Space:
        return Space((HyperParameter("arm", candidates=tuple(range(self.n_arms))),))

    def start(self, rounds: int, seeds: Seeds) -> None:
        self._arms = {arm: arm for arm in range(self.n_arms)}
        self._block = np.empty((0, self.n_arms))
        self._row = 0

    def play(self, configuration: Configuration) -> float:
        """Play a round and return its reward. Raises ConfigError if there is no such arm."""
        try:
            arm = self._arms[configuration["arm"]]
        except (KeyError, TypeError):
            raise ConfigError(
                f"env: found the configuration {configuration}, expected an arm from 0 to {self.n_arms - 1}"
            ) from None
        if self._row == len(self._block):
            self._block, self._row = self._next_block(), 0
        self.rewards = rewards = self._block[self._row]
        self._row += 1
        reward: float = rewards.item(arm)
        self._played(arm, reward)
        return reward

    @abstractmethod
    def _next_block(self) -> np.ndarray:
        """Return the rewards of the next rounds, shape (rounds, K)."""

    @abstractmethod
    def _played(self, arm: int, reward: float) -> None:
        """Record what was played, and set ``mean``, ``best_mean`` and ``average_mean`` of the round."""
