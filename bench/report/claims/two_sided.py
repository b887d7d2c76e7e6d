"""What claims that compare a left with a right side share."""

from collections import Counter
from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from bench.critical import Rule
from bench.errors import ConfigError
from bench.report.claims.base import CaseClaim, Chosen, final_values
from bench.report.claims.judgement import ERROR, MARGIN, MIN_REPETITIONS, Unmeasured
from bench.report.claims.quantities import Extreme, Quantity, RatioOfMeans
from bench.report.experiments import Experiments, Key
from bench.report.labels import Selection, describe

Array = npt.NDArray[np.float64]
How = Literal["mean", "lowest", "highest"]
REGRET, RANDOM_REGRET = "regret", "random_regret"


class Combine(BaseModel):
    """How several experiments on one side become one number.

    "lowest" on the right turns "less than right" into "less than each of them".
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    left: How = "mean"
    right: How = "mean"


class TwoSided(CaseClaim):
    """A claim that compares the runs of two selections, repetition by repetition.

    Parameters
    ----------
    left, right
        The two selections. Where a side has several experiments in a case, `combine` says what becomes of them.
    combine
        For each side: "mean" (default), "lowest" or "highest" of its experiments. Averages on both sides need the
        same combinations of the other axes on both, else the case is open.
    """

    left: Chosen
    right: Chosen
    combine: Combine = Combine()

    def selections(self) -> dict[str, Selection]:
        return {"left": self.left, "right": self.right}

    def names(self) -> tuple[str, str]:
        """Return left and right in words."""
        sides = ((self.left, self.combine.left), (self.right, self.combine.right))
        left, right = (describe(chosen) if how == "mean" else f"{how} of {describe(chosen)}" for chosen, how in sides)
        return left, right

    def validate_axes(self, data: Experiments, where: str) -> None:
        super().validate_axes(data, where)
        if self.left == self.right:
            raise ConfigError(f"{where}: 'left' and 'right' select the same runs: {describe(self.left)}")

    def sides(self, data: Experiments, case: Selection) -> tuple[Array, Array, str]:
        """Return the final values of both sides, (n, experiments) each with the same repetitions, and a note."""
        left, right = self._keys(data, case)
        if self.combine.left == self.combine.right == "mean":
            self._check_balance(data, left, right)
        (a, b), note = final_values(data, self.column, left, right)
        return a, b, note

    def compared(
        self, left: Array, right: Array, compare: Callable[[Array, Array], Quantity], *, average: bool = True
    ) -> Quantity:
        """Return what ``compare`` makes of both sides, which it increases with left and decreases with right.

        Parameters
        ----------
        left, right
            Final values (n, experiments).
        compare
            Called with one number per repetition of each side: a pair of experiments, or averages.
        average
            Whether to average a side that is not combined otherwise; without, `compare` gets (n, experiments).
        """
        lefts, rights = (
            [values.mean(axis=1) if average else values]
            if how == "mean"
            else [column if average else column[:, None] for column in values.T]
            for values, how in ((left, self.combine.left), (right, self.combine.right))
        )
        parts = [[compare(a, b) for b in rights] for a in lefts]
        outer = "max" if self.combine.left == "highest" else "min"
        return Extreme(parts, outer, "min" if self.combine.right == "highest" else "max")

    def silence(self, data: Experiments, case: Selection, rule: Rule) -> str:
        """Return why a case is no evidence: both sides are identical, or neither is better than random arms."""
        left, right, _ = self.sides(data, case)
        if all(np.array_equal(a, b) for a in left.T for b in right.T):
            return "both sides are identical in every repetition"
        keys = [key for side in self._keys(data, case) for key in side]
        if self.column == REGRET and len(left) >= MIN_REPETITIONS and all(_is_random(data, key, rule) for key in keys):
            return "neither side is better than random arms"
        return ""

    def _keys(self, data: Experiments, case: Selection) -> tuple[list[Key], list[Key]]:
        return data.select({**case, **self.left}), data.select({**case, **self.right})

    def _check_balance(self, data: Experiments, left: list[Key], right: list[Key]) -> None:
        free = [i for i, axis in enumerate(data.axes) if axis not in (*self.per, *self.left, *self.right)]
        counts = [Counter(tuple(key[i] for i in free) for key in side) for side in (left, right)]
        if set(counts[0]) != set(counts[1]) or any(len(set(count.values())) > 1 for count in counts):
            raise Unmeasured("left and right differ in the runs they have along the other axes: no fair average")


def _is_random(data: Experiments, key: Key, rule: Rule) -> bool:
    """Return whether regret is not told from that of random arms, or above it, and not clearly below by itself."""
    rows = data.rows(key)
    if RANDOM_REGRET not in rows.columns:
        return False
    both = np.column_stack([rows[name].to_numpy(dtype=np.float64) for name in (REGRET, RANDOM_REGRET)])
    both = both[np.isfinite(both).all(axis=1)]
    if len(both) < 2:
        return False
    share = RatioOfMeans(both[:, 0], both[:, 1]).interval(ERROR / 2.0, rule)
    return share.high >= 1.0 and share.estimate >= 1.0 - MARGIN
