import math
import sys
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, NonNegativeFloat

from bench.component import component
from bench.envs.contextual import RewardNoise
from bench.envs.moving_peak import MovingPeak
from bench.seeding import Seeds

Motion = Literal["still", "jumps", "wanders", "swings"]
Noise = Literal["normal", "outlier", "outliers", "student", "changing"]

_WIDTH = 0.15
"""Standard deviation of the hill, which has the shape of a normal density."""

_JUMPS = 3
_STEP = 0.004
_SHARE, _LOUD = 0.02, 25.0
"""Share of outliers, and their standard deviation relative to that of other rewards."""

_CHANGE = 10.0
_DEGREES = 2.0


@component
class NoisyPeak(MovingPeak):
    """A hill exp(-(x - peak)^2 / (2 0.15^2)) on [0, 1] whose noise has outliers, heavy tails, or a changing size.

    With *still* there is one peak, uniform on [0, 1]. With *jumps* the peak moves three times, at uniform rounds, to
    uniform positions. With *wanders* the peak takes a step N(0, 0.004^2) in each round and is reflected at 0 and 1.
    With *swings* the peak is 0.5 + 0.4 sin(2 pi t / T + phase) with a uniform phase. Source: none, the functions are
    ours.

    Parameters
    ----------
    motion
        Motion of the peak: ``still``, ``jumps``, ``wanders`` or ``swings``.
    noise
        ``normal``; ``outlier``: normal, except for one reward; ``outliers``: 2 % of the rewards have 25 times the
        standard deviation; ``student``: Student's t with 2 degrees of freedom times ``noise_std``, of infinite
        variance; ``changing``: ten times the standard deviation in the middle third of the run.
    noise_std
        Standard deviation of the normal noise, also reported to tuners as the sub-Gaussian constant.
    outlier
        Noise of the one reward in units of ``noise_std``, with a random sign.
    outlier_after
        Share of the run before the outlier.
    """

    motion: Motion = "still"
    noise: Noise = "normal"
    noise_std: NonNegativeFloat = 0.5
    outlier: float = 500.0
    outlier_after: Annotated[float, Field(ge=0, le=1)] = 0.2

    def start(self, rounds: int, seeds: Seeds) -> None:
        self.sub_gaussian = self.noise_std
        changes, peaks = _moves(self.motion, rounds, seeds.generator("peaks"))
        rng = seeds.generator("noise")
        outlier = self.outlier * float(rng.choice([-1.0, 1.0]))
        at = min(int(self.outlier_after * rounds), rounds - 1)
        self._begin(changes, peaks, _UnevenNoise(self.noise, self.noise_std, rounds, outlier, at, rng))

    def _value(self, x: float) -> float:
        return math.exp(-0.5 * ((x - self.peak) / _WIDTH) ** 2)

    def _average(self) -> float:
        scale = _WIDTH * math.sqrt(2.0)
        ends = math.erf(self.peak / scale) + math.erf((1.0 - self.peak) / scale)
        return 0.5 * math.sqrt(math.pi) * scale * ends


class _UnevenNoise(RewardNoise):
    """Noise with one draw per round, the same for every configuration.

    ``outlier`` is in units of ``std``, and the round ``at`` is counted from 0.
    """

    def __init__(self, kind: Noise, std: float, rounds: int, outlier: float, at: int, rng: np.random.Generator) -> None:
        super().__init__("linear", std, rng)
        self._kind = kind
        self._third = rounds / 3.0
        self._outlier = outlier
        self._at = at if kind == "outlier" else sys.maxsize
        self._round = -1

    def reward(self, mean: float) -> float:
        self._round += 1
        return mean + self._std * (self._outlier if self._round == self._at else self._deviation())

    def _deviation(self) -> float:
        rng = self._rng
        if self._kind == "student":
            return float(rng.standard_t(_DEGREES))
        factor = 1.0
        if self._kind == "outliers" and rng.random() < _SHARE:
            factor = _LOUD
        elif self._kind == "changing" and self._third <= self._round < 2.0 * self._third:
            factor = _CHANGE
        return factor * float(rng.standard_normal())


def _moves(motion: Motion, rounds: int, rng: np.random.Generator) -> tuple[tuple[int, ...], list[float]]:
    """Return the last rounds of all pieces except the last, and the peak of each piece."""
    if motion in ("still", "jumps"):
        shares = rng.random(_JUMPS if motion == "jumps" else 0)
        ends = sorted({math.ceil(share * (rounds - 1)) for share in shares} - {0})
        return tuple(ends), rng.random(len(ends) + 1).tolist()
    if motion == "wanders":
        walk = rng.random() + np.cumsum(rng.normal(0.0, _STEP, rounds))
        peaks = np.abs((walk + 1.0) % 2.0 - 1.0)
    else:
        peaks = 0.5 + 0.4 * np.sin(2.0 * math.pi * (np.arange(rounds) / rounds + rng.random()))
    return tuple(range(1, rounds)), peaks.tolist()
