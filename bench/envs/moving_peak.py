import math
import sys
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import field
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from bench.arithmetic import total
from bench.component import component
from bench.envs.contextual import RewardNoise
from bench.envs.direct import DirectEnvironment
from bench.errors import ConfigError
from bench.seeding import Seeds
from bench.space import Configuration, HyperParameter, Space


@component
class MovingPeak(DirectEnvironment):
    """A piecewise stationary function of one variable ``x``; each piece has another ``peak``."""

    @property
    def space(self) -> Space:
        """The search space of one variable, ``x`` in [0, 1], with eleven evenly spaced candidates."""
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


class _Triangle(MovingPeak):
    def _value(self, x: float) -> float:
        return 0.9 - 0.95 * abs(x - self.peak)

    def _average(self) -> float:
        return 0.9 - 0.95 * (self.peak**2 + (1.0 - self.peak) ** 2) / 2.0


_PEAKS = (0.05, 0.45, 0.7, 0.95)


@component
class Switching(MovingPeak):
    """Functions on [0, 1], whose peak in each piece is drawn without repetition or follows a fixed order.

    Source: cdt, appendix A.3; the numbers are from the authors' code.

    Parameters
    ----------
    changes
        Last rounds of all pieces except the last, in a run of ``of_rounds`` rounds; scaled to a run of another length.
    of_rounds
        The run length that ``changes`` refers to.
    peaks
        Possible peaks, at least one for each piece.
    peak_order
        ``drawn``: a new order in each repetition; ``given``: the order of ``peaks`` in all repetitions.
    noise_std
        Standard deviation of the Gaussian noise on the rewards.
    """

    changes: list[PositiveInt] = field(default_factory=lambda: [22761, 47734, 70317])
    of_rounds: PositiveInt = 90_000
    peaks: list[Annotated[float, Field(ge=0, le=1)]] = field(default_factory=lambda: list(_PEAKS))
    peak_order: Literal["drawn", "given"] = "drawn"
    noise_std: NonNegativeFloat = math.sqrt(0.1)

    def start(self, rounds: int, seeds: Seeds) -> None:
        if len(self.peaks) <= len(self.changes) or sorted(set(self.changes)) != self.changes:
            raise ConfigError(
                f"env.changes: found {self.changes} with {len(self.peaks)} peaks, "
                "expected increasing rounds, fewer than there are peaks"
            )
        self.sub_gaussian = self.noise_std
        n = len(self.peaks)
        order = range(n) if self.peak_order == "given" else seeds.generator("peaks").permutation(n)
        self._begin(
            tuple(round(change * rounds / self.of_rounds) for change in self.changes),
            [self.peaks[i] for i in order],
            RewardNoise("linear", self.noise_std, seeds.generator("noise")),
        )


_FREQUENCY = 1.5 * math.pi


@component
class SwitchingSine(Switching):
    """A function with the expected reward 2 / (3 pi) sin(3 pi / 2 (x - peak + 1/3)) and a peak that jumps.

    Source: cdt, appendix A.3.
    """

    def _value(self, x: float) -> float:
        return math.sin(_FREQUENCY * (x - self.peak + 1.0 / 3.0)) / _FREQUENCY

    def _average(self) -> float:
        left, right = 1.0 / 3.0 - self.peak, 4.0 / 3.0 - self.peak
        return (math.cos(_FREQUENCY * left) - math.cos(_FREQUENCY * right)) / _FREQUENCY**2


@component
class SwitchingTriangle(_Triangle, Switching):
    """A function with the expected reward 0.9 - 0.95 |x - peak| and a peak that jumps. Source: cdt, appendix A.3."""


@component
class PiecewiseLipschitz(MovingPeak):
    """Bernoulli rewards with mean max(0, ``height`` - abs(x - peak)) for ``x`` in [0, 1] and a peak that jumps.

    The slope is 1, the steepest that the theory of SD2ME and AD2ME allows. Peaks are uniform on [0, 1]. The shares of
    the run at which they jump are also uniform, because the theory does not fix the times of changes. Runs of all
    lengths with the same seeds have the same shares and peaks. Two changes in one round of a short run become one.
    Source: online_hpo, section 3 (the class of problems; the functions are ours).

    Parameters
    ----------
    changes
        Number of times that the peak jumps.
    height
        Mean reward at the peak.
    """

    changes: NonNegativeInt = 10
    height: Annotated[float, Field(gt=0, le=1)] = 0.9

    def start(self, rounds: int, seeds: Seeds) -> None:
        self.sub_gaussian = 0.5
        shares = seeds.generator("changes").random(self.changes)
        self._begin(
            tuple(sorted({math.ceil(share * (rounds - 1)) for share in shares} - {0})),
            seeds.generator("peaks").random(self.changes + 1).tolist(),
            RewardNoise("logistic", 0.0, seeds.generator("noise")),
        )

    def _value(self, x: float) -> float:
        return max(0.0, self.height - abs(x - self.peak))

    def _average(self) -> float:
        return self._area(self.peak) + self._area(1.0 - self.peak)

    def _area(self, length: float) -> float:
        """Return the integral of the mean over the ``length`` to one side of the peak."""
        length = min(length, self.height)
        return self.height * length - 0.5 * length * length


Share = Annotated[float, Field(ge=0, le=1)]
_EVEN = [(place + 0.5) / 2_000 for place in range(2_000)]


@component
class NewPeak(MovingPeak):
    """A hill 0.5 - 0.5 |x - old_peak|, to which a higher and steeper hill, 0.9 - 2 |x - new_peak|, is added later.

    The expected reward is the larger value of the two hills. The old optimum pays as before, so a tuner detects the
    change only by trying ``x`` near the new peak. Source: none, the functions are ours.

    Parameters
    ----------
    old_peak, new_peak
        The two best values of ``x``; by default neither is a candidate.
    after
        Share of the run after which the second hill is added; with 1 it is never added.
    noise_std
        Standard deviation of the Gaussian noise on the rewards.
    """

    old_peak: Share = 0.23
    new_peak: Share = 0.77
    after: Annotated[float, Field(gt=0, le=1)] = 0.5
    noise_std: NonNegativeFloat = math.sqrt(0.1)

    def start(self, rounds: int, seeds: Seeds) -> None:
        self.sub_gaussian = self.noise_std
        change = max(1, round(self.after * rounds))
        noise = RewardNoise("linear", self.noise_std, seeds.generator("noise"))
        self._begin((change,) if change < rounds else (), (self.old_peak, self.new_peak), noise)

    def _value(self, x: float) -> float:
        old = 0.5 - 0.5 * abs(x - self.old_peak)
        return max(old, 0.9 - 2.0 * abs(x - self.new_peak)) if self._piece else old

    def _average(self) -> float:
        """Return the mean over an even grid, accurate to 1e-6, because the slopes are at most 2."""
        return total(map(self._value, _EVEN)) / len(_EVEN)


@component
class WanderingTriangle(_Triangle):
    """A function with the expected reward 0.9 - 0.95 |x - peak|, whose peak walks at random in small steps.

    A step that would end within ``step`` of 0 or 1 ends at the distance 2 ``step`` from that end. Source: the public
    code of cdt, ZoomingTS_exp/alg1_code_slowtv.py and run_slow.py at d67bc02 (2023-03-22), from which the defaults are
    taken; the paper does not mention the experiment.

    Parameters
    ----------
    probability
        Probability of a step in a round.
    step
        Length of a step, to either side with equal probability.
    first_peak
        Start of the walk.
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
