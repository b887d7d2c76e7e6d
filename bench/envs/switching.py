"""Functions on [0, 1] whose peak jumps at a few rounds."""

import math
import sys
from abc import abstractmethod
from dataclasses import field
from typing import Annotated

from pydantic import Field, NonNegativeFloat, PositiveInt

from bench.component import component
from bench.envs.contextual import RewardNoise
from bench.envs.direct import DirectEnvironment
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter, Space

_PEAKS = (0.05, 0.45, 0.7, 0.95)


@component
class Switching(DirectEnvironment):
    """A piecewise stationary function of one variable ``x``; the peak of each piece is drawn without repetition.

    Parameters
    ----------
    changes
        Last rounds of the pieces, but for the last piece, in a run of ``of_rounds`` rounds; in a run of another length
        they lie at the same shares of it.
    of_rounds
        The length of run that ``changes`` are given for.
    peaks
        Where peaks may lie, at least one for each piece.
    noise_std
        Standard deviation of the Gaussian noise on the rewards.

    Source: cdt, appendix A.3; the numbers are those of the authors' code.
    """

    changes: list[PositiveInt] = field(default_factory=lambda: [22761, 47734, 70317])
    of_rounds: PositiveInt = 90_000
    peaks: list[Annotated[float, Field(ge=0, le=1)]] = field(default_factory=lambda: list(_PEAKS))
    noise_std: NonNegativeFloat = math.sqrt(0.1)

    @property
    def space(self) -> Space:
        """One variable, ``x`` in [0, 1]; eleven evenly spaced values for tuners of candidates."""
        return Space((HyperParameter("x", candidates=tuple(i / 10 for i in range(11)), low=0.0, high=1.0),))

    def start(self, rounds: int, seeds: Seeds) -> None:
        if len(self.peaks) <= len(self.changes) or sorted(set(self.changes)) != self.changes:
            raise ConfigError(
                f"env.changes: found {self.changes} with {len(self.peaks)} peaks, "
                "expected increasing rounds, fewer than there are peaks"
            )
        self.sub_gaussian = self.noise_std
        order = seeds.generator("peaks").permutation(len(self.peaks))
        self._order = [self.peaks[i] for i in order]
        self.change_points = tuple(round(change * rounds / self.of_rounds) for change in self.changes)
        self._ends = [*self.change_points, sys.maxsize]
        self._noise = RewardNoise("linear", self.noise_std, seeds.generator("noise"))
        self._round = 0
        self._piece = -1
        self._end = 0

    def play(self, configuration: Configuration) -> float:
        while self._round >= self._end:
            self._piece += 1
            self._end = self._ends[self._piece]
            self.peak = self._order[self._piece]
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
