"""Delivery of rewards to a tuner in any task, which may be late, in batches, for held configurations or from a log."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import PositiveFloat, PositiveInt

from bench.component import component, neutral
from bench.errors import ConfigError
from bench.rewards import short
from bench.space import Configuration, HyperParameter, Space
from bench.tuners.problem import Problem

Delay = int | dict[str, Any]
"""Rounds: a number, ``{geometric: mean}`` or ``{uniform: [least, most]}``."""


@component
class Feedback:
    """Settings of every task for the delivery of rewards to the tuner and the algorithm.

    Parameters
    ----------
    delay
        Rounds before a reward is told: a number, ``{geometric: 50}`` (a mean of 50), ``{uniform: [0, 100]}``.
    batch
        Number of due rewards that are told together.
    hold
        Number of decisions for which a configuration is kept; the tuner is told their mean reward, as one ask.
    delay_algorithm
        Rounds before the bandit algorithm learns a reward, in the form of ``delay``; for contextual bandits.
    horizon_factor
        Factor on the horizon that a tuner is told, to test a wrong horizon in its formulas.
    history
        A CSV file with a column for each hyper-parameter and ``reward``, which the tuner learns before the first ask.
    yoked
        ``in_order`` or ``shuffled``: a control for tuning. The tuner plays a first run, of which only the
        configurations are kept. These configurations are played in the recorded run, and no tuner is told its rewards.
    """

    delay: Delay = neutral(default=0)
    batch: PositiveInt = neutral(default=1)
    hold: PositiveInt = neutral(default=1)
    delay_algorithm: Delay = neutral(default=0)
    horizon_factor: PositiveFloat = neutral(default=1.0)
    history: Path | None = neutral(default=None)
    yoked: Literal["in_order", "shuffled"] | None = neutral(default=None)

    def __post_init__(self) -> None:
        for name in ("delay", "delay_algorithm"):
            _check_delay(f"task.{name}", getattr(self, name))

    @property
    def at_once(self) -> bool:
        """Whether each reward is told before the next ask."""
        return self.delay == 0 and self.batch == 1

    @property
    def words(self) -> str:
        return f"task.delay = {self.delay}, task.batch = {self.batch}"

    def problem(self, problem: Problem) -> Problem:
        """Return the problem that a tuner may know if configurations are held."""
        if self.hold == 1:
            return problem
        noise_std = problem.noise_std / float(np.sqrt(self.hold))
        return replace(problem, rounds_per_ask=problem.rounds_per_ask * self.hold, noise_std=noise_std)

    def told(self, problem: Problem) -> Problem:
        """Return the problem with the horizon that the tuner is told."""
        if self.horizon_factor == 1:
            return problem
        asks, rounds = (
            max(1, round(self.horizon_factor * number)) for number in (problem.horizon, problem.total_rounds)
        )
        return replace(problem, horizon=asks, rounds=rounds)


def draws(delay: Delay, rng: np.random.Generator) -> Callable[[], int]:
    """Return a function that draws the delay of one reward in rounds."""
    if isinstance(delay, int):
        return lambda: delay
    ((kind, value),) = delay.items()
    if kind == "geometric":
        return lambda: int(rng.geometric(1.0 / (1.0 + value))) - 1
    return lambda: int(rng.integers(value[0], value[1] + 1))


def read_history(path: Path, space: Space) -> list[tuple[Configuration, float]]:
    """Return the configurations and rewards of a CSV file, oldest first; columns outside the space are ignored.

    Raises ConfigError with file and line if the file is unreadable, or a value is missing or not a number.
    """
    key = f"task.history: {path}"
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            rows, columns = list(reader), list(reader.fieldnames or ())
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{key}: found a file that cannot be read ({error}), expected a CSV file") from None
    names = (*space.names, "reward")
    for name in names if columns else ():
        if (count := columns.count(name)) != 1:
            raise ConfigError(
                f"{key}: line 1: found {count or 'no'} column{'s' * (count > 1)} '{name}' in {short(columns)}, "
                "expected one, with commas between columns"
            )
    pairs = []
    for line, row in enumerate(rows, start=2):
        if None in row:
            raise ConfigError(
                f"{key}: line {line}: found more values than columns, expected as many, and decimal points"
            )
        for name in names:
            if row.get(name) is None:
                raise ConfigError(f"{key}: line {line}: found no value of '{name}', expected one")
        configuration = {parameter.name: _value(parameter, str(row[parameter.name])) for parameter in space.parameters}
        try:
            pairs.append((configuration, float(row["reward"])))
        except ValueError:
            raise ConfigError(f"{key}: line {line}: found the reward {row['reward']!r}, expected a number") from None
    if not pairs:
        raise ConfigError(f"{key}: found no rows, expected at least one")
    return pairs


def _value(parameter: HyperParameter, text: str) -> Any:
    """Return the candidate with this text, or else a number, or else the text; the tuner checks the result."""
    for candidate in (*parameter.candidates, parameter.default):
        if text == str(candidate):
            return candidate
    try:
        number = float(text)
    except ValueError:
        return text
    known = next((value for value in parameter.candidates if value == number), None)
    return (int(number) if parameter.integer and number.is_integer() else number) if known is None else known


def _check_delay(key: str, delay: Delay) -> None:
    expected = "a number of rounds, at least 0, {geometric: mean} or {uniform: [least, most]}"
    right = isinstance(delay, int) and delay >= 0
    if isinstance(delay, dict) and len(delay) == 1:
        ((kind, value),) = delay.items()
        if kind == "geometric":
            right = isinstance(value, int | float) and value >= 0
        elif kind == "uniform":
            whole = isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(end, int) for end in value)
            right = whole and 0 <= value[0] <= value[1]
    if not right:
        raise ConfigError(f"{key}: found {delay!r}, expected {expected}")
