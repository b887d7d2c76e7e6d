import math
from dataclasses import field
from typing import Annotated

import numpy as np
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat

from bench.component import component
from bench.envs.contextual import linear_means, transform_means
from bench.envs.synthetic import Synthetic
from bench.envs.synthetic_linear import SyntheticLinear
from bench.envs.synthetic_logistic import SyntheticLogistic
from bench.errors import ConfigError
from bench.seeding import Seeds

Share = Annotated[float, Field(gt=0, lt=1)]


@component
class Drifting(Synthetic):
    """A synthetic environment that changes abruptly between stretches of the run, or slowly all the time.

    Contexts, noise and the first theta are those of the environment without drift; with the defaults nothing changes.
    All times are scaled with the length of the run.

    Parameters
    ----------
    changes
        Number of changes, evenly spaced, or the shares of the run after which they occur; they divide the run into
        stretches.
    redrawn
        Whether theta is drawn afresh at a change.
    signal
        Factor on x'theta in each stretch, repeated from the first if there are more stretches.
    rotation
        Number of full turns of theta in a run, in the plane of theta and a random direction. The norm of theta is
        constant.
    popularity
        Amplitude of a wave over time that is added to x'theta, with a random phase for each arm.
    popularity_waves
        Number of periods of the wave of ``popularity`` in a run.
    """

    changes: NonNegativeInt | list[Share] = 0
    redrawn: bool = True
    signal: Annotated[list[PositiveFloat], Field(min_length=1)] = field(default_factory=lambda: [1.0])
    rotation: NonNegativeFloat = 0.0
    popularity: NonNegativeFloat = 0.0
    popularity_waves: PositiveFloat = 1.0

    def notes(self) -> tuple[str, ...]:
        if self.changes or self.rotation or self.popularity:
            return super().notes()
        name = type(self).__name__
        return (*super().notes(), f"{name} does not drift with these settings: see env.changes, rotation, popularity")

    def start(self, rounds: int, seeds: Seeds) -> None:
        super().start(rounds, seeds)
        self.change_points = self._change_points(rounds)
        self._thetas = self._draw_thetas(seeds)
        self._across = [self._perpendicular(theta, seeds) for theta in self._thetas] if self.rotation else []
        self._phases = 2.0 * math.pi * seeds.generator("popularity").random(self.n_arms)
        self._rounds = rounds
        self._round = 0
        self.stretch = 0
        self._set_theta()

    def _change_points(self, rounds: int) -> tuple[int, ...]:
        """Return the last round of every stretch except the final stretch; changes in the same round are merged."""
        number = self.changes
        shares = [i / (number + 1) for i in range(1, number + 1)] if isinstance(number, int) else number
        if sorted(set(shares)) != shares:
            raise ConfigError(f"env.changes: found {shares}, expected increasing shares of the run")
        return tuple(sorted({round(share * rounds) for share in shares} - {0, rounds}))

    def _draw_thetas(self, seeds: Seeds) -> list[np.ndarray]:
        n_further = len(self.change_points)
        if not self.redrawn:
            return [self.theta] * (n_further + 1)
        bound = 1.0 / math.sqrt(self.dim)
        return [self.theta, *seeds.generator("changes").uniform(-bound, bound, (n_further, self.dim))]

    def _perpendicular(self, theta: np.ndarray, seeds: Seeds) -> np.ndarray:
        """Return a vector orthogonal to theta with theta's norm, towards the same random direction for every theta."""
        if self.dim < 2:
            raise ConfigError(f"env.rotation: found {self.rotation} with one feature, expected at least two")
        direction = seeds.generator("rotation").standard_normal(self.dim)
        direction -= (direction @ theta) / (theta @ theta) * theta
        return np.asarray(direction * math.sqrt((theta @ theta) / (direction @ direction)))

    def _set_theta(self) -> None:
        """Set theta for the current round."""
        theta = self._thetas[self.stretch]
        if self.rotation:
            angle = 2.0 * math.pi * self.rotation * self._round / self._rounds
            theta = math.cos(angle) * theta + math.sin(angle) * self._across[self.stretch]
        self.theta = self.signal[self.stretch % len(self.signal)] * theta

    def observe(self) -> np.ndarray:
        ends = self.change_points
        has_changed = self.stretch < len(ends) and self._round >= ends[self.stretch]
        self.stretch += has_changed
        if has_changed or self.rotation:
            self._set_theta()
        contexts = super().observe()
        if self.popularity or self.features == "fixed":
            self._update_means()
        self._round += 1
        return contexts

    def _update_means(self) -> None:
        """Recompute the means of the round's arms, which change even with fixed features."""
        linear_means(self._contexts, self.theta, self.means)
        if self.popularity:
            angle = 2.0 * math.pi * self.popularity_waves * self._round / self._rounds
            self.means += self.popularity * np.sin(angle + self._phases)
        scale, shift = self._mean_map()
        self.best_mean, self.average_mean = transform_means(self.means, scale, shift, self.link == "logistic")


@component
class DriftingLinear(Drifting, SyntheticLinear):
    """Contextual linear bandit whose theta, arms' popularity, scale of rewards and noise may change during a run.

    Parameters
    ----------
    noise
        Factor on ``noise_std`` in each stretch, repeated from the first if there are more stretches. Algorithms are
        told the largest standard deviation.
    """

    noise: Annotated[list[PositiveFloat], Field(min_length=1)] = field(default_factory=lambda: [1.0])

    def _sub_gaussian(self) -> float:
        return self.noise_std * max(self.noise)

    def pull(self, arm: int) -> float:
        factor = self.noise[self.stretch % len(self.noise)] / max(self.noise)
        return self.means.item(arm) + factor * self._noise.reward(0.0)


@component
class DriftingLogistic(Drifting, SyntheticLogistic):
    """Contextual logistic bandit whose theta, arms' popularity and scale of x'theta may change during a run."""
