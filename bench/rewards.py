"""What numbers of user code may be, how they are converted, and how a message shows what they may not be."""

import math
import re
import reprlib
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from bench.errors import TaskError

LARGEST = 1e100
"""A tuner learns rewards beyond it, of either sign, as this one: squares and their sums stay finite."""


def number(value: Any) -> float | None:
    """Return a real number, converted once, as a float; None if it is none, or not finite. True and False are 1 and 0.

    Any other object with a number inside, such as an array, is none.
    """
    try:
        converted = float(value) if isinstance(value, Real | np.bool_) else math.nan
    except (OverflowError, TypeError):  # a whole number beyond the largest float; a span of time of NumPy
        return None
    return converted if math.isfinite(converted) else None


def check_reward(reward: Any, round_: int, configuration: Mapping[str, Any]) -> float:
    """Return a reward as a float; raise TaskError if it is not a finite number. A random pull has no configuration."""
    converted = number(reward)
    if converted is None:
        raise TaskError(
            f"round {round_}: found the reward {short(reward)} for {played(configuration)}, expected a finite number"
        )
    return converted


def plain(value: Any) -> float | str | None:
    """Return a value as a trace keeps it: real numbers as float, strings and None as they are.

    Raises OverflowError for a whole number beyond the largest float, TypeError for anything else, such as an array or
    the missing value of pandas.
    """
    if isinstance(value, Real | np.bool_):
        return float(value)
    if value is None or isinstance(value, str):
        return value if value is None else str(value)
    raise TypeError


def finite(data: Any) -> Any:
    """Return plain data as JSON has it: None in place of NaN and infinities."""
    if isinstance(data, Mapping):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def played(configuration: Mapping[str, Any]) -> str:
    """Return in words what was played; a random pull has no configuration."""
    return f"the configuration {dict(configuration)}" if configuration else "a random pull"


def short(value: Any) -> str:
    """Return a value in one line of at most 60 characters, also if its class fails to say it."""
    try:
        text = str(value) if isinstance(value, Real) else reprlib.repr(value)
    except Exception:
        text = f"a {type(value).__name__} that cannot be shown"
    text = re.sub(r"\s*\n\s*", " ", text)
    return text if len(text) <= 60 else f"{text[:57]}..."
