"""Claims that one method has less regret than another over tasks of different scales."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import Field

from bench.errors import ConfigError
from bench.report.claims.base import CaseClaim, Chosen, final_values
from bench.report.claims.finding import Unmeasured
from bench.report.claims.judgement import MARGIN, Question
from bench.report.claims.quantities import Mean, RatioOfMeans
from bench.report.experiments import Experiments, Key
from bench.report.labels import Selection, describe

Array = npt.NDArray[np.float64]


class RelativeDifference(CaseClaim):
    """The mean of left minus right, each relative to a reference's mean on the same task, averaged over tasks.

    The mean is taken over the labels of the last axis in `over`, then over those of the one before, so that with
    ``over: [family, task]`` each family counts once. Only labels count on which both sides are run. Differences are
    paired by repetition; the reference's means count as known.

    Parameters
    ----------
    left, right
        The two selections. Where a side has several experiments on a task, such as all fixed configurations, the one
        with the lowest mean counts, which is known only afterwards.
    reference
        What values are divided by: one experiment on each task.
    over
        One or two axes.
    expect
        ``less`` or ``greater``: below or above 0.
    tie
        What share of right's mean is too small to matter; 0: nothing is.
    """

    kind: Literal["relative_difference"]
    left: Chosen
    right: Chosen
    reference: Chosen
    over: tuple[str, ...] = Field(min_length=1, max_length=2)
    expect: Literal["less", "greater"]
    tie: float = Field(default=MARGIN, ge=0)

    def selections(self) -> dict[str, Selection]:
        """Return left, right and the reference."""
        return {"left": self.left, "right": self.right, "reference": self.reference}

    def validate_axes(self, data: Experiments, where: str) -> None:
        """Check the axes, and that left and right are not the same runs."""
        for axis in self.over:
            data.check_axis(axis, f"{where}, key 'over'")
        super().validate_axes(data, where)
        if self.left == self.right:
            raise ConfigError(f"{where}: 'left' and 'right' select the same runs: {describe(self.left)}")

    def unit(self) -> str:
        """Return what is subtracted from what."""
        left, right, reference = (describe(chosen) for chosen in self.selections().values())
        return f"mean paired difference of final {self.column} over that of {reference}, {left} - {right}"

    def experiments(self, data: Experiments, case: Selection) -> list[Key]:
        """Return the experiments that a case needs."""
        return [key for sides in self._tasks(data, case).values() for side in sides for key in side]

    def question(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> tuple[Question, str]:
        """Return what is asked of one case."""
        left, right, note = self._sides(data, case)
        relative = RatioOfMeans(left - right, right if right.mean() > 0 else -right)
        return Question(Mean(left - right), self.unit(), self.expect, relative=relative, margin=self.tie), note

    def silence(self, data: Experiments, case: Selection, rule: Any) -> str:
        """Return why a case says nothing: both sides are identical."""
        left, right, _ = self._sides(data, case)
        return "both sides are identical in every repetition" if np.array_equal(left, right) else ""

    def _tasks(self, data: Experiments, case: Selection) -> dict[tuple[str, ...], list[list[Key]]]:
        """Return the experiments of all three sides by the labels of `over`."""
        found: dict[tuple[str, ...], list[list[Key]]] = {}
        for number, chosen in enumerate(self.selections().values()):
            for key in data.select({**case, **chosen}):
                labels = data.as_dict(key)
                sides = found.setdefault(tuple(labels[axis] for axis in self.over), [[], [], []])
                sides[number].append(key)
        return {labels: sides for labels, sides in found.items() if all(sides)}

    def _sides(self, data: Experiments, case: Selection) -> tuple[Array, Array, str]:
        """Return both sides' means, a number per repetition of each."""
        tasks = self._tasks(data, case)
        if not tasks:
            raise Unmeasured("no such runs")
        sides = [side for of_task in tasks.values() for side in of_task]
        values, note = final_values(data, self.column, *sides)
        by_first: dict[str, list[Array]] = {}
        for number, labels in enumerate(tasks):
            left, right, reference = values[3 * number : 3 * number + 3]
            if reference.shape[1] > 1:
                raise Unmeasured(f"several experiments are the reference on {', '.join(labels)}")
            base = float(reference.mean())
            if not base > 0:
                raise Unmeasured(f"the mean of the reference is not above 0 on {', '.join(labels)}")
            pair = np.stack([side[:, side.mean(axis=0).argmin()] / base for side in (left, right)])
            by_first.setdefault(labels[0] if len(labels) > 1 else "", []).append(pair)
        both = np.mean([np.mean(pairs, axis=0) for pairs in by_first.values()], axis=0)
        return both[0], both[1], note
