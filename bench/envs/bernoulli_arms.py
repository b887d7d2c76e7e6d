from dataclasses import field
from typing import Annotated

import numpy as np
from pydantic import Field

from bench.component import component
from bench.envs.stochastic_arms import StochasticArms
from bench.seeding import Seeds


@component
class BernoulliArms(StochasticArms):
    """Rewards 1 with probability mean, else 0, independent between arms and rounds.

    Parameters
    ----------
    means
        Expected reward of each arm, between 0 and 1.
    """

    means: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=1)] = field(
        default_factory=lambda: [0.1, 0.2, 0.3, 0.25, 0.15]
    )

    def start(self, rounds: int, seeds: Seeds) -> None:
        super().start(rounds, seeds)
        self.sub_gaussian = 0.5

    def _draw(self, rounds: int) -> np.ndarray:
        return (self._rng.random((rounds, self.n_arms)) < self.means).astype(float)
