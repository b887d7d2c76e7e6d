import math
from dataclasses import replace
from typing import Any

import numpy as np

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.active_points import ActivePoints
from bench.tuners.base import Problem
from bench.tuners.exponential_weights import ExponentialWeights
from bench.tuners.thompson_zooming import ThompsonZooming


@component
class ZoomingDoubleRestarts(ThompsonZooming):
    """EXP3 over epoch lengths above Zooming TS.

    The horizon is split into top-level epochs of ceil(T^((p+2)/(p+4))) rounds. In each, Zooming TS starts afresh, with
    a length between restarts drawn from 1, 2, 4, ... up to that of the epoch; EXP3 receives the epoch's mean reward,
    clipped to [0, 1] (the paper scales the sum; how is assumed). Source: cdt, algorithm 3.
    """

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        p = problem.space.dim
        self._problem = problem
        self._seeds = seeds
        self._length = problem.asks(math.ceil(problem.total_rounds ** ((p + 2) / (p + 4)) - 1e-9))
        self._lengths = [2**i for i in range(self._length.bit_length())]
        n_epochs = math.ceil(problem.horizon / self._length)
        self._layer = ExponentialWeights(len(self._lengths), n_epochs, seeds.generator("exp3"))
        self._epoch = 0
        self._n_told = self._length
        self._sum = 0.0

    def _ask(self) -> Configuration:
        if self._n_told == self._length:
            if self._epoch:
                self._layer.learn(min(max(self._sum / self._length, 0.0), 1.0))
            self._begin_epoch()
        return super()._ask()

    def _begin_epoch(self) -> None:
        rule = replace(self._rule(self._problem), restart_every=self._lengths[self._layer.draw()])
        self._points = ActivePoints(self._problem.space, rule, self._seeds.child(f"epoch_{self._epoch}"))
        self._epoch += 1
        self._n_told = 0
        self._sum = 0.0

    def _tell(self, reward: float, outcome: Any) -> None:
        self._n_told += 1
        self._sum += reward
        super()._tell(reward, outcome)

    def probabilities(self) -> dict[str, np.ndarray]:
        return {"epoch_length": self._layer.probabilities}
