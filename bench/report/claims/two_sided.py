"""What claims that compare a left with a right side share."""

from collections import Counter
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from bench.errors import ConfigError
from bench.report.claims.base import CaseClaim, Chosen, final_values
from bench.report.claims.finding import Unmeasured
from bench.report.experiments import Experiments, Key
from bench.report.labels import Selection, describe

Array = npt.NDArray[np.float64]
How = Literal["mean", "lowest", "highest"]


class Combine(BaseModel):
    """How several experiments on one side become one number, anew in each bootstrap resample.

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
        """Return left and right."""
        return {"left": self.left, "right": self.right}

    def validate_axes(self, data: Experiments, where: str) -> None:
        """Check the axes, and that left and right are not the same runs."""
        super().validate_axes(data, where)
        if self.left == self.right:
            raise ConfigError(f"{where}: 'left' and 'right' select the same runs: {describe(self.left)}")

    def sides(self, data: Experiments, case: Selection) -> tuple[Array, Array, str]:
        """Return the final values of both sides, (n, experiments) each with the same repetitions, and a note."""
        left = data.select({**case, **self.left})
        right = data.select({**case, **self.right})
        if self.combine.left == self.combine.right == "mean":
            self._check_balance(data, left, right)
        (a, b), note = final_values(data, self.column, left, right)
        return a, b, note

    def _check_balance(self, data: Experiments, left: list[Key], right: list[Key]) -> None:
        free = [i for i, axis in enumerate(data.axes) if axis not in (*self.per, *self.left, *self.right)]
        counts = [Counter(tuple(key[i] for i in free) for key in side) for side in (left, right)]
        if set(counts[0]) != set(counts[1]) or any(len(set(count.values())) > 1 for count in counts):
            raise Unmeasured("left and right differ in the runs they have along the other axes: no fair average")


def combined(values: Array, how: How) -> Array:
    """Return one number per resample from (resamples, experiments)."""
    if how == "lowest":
        return np.asarray(values.min(axis=1))
    if how == "highest":
        return np.asarray(values.max(axis=1))
    return np.asarray(values.mean(axis=1))


def named(chosen: Selection, how: How) -> str:
    """Return a side in words."""
    return describe(chosen) if how == "mean" else f"{how} of {describe(chosen)}"
