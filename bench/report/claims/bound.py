"""Claims that regret is below a bound, which is a formula or the candidates' regret plus the cost of tuning."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from bench.critical import Rule
from bench.errors import ConfigError
from bench.regret_bounds import regret_bound
from bench.report.claims.base import Case, CaseClaim, Chosen
from bench.report.claims.judgement import ERROR, Question, Unmeasured
from bench.report.claims.quantities import Extreme, Mean, Quantity, RatioOfMeans
from bench.report.labels import Selection, describe
from bench.report.results import RANDOM_REGRET, Labels
from bench.stats import Array


class Bound(CaseClaim):
    """A claim that regret is below a formula, or the best candidate's regret + sum_l 2 sqrt((e-1) n_l T ln n_l).

    The second bound is that of Theorem 1 (one hyper-parameter) and Theorem 2 (several) of Ding et al., Syndicated
    Bandits. T is the number of rounds of the runs. The minimum of measured means is on average below the minimum of the
    true means, so the check is slightly stricter than the theorem.

    ``measured`` are the tuner's runs, one experiment per case. ``formula`` has the name and the arguments of a formula
    in `bench.regret_bounds`, such as {name: exp3, n_arms: 5}. ``over`` are the runs of all n_1 x n_2 x ... candidates;
    if a run is missing, the case is open. ``candidates`` are the numbers n_l, such as [5] or [5, 3]. With a formula, a
    bound is no evidence if the runs ``against``, of a tuner that does not learn, also satisfy it. The claim holds if
    the ratio's interval ends below 1.
    """

    threshold: ClassVar[float] = 1.0

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

    def question(self, case: Case) -> Question:
        return Question(_ratio(*self._values(case)), self.expect, self.threshold)

    def no_evidence(self, case: Case, rule: Rule) -> str:
        """Return the reason for no evidence, which is that the bound exceeds any regret or holds without learning."""
        tuner = case.sides["measured"]
        regret, candidates, constant = self._values(case)
        most = largest_regret(self.formula, _horizon(case, tuner))
        if constant >= most:
            return f"the bound, {constant:.4g} or more, is not below the largest regret possible, {most:.4g}"
        if self.against:
            (idle,) = case.values(case.sides["against"])
            if len(idle) > 1 and _is_below(_ratio(idle.mean(axis=1), None, constant), rule):
                return f"{describe(self.against)} stays below the bound, too"
        rows = case.results.rows(tuner[0])
        if self.column != "regret" or RANDOM_REGRET not in rows.columns or len(regret) < 2:
            return ""
        random = rows.sort_values("repetition")[RANDOM_REGRET].to_numpy(dtype=np.float64)
        if not np.isfinite(random).all() or len(random) != len(regret):
            return ""
        is_below = _is_below(_ratio(random, candidates, constant), rule)
        return "random arms stay below the bound, too" if is_below else ""

    def _values(self, case: Case) -> tuple[Array, Array | None, float]:
        """Return the values of the tuner (n,) and of the candidates (n, candidates), and the constant of the bound."""
        tuner = [case.only(case.sides["measured"])]
        if self.formula:
            (regret,) = case.values(tuner)
            return regret[:, 0], None, float(regret_bound(self.formula, [_horizon(case, tuner)])[-1])
        runs, candidates = case.sides["over"], self.candidates or ()
        if len(runs) != math.prod(candidates):
            raise Unmeasured(f"'over' selects {len(runs)} runs, but the candidates make {math.prod(candidates)}")
        regret, theirs = case.values(tuner, runs)
        price = {"name": "tuning", "candidates": list(candidates)}
        return regret[:, 0], theirs, float(regret_bound(price, [_horizon(case, [*tuner, *runs])])[-1])


def _ratio(regret: Array, candidates: Array | None, constant: float) -> Quantity:
    """Return the mean regret divided by the bound, for the candidate with the largest ratio if there are candidates."""
    if candidates is None:
        return Mean(regret / constant)
    return Extreme([[RatioOfMeans(regret, values + constant) for values in candidates.T]], "max", "max")


def _is_below(ratio: Quantity, rule: Rule) -> bool:
    return ratio.ends(ERROR / 2.0, rule, ratio.n)[1] < 1.0


def largest_regret(formula: Mapping[str, Any], horizon: int) -> float:
    """Return the largest possible regret, which is the largest gap times the number of rounds.

    The gap is 1 if only the range of the rewards is known.
    """
    return horizon * float(max(formula.get("gaps") or [formula.get("gap", 1.0)]))


def _horizon(case: Case, keys: Sequence[Labels]) -> int:
    rounds = sorted({int(length) for key in keys for length in case.results.rows(key)["rounds"]})
    if len(rounds) != 1:
        raise Unmeasured(f"the runs differ in length, from {rounds[0]} to {rounds[-1]} rounds: the bound needs one T")
    return rounds[0]
