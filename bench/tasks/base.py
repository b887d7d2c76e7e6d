"""The contract of every task."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem


@dataclass(slots=True)
class Outcome:
    """What a task returns for one decision.

    Parameters
    ----------
    reward
        What the tuner is told: the round's reward, or the mean over the rounds of the decision.
    values
        Named numbers of the round, which become trace columns.
    steps
        The values of every round, where the decision covered more than one.
    rewards
        The rewards that every configuration would have earned, where the task reveals them (full information).
    costs
        Seconds by the name of what they were spent on. They are not among the values, since they are never twice the
        same: a run keeps their sums beside its results.
    """

    reward: float
    values: dict[str, Any] = field(default_factory=dict)
    steps: tuple[dict[str, Any], ...] = ()
    rewards: Any = None
    costs: dict[str, float] = field(default_factory=dict)


class Task(ABC):
    """Plays configurations.

    ``sums`` names the values that a trace adds up over the rounds.
    """

    sums: tuple[str, ...] = ("reward",)
    timed: ClassVar[bool] = False
    """Whether a round takes so long (milliseconds) that the seconds of task and tuner are worth measuring."""

    @abstractmethod
    def start(self, rounds: int, seeds: Seeds) -> Problem:
        """Forget everything, prepare for a run of ``rounds`` rounds and return what a tuner may know of it."""

    @property
    def random_rounds(self) -> int:
        """The number of random pulls that the task itself wants before the first decision."""
        return 0

    def explore(self) -> dict[str, Any] | None:
        """Play one warm-up round at random and return its values, None when there are no more rounds."""
        return None

    @abstractmethod
    def play(self, configuration: Configuration) -> Outcome | None:
        """Play ``configuration`` and return what came of it, None when there are no more rounds (a log has ended)."""
