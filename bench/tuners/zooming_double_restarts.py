"""Zooming TS with Double Restarts."""

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from pydantic import NonNegativeFloat, PositiveFloat

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner
from bench.tuners.exponential_weights import ExponentialWeights
from bench.tuners.zooming_ts import ZoomingTS


@component
class ZoomingDoubleRestarts(Tuner):
    """EXP3 over epoch lengths above Zooming TS.

    The horizon is split in top epochs of ceil(T^((p+2)/(p+4))) rounds. In each, Zooming TS runs afresh with a length
    between restarts drawn from 1, 2, 4, ... up to that of the top epoch; EXP3 is paid the epoch's mean reward, clipped
    to [0, 1] (the paper scales the sum; how, is assumed).

    Parameters
    ----------
    constants
        As for Zooming TS.
    noise_std
        Sub-Gaussian constant of the rewards; by default that of the task.
    radius_scale, ts_scale
        Factors on the confidence radius and on the sampling deviation.

    Source: cdt, algorithm 3.
    """

    constants: Literal["theory", "code"] = "theory"
    noise_std: NonNegativeFloat | None = None
    radius_scale: PositiveFloat = 1.0
    ts_scale: NonNegativeFloat = 1.0

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
        return self._bottom.ask()

    def _begin_epoch(self) -> None:
        length = self._lengths[self._layer.draw()] * self._problem.rounds_per_ask
        self._bottom = ZoomingTS(
            epoch_length=length,
            constants=self.constants,
            noise_std=self.noise_std,
            radius_scale=self.radius_scale,
            ts_scale=self.ts_scale,
        )
        self._bottom.start(replace(self._problem), self._seeds.child(f"epoch_{self._epoch}"))
        self._epoch += 1
        self._n_told = 0
        self._sum = 0.0

    def _tell(self, reward: float, outcome: Any) -> None:
        self._n_told += 1
        self._sum += reward
        self._bottom.tell(reward)

    def probabilities(self) -> dict[str, np.ndarray]:
        return {"epoch_length": self._layer.probabilities}
