"""Claims that regret lies under its bound: a formula, or that of the candidates plus the price of tuning."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import Field, model_validator

from bench.errors import ConfigError
from bench.report.claims.base import CaseClaim, Chosen, case_text, final_values
from bench.report.claims.finding import Finding, Unmeasured
from bench.report.claims.judgement import directed
from bench.report.experiments import Experiments, Key
from bench.report.labels import Selection, describe
from bench.report.regret_bounds import regret_bound
from bench.stats import Interval, bootstrap

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """The two sides of a bound, measured.

    Parameters
    ----------
    experiment
        The labels of the measured experiment.
    measured
        Its mean final value.
    best
        The lowest mean final value among the candidates, the minimum taken anew in each resample; None without.
    bound
        `best` plus the constant, or the constant alone.
    ratio
        `measured` divided by `bound`, resampled together.
    constant
        The price of tuning, or what the formula says.
    note
        Empty, or how many repetitions were left out.
    """

    experiment: dict[str, str]
    measured: Interval
    best: Interval | None
    bound: Interval
    ratio: Interval
    constant: float
    note: str


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
    expect
        ``less``: holds if the interval of the ratio ends below 1.
    """

    kind: Literal["bound"]
    expect: Literal["less"] = "less"
    measured: Chosen
    formula: dict[str, Any] = Field(default_factory=dict)
    over: Chosen = Field(default_factory=dict)
    candidates: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "Bound":
        if bool(self.formula) == bool(self.over) or bool(self.over) != bool(self.candidates):
            raise ValueError("expected either 'formula', or both 'over' and 'candidates'")
        if self.formula:
            try:
                regret_bound(self.formula, [1])
            except ConfigError as error:
                raise ValueError(str(error)) from None
        return self

    def selections(self) -> dict[str, Selection]:
        """Return the tuner's and the candidates' runs."""
        return {"measured": self.measured, **({} if self.formula else {"over": self.over})}

    def unit(self) -> str:
        """Return what is divided by what."""
        return f"ratio of mean final {self.column} of {describe(self.measured)} to its bound"

    def measure(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> Finding:
        """Return the finding for one case."""
        sides = self.sides(data, case)
        return directed(case_text(case), sides.ratio, self.unit(), self.expect, 1.0, sides.note)

    def sides(self, data: Experiments, case: Selection) -> Measured:
        """Return both sides of the bound for one case, as claims and figures show them.

        Raises
        ------
        ConfigError
            If `measured` selects several experiments.
        Unmeasured
            If results are missing, or the runs differ in length.
        """
        tuner = data.select({**case, **self.measured})
        if len(tuner) > 1:
            raise ConfigError(
                f"figure '{data.name}', claim '{self.id}': 'measured' selects {len(tuner)} experiments in case "
                f"'{case_text(case)}', expected one; name more axes in 'measured' or 'per'"
            )
        if self.formula:
            return self._against_formula(data, tuner)
        runs, candidates = data.select({**case, **self.over}), self.candidates or ()
        if len(runs) != math.prod(candidates):
            raise Unmeasured(f"'over' selects {len(runs)} runs, the candidates make {math.prod(candidates)}")
        (left, right), note = final_values(data, self.column, tuner, runs)
        constant = tuning_cost(candidates, _horizon(data, [*tuner, *runs]))

        def best(candidates: Array) -> Array:
            return np.asarray(candidates.mean(axis=1).min(axis=1))

        def bound(candidates: Array) -> Array:
            return best(candidates) + constant

        def ratio(own: Array, candidates: Array) -> Array:
            return np.asarray(own.mean(axis=(1, 2)) / bound(candidates))

        parts = bootstrap(_mean, left), bootstrap(best, right), bootstrap(bound, right), bootstrap(ratio, left, right)
        return Measured(data.as_dict(tuner[0]), *parts, constant, note)

    def _against_formula(self, data: Experiments, tuner: list[Key]) -> Measured:
        (own,), note = final_values(data, self.column, tuner)
        limit = float(regret_bound(self.formula, [_horizon(data, tuner)])[-1])
        mean = bootstrap(_mean, own)
        ratio = bootstrap(lambda sample: _mean(sample) / limit, own)
        return Measured(data.as_dict(tuner[0]), mean, None, Interval(limit, limit, limit, mean.n), ratio, limit, note)


def _mean(own: Array) -> Array:
    return np.asarray(own.mean(axis=(1, 2)))


def tuning_cost(candidates: tuple[int, ...], horizon: int) -> float:
    """Return sum_l 2 sqrt((e-1) n_l T ln n_l), the regret that tuning may add (Theorems 1 and 2)."""
    return sum(2.0 * math.sqrt((math.e - 1.0) * n * horizon * math.log(n)) for n in candidates)


def _horizon(data: Experiments, keys: list[Key]) -> int:
    rounds = sorted({int(length) for key in keys for length in data.rows(key)["rounds"]})
    if len(rounds) != 1:
        raise Unmeasured(f"the runs differ in length, from {rounds[0]} to {rounds[-1]} rounds: the bound needs one T")
    return rounds[0]
