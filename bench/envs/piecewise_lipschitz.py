"""Lipschitz functions on [0, 1] that are replaced at random rounds."""

import math
import sys
from typing import Annotated

from pydantic import Field, NonNegativeInt

from bench.component import component
from bench.envs.contextual import RewardNoise
from bench.envs.direct import DirectEnvironment
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter, Space


@component
class PiecewiseLipschitz(DirectEnvironment):
    """Bernoulli rewards with the mean max(0, ``height`` - abs(x - peak)) for ``x`` in [0, 1]; the peak jumps.

    The slope is 1, the steepest that the theory of SD2ME and AD2ME allows. Peaks are uniform on [0, 1]. So are the
    shares of the run at which they jump, as the theory says nothing of where changes lie; runs of all lengths with the
    same seeds have the same shares and peaks. Where two changes meet in one round of a short run, there is one less.

    Parameters
    ----------
    changes
        How often the peak jumps.
    height
        Mean reward at the peak.

    Source: online_hpo, section 3 (the class of problems; the functions are ours).
    """

    changes: NonNegativeInt = 10
    height: Annotated[float, Field(gt=0, le=1)] = 0.9

    @property
    def space(self) -> Space:
        """One variable, ``x`` in [0, 1]; eleven evenly spaced values for tuners of candidates."""
        return Space((HyperParameter("x", candidates=tuple(i / 10 for i in range(11)), low=0.0, high=1.0),))

    def start(self, rounds: int, seeds: Seeds) -> None:
        self.sub_gaussian = 0.5
        shares = seeds.generator("changes").random(self.changes)
        self.change_points = tuple(sorted({math.ceil(share * (rounds - 1)) for share in shares} - {0}))
        self._peaks = seeds.generator("peaks").random(self.changes + 1).tolist()
        self._ends = [*self.change_points, sys.maxsize]
        self._noise = RewardNoise("logistic", 0.0, seeds.generator("noise"))
        self.best_mean = self.height
        self._round = 0
        self._piece = -1
        self._end = 0

    def play(self, configuration: Configuration) -> float:
        if self._round >= self._end:
            self._piece += 1
            self._end = self._ends[self._piece]
            self.peak = self._peaks[self._piece]
            self.average_mean = self._area(self.peak) + self._area(1.0 - self.peak)
        self._round += 1
        self.mean = max(0.0, self.height - abs(configuration["x"] - self.peak))
        return self._noise.reward(self.mean)

    def _area(self, length: float) -> float:
        """Return the integral of the mean over the ``length`` to one side of the peak."""
        length = min(length, self.height)
        return self.height * length - 0.5 * length * length
