"""Claims on differences, and the common part of all claims that compare a left with a right side."""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from bench.columns import is_measured
from bench.critical import Rule
from bench.report.claims.base import Case, CaseClaim, Chosen
from bench.report.claims.judgement import ERROR, MARGIN, MIN_REPETITIONS, Question, Unmeasured
from bench.report.claims.quantities import Extreme, Mean, Quantity, RatioOfMeans, Unseen
from bench.report.labels import describe
from bench.report.results import RANDOM_REGRET, Labels, Results
from bench.stats import Array

FAR_OFF = 2.0
"""Least distance from the median of a repetition that is far off, in medians."""
A_FEW = 0.1
"""Largest share of repetitions that counts as a few."""
LEAST_FOR_A_FEW = 10
"""Least number of repetitions of an experiment that can have a few far off."""


def rare_deviations(experiments: Iterable[Array]) -> tuple[float, float]:
    """Return the largest deviations below and above if a few repetitions are outliers, or else 0.

    The deviations are shares of the median of an experiment, whose final values have shape (n,).
    """
    below = above = 0.0
    for values in experiments:
        middle = float(np.median(values)) if len(values) >= LEAST_FOR_A_FEW else 0.0
        if not middle:
            continue
        deviations = (values - middle) / abs(middle)
        if 0.0 < np.mean(np.abs(deviations) > FAR_OFF) <= A_FEW:
            below, above = max(below, -float(deviations.min())), max(above, float(deviations.max()))
    return below, above


def rare_room(
    left: Array, right: Array, rare_left: tuple[float, float], rare_right: tuple[float, float]
) -> tuple[float, float]:
    """Return the largest rare deviations that left minus right may have, downwards and upwards.

    ``rare_left`` and ``rare_right`` are the `rare_deviations` of the same methods in all cases of the claim.
    """
    (left_below, left_above), (right_below, right_above) = rare_left, rare_right
    a, b = float(np.abs(np.median(left))), float(np.abs(np.median(right)))
    return max(left_below * a, right_above * b), max(left_above * a, right_below * b)


How = Literal["mean", "lowest", "highest"]
Tie = Annotated[float, Field(ge=0)]
REGRET = "regret"
IDENTICAL = "both sides are identical in every repetition"
ONE_WORLD = (
    "have the same numbers and count as one: nothing is drawn at random, or not from the seeds that the environment is "
    "given"
)


class Combine(BaseModel):
    """Combination of several experiments on one side into one number.

    "lowest" on the right turns "less than right" into "less than each experiment on the right".
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    left: How = "mean"
    right: How = "mean"


class TwoSided(CaseClaim):
    """A claim that compares the runs of two selections, repetition by repetition.

    If a side has several experiments in a case, ``combine`` takes their mean, the lowest or the highest. If both sides
    are averages, they need the same combinations of the other axes; otherwise the case is open.
    """

    SIDES: ClassVar[tuple[str, ...]] = ("left", "right")

    left: Chosen
    right: Chosen
    combine: Combine = Combine()

    def names(self, link: str) -> str:
        sides = ((self.left, self.combine.left), (self.right, self.combine.right))
        return link.join(describe(chosen) if how == "mean" else f"{how} of {describe(chosen)}" for chosen, how in sides)

    def values(self, case: Case) -> tuple[Array, Array]:
        """Return the final values of both sides, each of shape (n, experiments), with the same repetitions."""
        if self.combine.left == self.combine.right == "mean":
            self._check_balance(case)
        left, right = case.values(*case.sides.values())
        return left, right

    def compared(
        self, left: Array, right: Array, compare: Callable[[Array, Array], Quantity], *, average: bool = True
    ) -> Quantity:
        """Return the result of ``compare`` for the values of both sides.

        The result of ``compare`` must increase with its first argument and decrease with its second. The function
        receives one number per repetition for each side, from a pair of experiments or from averages. If ``average`` is
        false, it receives arrays of shape (n, experiments).
        """
        lefts, rights = (
            [values.mean(axis=1) if average else values]
            if how == "mean"
            else [column if average else column[:, None] for column in values.T]
            for values, how in ((left, self.combine.left), (right, self.combine.right))
        )
        parts = [[compare(a, b) for b in rights] for a in lefts]
        if len(lefts) == len(rights) == 1:
            return parts[0][0]
        outer = "max" if self.combine.left == "highest" else "min"
        return Extreme(parts, outer, "min" if self.combine.right == "highest" else "max")

    def no_evidence(self, case: Case, rule: Rule) -> str:
        """Return the reason for no evidence: identical sides or repetitions, or no side better than random arms."""
        left, right = self.values(case)
        if all(np.array_equal(a, b) for a in left.T for b in right.T):
            return IDENTICAL
        all_equal = all((side == side[0]).all() for side in (left, right))
        if len(left) > 1 and all_equal and self._has_equal_repetitions(case):
            return f"all {len(left)} repetitions {ONE_WORLD}"
        is_regret = self.column == REGRET and len(left) >= MIN_REPETITIONS
        if is_regret and all(is_random(case.results, key, rule) for key in self.experiments(case)):
            return "neither side is better than random arms"
        return ""

    def _has_equal_repetitions(self, case: Case) -> bool:
        """Return whether all repetitions have the same numbers in every column."""
        for rows in map(case.results.rows, self.experiments(case)):
            columns = [name for name in rows if name != "repetition" and not is_measured(str(name))]
            if (rows[columns].nunique(dropna=False) > 1).any():
                return False
        return True

    def _check_balance(self, case: Case) -> None:
        free = [i for i, axis in enumerate(case.results.axes) if axis not in (*self.per, *self.left, *self.right)]
        left, right = (Counter(tuple(key[i] for i in free) for key in side) for side in case.sides.values())
        if set(left) != set(right) or any(len(set(count.values())) > 1 for count in (left, right)):
            raise Unmeasured("left and right differ in the runs they have along the other axes: no fair average")


def is_random(results: Results, key: Labels, rule: Rule) -> bool:
    """Return whether regret exceeds that of random arms, or is near it and cannot be distinguished from it."""
    rows = results.rows(key)
    if RANDOM_REGRET not in rows.columns:
        return False
    own, of_random = (rows[column].to_numpy(dtype=np.float64) for column in (REGRET, RANDOM_REGRET))
    both = np.isfinite(own) & np.isfinite(of_random)
    if np.count_nonzero(both) < 2:
        return False
    share = RatioOfMeans(own[both], of_random[both]).interval(ERROR / 2.0, rule)
    return share.high >= 1.0 and share.estimate >= 1.0 - MARGIN


class PairedDifference(TwoSided):
    """The mean of left minus right, paired by repetition.

    ``less`` and ``greater`` expect a difference below and above 0. ``at_most`` and ``at_least``, "no worse", also hold
    for a difference of exactly 0. With a ``margin``, the estimate is the difference as a share of right's mean, and
    these two are tests of non-inferiority: ``at_most`` holds if the interval ends at or below +margin and fails if the
    interval lies above +margin, and ``at_least`` is the reverse. ``similar``, a test of equivalence, holds for a tie
    within the margin and fails if the 95 % interval lies outside the margin on one side. Without a margin, ``tie`` is
    the negligible share of right's mean; with 0 there are no ties.
    """

    is_difference = True

    kind: Literal["paired_difference"]
    expect: Literal["less", "greater", "at_most", "at_least", "similar"]
    margin: float | None = Field(default=None, gt=0)
    tie: Tie = MARGIN

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
        right = self.names("\n").partition("\n")[2]
        share = f", as a share of {right}'s mean" if self.margin is not None else ""
        return f"mean paired difference of final {self.column}, {self.names(' - ')}{share}"

    def compared_with(self) -> float:
        """Return 0 or, for ``at_most`` and ``at_least``, the margin, which is a share of right's mean."""
        margin = self.margin or 0.0
        return {"at_most": margin, "at_least": -margin}.get(self.expect, 0.0)

    def question(self, case: Case) -> Question:
        left, right = self.values(case)
        difference, relative = self.compared(left, right, _difference), self.compared(left, right, _share)
        below, above = rare_room(left, right, *(self._rare(case.results, key) for key in self.SIDES))
        if below or above:
            base = float(np.abs(right.mean())) or math.inf  # with a mean of 0 the share is undefined anyway
            difference, relative = Unseen(difference, below, above), Unseen(relative, below / base, above / base)
            case.notes.append("a few repetitions are far off: the interval has room for more of them")
        if self.margin is None:
            return Question(difference, self.expect, relative=relative, margin=self.tie)
        if not np.isfinite(relative.estimate):
            raise Unmeasured("the mean of right is 0, so a share of it is undefined")
        if self.expect == "similar":
            return Question(relative, self.expect, margin=self.margin)
        return Question(relative, self.expect, self.compared_with())

    def _rare(self, results: Results, side: str) -> tuple[float, float]:
        """Return the rare deviations of one side's experiments, over all cases of the claim."""

        def find() -> tuple[float, float]:
            keys = (key for labels in self.cases(results) for key in results.select({**labels, **getattr(self, side)}))
            return rare_deviations(results.column(key, self.column) for key in keys)

        found: tuple[float, float] = results.once((self.id, side), find)
        return found


def _difference(left: Array, right: Array) -> Quantity:
    return Mean(left - right)


def _share(left: Array, right: Array) -> Quantity:
    return RatioOfMeans(left - right, right if right.mean() > 0 else -right)


class RelativeDifference(CaseClaim):
    """The mean over tasks of left minus right, relative to the mean of a reference on the same task.

    The mean is taken over the labels of the last axis in ``over``, and then over the labels of the axis before, so that
    with ``over: [family, task]`` each family counts once. Only labels on which both sides are run count. Differences
    are paired by repetition; the reference's means are treated as known. If a side has several experiments on a task,
    such as all fixed configurations, the experiment with the lowest mean is used, which is known only afterwards.
    ``tie`` is the negligible share of right's mean.
    """

    SIDES: ClassVar[tuple[str, ...]] = ("left", "right", "reference")
    threshold: ClassVar[float] = 0.0
    is_difference = True

    kind: Literal["relative_difference"]
    left: Chosen
    right: Chosen
    reference: Chosen
    over: tuple[str, ...] = Field(min_length=1, max_length=2)
    expect: Literal["less", "greater"]
    tie: Tie = MARGIN

    def axes(self) -> dict[str, tuple[str, ...]]:
        return {"over": self.over, **super().axes()}

    def unit(self) -> str:
        left, right, reference = map(describe, self.selections().values())
        return f"mean paired difference of final {self.column} over that of {reference}, {left} - {right}"

    def experiments(self, case: Case) -> list[Labels]:
        return [key for sides in self._tasks(case).values() for side in sides for key in side]

    def question(self, case: Case) -> Question:
        left, right = self._means(case)
        return Question(_difference(left, right), self.expect, relative=_share(left, right), margin=self.tie)

    def no_evidence(self, case: Case, rule: Rule) -> str:
        """Return the reason for no evidence, which is that both sides are identical."""
        return IDENTICAL if np.array_equal(*self._means(case)) else ""

    def _tasks(self, case: Case) -> dict[tuple[str, ...], list[list[Labels]]]:
        """Return the experiments of all three sides by the labels of `over`."""
        tasks: dict[tuple[str, ...], list[list[Labels]]] = {}
        for number, keys in enumerate(case.sides.values()):
            for key in keys:
                labels = case.results.as_dict(key)
                tasks.setdefault(tuple(labels[axis] for axis in self.over), [[], [], []])[number].append(key)
        return {labels: sides for labels, sides in tasks.items() if all(sides)}

    def _means(self, case: Case) -> Array:
        tasks = self._tasks(case)
        if not tasks:
            raise Unmeasured("no such runs")
        values = iter(case.values(*(side for sides in tasks.values() for side in sides)))
        by_first: dict[str, list[Array]] = {}
        for labels, (left, right, reference) in zip(tasks, zip(values, values, values, strict=True), strict=True):
            if reference.shape[1] > 1:
                raise Unmeasured(f"several experiments are the reference on {', '.join(labels)}")
            base = float(reference.mean())
            if not base > 0:
                raise Unmeasured(f"the mean of the reference is not above 0 on {', '.join(labels)}")
            pair = np.stack([side[:, side.mean(axis=0).argmin()] / base for side in (left, right)])
            by_first.setdefault(labels[0] if len(labels) > 1 else "", []).append(pair)
        return np.asarray(np.mean([np.mean(pairs, axis=0) for pairs in by_first.values()], axis=0))
