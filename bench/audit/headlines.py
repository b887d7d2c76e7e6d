"""What a paper says in abstract, introduction and conclusion, and what the claims that it rests on came to."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from bench.errors import ConfigError
from bench.report.claims.check import complaint
from bench.report.claims.judgement import FAILS, HOLDS, NO_WORSE, OPEN, REMAINS, SAYS_NOTHING, TIE

Word = Literal["holds", "fails", "mixed", "open", "no evidence"]
MIXED, NO_EVIDENCE, NOT_RUN = "mixed", "no evidence", "not run"
Claims = Callable[[str], pd.DataFrame]
"""The rows of ``claims.csv`` of a figure of the paper; empty without results."""


def _several(raw: Any) -> Any:
    return [raw] if isinstance(raw, str) else raw


class Headline(BaseModel):
    """A claim of abstract, introduction or conclusion, in a few words; ``place`` is where.

    It rests on claims under names of its own: ``figure#claim``, or ``figure#claim@case`` for one case; or a list of
    them. ``verdict`` is what `judge` says of the reference results, ``finding`` a sentence whose numbers are filled in:
    ``{name.holds}`` and so on, see `Evidence`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    claim: str = Field(min_length=1)
    place: str = ""
    rests_on: dict[str, Annotated[list[str], BeforeValidator(_several), Field(min_length=1)]] = Field(min_length=1)
    verdict: Word
    finding: str = Field(min_length=1)

    @model_validator(mode="after")
    def _finding_can_be_filled(self) -> "Headline":
        try:
            self.finding.format_map(dict.fromkeys(self.rests_on, _NOTHING))
        except (AttributeError, KeyError, IndexError, ValueError) as error:
            raise ValueError(
                f"key 'finding': cannot be filled in ({error}), expected numbers such as {{{next(iter(self.rests_on))}"
                f".holds}}: a name of rests_on ({', '.join(self.rests_on)}) with one of {', '.join(Evidence._fields)}"
            ) from None
        return self


class Evidence(NamedTuple):
    """What is said of some cases; a verdict that does not remain after Holm's correction counts as open.

    ``holds``, ``fails``, ``ties`` and ``open`` add up to the ``cases`` that say anything; ``silent`` are no evidence;
    ``agree`` count for the claim: a tie does for "no more" and "no less". ``least`` and ``most`` are the lowest and the
    highest estimate, ``low`` and ``high`` the outer ends of their intervals; ``percent_least`` and ``percent_most`` are
    of the comparison as a share of the right side, without its sign; ``n_least`` and ``n_most`` of repetitions.
    """

    cases: int
    silent: int
    holds: int
    fails: int
    ties: int
    open: int
    agree: int
    least: float
    most: float
    low: float
    high: float
    percent_least: float
    percent_most: float
    n_least: int
    n_most: int


_NOTHING = Evidence._make([0] * 7 + [np.nan] * 6 + [0, 0])


class Judged(NamedTuple):
    """A headline with its verdict, and its sentence.

    The sentence is "" where the verdict is another than it was written for, or claims that it rests on were not run.
    """

    headline: Headline
    verdict: str
    sentence: str

    @property
    def figures(self) -> list[str]:
        """The figures that it rests on."""
        references = (reference for listed in self.headline.rests_on.values() for reference in listed)
        return list(dict.fromkeys(reference.partition("#")[0] for reference in references))


def read_headlines(paper: str, given: Sequence[Any]) -> list[Headline]:
    """Return headlines as a paper's file has them, checked; `ConfigError` names paper, number and key."""
    headlines = []
    for number, raw in enumerate(given, start=1):
        try:
            headlines.append(Headline.model_validate(raw))
        except ValidationError as error:
            raise ConfigError(complaint(f"paper '{paper}', headline {number}", Headline, error)) from None
    return headlines


def judged(headline: Headline, claims: Claims) -> Judged:
    """Return a headline's verdict and its sentence with the numbers of the claims that it rests on."""
    parts = {name: evidence(_cases(references, claims)) for name, references in headline.rests_on.items()}
    verdict = judge(list(parts.values()))
    filled = headline.finding.format_map(parts)
    is_shown = verdict == headline.verdict and all(part.cases or part.silent for part in parts.values())
    return Judged(headline, verdict, re.sub(r"(\d)%", r"\1 %", filled) if is_shown else "")


def judge(parts: Sequence[Evidence]) -> str:
    """Return the verdict on a headline, which says something in general.

    ``mixed`` if some cases hold and others fail; ``fails`` if cases fail and none holds, or more than half are ties
    where a difference is claimed; ``holds`` if no case fails and of every part that has evidence more than half hold;
    ``open`` otherwise; ``no evidence`` if no case says anything; ``not run`` without any case.
    """
    telling = [part for part in parts if part.cases]
    if not telling:
        return NO_EVIDENCE if any(part.silent for part in parts) else NOT_RUN
    if any(part.fails for part in telling):
        return MIXED if any(part.agree for part in telling) else FAILS
    if all(2 * part.agree > part.cases for part in telling):
        return HOLDS
    return FAILS if 2 * sum(part.ties for part in telling) > sum(part.cases for part in telling) else OPEN


def evidence(table: pd.DataFrame) -> Evidence:
    """Return what is said of some cases, rows of ``claims.csv``."""
    says = table[table["verdict"] != SAYS_NOTHING]
    remains = says["verdict"].where(says["holm"] == REMAINS, OPEN)
    holds, fails, ties, still = (int((remains == word).sum()) for word in (HOLDS, FAILS, TIE, OPEN))
    for_it = int(((remains == TIE) & says["expect"].isin(NO_WORSE)).sum())
    shown = says if len(says) else table
    ends = (*_ends(shown["estimate"]), float(shown["ci_low"].min()), float(shown["ci_high"].max()))
    percents = _ends(100.0 * shown["relative"].abs())
    repetitions = [int(n) if np.isfinite(n) else 0 for n in _ends(shown["n"])]
    counts = (len(says), len(table) - len(says), holds, fails, ties, still, holds + for_it)
    return Evidence(*counts, *ends, *percents, *repetitions)


def _ends(column: "pd.Series[float]") -> tuple[float, float]:
    return (float(column.min()), float(column.max())) if len(column) else (np.nan, np.nan)


def _cases(references: Sequence[str], claims: Claims) -> pd.DataFrame:
    parts = []
    for reference in references:
        figure, _, rest = reference.partition("#")
        claim, _, case = rest.partition("@")
        rows = claims(figure)
        rows = rows[(rows["claim"] == claim) & ((rows["case"] == case) | (not case))] if len(rows) else rows
        parts.append(rows)
    return pd.concat(parts, ignore_index=True).reindex(columns=list(_COLUMNS)).astype(_COLUMNS)


_COLUMNS: Mapping[str, Any] = {
    **dict.fromkeys(("claim", "case", "verdict", "holm", "expect"), object),
    **dict.fromkeys(("estimate", "ci_low", "ci_high", "relative", "n"), float),
}
