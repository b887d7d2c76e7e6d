"""What the kinds `curves` and `grid` share: where lines begin, how they grow, and how they are kept apart."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bench.report.plot import Mark

FEW = 8
"""Up to so many places on an axis each has its number, and lines stand aside each other there."""
_DODGE = 0.012
"""How far aside, as a share of the axis."""


def start_at_zero(lowest: float, highest: float) -> float | None:
    """Return 0 as an axis's lower end if nothing lies below, and if that leaves the numbers distinguishable."""
    return 0.0 if 0 <= lowest < highest / 2 else None


def slope(places: Sequence[float], values: Sequence[float]) -> str:
    """Return the exponent of growth, by least squares of the logarithms."""
    if len(places) < 2 or min(values) <= 0:
        return ""
    return f"slope {np.polyfit(np.log(places), np.log(values), 1)[0]:.2f}"


def aside(mark: Mark, place: int, count: int) -> Mark:
    """Return one of several lines moved a little along the axis, so that bars at the same place do not coincide."""
    places = mark.x if mark.x is not None else np.empty(0)
    if count == 1 or not 1 < len(places) <= FEW:
        return mark
    return replace(mark, x=places + (place - (count - 1) / 2) * _DODGE * float(np.ptp(places)))
