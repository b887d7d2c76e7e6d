import math
from typing import Annotated

from pydantic import Field, NonNegativeInt

from bench.component import component
from bench.envs.contextual import RewardNoise
from bench.envs.moving_peak import MovingPeak
from bench.seeding import Seeds


@component
class PiecewiseLipschitz(MovingPeak):
    """Bernoulli rewards with the mean max(0, ``height`` - abs(x - peak)) for ``x`` in [0, 1]; the peak drifts in jumps.

    The slope is 1, the steepest that the theory of SD2ME and AD2ME allows. Peaks are uniform on [0, 1], and so are the
    shares of the run at which they jump, since the theory does not say where changes occur; runs of all lengths with
    the same seeds have the same shares and peaks. If two changes fall into one round of a short run, there is one less.
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
