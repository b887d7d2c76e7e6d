from collections.abc import Callable
from dataclasses import dataclass

from bench.space import Configuration, Space


@dataclass(frozen=True)
class Problem:
    """The facts that a tuner may know before its first ask.

    Parameters
    ----------
    horizon
        Number of asks in the run.
    rounds
        The number of rounds of the whole run, T in the papers' formulas; by default the horizon.
    rounds_per_ask
        Rounds of one decision.
    noise_std
        Sub-Gaussian constant of the rewards, in units of the reward.
    theory
        Function that returns the theoretical configuration for the next round, if theory gives a configuration.
    change_points
        Rounds at which the environment changes, for oracles only.
    incumbent
        A configuration that was played beforehand, and its reward.
    full_information, forecasts
        Whether outcomes hold the rewards, or the forecast losses, of all configurations.
    """

    space: Space
    horizon: int
    rounds: int | None = None
    rounds_per_ask: int = 1
    noise_std: float = 0.5
    theory: Callable[[], Configuration] | None = None
    change_points: tuple[int, ...] = ()
    incumbent: tuple[Configuration, float] | None = None
    full_information: bool = False
    forecasts: bool = False

    @property
    def total_rounds(self) -> int:
        return self.horizon * self.rounds_per_ask if self.rounds is None else self.rounds

    def asks(self, rounds: int) -> int:
        return max(1, rounds // self.rounds_per_ask)


@dataclass(frozen=True)
class Wish:
    """The information that a tuner requests with each reward; a task omits information that it does not have.

    ``estimates`` requests the algorithm's estimates, the values ``model_mean`` and ``model_regret``. ``agreement``
    lists configurations for which the tuner asks whether they would have pulled the same arm (``Outcome.agreement``).
    """

    estimates: bool = False
    agreement: tuple[Configuration, ...] = ()
