import math
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, PositiveFloat

from bench.component import component
from bench.seeding import Seeds
from bench.space import Configuration
from bench.tuners.base import Problem, Tuner

_UNKNOWN = 1e300
"""The bound of a cell before its first reward, in place of infinity."""


@component
class HCT(Tuner):
    """High-confidence tree: halve intervals once the bounds justify it, and play the middle of a cell.

    A cell of depth h has the bound U = mean + nu rho^h + c sqrt(ln(1 / delta_t) / n), infinite before its first reward,
    and B = U for a leaf; for other cells B is the smaller of U and the largest B of the two halves. From the root, the
    half with the larger B (the second if they are equal) is taken down to a leaf or a cell with n < tau_h = c^2 ln(1 /
    delta_t) rho^(-2 h) / nu^2, which is played. A leaf is halved once n >= tau_h. delta_t = min{1/2, (rho / (3
    nu))^(1/8) delta / t+}, where t+ is the least power of two at or after the round; when a round is a power of two,
    all bounds are recomputed. Several hyper-parameters are halved in turn. Rewards are assumed to lie in [0, 1].
    Source: Azar, Lazaric and Brunskill 2014 (HCT-iid), as in the library PyXAB 0.3.0, from which the defaults are
    taken. PyXAB may halve a cell a second time; this class does not. By the theory c = 2 / sqrt(1 - rho).

    Parameters
    ----------
    nu, rho
        The function varies by at most nu rho^h within a cell of depth h, in units of the reward.
    c
        Width of the bounds.
    delta
        Probability with which the bounds may fail.
    """

    label: ClassVar[str] = "HCT"
    searches: ClassVar[tuple[str, ...]] = ("interval",)
    remembers: ClassVar[tuple[str, ...] | None] = ("_path",)

    nu: PositiveFloat = 1.0
    rho: Annotated[float, Field(gt=0, lt=1)] = 0.5
    c: PositiveFloat = 0.1
    delta: Annotated[float, Field(gt=0, lt=1)] = 0.01

    def _start(self, problem: Problem, seeds: Seeds) -> None:
        self._space = problem.space
        self._cells = np.array([[[0.0, 1.0]] * problem.space.dim])
        self._depths, self._counts, self._sums = [0], [0], [0.0]
        self._bounds, self._best = [_UNKNOWN], [_UNKNOWN]
        self._halves = [0]  # the index of the first half, 0 for a leaf
        self._n_told = 0
        self._path = [0]
        self._split(0)
        self._space.from_unit(self._cells[0].mean(axis=1))  # raises the error for a space without intervals

    def _ask(self) -> Configuration:
        self._path = [0]
        while (half := self._halves[self._path[-1]]) and self._is_known(self._path[-1]):
            self._path.append(half if self._best[half] > self._best[half + 1] else half + 1)
        return self._space.from_unit(self._cells[self._path[-1]].mean(axis=1))

    def _tell(self, reward: float, outcome: Any) -> None:
        if self._n_told + 1 == self._doubled:
            for cell in reversed(range(len(self._halves))):  # halves have larger indices than the cell
                self._update(cell)
        played = self._path[-1]
        self._counts[played] += 1
        self._sums[played] += reward
        for cell in reversed(self._path):
            self._update(cell, cell == played)
        if not self._halves[played] and self._is_known(played):
            self._split(played)
        self._n_told += 1

    @property
    def _doubled(self) -> int:
        """The least power of two that is at least the number of the round."""
        return 1 << self._n_told.bit_length()

    @property
    def _logarithm(self) -> float:
        factor = (self.rho / (3.0 * self.nu)) ** 0.125
        return -math.log(min(0.5, factor * self.delta / self._doubled))

    def _is_known(self, cell: int) -> bool:
        """Return whether a cell has enough rewards to distinguish its halves, which is always true for the root."""
        scale = self.c / (self.nu * self.rho ** self._depths[cell])
        return cell == 0 or self._counts[cell] >= math.ceil(scale**2 * self._logarithm)

    def _update(self, cell: int, bound: bool = True) -> None:
        n, half = self._counts[cell], self._halves[cell]
        if bound and n:
            width = self.c * math.sqrt(self._logarithm / n)
            self._bounds[cell] = self._sums[cell] / n + self.nu * self.rho ** self._depths[cell] + width
        inside = max(self._best[half], self._best[half + 1]) if half else _UNKNOWN
        self._best[cell] = min(self._bounds[cell], inside)

    def _split(self, cell: int) -> None:
        axis = self._depths[cell] % self._space.dim
        halves = np.repeat(self._cells[cell : cell + 1], 2, axis=0)
        halves[0, axis, 1] = halves[1, axis, 0] = self._cells[cell, axis].mean()
        self._halves[cell] = len(self._halves)
        self._cells = np.concatenate([self._cells, halves])
        self._depths += [self._depths[cell] + 1] * 2
        self._counts += [0, 0]
        self._halves += [0, 0]
        self._sums += [0.0, 0.0]
        self._bounds += [_UNKNOWN] * 2
        self._best += [_UNKNOWN] * 2
