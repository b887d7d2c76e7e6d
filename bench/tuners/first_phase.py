import itertools
from abc import abstractmethod
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, PositiveInt

from bench.component import component
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter
from bench.tuners.base import Problem, Tuner

Share = Annotated[float, Field(gt=0, le=1)]


@component
class TrainThenBest(Tuner):
    """Try configurations in a first phase, then always propose the best one, without learning.

    Parameters
    ----------
    train_share
        Share of the horizon, in asks, for the first phase. The length is rounded down, but is at least one ask.
    """

    train_share: Share = 0.5

    @abstractmethod
    def _prepare(self, problem: Problem, n_train: int, seeds: Seeds) -> None:
        """Prepare for ``n_train`` asks of training."""

    @abstractmethod
    def _explore(self) -> Configuration:
        """Return the configuration to try next."""

    @abstractmethod
    def _learn(self, reward: float) -> None:
        """Learn the reward of the tried configuration."""

    @abstractmethod
    def _find_best(self) -> Configuration:
        """Return the best configuration after training."""

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        # The small term prevents rounding of shares such as 0.29 of 100 down to 28.
        self._left = max(1, int(self.train_share * problem.horizon * (1 + 1e-12)))
        self._prepare(problem, self._left, seeds)

    def _ask(self) -> Configuration:
        return self._explore() if self._left else self._best

    def _tell(self, reward: float, outcome: Any) -> None:
        if left := self._left:
            self._learn(reward)
            self._left = left = left - 1
            if not left:
                self._best = self._find_best()


@component
class RoundRobin(TrainThenBest):
    """Try the configurations of a list in turn, then keep the configuration with the highest mean reward.

    On a tie the first in the list wins; a configuration without a trial is never chosen.

    Parameters
    ----------
    n_points
        Number of configurations (per axis for a grid).
    """

    remembers: ClassVar[tuple[str, ...] | None] = ("_asked_for",)

    n_points: PositiveInt = 10

    @abstractmethod
    def _points(self, problem: Problem, n_train: int, seeds: Seeds) -> list[Configuration]:
        """Return the configurations to try."""

    def _prepare(self, problem: Problem, n_train: int, seeds: Seeds) -> None:
        self._configurations = self._points(problem, n_train, seeds)
        self._pulls = [0] * len(self._configurations)
        self._totals = [0.0] * len(self._configurations)
        self._next = self._asked_for = 0

    def _explore(self) -> Configuration:
        self._asked_for = self._next
        self._next = (self._next + 1) % len(self._configurations)
        return self._configurations[self._asked_for]

    def _learn(self, reward: float) -> None:
        asked_for = self._asked_for
        self._pulls[asked_for] += 1
        self._totals[asked_for] += reward

    def _find_best(self) -> Configuration:
        means = [total / pulls if pulls else -np.inf for total, pulls in zip(self._totals, self._pulls, strict=True)]
        return self._configurations[int(np.argmax(means))]


@component
class RandomThenBest(RoundRobin):
    """Try random configurations in turn in the first phase, then keep the configuration with the highest mean reward.

    The configurations are uniform on the interval, or on the candidates if there is no interval. Source: online_hpo,
    section 7.1.3.

    Parameters
    ----------
    n_points
        Number of configurations, for any number of hyper-parameters.
    """

    label: ClassVar[str] = "Random, then best"

    def _points(self, problem: Problem, n_train: int, seeds: Seeds) -> list[Configuration]:
        rng = seeds.generator("points")
        return [problem.space.sample(rng) for _ in range(self.n_points)]


@component
class GridThenBest(RoundRobin):
    """Try evenly spaced points in turn in the first phase, then keep the point with the highest mean reward.

    The points of an interval include both of its ends (assumed: the paper states that points are evenly spaced over [0,
    1]). On a logarithmic interval the points are evenly spaced in the logarithm, and whole numbers appear once. Several
    hyper-parameters give a product grid, in which the last hyper-parameter varies fastest. If ``n_points`` per axis
    give more points than there are asks of training, every axis has the largest number of points that fits. A
    hyper-parameter without an interval contributes its candidates. Raises ConfigError if candidates alone give more
    points than there are asks of training. Source: online_hpo, section 7.1.3.

    Parameters
    ----------
    n_points
        The largest number of points of an interval.
    """

    label: ClassVar[str] = "Grid, then best"

    def _points(self, problem: Problem, n_train: int, seeds: Seeds) -> list[Configuration]:
        space = problem.space
        for n in range(self.n_points, 0, -1):
            axes = [_axis(parameter, n) for parameter in space.parameters]
            if np.prod([len(axis) for axis in axes], dtype=float) <= n_train:
                return [dict(zip(space.names, values, strict=True)) for values in itertools.product(*axes)]
        size = " x ".join(str(len(axis)) for axis in axes)
        raise ConfigError(
            f"{type(self).__name__}: found a grid of {size} candidates, expected at most {n_train}, "
            f"the asks of the training phase (train_share = {self.train_share:g})"
        )


def _axis(parameter: HyperParameter, n: int) -> list[Any]:
    """Return up to ``n`` evenly spaced values of the interval with both ends, or all candidates.

    If ``n`` is 1, the only value is the middle of the interval.
    """
    if not parameter.continuous:
        return list(parameter.candidates)
    units = np.linspace(0.0, 1.0, n).tolist() if n > 1 else [0.5]
    return list(dict.fromkeys(parameter.from_unit(unit) for unit in units))
