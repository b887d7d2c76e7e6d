"""Tests whether intervals cover [0, 1], by the depth defined in `bench.tuners.covering` and by the widest gap."""

import math

import numpy as np

from bench.jit import kernel

Array = np.ndarray

_GAP_TOLERANCE = 2e-13
"""Gaps up to this length count as covered. Every point with a depth above the tolerance lies in a wider gap."""


@kernel
def deepest_on_line(centers: Array, radii: Array, witness: Array) -> float:
    """Walk along the lowest powers from 0 to 1, from one ball to the next; return the largest depth."""
    n = radii.size
    x = 0.0
    lowest = 0
    power = math.inf
    for i in range(n):
        v = centers[i, 0]
        candidate = v * v - radii[i] * radii[i]
        if candidate < power or (candidate == power and v > centers[lowest, 0]):
            lowest = i
            power = candidate
    best = power
    witness[0] = x
    while x < 1.0:
        v = centers[lowest, 0]
        r = radii[lowest]
        following = lowest
        turn = 1.0
        # Only a ball further to the right can become lower: the difference of two powers is linear in x.
        for j in range(n):
            shift = centers[j, 0] - v
            if shift > 0.0:
                crossing = 0.5 * (centers[j, 0] + v + (r - radii[j]) * (r + radii[j]) / shift)
                if crossing < turn or (crossing == turn and centers[j, 0] > centers[following, 0]):
                    turn = crossing
                    following = j
        x = max(x, turn)
        depth = (x - v) * (x - v) - r * r
        if depth > best:
            best = depth
            witness[0] = x
        if following == lowest:
            break
        lowest = following
    return best


def gap_midpoint(centers: Array, radii: Array) -> float:
    """Return the midpoint of the widest gap that the intervals [v_i - r_i, v_i + r_i] leave in [0, 1], or NaN.

    The leftmost of equally wide gaps is taken. Gaps up to 2e-13 count as covered; if `uncovered` is positive, there is
    a wider gap. ``centers`` has shape (n, 1), and ``radii`` >= 0, which may be infinite, has shape (n,).
    """
    order = np.argsort(centers[:, 0] - radii)
    lefts = np.minimum(1.0, np.append((centers[:, 0] - radii)[order], 1.0))
    reached = np.maximum.accumulate(np.append(0.0, (centers[:, 0] + radii)[order]))
    widest = np.argmax(lefts - reached)
    if not lefts[widest] - reached[widest] > _GAP_TOLERANCE:
        return math.nan
    return float(0.5 * (lefts[widest] + reached[widest]))
