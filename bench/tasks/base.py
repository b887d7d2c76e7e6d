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
    """The result of one decision.

    Parameters
    ----------
    reward
        The tuner's reward: the reward of the round, or the mean reward over the rounds of the decision.
    values, steps
        Named numbers of the round, or one dict for every round of a longer decision; they become trace columns. A tuner
        is told only the values that its wish asks for or the task reveals.
    rewards
        The rewards that every configuration would have earned, if the task reveals them (full information).
    agreement
        For each configuration of the tuner's wish, whether it would have pulled the same arm, if the task knows.
    forecast_losses
        The loss of each candidate's reward forecasts, summed over the rounds of the decision, in the order of
        `Space.product`, if the task compares forecasts.
    costs
        Seconds by purpose. They are not reproducible and are therefore not in ``values``; a run keeps their sums.
    """

    reward: float
    values: dict[str, Any] = field(default_factory=dict)
    steps: tuple[dict[str, Any], ...] = ()
    rewards: Any = None
    agreement: np.ndarray | None = None
    forecast_losses: np.ndarray | None = None
    costs: dict[str, float] | None = None


ESTIMATES = ("model_mean", "model_regret")
"""The values that a tuner is told if it wishes for `estimates`."""


class Told(dict[str, Any]):
    """The values of a round that a tuner is told; any other key raises TunerError."""

    def __missing__(self, name: str) -> Any:
        raise TunerError(
            f"found a tuner that reads the value {name!r} of an outcome, expected the reward, and the values that its "
            f"`wish` asks for or the task's class lists in `reveals` ({', '.join(self) or 'none'})"
        )

    def copy(self) -> "Told":
        return Told(self)


def told(outcome: Outcome, reward: float, names: Sequence[str]) -> Outcome:
    """Return the part of an outcome that a tuner is told, with the values in ``names`` only and without costs.

    Other values, such as the regret, are for the trace; a real tuner could not observe them.
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
    """Convert an outcome's reward, and its copy among the values, to one float.

    Raises TaskError if the reward is not finite.
    """
    found = outcome.reward
    outcome.reward = reward = check_reward(found, round_, configuration)
    if type(outcome.values) is dict and outcome.values.get("reward") is found:
        outcome.values = {**outcome.values, "reward": reward}
    return reward


def check_parts(expected: str, *parts: tuple[Any, type]) -> None:
    """Raise ConfigError unless each part is an instance of its expected class."""
    if not all(isinstance(part, cls) for part, cls in parts):
        names = " with ".join(type(part).__name__ for part, _ in parts)
        raise ConfigError(f"task: found {names}, expected {expected}")


class Task(ABC):
    """A task, which plays configurations; ``sums`` names the values that a trace adds up over the rounds."""

    sums: tuple[str, ...] = ("reward",)
    traced_rounds: int | None = None
    """Rounds over which a trace spreads its rows, if fewer than the horizon; set by ``start``."""
    compared: ClassVar[str] = ""
    """The column by which runs are compared unless another is named; "": that of the environment, or regret."""
    timed: ClassVar[bool] = False
    """Whether a round takes milliseconds, long enough to measure the seconds of task and tuner."""
    common: ClassVar[type] = Feedback
    """The class of settings that every task has beside its own, ``feedback``."""
    feedback: Feedback = Feedback()
    delays_algorithm: ClassVar[bool] = False
    """Whether ``feedback.delay_algorithm`` applies: the task has an algorithm whose rewards may come late."""
    wish: Wish = Wish()
    """The information that the tuner wishes for in addition to the reward; set by the loop."""

    reveals: ClassVar[tuple[str, ...]] = ()
    """Values of its outcomes that a tuner is told in addition to the reward; other values are for the trace only."""

    @abstractmethod
    def start(self, rounds: int, seeds: Seeds) -> Problem:
        """Prepare for a new run of ``rounds`` rounds, and return the problem that the tuner may know."""

    @property
    def random_rounds(self) -> int:
        """Number of random pulls that the task requires before the first decision."""
        return 0

    def explore(self) -> dict[str, Any] | None:
        """Play one random warm-up round and return its values, or None if no rounds are left."""
        return None

    @abstractmethod
    def play(self, configuration: Configuration) -> Outcome | None:
        """Play ``configuration`` and return the outcome, or None if no rounds are left (a log has ended)."""
