"""Claims that regret lies under its bound: a formula, or that of the candidates plus the price of tuning."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import Field, model_validator

from bench.critical import Rule, fixed
from bench.errors import ConfigError
from bench.report.claims.base import CaseClaim, Chosen, case_text, final_values
from bench.report.claims.judgement import ERROR, Question, Unmeasured
from bench.report.claims.quantities import Extreme, Mean, Quantity, RatioOfMeans
from bench.report.experiments import Experiments, Key
from bench.report.labels import Selection, describe
from bench.report.regret_bounds import regret_bound
from bench.stats import Interval

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """The two sides of a bound: the mean of the experiment with these labels, the best candidate's, and the bound."""

    experiment: dict[str, str]
    measured: Interval
    best: Interval | None
    bound: Interval


class Bound(CaseClaim):
    """Measured regret against a formula, or min over candidates of theirs + sum_l 2 sqrt((e-1) n_l T ln n_l).

    The latter is the bound of Theorem 1 (one hyper-parameter) and Theorem 2 (several) of Ding et al., Syndicated
    Bandits. T is the number of rounds of the runs. The minimum of measured means lies on average below the minimum of
    the true means, so the check is slightly stricter than the theorem.

    Parameters
    ----------
    measured
        The tuner's runs: one experiment per case.
    formula
        A bound of `bench.report.regret_bounds`: its name and numbers, such as {name: exp3, n_arms: 5}.
    over
        The candidates' runs, one experiment per configuration: all n_1 x n_2 x ... of them, else the case is open.
    candidates
        The numbers of candidates n_l, one per hyper-parameter: [5] or [5, 3].
    against
        With a formula: runs of a tuner that does not learn. A bound that they satisfy, too, is no evidence.
    expect
        ``less``: holds if the interval of the ratio ends below 1.
    """

    kind: Literal["bound"]
    expect: Literal["less"] = "less"
    measured: Chosen
    formula: dict[str, Any] = Field(default_factory=dict)
    over: Chosen = Field(default_factory=dict)
    candidates: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)] | None = None
    against: Chosen = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_of_two(self) -> "Bound":
        if bool(self.formula) == bool(self.over) or bool(self.over) != bool(self.candidates):
            raise ValueError("expected either 'formula', or both 'over' and 'candidates'")
        if self.against and not self.formula:
            raise ValueError("'against' goes with 'formula'")
        if self.formula:
            try:
                regret_bound(self.formula, [1])
            except ConfigError as error:
                raise ValueError(str(error)) from None
        return self

    def selections(self) -> dict[str, Selection]:
        others = {"over": self.over, "against": self.against}
        return {"measured": self.measured, **{key: chosen for key, chosen in others.items() if chosen}}

    def unit(self) -> str:
        return f"ratio of mean final {self.column} of {describe(self.measured)} to its bound"

    def question(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> tuple[Question, str]:
        own, candidates, constant, note = self._values(data, case)
        return Question(_ratio(own, candidates, constant), self.unit(), self.expect, 1.0), note

    def silence(self, data: Experiments, case: Selection, rule: Rule) -> str:
        """Return why a case is no evidence: the bound is above any regret, or others that learn nothing satisfy it."""
        (tuner,) = data.select({**case, **self.measured})
        own, candidates, constant, _ = self._values(data, case)
        most = largest_regret(self.formula, _horizon(data, [tuner]))
        if constant >= most:
            return f"the bound, {constant:.4g} or more, is not below the largest regret possible, {most:.4g}"
        if self.against:
            (idle,), _ = final_values(data, self.column, data.select({**case, **self.against}))
            if len(idle) > 1 and _is_below(_ratio(idle.mean(axis=1), None, constant), rule):
                return f"{describe(self.against)} stays below the bound, too"
        rows = data.rows(tuner)
        if self.column != "regret" or "random_regret" not in rows.columns or len(own) < 2:
            return ""
        random = rows.set_index("repetition")["random_regret"].astype(float)
        if not np.isfinite(random).all() or len(random) != len(own):
            return ""
        theirs: Array = np.asarray(random.sort_index(), dtype=np.float64)
        ratio = _ratio(theirs, candidates, constant)
        return "random arms stay below the bound, too" if _is_below(ratio, rule) else ""

    def sides(self, data: Experiments, case: Selection) -> Measured:
        """Return both sides of the bound for one case, as figures show them.

        Raises
        ------
        ConfigError
            If `measured` selects several experiments.
        Unmeasured
            If results are missing, or the runs differ in length.
        """
        own, candidates, constant, _ = self._values(data, case)
        best = None if candidates is None else Extreme([[Mean(values) for values in candidates.T]], "min", "min")
        lowest = best.interval(ERROR / 2.0, fixed) if best else None
        limit = Interval(constant, constant, constant, len(own))
        if lowest:
            limit = Interval(lowest.estimate + constant, lowest.low + constant, lowest.high + constant, len(own))
        labels = data.as_dict(data.select({**case, **self.measured})[0])
        return Measured(labels, Mean(own).interval(ERROR / 2.0, fixed), lowest, limit)

    def _values(self, data: Experiments, case: Selection) -> tuple[Array, Array | None, float, str]:
        """Return the tuner's values (n,), the candidates' (n, candidates), the constant of the bound and a note."""
        tuner = data.select({**case, **self.measured})
        if len(tuner) > 1:
            raise ConfigError(
                f"figure '{data.name}', claim '{self.id}': 'measured' selects {len(tuner)} experiments in case "
                f"'{case_text(case)}', expected one; name more axes in 'measured' or 'per'"
            )
        if self.formula:
            (own,), note = final_values(data, self.column, tuner)
            return own[:, 0], None, float(regret_bound(self.formula, [_horizon(data, tuner)])[-1]), note
        runs, candidates = data.select({**case, **self.over}), self.candidates or ()
        if len(runs) != math.prod(candidates):
            raise Unmeasured(f"'over' selects {len(runs)} runs, the candidates make {math.prod(candidates)}")
        (own, theirs), note = final_values(data, self.column, tuner, runs)
        return own[:, 0], theirs, tuning_cost(candidates, _horizon(data, [*tuner, *runs])), note


def _ratio(own: Array, candidates: Array | None, constant: float) -> Quantity:
    """Return mean regret over the bound: that over the candidate with which it is largest, where there are any."""
    if candidates is None:
        return Mean(own / constant)
    return Extreme([[RatioOfMeans(own, values + constant) for values in candidates.T]], "max", "max")


def _is_below(ratio: Quantity, rule: Rule) -> bool:
    return ratio.ends(ERROR / 2.0, rule, ratio.n)[1] < 1.0


def largest_regret(formula: Mapping[str, Any], horizon: int) -> float:
    """Return the most regret there can be: the largest gap in every round, 1 where only the rewards' range is known."""
    gaps = formula.get("gaps") or [formula.get("gap", 1.0)]
    return horizon * float(max(gaps))


def tuning_cost(candidates: tuple[int, ...], horizon: int) -> float:
    """Return sum_l 2 sqrt((e-1) n_l T ln n_l), the regret that tuning may add (Theorems 1 and 2)."""
    return float(regret_bound({"name": "tuning", "candidates": list(candidates)}, [horizon])[-1])


def _horizon(data: Experiments, keys: list[Key]) -> int:
    rounds = sorted({int(length) for key in keys for length in data.rows(key)["rounds"]})
    if len(rounds) != 1:
        raise Unmeasured(f"the runs differ in length, from {rounds[0]} to {rounds[-1]} rounds: the bound needs one T")
    return rounds[0]
