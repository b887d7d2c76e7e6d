import math
from dataclasses import field
from typing import Annotated

import numpy as np
from pydantic import Field, NonNegativeFloat

from bench.component import component
from bench.envs.stochastic_arms import StochasticArms
from bench.seeding import Seeds


@component
class GaussianArms(StochasticArms):
    """Rewards N(mean, variance), independent between arms and rounds.

    Source: the experiment of habo with five arms; the numbers are those of the authors' code.

    Parameters
    ----------
    means
        Expected reward of each arm.
    variance
        Variance of the rewards, the same for all arms.
    """

    means: Annotated[list[float], Field(min_length=1)] = field(default_factory=lambda: [0.1, 0.2, 0.3, 0.25, 0.15])
    variance: NonNegativeFloat = 0.1

    def start(self, rounds: int, seeds: Seeds) -> None:
        super().start(rounds, seeds)
        self.sub_gaussian = math.sqrt(self.variance)

    def _draw(self, rounds: int) -> np.ndarray:
        return np.asarray(self.means) + self.sub_gaussian * self._rng.standard_normal((rounds, self.n_arms))
