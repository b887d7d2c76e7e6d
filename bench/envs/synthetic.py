from abc import abstractmethod
from typing import Literal

import numpy as np
from pydantic import PositiveInt

from bench.component import component
from bench.envs.contextual import ContextualEnvironment, RewardNoise, linear_means, transform_means
from bench.jit import kernel
from bench.seeding import Seeds


@component
class Synthetic(ContextualEnvironment):
    """Arms with uniform features, and a parameter theta with uniform entries in (-1/sqrt(dim), 1/sqrt(dim)).

    Parameters
    ----------
    dim
        Number of features of an arm.
    n_arms
        Number of arms in a round.
    features
        ``changing``: drawn afresh each round; ``fixed``: drawn once.
    feature_range
        Features are uniform in (-1/sqrt(dim), 1/sqrt(dim)) with ``inverse_sqrt_dim``, in (-1, 1) with ``one``.
    """

    dim: PositiveInt = 10
    n_arms: PositiveInt = 100
    features: Literal["changing", "fixed"] = "changing"
    feature_range: Literal["inverse_sqrt_dim", "one"] = "inverse_sqrt_dim"

    def _mean_map(self) -> tuple[float, float]:
        """Return the scale and the shift that map x'theta to the mean, before the link."""
        return 1.0, 0.0

    @abstractmethod
    def _sub_gaussian(self) -> float:
        """Constant of the reward noise."""

    def start(self, rounds: int, seeds: Seeds) -> None:
        self.sub_gaussian = self._sub_gaussian()
        bound = 1.0 / np.sqrt(self.dim)
        self.theta = seeds.generator("theta").uniform(-bound, bound, self.dim)
        self.feature_norm = 1.0 if self.feature_range == "inverse_sqrt_dim" else float(np.sqrt(self.dim))
        self._bound = bound if self.feature_range == "inverse_sqrt_dim" else 1.0
        self._rng = seeds.generator("contexts")
        self._noise = RewardNoise(self.link, self.sub_gaussian, seeds.generator("noise"))
        self._memory = np.empty((self.dim, self.n_arms))
        self._contexts = self._memory.T
        self.means = np.empty(self.n_arms)
        self._drawn = False

    def observe(self) -> np.ndarray:
        if self.features == "changing" or not self._drawn:
            self._drawn = True
            self._rng.random(out=self._memory)
            spread(self._memory, self._bound)
            linear_means(self._contexts, self.theta, self.means)
            scale, shift = self._mean_map()
            self.best_mean, self.average_mean = transform_means(self.means, scale, shift, self.link == "logistic")
        return self._contexts

    def pull(self, arm: int) -> float:
        return self._noise.reward(self.means.item(arm))


@kernel
def spread(uniform: np.ndarray, bound: float) -> None:
    """Map uniform (0, 1) numbers to (-bound, bound) in place."""
    flat = uniform.ravel()
    for i in range(flat.size):
        flat[i] = (2.0 * flat[i] - 1.0) * bound
