from abc import abstractmethod

import numpy as np
from pydantic import PositiveInt

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem
from bench.tuners.train_then_best import TrainThenBest


@component
class RoundRobin(TrainThenBest):
    """Try the configurations of a list in turn, then keep the one with the highest mean reward.

    On a tie the first in the list wins; one that training did not reach is never chosen.

    Parameters
    ----------
    n_points
        Number of configurations (per axis for a grid).
    """

    n_points: PositiveInt = 10

    @abstractmethod
    def _points(self, problem: Problem, n_train: int, seeds: Seeds) -> list[Configuration]:
        """Return the configurations to be tried."""

    def _prepare(self, problem: Problem, n_train: int, seeds: Seeds) -> None:
        self._configurations = self._points(problem, n_train, seeds)
        self._pulls = np.zeros(len(self._configurations), dtype=np.int64)
        self._totals = np.zeros(len(self._configurations))
        self._next = 0

    def _explore(self) -> Configuration:
        return self._configurations[self._next]

    def _learn(self, reward: float) -> None:
        self._pulls[self._next] += 1
        self._totals[self._next] += reward
        self._next = (self._next + 1) % len(self._configurations)

    def _find_best(self) -> Configuration:
        tried = int(np.count_nonzero(self._pulls))
        return self._configurations[int(np.argmax(self._totals[:tried] / self._pulls[:tried]))]
