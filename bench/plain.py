"""Conversion of hyper-parameter values to Python's own types."""

import sys
from typing import Any

import numpy as np

_PLAIN = (float, int, str, bool, type(None))


def plain_value(value: Any) -> Any:
    """Return a number or string as Python's own type, which JSON can hold, and other values unchanged.

    NumPy scalars would carry their precision into a task. An element of an enumeration becomes its value.
    """
    if value.__class__ in _PLAIN:
        return value
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        return float(value) if isinstance(value, np.longdouble) else value.item()
    # also for instances of derived classes
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    return str.__str__(value) if isinstance(value, str) else value


def is_value(value: Any) -> bool:
    """Return whether a value may be a candidate, which configurations, traces and tables must be able to hold."""
    if is_number(value):
        return bool(abs(plain_value(value)) <= sys.float_info.max)
    return value is None or isinstance(value, str | bool | np.bool_)


def is_number(value: Any) -> bool:
    return isinstance(plain_value(value), int | float) and not isinstance(value, bool | np.bool_)


def alike(value: Any, candidate: Any) -> bool:
    return type(value) is type(candidate) or (is_number(value) and is_number(candidate))
