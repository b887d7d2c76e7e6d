import math
from typing import Literal

import numpy as np
from pydantic import NonNegativeFloat

from bench.component import component
from bench.envs.contextual import linear_means, transform_means
from bench.envs.synthetic import Synthetic
from bench.seeding import Seeds


@component
class SyntheticLinear(Synthetic):
    """Contextual linear bandit with rewards N(mean, noise_std^2).

    Source: syndicated, section 6 (``shifted``), table 1 (``raw``); cdt, section 5 (``raw``).

    Parameters
    ----------
    noise_std
        Standard deviation of the reward; also the sub-Gaussian constant passed to theory.
    mean
        Expected reward of features x: ``raw`` x'theta, ``halved`` x'theta / 2, ``shifted`` (x'theta + 1) / 2.
    """

    noise_std: NonNegativeFloat = math.sqrt(0.1)
    mean: Literal["raw", "halved", "shifted"] = "raw"

    def _sub_gaussian(self) -> float:
        return self.noise_std

    def _mean_map(self) -> tuple[float, float]:
        return {"raw": (1.0, 0.0), "halved": (0.5, 0.0), "shifted": (0.5, 0.5)}[self.mean]


@component
class SyntheticLinearLegacy(SyntheticLinear):
    """`SyntheticLinear` with the draws of theta, features and noise of the script behind a published table.

    NumPy's legacy generator is seeded with the base seed plus the repetition's number, from 1. It draws theta, then the
    features of all rounds, then one standard normal per round. Contexts and noise therefore equal the script's for any
    algorithm without draws of its own. All features are held in memory: 8 x rounds x n_arms x dim bytes. Source:
    github.com/VivianDQ/Syndicated, run_grid.py, commit 4a9e7e1 (2021-05-26), for syndicated, table 1.
    """

    def start(self, rounds: int, seeds: Seeds) -> None:
        super().start(rounds, seeds)
        self._legacy = np.random.RandomState(seeds.base_seed + seeds.repetition + 1)
        bound = 1.0 / np.sqrt(self.dim)
        self.theta = self._legacy.uniform(-bound, bound, self.dim)
        shown = rounds if self.features == "changing" else 1
        self._features = self._legacy.uniform(-self._bound, self._bound, (shown, self.n_arms, self.dim))
        self._round = -1

    def observe(self) -> np.ndarray:
        self._round += 1
        if self.features == "changing" or not self._drawn:
            self._drawn = True
            self._contexts[:] = self._features[self._round]
            linear_means(self._contexts, self.theta, self.means)
            self.best_mean, self.average_mean = transform_means(self.means, *self._mean_map(), False)
        return self._contexts

    def pull(self, arm: int) -> float:
        return self.means.item(arm) + self.noise_std * float(self._legacy.standard_normal())
