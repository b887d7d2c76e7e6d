"""The common part of all kinds of claims: their keys, their cases, and the final values of a case."""

import itertools
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, get_args

import numpy as np
from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from bench.critical import Rule
from bench.errors import ConfigError
from bench.report.claims.judgement import NO_INTERVAL, OPEN, Conditions, Finding, Question, Unmeasured
from bench.report.figure_keys import Sourced
from bench.report.labels import Selection, canonical, describe, selection
from bench.report.results import Labels, Results
from bench.stats import Array


def _read_selection(raw: Any) -> Selection:
    if not isinstance(raw, Mapping):
        raise ValueError("expected axes with their labels, such as {method: TL}")
    return selection(raw)


Chosen = Annotated[Selection, BeforeValidator(_read_selection)]
"""A selection of experiments as written in YAML: axis -> label, list of labels, "*" (any) or null (none)."""


class Claim(Sourced):
    """A claim of a paper with its check; each kind of claim is a subclass.

    `id` is unique in its figure, `text` is the claim as text, `kind` the kind of check, and `expect` the claimed
    property of the estimate.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    id: str
    text: str
    kind: str
    expect: str

    @model_validator(mode="after")
    def _place_fits(self) -> "Claim":
        if bool(self.place) != (self.origin != "ours"):
            raise ValueError("origin: stated or theorem needs a place, and origin: ours takes none")
        return self

    is_difference: ClassVar[bool] = False
    """Whether the estimate is a difference, which pages show as a share of the right side."""

    @abstractmethod
    def unit(self) -> str:
        """Return the quantity that the estimate measures, as text."""

    def compared_with(self) -> float | None:
        """Return the number that the estimate is compared with, or None if this number depends on the results.

        By default the number is ``threshold``, a key of the kind or a constant of all its claims.
        """
        return getattr(self, "threshold", None)


def by_kind(*classes: type[Claim]) -> dict[str, type[Claim]]:
    """Return the kinds of claims by name, which is the only allowed value of the key ``kind``."""
    return {get_args(cls.model_fields["kind"].annotation)[0]: cls for cls in classes}


class CaseClaim(Claim):
    """A claim that is measured case by case.

    ``column`` is the compared final value, by default the figure's column. The labels on the axes ``per`` make the
    cases; without axes there is one case. ``only`` restricts the cases. If ``only_note`` gives a reason, the other
    cases are reported as no evidence.
    """

    SIDES: ClassVar[tuple[str, ...]] = ("measured",)
    """The keys with selections that must all have an experiment in a case."""

    column: str
    per: tuple[str, ...] = ()
    only: Chosen = Field(default_factory=dict)
    only_note: str = ""

    def selections(self) -> dict[str, Selection]:
        """Return by key the selections that must each have an experiment in a case."""
        return {key: getattr(self, key) for key in self.SIDES}

    def axes(self) -> dict[str, tuple[str, ...]]:
        """Return by key the axes that the claim names outside of selections."""
        return {"per": self.per}

    @abstractmethod
    def question(self, case: "Case") -> Question:
        """Return the question about ``case``. Raises `Unmeasured` if results are missing."""

    def no_evidence(self, case: "Case", rule: Rule) -> str:
        """Return the reason why a case is no evidence; empty if it is evidence."""
        return ""

    def experiments(self, case: "Case") -> list[Labels]:
        return [key for keys in case.sides.values() for key in keys]

    def validate_axes(self, results: Results, where: str) -> None:
        """Check the claim's axes and labels against those of the figure.

        Raises ConfigError with ``where``, the key, and the valid axes or labels.
        """
        for key, axes in self.axes().items():
            for axis in axes:
                results.check_axis(axis, f"{where}, key '{key}'")
        results.check(self.only, f"{where}, key 'only'")
        for axis in self.only:
            if axis not in self.per:
                per = ", ".join(self.per) or "empty"
                raise ConfigError(f"{where}, key 'only': axis '{axis}' is not in 'per', which is: {per}")
        selections = self.selections()
        for key, chosen in selections.items():
            results.check(chosen, f"{where}, key '{key}'")
            twice = sorted(set(chosen) & set(self.per))
            if twice:
                raise ConfigError(f"{where}, key '{key}': axis '{twice[0]}' is also in 'per', use it in one of the two")
        if "left" in selections and selections["left"] == selections["right"]:
            raise ConfigError(f"{where}: 'left' and 'right' select the same runs: {describe(selections['left'])}")
        if results.is_declared and not self.cases(results):
            raise ConfigError(f"{where}: no case has runs for all of {', '.join(selections)}; check 'per'")

    def cases(self, results: Results) -> list[Selection]:
        """Return the cases as selections that fix the axes in `per`."""
        cases = results.groups(self.per, self.selections().values())
        return [case for case in cases if self.only_note or _is_among(case, self.only)]

    def findings(self, results: Results, setting: Conditions) -> list[Finding]:
        """Return one finding per case; missing results make a case open."""
        cases = [Case(self, results, labels) for labels in self.cases(results)]
        nothing = Finding("all", NO_INTERVAL, self.unit(), OPEN, note="there are no results yet")
        return [self.finding(case, setting) for case in cases] or [nothing]

    def finding(self, case: "Case", setting: Conditions) -> Finding:
        reason = "" if _is_among(case.labels, self.only) else self.only_note
        if not reason and not self._is_genuine(case, setting):
            reason = setting.no_evidence
        try:
            finding = self.question(case).answer(case.name, self.unit(), setting, case.notes)
            reason = reason or self.no_evidence(case, setting.rule)
        except Unmeasured as missing:
            return Finding(case.name, NO_INTERVAL, self.unit(), OPEN, note=str(missing))
        return finding.as_no_evidence(reason) if reason else finding

    def _is_genuine(self, case: "Case", setting: Conditions) -> bool:
        needed = [case.results.as_dict(key) for key in self.experiments(case)] if setting.genuine else []
        genuine = [{axis: canonical(value) for axis, value in labels.items()} for labels in setting.genuine]
        return bool(needed) and all(any(known.items() <= labels.items() for known in genuine) for labels in needed)


class Case:
    """A case of a claim, with the experiments of each selection and notes on missing results."""

    def __init__(self, claim: CaseClaim, results: Results, labels: Selection) -> None:
        self.results, self.labels, self.name = results, labels, describe(labels) if labels else "all"
        self.sides = {key: self.results.select({**labels, **chosen}) for key, chosen in claim.selections().items()}
        self.notes: list[str] = []
        self._column, self._where = claim.column, f"figure '{self.results.name}', claim '{claim.id}'"

    def error(self, message: str) -> ConfigError:
        return ConfigError(f"{self._where}: {message}")

    def only(self, keys: Sequence[Labels], expected: str = "one") -> Labels:
        """Return the only experiment that ``measured`` selects. Raises an error if there are several."""
        if not keys:
            raise Unmeasured("no such runs")
        if len(keys) > 1:
            raise self.error(
                f"'measured' selects {len(keys)} experiments in case '{self.name}', expected {expected}; "
                "name more axes in 'measured' or 'per'"
            )
        return keys[0]

    def values(self, *sides: Sequence[Labels], column: str = "") -> list[Array]:
        """Return the final values as an array (n, experiments) per side, with the same repetitions of all experiments.

        The number of repetitions that are left out because an experiment lacks them is added to the notes. Raises
        `Unmeasured` if a side is empty, an experiment has no results, or no repetition is complete.
        """
        column = column or self._column
        for side in sides:
            if not side:
                raise Unmeasured("no such runs")
            for key in side:
                rows = self.results.rows(key)
                if rows.empty:
                    raise Unmeasured(f"no results of {self.results.text(key)}")
                if column not in rows.columns:
                    raise Unmeasured(f"the results have no column '{column}'")
                if not len(self.results.column(key, column)):
                    raise Unmeasured(f"column '{column}' of {self.results.text(key)} is empty")
        matched = self.results.matched(itertools.chain(*sides), column)
        if not (n := len(next(iter(matched.values())))):
            raise Unmeasured("the runs have no repetition in common")
        if any(n < len(self.results.column(key, column)) for key in matched):
            every = {number for key in matched for number in self.results.ends(key, column)[0].tolist()}
            note = f"{n} of {len(every)} repetitions are in all runs"
            self.notes += [note] * (note not in self.notes)
        return [np.column_stack([matched[key] for key in side]) for side in sides]


def _is_among(case: Selection, chosen: Selection) -> bool:
    return all(case[axis][0] in labels for axis, labels in chosen.items())
