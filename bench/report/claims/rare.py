"""Methods that are far off in a few of their repetitions.

A repetition that has not happened leaves no trace in a standard error: where one method loses much in 5 % of its
repetitions, 20 of them without a loss come up in one of three samples. What is known is how far off the method was
elsewhere in the figure.
"""

from collections.abc import Iterable

import numpy as np

from bench.stats import Array

FAR = 2.0
"""A repetition is far off where it differs from the median by more than this many medians."""
MOST = 0.1
"""The largest share of repetitions that counts as a few."""
LEAST = 10
"""Number of repetitions from which on an experiment can have a few."""


def rare_deviations(experiments: Iterable[Array]) -> tuple[float, float]:
    """Return the largest deviations, below and above, where a few repetitions are far off; 0 where none are.

    They are shares of the median of an experiment, whose final values have shape (n,).
    """
    below = above = 0.0
    for values in experiments:
        middle = float(np.median(values)) if len(values) >= LEAST else 0.0
        if not middle:
            continue
        deviations = (values - middle) / abs(middle)
        if 0.0 < np.mean(np.abs(deviations) > FAR) <= MOST:
            below, above = max(below, -float(deviations.min())), max(above, float(deviations.max()))
    return below, above


def rare_room(left: Array, right: Array, lefts: Iterable[Array], rights: Iterable[Array]) -> tuple[float, float]:
    """Return how far below and above the others a repetition of left minus right, (n, ...) each, may rarely lie.

    ``lefts`` and ``rights`` are the same methods' final values in all cases of the figure.
    """
    (left_below, left_above), (right_below, right_above) = rare_deviations(lefts), rare_deviations(rights)
    a, b = float(np.abs(np.median(left))), float(np.abs(np.median(right)))
    return max(left_below * a, right_above * b), max(left_above * a, right_below * b)
