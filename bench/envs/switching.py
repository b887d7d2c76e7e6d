import math
from dataclasses import field
from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, PositiveInt

from bench.component import component
from bench.envs.contextual import RewardNoise
from bench.envs.moving_peak import MovingPeak
from bench.errors import ConfigError
from bench.seeding import Seeds

_PEAKS = (0.05, 0.45, 0.7, 0.95)


@component
class Switching(MovingPeak):
    """Functions on [0, 1]; the peak of each piece is drawn without repetition, or follows a fixed order.

    Source: cdt, appendix A.3; the numbers are those of the authors' code.

    Parameters
    ----------
    changes
        Last rounds of all pieces except the last, in a run of ``of_rounds`` rounds; scaled to a run of another length.
    of_rounds
        The run length that ``changes`` refers to.
    peaks
        Possible peaks, at least one for each piece.
    peak_order
        ``drawn`` in each repetition; or ``given``: that of ``peaks``, in all of them.
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
