"""What numbers of user code may be, how they are converted, and how a message shows what they may not be."""

import math
import reprlib
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from bench.errors import TaskError


def is_number(reward: Any) -> bool:
    """Tell whether a reward is a finite real number; True and False count as 1 and 0."""
    try:
        return isinstance(reward, Real | np.bool_) and math.isfinite(reward)
    except OverflowError:  # a whole number beyond the largest float
        return False


def check_reward(reward: Any, round_: int, configuration: Mapping[str, Any]) -> float:
    """Return a reward as a float; raise TaskError if it is no finite number. A random pull has no configuration."""
    if not is_number(reward):
        raise TaskError(
            f"round {round_}: found the reward {short(reward)} for {played(configuration)}, expected a finite number"
        )
    return float(reward)


def plain(value: Any) -> float | str | None:
    """Return a value as a trace keeps it: real numbers as float, None as None, all else in words.

    Raises OverflowError for a whole number beyond the largest float.
    """
    if isinstance(value, Real | np.bool_):
        return float(value)
    return None if value is None else str(value)


def played(configuration: Mapping[str, Any]) -> str:
    """Return in words what was played; a random pull has no configuration."""
    return f"the configuration {dict(configuration)}" if configuration else "a random pull"


def short(value: Any) -> str:
    """Return a value in at most 60 characters."""
    text = str(value) if isinstance(value, Real) else reprlib.repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
