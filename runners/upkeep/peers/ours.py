"""The suite's side: the same problems in its own loop, or a tuner asked and told as docs/extend.md shows."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bench.algorithms.linucb import LinUCB
from bench.component import component
from bench.envs.contextual import ContextualEnvironment
from bench.envs.direct import DirectEnvironment
from bench.envs.logged import LoggedData
from bench.loop import run
from bench.off_policy.estimators import Estimator, estimator_terms
from bench.seeding import Seeds
from bench.space import Configuration, Space
from bench.tasks.contextual_bandit import ContextualBandit
from bench.tasks.direct import Direct
from bench.tuners.base import Problem, Tuner
from bench.tuners.baselines import Fixed
from bench.tuners.exp3 import EXP3
from bench.tuners.gp_ucb import GPUCB
from bench.tuners.optuna_tuner import TPE
from bench.tuners.ucb import UCB1
from bench.tuners.zooming import Zooming
from runners.upkeep.peers.theirs import Data, Loop, Player, bowl, serve

_SQUARE = Space.of(x={"low": 0.0, "high": 1.0}, y={"low": 0.0, "high": 1.0})


@component
class SavedArms(ContextualEnvironment):
    """Arms whose features are given, or are a shared context in another block for each arm."""

    def load(self, data: Data) -> "SavedArms":
        contexts, self._means, self._rewards = data["contexts"], data["means"], data["rewards"]
        self.n_arms = self._means.shape[1]
        self._is_shared = contexts.ndim == 2
        self.dim = self.n_arms * contexts.shape[1] if self._is_shared else contexts.shape[2]
        # Contiguous along the arms, as the contract asks for
        self._saved = contexts if self._is_shared else np.ascontiguousarray(contexts.transpose(0, 2, 1))
        self._best, self._average = self._means.max(axis=1).tolist(), self._means.mean(axis=1).tolist()
        self.sub_gaussian, self.feature_norm = 0.5, float(np.sqrt(contexts.shape[-1]))
        return self

    def start(self, rounds: int, seeds: Seeds) -> None:
        self._round = -1
        self.choices: list[int] = []
        self._blocks = np.zeros((self.dim, self.n_arms)) if self._is_shared else np.empty((0, 0))

    def observe(self) -> np.ndarray:
        self._round += 1
        t = self._round
        self.means, self.best_mean, self.average_mean = self._means[t], self._best[t], self._average[t]
        if not self._is_shared:
            return np.asarray(self._saved[t].T)
        context = self._saved[t]
        for arm in range(self.n_arms):
            self._blocks[arm * len(context) : (arm + 1) * len(context), arm] = context
        return self._blocks.T

    def pull(self, arm: int) -> float:
        self.choices.append(arm)
        return self._rewards.item(self._round, arm)


@component
class SavedRewards(DirectEnvironment):
    """Arms whose rewards are given, or a function on a line with given noise."""

    def load(self, data: Data) -> "SavedRewards":
        self._is_line = "peak" in data
        if self._is_line:
            self._peak, self._noise = float(data["peak"]), data["noise"].tolist()
            self.average_mean = 1.0 - (self._peak**2 + (1.0 - self._peak) ** 2) / 2.0
        else:
            self._means, self._rewards = data["means"][0].tolist(), data["rewards"]
            self.average_mean = sum(self._means) / len(self._means)
        self.best_mean = 1.0 if self._is_line else max(self._means)
        self.sub_gaussian = 0.1 if self._is_line else 0.5
        return self

    @property
    def space(self) -> Space:
        return Space.of(x={"low": 0.0, "high": 1.0}) if self._is_line else Space.of(x=range(len(self._means)))

    def start(self, rounds: int, seeds: Seeds) -> None:
        self._round = -1
        self.choices: list[Any] = []

    def play(self, configuration: Configuration) -> float:
        self._round += 1
        x = configuration["x"]
        self.choices.append(x)
        if self._is_line:
            self.mean = 1.0 - abs(x - self._peak)
            return float(self.mean + self._noise[self._round])
        self.mean = self._means[x]
        return self._rewards.item(self._round, x)


def linucb(data: Data, rounds: int, seed: int) -> Loop:
    environment = SavedArms().load(data)
    task = ContextualBandit(environment, LinUCB())

    def loop() -> list[int]:
        run(task, Fixed(), rounds=rounds, seeds=Seeds(seed))
        return environment.choices

    return loop


def _direct(make: Callable[[], Tuner], data: Data, rounds: int, seed: int) -> Loop:
    environment, tuner = SavedRewards().load(data), make()

    def loop() -> list[Any]:
        run(Direct(environment), tuner, rounds=rounds, seeds=Seeds(seed))
        return environment.choices

    return loop


def _asks(make: Callable[[], Tuner], data: Data, rounds: int, seed: int) -> Loop:
    tuner, trials, noise = make(), len(data["points"]), data["noise"].tolist()
    tuner.start(Problem(_SQUARE, horizon=trials + rounds, noise_std=0.05), Seeds(seed))

    def play(t: int) -> list[float]:
        point = list(tuner.ask().values())
        tuner.tell(float(bowl(np.array(point), data)) + noise[t])
        return point

    for t in range(trials):
        play(t)
    return lambda: [play(trials + t) for t in range(rounds)]


def _estimate(estimator: Estimator, data: Data, rounds: int, seed: int) -> Loop:
    rows = data["action"]
    contexts = np.empty((len(rows), 0))
    logged = LoggedData(contexts, rows, data["reward"], data["pscore"], data["logging"])
    policies, predictions = data["policies"], data["predictions"]

    def loop() -> list[float]:
        return [
            float(estimator_terms(estimator, logged, policies[t % len(policies)], predictions).mean())
            for t in range(rounds)
        ]

    return loop


PLAYERS: dict[str, Player] = {
    "linucb": linucb,
    "ucb1": partial(_direct, UCB1),
    "exp3": partial(_direct, partial(EXP3, form="weight", gamma=0.05)),
    "zooming": partial(_direct, Zooming),
    "tpe": partial(_asks, TPE),
    "gp_ucb": partial(_asks, partial(GPUCB, train_share=1.0)),
    "ips": partial(_estimate, "ips"),
    "snips": partial(_estimate, "snips"),
    "dr": partial(_estimate, "dr"),
}

if __name__ == "__main__":
    serve(PLAYERS)
