from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np
from pydantic import PositiveFloat, PositiveInt

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter
from bench.tuners.base import Problem, Tuner
from bench.tuners.dynamic_means import DiscountedMeans, DynamicMeans, WindowedMeans, floor_at_least_one


class ArmChooser(ABC):
    """Chooses the value of one hyper-parameter."""

    @abstractmethod
    def choose(self) -> Any:
        """Return the value to play; the same again until ``learn``."""

    @abstractmethod
    def learn(self, reward: float) -> None:
        """Learn the reward of the value chosen last."""


@component
class DynamicMeanTuner(Tuner):
    """Optimistic choice by dynamic means, for each hyper-parameter separately.

    All hyper-parameters learn from every reward; they take turns to choose, while the others keep their values. If all
    chose in every round, they would move in step, as they receive the same rewards: of two with ten arms each, only ten
    pairs would be played.

    Parameters
    ----------
    weights
        Weights of past rewards: ``hard``, 1 within a window and 0 before; ``soft``, geometrically decreasing.
    changes
        Estimated number of changes of the environment.
    memory_factor
        How many times longer rewards are remembered than the theorem says.
    """

    weights: Literal["hard", "soft"] = "soft"
    changes: PositiveInt = 10
    memory_factor: PositiveFloat = 1.0

    @abstractmethod
    def _memory(self, rounds: int) -> float:
        """Return the number of rounds that a reward counts by the theorem: the window, or 1 / (1 - discount)."""

    @abstractmethod
    def _chooser(self, parameter: HyperParameter, problem: Problem, rng: np.random.Generator) -> ArmChooser:
        """Return the chooser for ``parameter``; ``rng`` decides what the algorithm leaves open."""

    def _means(self, problem: Problem, n_arms: int = 0) -> DynamicMeans:
        """Return the estimates of ``n_arms`` arms before the first round.

        Formulas count rounds: a decision that covers several is one pull and ages by that many rounds.
        """
        if self.weights == "hard":
            return WindowedMeans(self._window(problem), n_arms)
        return DiscountedMeans(self._discount(problem), n_arms)

    def _window(self, problem: Problem) -> int:
        return problem.asks(floor_at_least_one(self.memory_factor * self._memory(problem.total_rounds)))

    def _discount(self, problem: Problem) -> float:
        memory = self.memory_factor * self._memory(problem.total_rounds)
        return float(max(0.0, 1.0 - 1.0 / memory) ** problem.rounds_per_ask)

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._choosers = [
            (parameter.name, self._chooser(parameter, problem, seeds.child(parameter.name).generator("arms")))
            for parameter in problem.space.parameters
        ]
        self._configuration = {name: chooser.choose() for name, chooser in self._choosers}
        self._turn = 0

    def _ask(self) -> Configuration:
        name, chooser = self._choosers[self._turn]
        self._configuration[name] = chooser.choose()
        return self._configuration.copy()

    def _tell(self, reward: float, outcome: Any) -> None:
        for _, chooser in self._choosers:
            chooser.learn(reward)
        self._turn = (self._turn + 1) % len(self._choosers)
