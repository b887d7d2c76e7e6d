"""Validation, conversion and display of numbers from user code."""

import math
import re
import reprlib
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from bench.errors import TaskError

LARGEST = 1e100
"""Tuners clip rewards to this size, so that squares and their sums stay finite."""


def number(value: Any) -> float | None:
    """Return a real number as a float, or None for NaN, an infinity or any other object.

    The number is converted once. True and False become 1 and 0. The result for an object that contains a number, such
    as an array, is None.
    """
    try:
        converted = float(value) if isinstance(value, Real | np.bool_) else math.nan
    except (OverflowError, TypeError):  # an int beyond the largest float, or a timedelta64 of NumPy
        return None
    return converted if math.isfinite(converted) else None


def check_reward(reward: Any, round_: int, configuration: Mapping[str, Any]) -> float:
    """Return a reward as a float. Raises TaskError if ``reward`` is not a finite number.

    ``configuration`` is empty for a random pull.
    """
    converted = number(reward)
    if converted is None:
        raise TaskError(
            f"round {round_}: found the reward {short(reward)} for {played(configuration)}, expected a finite number"
        )
    return converted


def plain(value: Any) -> float | str | None:
    """Return a value in the form that a trace keeps: a real number as a float, a string or None unchanged.

    Raises OverflowError for a whole number beyond the largest float, TypeError for other types, such as an array or the
    missing value of pandas.
    """
    if isinstance(value, Real | np.bool_):
        return float(value)
    if value is None or isinstance(value, str):
        return value if value is None else str(value)
    raise TypeError


def finite(data: Any) -> Any:
    """Return plain data with None in place of NaN and infinities, which JSON cannot hold."""
    if isinstance(data, Mapping):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def played(configuration: Mapping[str, Any]) -> str:
    """Return the configuration as text, or "a random pull" if it is empty."""
    return f"the configuration {dict(configuration)}" if configuration else "a random pull"


def short(value: Any) -> str:
    """Return a value as one line of at most 60 characters, even if its ``__repr__`` fails."""
    try:
        text = str(value) if isinstance(value, Real) else reprlib.repr(value)
    except Exception:
        text = f"a {type(value).__name__} that cannot be shown"
    text = re.sub(r"\s*\n\s*", " ", text)
    return text if len(text) <= 60 else f"{text[:57]}..."
