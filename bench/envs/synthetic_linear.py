import math
from typing import Literal

from pydantic import NonNegativeFloat

from bench.component import component
from bench.envs.synthetic import Synthetic


@component
class SyntheticLinear(Synthetic):
    """Contextual linear bandit: reward N(mean, noise_std^2).

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
