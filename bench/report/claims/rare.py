"""Methods that are far off in a few of their repetitions, and intervals that leave room for those still to come.

A repetition that has not happened leaves no trace in a standard error: where one method loses much in 5 % of its
repetitions, 20 of them without a loss come up in one of three samples. What is known is how far off the method was
elsewhere in the figure.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench.critical import Rule
from bench.report.claims.quantities import Quantity

Array = npt.NDArray[np.float64]
FAR = 2.0
"""A repetition is far off where it differs from the median by more than this many medians."""
MOST = 0.1
"""The largest share of repetitions that counts as a few."""
LEAST = 10
"""Number of repetitions from which on an experiment can have a few."""


class Deviations(NamedTuple):
    """How far a method was off in a few of its repetitions, below and above its median, as shares of the median."""

    below: float
    above: float


def rare_deviations(experiments: Iterable[Array]) -> Deviations:
    """Return the largest deviations of the experiments in which a few repetitions are far off, 0 where none are.

    Parameters
    ----------
    experiments
        Final values of each, shape (n,).
    """
    below = above = 0.0
    for values in experiments:
        middle = float(np.median(values)) if len(values) >= LEAST else 0.0
        if not middle:
            continue
        deviations = (values - middle) / abs(middle)
        if 0.0 < np.mean(np.abs(deviations) > FAR) <= MOST:
            below, above = max(below, -float(deviations.min())), max(above, float(deviations.max()))
    return Deviations(below, above)


def rare_room(left: Array, right: Array, lefts: Iterable[Array], rights: Iterable[Array]) -> tuple[float, float]:
    """Return how far below and above the others a repetition of left minus right may rarely lie.

    Parameters
    ----------
    left, right
        Both sides of a comparison, shape (n, ...).
    lefts, rights
        The same methods' final values in all cases of the figure.
    """
    of_left, of_right = rare_deviations(lefts), rare_deviations(rights)
    a, b = float(np.abs(np.median(left))), float(np.abs(np.median(right)))
    return max(of_left.below * a, of_right.above * b), max(of_left.above * a, of_right.below * b)


class Unseen(Quantity):
    """A mean whose interval leaves room for rare repetitions that have not happened.

    With probability 1 - e an event whose rate is ln(1 / e) / n or more has happened in n repetitions (the rule of
    three, for e = .05); at that rate, events that move a repetition by ``above`` move the mean by ln(1 / e) above / n.

    Parameters
    ----------
    quantity
        The mean.
    below, above
        How far a rare repetition may lie off, in the quantity's unit.
    """

    def __init__(self, quantity: Quantity, below: float, above: float) -> None:
        self.n, self.estimate = quantity.n, quantity.estimate
        self._quantity, self._below, self._above = quantity, below, above

    def ends(self, error: float, rule: Rule, n: float) -> tuple[float, float]:
        low, high = self._quantity.ends(error, rule, n)
        rate = -math.log(error) / n
        return low - rate * self._below, high + rate * self._above
