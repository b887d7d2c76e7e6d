from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from bench.errors import ConfigError, TunerError
from bench.rewards import check_reward
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tasks.feedback import Feedback
from bench.tuners.base import Problem, Wish


@dataclass(slots=True)
class Outcome:
    """What a task returns for one decision.

    Parameters
    ----------
    reward
        The tuner's reward: that of the round, or the mean over the rounds of the decision.
    values, steps
        Named numbers of the round, which become trace columns, or of every round if there were several. A tuner is told
        those that its wish asks for, or the task reveals.
    rewards
        The rewards that every configuration would have earned, if the task reveals them (full information).
    agreement
        For each configuration of the tuner's wish, whether it would have pulled the same arm, if the task knows.
    forecast_losses
        Of each candidate, in the order of `Space.product`: the loss of what was forecast of the reward with it, summed
        over the rounds of the decision, if the task compares forecasts.
    costs
        Seconds by what they were spent on: not values, as they are not reproducible; a run keeps their sums.
    """

    reward: float
    values: dict[str, Any] = field(default_factory=dict)
    steps: tuple[dict[str, Any], ...] = ()
    rewards: Any = None
    agreement: np.ndarray | None = None
    forecast_losses: np.ndarray | None = None
    costs: dict[str, float] | None = None


ESTIMATES = ("model_mean", "model_regret")
"""The values that a tuner is told which wishes for `estimates`."""


class Told(dict[str, Any]):
    """The values of a round that a tuner is told; TunerError for any other."""

    def __missing__(self, name: str) -> Any:
        raise TunerError(
            f"found a tuner that reads the value {name!r} of an outcome, expected the reward, and the values that its "
            f"`wish` asks for or the task's class lists in `reveals` ({', '.join(self) or 'none'})"
        )

    def copy(self) -> "Told":
        return Told(self)


def told(outcome: Outcome, reward: float, names: Sequence[str]) -> Outcome:
    """Return what a tuner is told of an outcome: of its values those with these names, and no costs.

    The others are for the trace: with the regret a tuner would know what no tuner can know.
    """
    values = Told()
    steps: tuple[dict[str, Any], ...] = ()
    if names:
        values, *rest = (
            Told({name: step[name] for name in names if name in step}) for step in (outcome.values, *outcome.steps)
        )
        steps = tuple(rest)
    if type(outcome) is Outcome:
        return Outcome(reward, values, steps, outcome.rewards, outcome.agreement, outcome.forecast_losses)
    return replace(outcome, reward=reward, values=values, steps=steps, costs=None)


def convert_reward(outcome: Outcome, round_: int, configuration: Configuration) -> float:
    """Make an outcome's reward a float, once, also where it is among the values; TaskError if it is not finite."""
    found = outcome.reward
    outcome.reward = reward = check_reward(found, round_, configuration)
    if type(outcome.values) is dict and outcome.values.get("reward") is found:
        outcome.values = {**outcome.values, "reward": reward}
    return reward


def check_parts(expected: str, *parts: tuple[Any, type]) -> None:
    """Raise ConfigError if a part is not an instance of the class beside it."""
    if not all(isinstance(part, cls) for part, cls in parts):
        names = " with ".join(type(part).__name__ for part, _ in parts)
        raise ConfigError(f"task: found {names}, expected {expected}")


class Task(ABC):
    """Plays configurations; ``sums`` names the values that a trace adds up over the rounds."""

    sums: tuple[str, ...] = ("reward",)
    traced_rounds: int | None = None
    """Rounds over which a trace spreads the rows that it keeps, if fewer than the horizon; set by ``start``."""
    compared: ClassVar[str] = ""
    """The column by which runs are compared unless another is named; "": that of the environment, or regret."""
    timed: ClassVar[bool] = False
    """Whether a round takes long enough (milliseconds) to measure the seconds of task and tuner."""
    common: ClassVar[type] = Feedback
    """The class of settings that every task has beside its own, ``feedback``."""
    feedback: Feedback = Feedback()
    delays_algorithm: ClassVar[bool] = False
    """Whether it has an algorithm whose rewards may come late, as ``feedback.delay_algorithm`` says."""
    wish: Wish = Wish()
    """What the tuner would like to be told beside the reward; set by the loop."""

    reveals: ClassVar[tuple[str, ...]] = ()
    """Values of its outcomes that a tuner is told beside the reward; the others are for the trace alone."""

    @abstractmethod
    def start(self, rounds: int, seeds: Seeds) -> Problem:
        """Forget everything, prepare for a run of ``rounds`` rounds and return what a tuner may know of it."""

    @property
    def random_rounds(self) -> int:
        """The number of random pulls that the task itself wants before the first decision."""
        return 0

    def explore(self) -> dict[str, Any] | None:
        """Play one warm-up round at random and return its values, None if there are no more rounds."""
        return None

    @abstractmethod
    def play(self, configuration: Configuration) -> Outcome | None:
        """Play ``configuration`` and return the outcome, None if there are no more rounds (a log has ended)."""
