"""The covering check against grids, and against an enumeration of all vertices written independently with numpy."""

import itertools
import math

import numpy as np
import pytest

from bench.tuners.covering import uncovered
from bench.tuners.covering_line import gap_midpoint


def depth(points: np.ndarray, centers: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Return min_i |x - v_i|^2 - r_i^2 at each point."""
    squares = ((points[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    return (squares - radii**2).min(axis=1)


def check(centers: np.ndarray, radii: np.ndarray) -> tuple[float, np.ndarray]:
    """Call the kernel; its witness must be a point of the cube that confirms the answer."""
    witness = np.full(centers.shape[1], np.nan)
    before = centers.copy(), radii.copy()
    value = uncovered(centers, radii, witness)
    assert np.array_equal(centers, before[0])
    assert np.array_equal(radii, before[1])
    assert np.all((witness >= 0.0) & (witness <= 1.0))
    if value > 0.0 and len(radii):
        assert depth(witness[None], centers, radii)[0] > 0.0
    return value, witness


def grid(p: int, steps: int) -> np.ndarray:
    axis = np.linspace(0.0, 1.0, steps + 1)
    return np.stack(np.meshgrid(*[axis] * p, indexing="ij"), axis=-1).reshape(-1, p)


def largest_depth(centers: np.ndarray, radii: np.ndarray) -> float:
    """Compute the depth at every vertex of the power diagram of the cube, by all choices of faces and balls."""
    n, p = centers.shape
    constants = (centers**2).sum(axis=1) - radii**2
    points = [np.array(corner, dtype=float) for corner in itertools.product((0.0, 1.0), repeat=p)]
    for face in itertools.product((None, 0.0, 1.0), repeat=p):
        free = [a for a in range(p) if face[a] is None]
        fixed = [a for a in range(p) if face[a] is not None]
        values = np.array([face[a] for a in fixed], dtype=float)
        for chosen in itertools.combinations(range(n), len(free) + 1):
            if not free:
                continue
            rows = 2.0 * (centers[list(chosen[1:])] - centers[chosen[0]])
            right = constants[list(chosen[1:])] - constants[chosen[0]] - rows[:, fixed] @ values
            try:
                solution = np.linalg.solve(rows[:, free], right)
            except np.linalg.LinAlgError:
                continue
            if np.all((solution >= -1e-9) & (solution <= 1 + 1e-9)):
                point = np.empty(p)
                point[fixed] = values
                point[free] = np.clip(solution, 0.0, 1.0)
                points.append(point)
    return float(depth(np.array(points), centers, radii).max())


def random_balls(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw balls whose size is such that about half of the instances are covered."""
    centers = rng.random((n, p))
    radii = rng.uniform(0.7, 1.3, n)
    deepest = depth(grid(p, 8), centers, np.zeros(n)).max()
    return centers, radii * math.sqrt(deepest) * rng.uniform(0.8, 1.3)


def degenerate_balls(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw centres on a lattice, often twice, collinear or co-spherical, and radii of a few values, zero included."""
    radii = [0.0, 0.25, 0.5, math.sqrt(p) / 4, math.sqrt(p) / 2]
    return rng.integers(0, 3, (n, p)) / 2.0, rng.choice(radii, n)


@pytest.mark.parametrize("draw", [random_balls, degenerate_balls])
@pytest.mark.parametrize(("p", "most", "instances"), [(1, 12, 100), (2, 9, 60), (3, 7, 25), (4, 6, 6)])
def test_value_is_the_largest_depth(draw, p, most, instances):
    rng = np.random.default_rng(10 + p)
    for _ in range(instances):
        centers, radii = draw(rng, int(rng.integers(1, most + 1)), p)
        value, witness = check(centers, radii)
        exact = largest_depth(centers, radii)
        assert value == pytest.approx(exact, abs=1e-10)
        assert (value > 0.0) == (exact > 1e-12 * p)
        assert depth(witness[None], centers, radii)[0] == pytest.approx(value, abs=1e-10)


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("spread", [1e-15, 1e-12, 1e-9, 1e-6])
def test_nearly_equal_centres_hide_no_gap(p, spread):
    rng = np.random.default_rng(30 + p)
    for _ in range(20):
        centers, radii = random_balls(rng, 8, p)
        value, _ = check(centers, radii)
        jitter = spread * rng.uniform(-1.0, 1.0, (3, *centers.shape))
        many, _ = check((centers + jitter).reshape(-1, p), np.tile(radii, 3))
        assert many == pytest.approx(value, abs=1e-11 + 4 * spread * p)


def test_touching_balls_leave_no_gap():
    centers = np.array([[0.25], [0.75]])
    assert check(centers, np.array([0.25, 0.25]))[0] == 0.0
    for radii in ([0.25 - 1e-9, 0.25], [0.25, 0.25 - 1e-9]):
        assert check(centers, np.array(radii))[0] > 0.0
    # thirds and tenths are not exact in binary
    for pieces in (3, 7, 10):
        centers = (np.arange(pieces)[:, None] + 0.5) / pieces
        assert check(centers, np.full(pieces, 0.5 / pieces))[0] == 0.0
        assert math.isnan(gap_midpoint(centers, np.full(pieces, 0.5 / pieces)))
        assert check(centers, np.full(pieces, 0.5 / pieces - 1e-9))[0] > 0.0


@pytest.mark.parametrize("p", [1, 2, 3])
def test_none_infinite_zero_and_huge(p):
    value, witness = check(np.empty((0, p)), np.empty(0))
    assert value == math.inf
    assert np.all(witness == 0.5)
    centers = np.random.default_rng(0).random((6, p))
    radii = np.zeros(6)
    value, _ = check(centers, radii)
    assert value == pytest.approx(largest_depth(centers, radii))
    assert value > 0.0
    radii[3] = math.inf
    assert check(centers, radii)[0] == -math.inf
    radii[3] = 1e6
    assert check(centers, radii)[0] == pytest.approx(-1e12)
    assert check(np.full((5, p), 0.3), np.zeros(5))[0] == pytest.approx(0.49 * p)


def brute_gap(centers: np.ndarray, radii: np.ndarray) -> float:
    """Return the midpoint of the widest gap: between two neighbouring ends of intervals all is open, or nothing is."""
    ends = np.concatenate([[0.0, 1.0], (centers[:, 0] - radii), (centers[:, 0] + radii)])
    ends = np.unique(ends[(ends >= 0.0) & (ends <= 1.0)])
    middles, widths = (ends[1:] + ends[:-1]) / 2, np.diff(ends)
    is_open = np.array([np.all(abs(x - centers[:, 0]) > radii) for x in middles])
    return middles[is_open][np.argmax(widths[is_open])] if is_open.any() else math.nan


def test_the_midpoint_of_a_gap_is_that_of_a_search_by_brute_force():
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(300):
        n = int(rng.integers(0, 12))
        centers, radii = rng.random((n, 1)), rng.uniform(0.0, 3.0 / (n + 1), n)
        midpoint = gap_midpoint(centers, radii)
        assert midpoint == pytest.approx(brute_gap(centers, radii), abs=1e-14, nan_ok=True)
        assert math.isnan(midpoint) == (check(centers, radii)[0] <= 0.0)
        found += not math.isnan(midpoint)
    assert 60 < found < 240
