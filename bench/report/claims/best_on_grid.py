"""Claims on the best value of a grid."""

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from bench.critical import fixed
from bench.report.claims.base import Case, CaseClaim, Chosen
from bench.report.claims.judgement import ERROR, Direction, Question, Unmeasured
from bench.report.claims.quantities import BestValue, Difference
from bench.report.labels import ANY, Selection, describe, is_number, selection
from bench.stats import Array, Interval


def _read_pair(raw: Any) -> Selection:
    chosen = selection(raw) if isinstance(raw, dict) else {}
    if len(chosen) != 1 or len(next(iter(chosen.values()))) != 2:
        raise ValueError("expected one axis with two labels, such as {panel: [A, B]}")
    return chosen


class BestOnGrid(CaseClaim):
    """A claim on the value of a numeric axis with the lowest (or highest) mean.

    The interval is the range of values that may be the best. On a tie of means the smallest value is used. ``measured``
    selects the runs, one experiment per case and axis value, by default all experiments with a value on the axis. With
    ``differs``, ``{axis: [A, B]}``, the estimate is the best value in A minus the best value in B. The claim then holds
    if the interval excludes 0, and fails if the interval is exactly [0, 0] (the same single value may be the best in
    both). Otherwise the best value is expected on one side of ``threshold``.
    """

    kind: Literal["best_on_grid"]
    axis: str
    measured: Chosen = Field(default_factory=dict)
    best: Literal["lowest", "highest"] = "lowest"
    differs: Annotated[Selection, BeforeValidator(_read_pair)] | None = None
    expect: Literal["differs"] | Direction
    threshold: float | None = None

    @model_validator(mode="before")
    @classmethod
    def _differs_by_default(cls, raw: Any) -> Any:
        return {"expect": "differs", **raw} if isinstance(raw, dict) and raw.get("differs") else raw

    @model_validator(mode="after")
    def _expectation_fits(self) -> "BestOnGrid":
        if (self.expect == "differs") != (self.differs is not None):
            raise ValueError("expected the key 'differs' together with expect: differs, or neither")
        if (self.expect == "differs") != (self.threshold is None):
            raise ValueError("a threshold goes with expect: less, greater, at_most or at_least")
        return self

    def selections(self) -> dict[str, Selection]:
        runs = {self.axis: (ANY,), **self.measured}
        pairs = [(axis, label) for axis, labels in (self.differs or {}).items() for label in labels]
        return {f"differs ({label})": {**runs, axis: (label,)} for axis, label in pairs} or {"measured": runs}

    def axes(self) -> dict[str, tuple[str, ...]]:
        return {"axis": (self.axis,), "differs": tuple(self.differs or ()), **super().axes()}

    def unit(self) -> str:
        value = f"{self.axis} with the {self.best} mean final {self.column}"
        if self.measured:
            value += f" of {describe(self.measured)}"
        if self.differs is None:
            return f"{value}, against {self.threshold:g}"
        ((axis, (a, b)),) = self.differs.items()
        return f"{value}, {describe({axis: (a,)})} - {describe({axis: (b,)})}"

    def compared_with(self) -> float:
        return self.threshold or 0.0

    def question(self, case: Case) -> Question:
        grids, sides = [], []
        for keys in case.sides.values():
            if not keys:
                raise Unmeasured("no such runs")
            by_label = {case.results.as_dict(key)[self.axis]: key for key in keys}
            if not all(map(is_number, by_label)):
                raise case.error(f"axis '{self.axis}' is not numeric")
            if len(by_label) < len(keys):
                raise case.error(
                    f"several experiments share one value of '{self.axis}' in case '{case.name}'; "
                    "name more axes in 'measured' or 'per'"
                )
            labels = sorted(by_label, key=float)
            grids.append(np.array([float(label) for label in labels]))
            sides.append([by_label[label] for label in labels])
        values = case.values(*sides)
        best = [BestValue(grid, columns, self.best) for grid, columns in zip(grids, values, strict=True)]
        if self.differs is not None:
            return Question(Difference(*best), "differs")
        return Question(best[0], self.expect, self.compared_with())


def best_value(grid: Array, values: Array, best: str = "lowest") -> Interval:
    """Return the best grid value and the range of values that may be the best (95 %).

    ``values`` has shape (repetitions, grid).
    """
    return BestValue(grid, values, best).interval(ERROR / 2.0, fixed)
