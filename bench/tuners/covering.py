"""An exact test in every dimension whether balls cover the unit cube, with the least covered point as the witness.

A ball i has the power |x - v_i|^2 - r_i^2 at the point x, which is at most 0 inside the ball and positive outside. The
cube is covered if and only if the depth g(x) = min_i power_i(x) is nowhere positive. Within the power cell of a ball
(where its power is the lowest) g is convex, so g has its maximum at a vertex of the power diagram of the cube. A vertex
is a point with q free axes, all other axes at 0 or 1, where q + 1 balls have the same power; this condition gives q
linear equations. Unlike a grid of test points, the vertices reveal gaps of any size.

Branch and bound limits the number of equations: in a box only balls that have the lowest power somewhere in the box
matter. Every solution is moved into its box, and its depth is computed there from the distances. An ill-conditioned
system can therefore not produce a false gap. It cannot hide a gap either, because at a maximum g is flat in the
ill-conditioned directions.
"""

import math

import numpy as np

from bench.jit import kernel
from bench.tuners.covering_line import deepest_on_line

Array = np.ndarray

TOLERANCE = 1e-12
"""Tolerance of depths per dimension, as squared lengths in the unit cube: depths up to it count as covered."""

_SNAP = 1e-6  # tolerance by which solutions outside their box are moved into it, so that rounding loses no vertex
_SPLITS_PER_AXIS = 10  # depth of splitting after which the vertices are enumerated for any number of balls


def uncovered(centers: Array, radii: Array, witness: Array) -> float:
    """Return the largest depth g(x) = min_i |x - v_i|^2 - r_i^2 in the cube [0, 1]^p, positive if not covered.

    The ``centers`` v_i, shape (n, p), p >= 1, are in or near the cube; they may coincide or be collinear. The ``radii``
    r_i >= 0, shape (n,), are the radii of closed balls and may be infinite. ``witness``, shape (p,), receives the point
    with the largest depth, or the cube's centre if the depth is infinite.

    A negative value is a slack: the cube stays covered until a squared radius has shrunk by more than ``-value``. The
    value is within 1e-12 (p + max r_i^2). A depth up to 1e-12 p counts as covered, so balls that touch leave no gap. If
    the cube is covered, the value is rounded up by 1e-12 (p + max r_i^2), at most to 0, so that it is a valid slack.
    The value is +inf without balls and -inf with an infinite ball.
    """
    witness[:] = 0.5
    if radii.size == 0:
        return math.inf
    # Each search is compiled at its first call; the one for several dimensions takes seconds
    return _uncovered_on_line(centers, radii, witness) if witness.size == 1 else _uncovered(centers, radii, witness)


@kernel
def _uncovered_on_line(centers: Array, radii: Array, witness: Array) -> float:
    largest = radii.max()
    return -math.inf if largest == math.inf else _slack(deepest_on_line(centers, radii, witness), largest, 1)


@kernel
def _uncovered(centers: Array, radii: Array, witness: Array) -> float:
    largest = radii.max()
    return -math.inf if largest == math.inf else _slack(_deepest(centers, radii, witness), largest, witness.size)


@kernel
def _slack(depth: float, largest: float, p: int) -> float:
    if depth > TOLERANCE * p:
        return depth
    return min(0.0, depth + TOLERANCE * (p + largest * largest))


@kernel
def _deepest(centers: Array, radii: Array, witness: Array) -> float:
    """Search the cube, p >= 2, by branch and bound and return the largest depth."""
    n, p = centers.shape
    margin = TOLERANCE * (p + radii.max() ** 2)
    most_splits = _SPLITS_PER_AXIS * p
    few = p + 2  # up to this many balls are enumerated; with more, another split is faster (measured)
    # A stack of boxes: row k has the low and high corner and the balls that may be lowest somewhere in the box.
    low = np.zeros((most_splits + 2, p))
    high = np.ones((most_splits + 2, p))
    balls = np.empty((most_splits + 2, n), dtype=np.int64)
    counts = np.empty(most_splits + 2, dtype=np.int64)
    splits = np.zeros(most_splits + 2, dtype=np.int64)
    powers = np.empty(n)
    point = np.empty(p)
    for i in range(n):
        balls[0, i] = i
    counts[0] = n

    best = -math.inf
    for corner in range(2**p):
        for a in range(p):
            point[a] = (corner >> a) & 1
        depth = _depth(point, centers, radii, balls[0], n)
        if depth > best:
            best = depth
            _copy(point, witness)

    top = 0
    while top >= 0:
        kept = balls[top]
        count, bound = _lowest_balls(low[top], high[top], centers, radii, kept, counts[top], powers, margin)
        if bound <= best:
            top -= 1
        elif count <= few or splits[top] == most_splits:
            best = _best_vertex(low[top], high[top], centers, radii, kept[:count], powers, best, witness)
            top -= 1
        else:
            axis = np.argmax(high[top] - low[top])
            middle = 0.5 * (low[top, axis] + high[top, axis])
            splits[top] += 1
            _copy(low[top], low[top + 1])
            _copy(high[top], high[top + 1])
            _copy(kept[:count], balls[top + 1])
            counts[top] = counts[top + 1] = count
            splits[top + 1] = splits[top]
            high[top, axis] = middle
            low[top + 1, axis] = middle
            top += 1
    return best


@kernel
def _copy(source: Array, target: Array) -> None:
    """Copy the first entries. An assignment would make numba compile messages about shapes, which takes two seconds."""
    for i in range(source.size):
        target[i] = source[i]


@kernel
def _depth(point: Array, centers: Array, radii: Array, kept: Array, count: int) -> float:
    depth = math.inf
    for k in range(count):
        power = -radii[kept[k]] * radii[kept[k]]
        for a in range(point.size):
            power += (point[a] - centers[kept[k], a]) ** 2
        depth = min(depth, power)
    return depth


@kernel
def _lowest_balls(
    low: Array, high: Array, centers: Array, radii: Array, kept: Array, count: int, powers: Array, margin: float
) -> tuple[int, float]:
    """Drop from ``kept`` the balls that are nowhere lowest in a box.

    Returns the new number of balls and a bound on the depth. ``powers`` receives the powers of the remaining balls at
    the middle of the box in ascending order. A ball that is lowest only at a point of the box's border is kept by the
    ``margin``, because a vertex at this point needs the ball in every adjacent box.
    """
    p = low.size
    bound = math.inf
    for k in range(count):
        i = kept[k]
        power = -radii[i] * radii[i]
        rise = 0.0  # from the middle of the box to its corner furthest from the centre of the ball
        for a in range(p):
            half = 0.5 * (high[a] - low[a])
            offset = abs(0.5 * (low[a] + high[a]) - centers[i, a])
            power += offset * offset
            rise += half * (half + 2.0 * offset)
        bound = min(bound, power + rise)
        at = k
        while at > 0 and powers[at - 1] > power:
            powers[at] = powers[at - 1]
            kept[at] = kept[at - 1]
            at -= 1
        powers[at] = power
        kept[at] = i
    staying = 0
    for k in range(count):
        j = kept[k]
        lowest_somewhere = True
        for m in range(staying):
            # The difference of two powers is linear: over the box it varies by span on either side of the middle.
            span = 0.0
            for a in range(p):
                span += abs(centers[j, a] - centers[kept[m], a]) * (high[a] - low[a])
            if span == 0.0 or powers[k] - powers[m] > span + margin:
                lowest_somewhere = False
                break
        if lowest_somewhere:
            kept[staying] = j
            powers[staying] = powers[k]
            staying += 1
    return staying, bound


@kernel
def _best_vertex(
    low: Array, high: Array, centers: Array, radii: Array, kept: Array, powers: Array, best: float, witness: Array
) -> float:
    """Return the largest depth of the vertices in a box, except the cube's corners, or ``best`` if that is larger.

    Axes are fixed only where the box touches the cube's border, because the maximum is a vertex of the cube's diagram.
    ``powers`` are the powers at the middle of the box.
    """
    p = low.size
    side = np.empty(p, dtype=np.int64)
    free = np.empty(p, dtype=np.int64)
    chosen = np.empty(p + 1, dtype=np.int64)
    step = np.empty(p)  # from the middle of the box to the vertex
    point = np.empty(p)
    system = np.empty((p, p + 1))
    for pattern in range(3**p):
        q = _fix_axes(pattern, low, high, side, free, step, point)
        if q == 0 or q >= kept.size:
            continue
        for i in range(q + 1):
            chosen[i] = i
        while True:
            first = kept[chosen[0]]
            for row in range(q):
                other = kept[chosen[row + 1]]
                for column in range(q):
                    system[row, column] = 2.0 * (centers[other, free[column]] - centers[first, free[column]])
                system[row, q] = powers[chosen[row + 1]] - powers[chosen[0]]
                for a in range(p):
                    if side[a] != 0:
                        system[row, q] -= 2.0 * (centers[other, a] - centers[first, a]) * step[a]
            inside = _solve(system, q)
            for row in range(q):
                a = free[row]
                half = 0.5 * (high[a] - low[a])
                inside = inside and abs(system[row, q]) <= half + _SNAP
                point[a] = min(high[a], max(low[a], 0.5 * (low[a] + high[a]) + system[row, q]))
            if inside:
                depth = _depth(point, centers, radii, kept, kept.size)
                if depth > best:
                    best = depth
                    _copy(point, witness)
            if not _next_choice(chosen[: q + 1], kept.size):
                break
    return best


@kernel
def _fix_axes(pattern: int, low: Array, high: Array, side: Array, free: Array, step: Array, point: Array) -> int:
    """Fix axes at a side of the box by the base-3 digits of ``pattern``, and return the number of free axes.

    Returns 0 if a side is not on the cube's border. ``side`` is 0 for a free axis, 1 at 0 and 2 at 1.
    """
    q = 0
    for a in range(low.size):
        side[a] = pattern % 3
        pattern //= 3
        if side[a] == 0:
            free[q] = a
            q += 1
            continue
        point[a] = low[a] if side[a] == 1 else high[a]
        if point[a] != side[a] - 1.0:
            return 0
        step[a] = (side[a] - 1.5) * (high[a] - low[a])
    return q


@kernel
def _next_choice(chosen: Array, n: int) -> bool:
    """Replace ascending numbers below ``n`` by the next combination in lexicographic order.

    Returns False, and leaves the numbers unchanged, after the last combination.
    """
    at = chosen.size - 1
    while at >= 0 and chosen[at] == n - chosen.size + at:
        at -= 1
    if at < 0:
        return False
    chosen[at] += 1
    for later in range(at + 1, chosen.size):
        chosen[later] = chosen[later - 1] + 1
    return True


@kernel
def _solve(system: Array, q: int) -> bool:
    """Solve ``q`` linear equations in place, and return False if the system is singular.

    Column q holds the right-hand side, which is replaced by the solution.
    """
    for k in range(q):
        pivot = k
        for row in range(k + 1, q):
            if abs(system[row, k]) > abs(system[pivot, k]):
                pivot = row
        if system[pivot, k] == 0.0:
            return False
        if pivot != k:
            for column in range(k, q + 1):
                system[k, column], system[pivot, column] = system[pivot, column], system[k, column]
        for row in range(k + 1, q):
            factor = system[row, k] / system[k, k]
            for column in range(k + 1, q + 1):
                system[row, column] -= factor * system[k, column]
    for k in range(q - 1, -1, -1):
        for column in range(k + 1, q):
            system[k, q] -= system[k, column] * system[column, q]
        system[k, q] /= system[k, k]
    return True
