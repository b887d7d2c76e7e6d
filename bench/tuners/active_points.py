import math
from dataclasses import dataclass

import numpy as np

from bench.jit import kernel
from bench.seeding import Seeds
from bench.space import Configuration, Space
from bench.tuners.covering import uncovered
from bench.tuners.covering_line import gap_midpoint

_BLOCK = 1024
_EVERYTHING = 1e150
"""Radius of a point without pulls: effectively infinite, but with a finite square."""
_CLIP = 1.0 / math.sqrt(2.0 * math.pi)


@dataclass(frozen=True)
class ZoomingRule:
    """Sizes of the balls and ranking of active points.

    Parameters
    ----------
    radius
        Confidence radius of a point pulled once; after n pulls it is ``radius`` / sqrt(n).
    spread
        Bonus of a point pulled once, added to its mean for the ranking; after n pulls it is ``spread`` / sqrt(n).
    restart_every
        Number of asks after which all points are forgotten.
    randomised
        Whether ``spread`` is multiplied by max{1/sqrt(2 pi), N(0, 1)}, drawn for each point and round.
    removal
        Whether points that are worse than another with high confidence are dropped.
    spread_is_variance
        Whether ``spread`` / sqrt(n) is instead the variance of a normal index; N(0, 1) then has no lower limit.
    first
        The share of each axis from which the first point is drawn.
    """

    radius: float
    spread: float
    restart_every: int
    randomised: bool = False
    removal: bool = False
    spread_is_variance: bool = False
    first: tuple[float, float] = (0.3, 0.7)


class ActivePoints:
    """Points of the unit cube with their mean rewards and with balls that cover the cube.

    In each round, points that are worse than another point with high confidence are dropped (their balls still count as
    covering). If a region is uncovered, a point is activated there and pulled; otherwise the active point with the
    largest index is pulled. The coverage is recomputed only once a ball has shrunk by more than the slack of the last
    computation; the decisions are the same as with a computation in every round.

    In one dimension, the new point is the midpoint of the widest gap; in several dimensions, it is the deepest point of
    the uncovered region. The first point is drawn uniformly, by default from the middle 40 % of each axis (both as in
    cdt's code; in several dimensions assumed). Source: cdt, algorithm 1; Kleinberg et al. 2019.
    """

    def __init__(self, space: Space, rule: ZoomingRule, seeds: Seeds) -> None:
        self._space = space
        self._rule = rule
        self._place_rng = seeds.generator("first_point")
        self._rank_rng = seeds.generator("ranking")
        self._factors = np.empty(0)
        self._used = 0
        self._witness = np.empty(space.dim)
        self._restarts = 0
        self.restart()
        self.asked = (self._restarts, -1)
        """The number of restarts at the latest ask, and the point that it returned."""

    def restart(self) -> None:
        self._restarts += 1
        self.n_points = 0
        self._age = 0
        self._newest = -1
        self.centers = np.zeros((16, self._space.dim))
        self.stats = np.zeros((16, 5))
        """Pulls, sum of rewards, radius, decrease of squared radius since the last check, active (1 or 0)."""
        self._configurations: list[Configuration] = []
        self._slack = -1.0
        self._check = True

    def ask(self) -> Configuration:
        # While a point waits for its first reward, a check is due
        if self._check and self.n_points and self.stats[self._newest, 0] == 0:
            self.asked = (self._restarts, self._newest)
            return self._configurations[self._newest]  # A second ask: a new point is pulled before any other
        if self._age == self._rule.restart_every:
            self.restart()
        self._age += 1
        if self._check:
            self._cover()
        if self._check:
            chosen = self._newest = self.n_points - 1
        else:
            n, rule = self.n_points, self._rule
            if self._used + n > self._factors.size:
                self._refill()
            spread, is_variance = rule.spread, rule.spread_is_variance
            chosen = _select(self.stats, n, spread, is_variance, rule.removal, self._factors, self._used)
            self._used += n
        self.asked = (self._restarts, chosen)
        return self._configurations[chosen]

    def tell(self, reward: float, asked: tuple[int, int]) -> None:
        """Learn the reward of the point ``asked``, an earlier value of the attribute of this name.

        The reward of a point that was asked before a restart is ignored.
        """
        if asked[0] == self._restarts and _learn(self.stats, asked[1], reward, self._rule.radius) > self._slack:
            self._check = True

    def _refill(self) -> None:
        """Draw a block of the factors Z on the spread, which are 1 without randomisation."""
        size = max(_BLOCK, 4 * self.n_points)
        if self._rule.spread_is_variance:
            self._factors = self._rank_rng.standard_normal(size)
        elif self._rule.randomised:
            self._factors = np.maximum(_CLIP, self._rank_rng.standard_normal(size))
        else:
            self._factors = np.ones(size)
        self._used = 0

    def _cover(self) -> None:
        """Activate a point in a gap if the balls leave one, and otherwise clear ``_check``."""
        n = self.n_points
        if n == 0:
            self._activate(self._place_rng.uniform(*self._rule.first, self._space.dim))
            return
        excess = uncovered(self.centers[:n], self.stats[:n, 2].copy(), self._witness)
        if excess > 0:
            if self._space.dim == 1:
                self._witness[0] = gap_midpoint(self.centers[:n], self.stats[:n, 2].copy())
            self._activate(self._witness)
        else:
            self._slack = -excess
            self.stats[:n, 3] = 0.0
            self._check = False

    def _activate(self, point: np.ndarray) -> None:
        if self.n_points == len(self.centers):
            self.centers = np.concatenate([self.centers, np.zeros_like(self.centers)])
            self.stats = np.concatenate([self.stats, np.zeros_like(self.stats)])
        self.centers[self.n_points] = point
        self.stats[self.n_points] = (0.0, 0.0, _EVERYTHING, 0.0, 1.0)
        self._configurations.append(self._space.from_unit(point))
        self.n_points += 1


@kernel
def _select(
    stats: np.ndarray, n_points: int, spread: float, is_variance: bool, removal: bool, factors: np.ndarray, start: int
) -> int:
    """Drop worse points, and return the active point with the largest mean + s Z.

    The deviation s is spread / sqrt(n); with ``is_variance``, spread / sqrt(n) is the variance s^2.
    """
    if removal:
        floor = -np.inf
        for i in range(n_points):
            if stats[i, 4] > 0 and stats[i, 0] > 0:
                floor = max(floor, stats[i, 1] / stats[i, 0] - stats[i, 2])
        for i in range(n_points):
            if stats[i, 0] > 0 and stats[i, 1] / stats[i, 0] + 2.0 * stats[i, 2] < floor:
                stats[i, 4] = 0.0
    best = -1
    best_index = -np.inf
    for i in range(n_points):
        if stats[i, 4] > 0:
            pulls = stats[i, 0]
            deviation = spread / np.sqrt(pulls)
            if is_variance:
                deviation = np.sqrt(deviation)
            index = stats[i, 1] / pulls + deviation * factors[start + i]
            if best < 0 or index > best_index:
                best = i
                best_index = index
    return best


@kernel
def _learn(stats: np.ndarray, chosen: int, reward: float, radius: float) -> float:
    """Add a reward, shrink the point's ball, and return the decrease of its squared radius since the last check."""
    stats[chosen, 0] += 1.0
    stats[chosen, 1] += reward
    old = stats[chosen, 2]
    new = radius / np.sqrt(stats[chosen, 0])
    stats[chosen, 2] = new
    stats[chosen, 3] += old * old - new * new
    return stats[chosen, 3]
