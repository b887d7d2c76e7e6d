import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

import numpy as np

from bench.algorithms.contextual import BanditInfo, ContextualAlgorithm
from bench.envs.contextual import ContextualEnvironment
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration, Space
from bench.tasks.base import Outcome
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tuners.base import Problem

_SURE = 1e-15
"""Distance of forecast probabilities from 0 and 1, so that losses are finite."""

_FAR = 1e100
"""Limit of a linear forecast's error, in units of the noise, so that losses are finite."""


class Copies(ContextualBandit):
    """A contextual bandit with one copy of the algorithm for each candidate, in which the configuration's copy pulls.

    See `contextual_bandit` for the rest. The task is meant for settings that change learning, such as a step size, a
    learning rate or a ridge. If all configurations share one algorithm, a bad configuration damages the state for all
    of them. Here each copy has its own state, as if its configuration had been played throughout. Every copy starts
    from the same seeds, so its draws are equal to the draws of a run with its configuration alone.

    If every copy learns from all rounds, outcomes hold the forecast losses of the copies. For algorithms with logistic
    rewards only, the forecast loss is the log loss of the probability of a reward of 1. For other algorithms it is half
    the squared error in units of the noise, which is the log loss of a normal reward up to a constant. Without a
    warm-up, all copies forecast the same in the first decision. The rounds of a warm-up are not played by a copy and
    not judged, but all copies learn from them.

    The task has limits. A round costs as many decisions and updates as there are candidates. Settings without effect on
    learning, such as exploration rates, have equal forecasts. A copy learns from pulls of the other copies, which may
    explore more or less than this copy would. Forecasts are judged on pulled arms only, so the best forecaster need not
    have the least regret. Tuners see the candidates without the interval between them. Source: Dawid 1984 (prequential
    losses: a forecast is judged before its outcome is learnt).

    Parameters
    ----------
    learn
        Which copies learn from a round: ``all`` copies, or only the copy that was ``played``, without forecast losses.
    """

    delays_algorithm: ClassVar[bool] = False

    def __init__(self, environment: ContextualEnvironment, algorithm: ContextualAlgorithm, learn: str = "all") -> None:
        if learn not in ("all", "played"):
            raise ConfigError(f"task.learn: found {learn!r}, expected 'all' or 'played'")
        super().__init__(environment, algorithm)
        self.copied = CopiedAlgorithm(algorithm, learn == "all", self._complete)
        self.algorithm = self.copied

    def start(self, rounds: int, seeds: Seeds) -> Problem:
        return replace(super().start(rounds, seeds), forecasts=self.copied.judged)

    def play(self, configuration: Configuration) -> Outcome | None:
        self.copied.losses = np.zeros(len(self.copied.copies))
        outcome = super().play(configuration)
        if outcome is not None and self.copied.judged:
            outcome.forecast_losses = self.copied.losses
        return outcome

    def _arm(self, contexts: np.ndarray, configuration: Configuration) -> int:
        return copy.deepcopy(self.copied.copy_of(configuration)).choose(contexts, configuration)


class CopiedAlgorithm(ContextualAlgorithm):
    """An algorithm with one copy per candidate, in which the copy of the played configuration pulls.

    ``complete`` adds values of the hyper-parameters that are not tuned to a candidate.
    """

    def __init__(
        self, algorithm: ContextualAlgorithm, learn_all: bool, complete: Callable[[Configuration], Configuration]
    ) -> None:
        self._original = algorithm
        self._learn_all = learn_all
        self._complete = complete
        self.copies: list[ContextualAlgorithm] = []
        self.losses = np.zeros(0)
        self._played: int | None = None

    def start(self, info: BanditInfo, seeds: Seeds) -> None:
        self._names = self._original.tuned.names
        self._candidates = self._original.tuned.product()
        self._places = {self._key(candidate): place for place, candidate in enumerate(self._candidates)}
        self.copies = [copy.deepcopy(self._original) for _ in self._candidates]
        for each in self.copies:
            each.start(info, seeds)
        self._noise = info.sub_gaussian or 1.0
        self._played = None
        self.judged = self._learn_all and self.copies[0].estimate is not None

    def choose(self, contexts: np.ndarray, configuration: Configuration) -> int:
        """Let every copy that learns choose, because choosing also prepares an algorithm's update."""
        self._played = played = self._place(configuration)
        if not self._learn_all:
            return self.copies[played].choose(contexts, configuration)
        arms = [
            each.choose(contexts, configuration if place == played else self._complete(candidate))
            for place, (each, candidate) in enumerate(zip(self.copies, self._candidates, strict=True))
        ]
        return arms[played]

    def update(self, contexts: np.ndarray, arm: int, reward: float) -> None:
        played, self._played = self._played, None
        if self.judged and played is not None:
            self.losses += [self._loss(each.expect(contexts, arm)["model_mean"], reward) for each in self.copies]
        for each in self.copies if self._learn_all or played is None else [self.copies[played]]:
            each.update(contexts, arm, reward)

    def expect(self, contexts: np.ndarray, arm: int) -> dict[str, float]:
        return self.copies[self._played or 0].expect(contexts, arm)

    def theory(self, round_: int, configuration: Configuration | None = None) -> Configuration:
        owner = self.copies[0] if configuration is None else self.copy_of(configuration)
        return owner.theory(round_, configuration)

    def copy_of(self, configuration: Configuration) -> ContextualAlgorithm:
        return self.copies[self._place(configuration)]

    @property
    def hyper_parameters(self) -> Space:
        return self._original.hyper_parameters

    @property
    def tuned(self) -> Space:
        """The tuned hyper-parameters, without intervals, because there are no copies between candidates."""
        parameters = self._original.tuned.parameters
        return Space(tuple(replace(parameter, low=None, high=None, power=1.0) for parameter in parameters))

    @property
    def random_rounds(self) -> int:
        return self.copies[0].random_rounds

    @property
    def rounds_per_decision(self) -> int:
        return self.copies[0].rounds_per_decision

    def _loss(self, forecast: float, reward: float) -> float:
        if self._original.links == ("logistic",):
            chance = min(max(forecast, _SURE), 1.0 - _SURE)
            return -reward * math.log(chance) - (1.0 - reward) * math.log(1.0 - chance)
        return 0.5 * min(abs(reward - forecast) / self._noise, _FAR) ** 2

    def _key(self, configuration: Configuration) -> tuple[object, ...]:
        return tuple(configuration.get(name) for name in self._names)

    def _place(self, configuration: Configuration) -> int:
        place = self._places.get(self._key(configuration))
        if place is None:
            raise ConfigError(
                f"task=copies: found the configuration {configuration}, expected one of the {len(self._places)} "
                f"candidates of {', '.join(self._names)}, since each of them has a copy"
            )
        return place
