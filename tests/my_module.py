"""Parts of a user's own: the fixture ``commands`` copies this file into the folder from which commands are called."""

import os
from typing import Any, ClassVar

import numpy as np

from bench.algorithms.contextual import ContextualAlgorithm
from bench.component import component
from bench.envs.contextual import ContextualEnvironment
from bench.tuners.base import Tuner


class Plain(Tuner):
    """A tuner whose settings are not declared."""

    def __init__(self, my_setting=1):
        self.my_setting = my_setting

    def _start(self, problem, seeds):
        self.name = problem.space.names[0]

    def _ask(self):
        return {self.name: float(self.my_setting)}

    def _tell(self, reward, outcome):
        pass


class Raises(Plain):
    def _ask(self):
        raise RuntimeError("no luck today\nand a second line")


@component
class Checked(Plain):
    leaves_space = True
    my_setting: int = 1


@component
class MyTuner(Tuner):
    threshold: float = 0.5
    pair: tuple[int, ...] = ()

    def _start(self, problem, seeds):
        self.space, self.rng = problem.space, seeds.generator("draw")
        self.current = self.space.sample(self.rng)

    def _ask(self):
        return self.current

    def _tell(self, reward, outcome):
        if reward < self.threshold:
            self.current = self.space.sample(self.rng)


class OtherEachTime(MyTuner):
    """A tuner that draws other numbers in another process."""

    def _start(self, problem, seeds):
        super()._start(problem, seeds)
        self.rng.random(1 + os.getpid() % 9973)


@component
class Often(Plain):
    """A tuner that pulls the best of three arms in seven of ten rounds."""

    stream: str = "first"

    def _start(self, problem, seeds):
        super()._start(problem, seeds)
        self.rng = seeds.generator(self.stream)

    def _ask(self):
        return {self.name: 2 if self.rng.random() < 0.7 else 0}


@component
class AsOften(Often):
    stream: str = "second"


@component
class Never(Often):
    def _ask(self):
        return {self.name: 0}


@component
class MyEnvironment(ContextualEnvironment):
    """An environment in which arm k pays k / arms, without noise."""

    arms: int = 3

    def start(self, rounds, seeds):
        self.dim, self.n_arms, self.sub_gaussian, self.feature_norm = self.arms, self.arms, 0.1, 1.0
        self.means = np.arange(self.arms) / self.arms
        self.best_mean, self.average_mean = float(self.means.max()), float(self.means.mean())
        self._contexts = np.asfortranarray(np.eye(self.arms))

    def observe(self):
        return self._contexts

    def pull(self, arm):
        return float(self.means[arm])


class MyAlgorithm(ContextualAlgorithm):
    """An algorithm that pulls the arm whose number is the hyper-parameter."""

    spaces: ClassVar[dict[str, dict[str, Any]]] = {"number": {"candidates": (0.0, 1.0), "default": 1.0}}

    def start(self, info, seeds):
        pass

    def choose(self, contexts, configuration):
        return int(configuration["number"])

    def update(self, contexts, arm, reward):
        pass
