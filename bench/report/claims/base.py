"""What all kinds of claims share: their common keys, their cases and the reading of final values."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from bench.critical import Rule
from bench.errors import ConfigError
from bench.report.claims.judgement import NO_INTERVAL, OPEN, Finding, Question, Setting, Unmeasured, silenced
from bench.report.claims.origin import Sourced
from bench.report.experiments import Experiments, Key
from bench.report.labels import Selection, canonical, describe, selection


def _read_selection(raw: Any) -> Selection:
    if not isinstance(raw, Mapping):
        raise ValueError("expected axes with their labels, such as {method: TL}")
    return selection(raw)


Chosen = Annotated[Selection, BeforeValidator(_read_selection)]
"""A selection of experiments as written in YAML: axis -> label, list of labels, "*" (any) or null (none)."""


class Claim(Sourced):
    """A claim of a paper and how it is checked; each kind is a subclass.

    `id` is unique in its figure, `text` the claim in words, `kind` how it is checked, and `expect` what it says of the
    estimate.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    id: str
    text: str
    kind: str
    expect: str = ""

    @model_validator(mode="after")
    def _place_fits(self) -> "Claim":
        if bool(self.place) != (self.origin != "ours"):
            raise ValueError("a place goes with origin: stated or theorem, which need one")
        return self

    @abstractmethod
    def unit(self) -> str:
        """Return what the estimate is, in words."""


class CannotFeel(BaseModel):
    """Cases on which the setting that a claim is about has no effect, and a sentence that is reported with them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cases: Chosen
    why: str = Field(min_length=1)


class CaseClaim(Claim):
    """A claim that is measured case by case.

    Parameters
    ----------
    column
        The final value that is compared; default: the figure's column.
    per
        Axes whose labels make the cases; without any there is one case.
    only
        Labels on the axes in `per` that the claim is about; default: all.
    cannot_feel
        Cases on which the setting that is compared has no effect: they are no evidence.
    """

    column: str
    per: tuple[str, ...] = ()
    only: Chosen = Field(default_factory=dict)
    cannot_feel: CannotFeel | None = None

    @abstractmethod
    def selections(self) -> dict[str, Selection]:
        """Return the selections that must all have an experiment in a case, by the key that holds them."""

    @abstractmethod
    def question(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> tuple[Question, str]:
        """Return what is asked of one case, and a note.

        Raises
        ------
        Unmeasured
            If results are missing.
        """

    def silence(self, data: Experiments, case: Selection, rule: Rule) -> str:
        """Return why the results of a case are no evidence; empty if they are."""
        return ""

    def validate_axes(self, data: Experiments, where: str) -> None:
        """Check axes and labels against the figure's.

        Raises
        ------
        ConfigError
            Naming ``where`` (figure and claim), the key, and the valid axes or labels.
        """
        for axis in self.per:
            data.check_axis(axis, f"{where}, key 'per'")
        unfelt = self.cannot_feel.cases if self.cannot_feel else {}
        for key, chosen in {"only": self.only, "cannot_feel.cases": unfelt}.items():
            data.check(chosen, f"{where}, key '{key}'")
            for axis in chosen:
                if axis not in self.per:
                    per = ", ".join(self.per) or "empty"
                    raise ConfigError(f"{where}, key '{key}': axis '{axis}' is not in 'per', which is: {per}")
        for key, chosen in self.selections().items():
            data.check(chosen, f"{where}, key '{key}'")
            twice = sorted(set(chosen) & set(self.per))
            if twice:
                raise ConfigError(f"{where}, key '{key}': axis '{twice[0]}' is also in 'per', use it in one of the two")
        if data.is_declared and not self.cases(data):
            raise ConfigError(f"{where}: no case has runs for all of {', '.join(self.selections())}; check 'per'")

    def cases(self, data: Experiments) -> list[Selection]:
        """Return the cases as selections that fix the axes in `per`."""
        every = data.groups(self.per, self.selections().values())
        return [case for case in every if all(case[axis][0] in labels for axis, labels in self.only.items())]

    def experiments(self, data: Experiments, case: Selection) -> list[Key]:
        """Return the experiments that a case needs."""
        return [key for chosen in self.selections().values() for key in data.select({**case, **chosen})]

    def findings(self, data: Experiments, curves: pd.DataFrame, setting: Setting) -> list[Finding]:
        """Return one finding per case; missing results make a case open."""
        return [self.finding(data, curves, setting, case) for case in self.cases(data)] or [
            self._unmeasured("all", "there are no results yet")
        ]

    def finding(self, data: Experiments, curves: pd.DataFrame, setting: Setting, case: Selection) -> Finding:
        """Return the finding on one case."""
        name = case_text(case)
        silent = self._unfelt(case) or ("" if self._is_genuine(data, case, setting) else setting.silent)
        try:
            question, note = self.question(data, curves, case)
            found = question.answer(name, setting, note)
            silent = silent or self.silence(data, case, setting.rule)
        except Unmeasured as reason:
            return self._unmeasured(name, str(reason))
        return silenced(found, silent) if silent else found

    def _unfelt(self, case: Selection) -> str:
        unfelt = self.cannot_feel
        is_here = unfelt is not None and all(case[axis][0] in labels for axis, labels in unfelt.cases.items())
        return unfelt.why if unfelt is not None and is_here else ""

    def _is_genuine(self, data: Experiments, case: Selection, setting: Setting) -> bool:
        needed = [data.as_dict(key) for key in self.experiments(data, case)] if setting.genuine else []
        return bool(needed) and all(
            any(all(labels.get(axis) == canonical(value) for axis, value in one.items()) for one in setting.genuine)
            for labels in needed
        )

    def _unmeasured(self, case: str, reason: str) -> Finding:
        return Finding(case, NO_INTERVAL, self.unit(), OPEN, note=reason)


def case_text(case: Selection) -> str:
    """Return a case in words."""
    return describe(case) if case else "all"


def final_values(data: Experiments, column: str, *sides: Sequence[Key]) -> tuple[list[npt.NDArray[np.float64]], str]:
    """Return final values, repetitions matched across all experiments.

    Returns
    -------
    arrays
        One array (n, number of experiments) per side, the same n repetitions in all of them in the same order.
    note
        Empty, or how many repetitions were left out because not all experiments have them.

    Raises
    ------
    Unmeasured
        If a side is empty, an experiment has no results, or no repetition is complete.
    """
    found = {}
    for side in sides:
        if not side:
            raise Unmeasured("no such runs")
        for key in side:
            rows = data.rows(key)
            if rows.empty:
                raise Unmeasured(f"no results of {data.text(key)}")
            if column not in rows.columns:
                raise Unmeasured(f"the results have no column '{column}'")
            found[key] = data.values(key, column)
            if not len(found[key][0]):
                raise Unmeasured(f"column '{column}' of {data.text(key)} is empty")
    repetitions = [numbers for numbers, _ in found.values()]
    complete = reduce(np.intersect1d, repetitions)
    if not len(complete):
        raise Unmeasured("the runs have no repetition in common")
    every = len(np.unique(np.concatenate(repetitions)))
    note = "" if len(complete) == every else f"{len(complete)} of {every} repetitions are in all runs"
    matched = {key: values[np.searchsorted(numbers, complete)] for key, (numbers, values) in found.items()}
    return [np.column_stack([matched[key] for key in side]) for side in sides], note
