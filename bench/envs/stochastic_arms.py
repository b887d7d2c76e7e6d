from abc import abstractmethod
from dataclasses import field

import numpy as np

from bench.component import component
from bench.envs.arms import Arms
from bench.seeding import Seeds

_BLOCK = 1024


@component
class StochasticArms(Arms):
    """Independent rewards around the ``means`` of the arms, the same in every run with the same seed."""

    means: list[float] = field(default_factory=list)

    @property
    def n_arms(self) -> int:
        return len(self.means)

    def start(self, rounds: int, seeds: Seeds) -> None:
        super().start(rounds, seeds)
        self._rng = seeds.generator("rewards")
        self.best_mean = max(self.means)
        self.average_mean = sum(self.means) / len(self.means)

    def _next_block(self) -> np.ndarray:
        return self._draw(_BLOCK)

    def _played(self, arm: int, reward: float) -> None:
        self.mean = self.means[arm]

    @abstractmethod
    def _draw(self, rounds: int) -> np.ndarray:
        """Draw the rewards of that many rounds from ``_rng``, shape (rounds, K)."""
