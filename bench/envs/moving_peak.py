import sys
from abc import abstractmethod
from collections.abc import Sequence

from bench.component import component
from bench.envs.contextual import RewardNoise
from bench.envs.direct import DirectEnvironment
from bench.space import Configuration, HyperParameter, Space


@component
class MovingPeak(DirectEnvironment):
    """A piecewise stationary function of one variable ``x``; each piece has another ``peak``."""

    @property
    def space(self) -> Space:
        """One variable, ``x`` in [0, 1]; eleven evenly spaced values for tuners of candidates."""
        return Space((HyperParameter("x", candidates=tuple(i / 10 for i in range(11)), low=0.0, high=1.0),))

    def _begin(self, change_points: tuple[int, ...], peaks: Sequence[float], noise: RewardNoise) -> None:
        self.change_points = change_points
        self._ends = [*change_points, sys.maxsize]
        self._peaks = peaks
        self._noise = noise
        self._round = self._end = 0
        self._piece = -1

    def play(self, configuration: Configuration) -> float:
        while self._round >= self._end:
            self._piece += 1
            self._end = self._ends[self._piece]
            self.peak = self._peaks[self._piece]
            self.best_mean, self.average_mean = self._value(self.peak), self._average()
        self._round += 1
        self.mean = self._value(configuration["x"])
        return self._noise.reward(self.mean)

    @abstractmethod
    def _value(self, x: float) -> float:
        """Return the expected reward at ``x``."""

    @abstractmethod
    def _average(self) -> float:
        """Return the mean of the expected reward over [0, 1]."""
