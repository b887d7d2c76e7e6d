"""Claims that one method ends lower, higher or about as another, on one task or over several."""

from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from bench.errors import ConfigError
from bench.report.claims.base import CaseClaim, Chosen, final_values
from bench.report.claims.judgement import MARGIN, Question, Unmeasured
from bench.report.claims.quantities import Mean, Quantity, RatioOfMeans
from bench.report.claims.rare import Unseen, rare_room
from bench.report.claims.two_sided import Array, TwoSided
from bench.report.experiments import Experiments, Key
from bench.report.labels import Selection, describe

_ROOM = "a few repetitions in the figure are far off: the interval has room for more of them"


class PairedDifference(TwoSided):
    """The mean of left minus right, paired by repetition.

    Parameters
    ----------
    expect
        - ``less`` / ``greater``: below / above 0.
        - ``at_most`` / ``at_least``: "no worse". Without a margin as above, but a difference of exactly 0 holds.
          With a margin, a test of non-inferiority: ``at_most`` holds if the interval ends at or below +margin and
          fails if it lies above +margin; ``at_least`` mirrors it at -margin.
        - ``similar`` (needs a margin), a test of equivalence: holds if it is a tie within the margin, fails if the
          95 % interval lies outside on one side.
    margin
        A share of right's mean: 0.05 is 5 %. With a margin the estimate is the difference divided by right's mean, so
        that estimate, interval and margin can be compared directly.
    tie
        Without a margin: what share of right's mean is too small to matter; 0: nothing is.
    """

    kind: Literal["paired_difference"]
    expect: Literal["less", "greater", "at_most", "at_least", "similar"]
    margin: float | None = Field(default=None, gt=0)
    tie: float = Field(default=MARGIN, ge=0)

    @model_validator(mode="after")
    def _margin_fits(self) -> "PairedDifference":
        if self.expect == "similar" and self.margin is None:
            raise ValueError("expect: similar needs a margin, such as margin: 0.05")
        if self.expect in ("less", "greater") and self.margin is not None:
            raise ValueError(f"expect: {self.expect} takes no margin, only at_most, at_least and similar do")
        if self.margin is not None and "tie" in self.model_fields_set:
            raise ValueError("expected either 'margin' or 'tie'")
        return self

    def unit(self) -> str:
        left, right = self.names()
        relative = f", as a share of {right}'s mean" if self.margin is not None else ""
        return f"mean paired difference of final {self.column}, {left} - {right}{relative}"

    def question(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> tuple[Question, str]:
        left, right, note = self.sides(data, case)
        difference, relative = self.compared(left, right, _difference), self.compared(left, right, _share)
        cases = ([data.values(key, self.column)[1] for key in data.select(side)] for side in (self.left, self.right))
        below, above = rare_room(left, right, *cases)
        if below or above:
            base = float(np.abs(right.mean()))
            difference, relative = Unseen(difference, below, above), Unseen(relative, below / base, above / base)
            note = "; ".join(
                filter(None, [note, "a few repetitions are far off: the interval has room for more of them"])
            )
        if self.margin is None:
            return Question(difference, self.unit(), self.expect, relative=relative, margin=self.tie), note
        if not np.isfinite(relative.estimate):
            raise Unmeasured("the mean of right is 0, so that nothing can be a share of it")
        threshold = 0.0 if self.expect == "similar" else -self.margin if self.expect == "at_least" else self.margin
        margin = self.margin if self.expect == "similar" else None
        return Question(relative, self.unit(), self.expect, threshold, margin=margin), note


def _difference(left: Array, right: Array) -> Quantity:
    return Mean(left - right)


def _share(left: Array, right: Array) -> Quantity:
    return RatioOfMeans(left - right, right if right.mean() > 0 else -right)


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
        return {"left": self.left, "right": self.right, "reference": self.reference}

    def validate_axes(self, data: Experiments, where: str) -> None:
        for axis in self.over:
            data.check_axis(axis, f"{where}, key 'over'")
        super().validate_axes(data, where)
        if self.left == self.right:
            raise ConfigError(f"{where}: 'left' and 'right' select the same runs: {describe(self.left)}")

    def unit(self) -> str:
        left, right, reference = (describe(chosen) for chosen in self.selections().values())
        return f"mean paired difference of final {self.column} over that of {reference}, {left} - {right}"

    def experiments(self, data: Experiments, case: Selection) -> list[Key]:
        return [key for sides in self._tasks(data, case).values() for side in sides for key in side]

    def question(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> tuple[Question, str]:
        left, right, note = self._sides(data, case)
        relative = _share(left, right)
        return Question(_difference(left, right), self.unit(), self.expect, relative=relative, margin=self.tie), note

    def silence(self, data: Experiments, case: Selection, rule: Any) -> str:
        """Return why a case is no evidence: both sides are identical."""
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
