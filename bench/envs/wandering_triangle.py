import math
from typing import Annotated

import numpy as np
from pydantic import Field, NonNegativeFloat

from bench.component import component
from bench.envs.contextual import RewardNoise
from bench.envs.moving_peak import MovingPeak
from bench.seeding import Seeds

Share = Annotated[float, Field(ge=0, le=1)]


@component
class WanderingTriangle(MovingPeak):
    """Expected reward 0.9 - 0.95 |x - peak|; the peak walks at random, in small steps.

    A step that would end within ``step`` of 0 or 1 ends at twice ``step`` from it.
    Source: the public code of cdt, ZoomingTS_exp/alg1_code_slowtv.py and run_slow.py at d67bc02 (2023-03-22), whose
    defaults these are; the paper does not mention the experiment.

    Parameters
    ----------
    probability
        Probability of a step in a round.
    step
        Length of a step, to either side with the same probability.
    first_peak
        Where the walk starts.
    noise_std
        Standard deviation of the Gaussian noise on the rewards.
    """

    probability: Share = 0.05
    step: Annotated[float, Field(gt=0, le=0.25)] = 0.01
    first_peak: Share = 0.5
    noise_std: NonNegativeFloat = math.sqrt(0.1)

    def start(self, rounds: int, seeds: Seeds) -> None:
        self.sub_gaussian = self.noise_std
        rng = seeds.generator("peaks")
        moves = np.flatnonzero(rng.random(rounds - 1) < self.probability).tolist()
        peaks = [self.first_peak]
        for direction in rng.choice([-1.0, 1.0], len(moves)).tolist():
            peak = peaks[-1] + direction * self.step
            if peak > 1.0 - self.step:
                peak = 1.0 - 2.0 * self.step
            elif peak < self.step:
                peak = 2.0 * self.step
            peaks.append(peak)
        self._begin(tuple(moves), peaks, RewardNoise("linear", self.noise_std, seeds.generator("noise")))

    def _value(self, x: float) -> float:
        return 0.9 - 0.95 * abs(x - self.peak)

    def _average(self) -> float:
        return 0.9 - 0.95 * (self.peak**2 + (1.0 - self.peak) ** 2) / 2.0
