import math
from abc import abstractmethod
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, PositiveFloat

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner
from bench.tuners.space_points import distance, points

_LEAST_NOISE = 1e-3
"""Least standard deviation of the noise, in units of the reward."""


@component
class FiniteGP(Tuner):
    """Plays the point with the largest upper bound of a Gaussian process on finitely many points of the space.

    The points are the candidates and even steps on the interval (see `bench.tuners.space_points.points`), and the first
    point is drawn. Covariances are in units of the noise variance, which the problem states.

    Parameters
    ----------
    points
        Even steps on the interval of a single hyper-parameter; candidates are added.
    length
        Length scale of the Matern 3/2 correlation, in units of the interval.
    """

    remembers: ClassVar[tuple[str, ...] | None] = ("_chosen",)
    learns_history: ClassVar[bool] = True
    heeds: ClassVar[tuple[str, ...]] = ("when", "excluded")

    points: Annotated[int, Field(ge=2)] = 20
    length: PositiveFloat = 0.4

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._configurations, correlations = points(problem.space, self.points, self.length, seeds.generator("points"))
        self._space = problem.space
        self._noise = max(problem.noise_std, _LEAST_NOISE)
        self._n_told = 0
        self._chosen = self._first = int(seeds.generator("first_point").integers(len(correlations)))
        self._begin(correlations, problem)

    def _ask(self) -> Configuration:
        self._chosen = int(np.argmax(self._bounds())) if self._n_told else self._first
        return self._configurations[self._chosen]

    def _tell(self, reward: float, outcome: Any) -> None:
        self._n_told += 1
        self._learn(self._chosen, reward)

    def _as_asked(self, configuration: Configuration) -> None:
        """Record the point nearest to ``configuration`` as the point asked; values that are strings must be equal."""
        distances = [distance(self._space, point, configuration) for point in self._configurations]
        self._chosen = distances.index(min(distances))

    @abstractmethod
    def _begin(self, correlations: np.ndarray, problem: Problem) -> None:
        """Prepare for points with the given ``correlations``."""

    @abstractmethod
    def _bounds(self) -> np.ndarray:
        """Return the upper bounds of the points in the next round, after at least one reward."""

    @abstractmethod
    def _learn(self, chosen: int, reward: float) -> None:
        """Learn the reward of a point."""


def logarithmic(round_: int) -> float:
    """Return the square root of beta_t = 0.8 ln(4 t), the width in standard deviations.

    Source: Bogunovic, Scarlett and Cevher 2016; the constants 0.8 and 4 are assumed: public code of others attributes
    them to that paper, whose text we did not have.
    """
    return math.sqrt(0.8 * math.log(4.0 * round_))
