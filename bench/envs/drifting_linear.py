from dataclasses import field
from typing import Annotated

from pydantic import Field, PositiveFloat

from bench.component import component
from bench.envs.drifting import Drifting
from bench.envs.synthetic_linear import SyntheticLinear


@component
class DriftingLinear(Drifting, SyntheticLinear):
    """Contextual linear bandit whose theta, arms' popularity, scale of rewards and noise may change during a run.

    Parameters
    ----------
    noise
        Factor on ``noise_std`` in each stretch; from the first again when there are more stretches. Algorithms are told
        the largest standard deviation.
    """

    noise: Annotated[list[PositiveFloat], Field(min_length=1)] = field(default_factory=lambda: [1.0])

    def _sub_gaussian(self) -> float:
        return self.noise_std * max(self.noise)

    def pull(self, arm: int) -> float:
        factor = self.noise[self.stretch % len(self.noise)] / max(self.noise)
        return self.means.item(arm) + factor * self._noise.reward(0.0)
