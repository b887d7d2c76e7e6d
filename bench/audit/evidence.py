"""Counts of verdicts on the cases that support a headline."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bench.report.claims.judgement import FAILS, HOLDS, NO_EVIDENCE, NO_WORSE, OPEN, REMAINS, TIE
from bench.report.reading import READING
from bench.report.typeset import sentence_list

Claims = Callable[[str], pd.DataFrame]
"""The rows of ``claims.csv``, or ``readings.csv``, of a figure of the paper; empty without results."""


class Evidence(NamedTuple):
    """Counts of verdicts on some cases; a verdict that does not survive Holm's correction counts as open.

    ``holds``, ``fails``, ``ties`` and ``open`` add up to ``cases``; ``no_evidence`` is not part of ``cases``. ``agree``
    counts the cases in favour of the claim, which include ties for "no more" and "no less". ``least`` and ``most`` are
    the lowest and the highest estimate, and ``low`` and ``high`` are the outer ends of the intervals. ``percent_least``
    and ``percent_most`` are the comparison as a share of the right side, without sign. ``n_least`` and ``n_most`` are
    numbers of repetitions. ``held_in`` and ``failed_in`` name cases, such as ``GLOC (simulation, MovieLens)``.
    """

    cases: int
    no_evidence: int
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
    held_in: str
    failed_in: str

    @property
    def counts(self) -> str:
        return f"{self.holds} / {self.fails} / {self.open + self.ties}"


NOTHING = Evidence._make([0] * 7 + [np.nan] * 6 + [0, 0, "", ""])


def evidence(table: pd.DataFrame) -> Evidence:
    """Return the counts of verdicts on some cases, rows of ``claims.csv``."""
    if not len(table):  # Skipping empty tables saves half a second over all headlines.
        return NOTHING
    says = table[table["verdict"] != NO_EVIDENCE]
    remains = says["verdict"].where(says["holm"] == REMAINS, OPEN)
    holds, fails, ties, still = (int((remains == word).sum()) for word in (HOLDS, FAILS, TIE, OPEN))
    for_it = int(((remains == TIE) & says["expect"].isin(NO_WORSE)).sum())
    shown = says if len(says) else table
    ends = (*_ends(shown["estimate"]), float(shown["ci_low"].min()), float(shown["ci_high"].max()))
    percents = _ends(100.0 * shown["relative"].abs())
    fewest, most = (int(n) if np.isfinite(n) else 0 for n in _ends(shown["n"]))
    counts = (len(says), len(table) - len(says), holds, fails, ties, still, holds + for_it)
    held_in, failed_in = (_named(says["case"][remains == word]) for word in (HOLDS, FAILS))
    return Evidence(*counts, *ends, *percents, fewest, most, held_in, failed_in)


def _named(cases: Iterable[str]) -> str:
    """Return cases as text, grouped by their first label, such as ``LinUCB and GLOC (simulation)``."""
    heads: dict[str, list[str]] = {}
    for head, _, rest in (case.partition(", ") for case in cases):
        heads.setdefault(head, []).extend([rest] if rest else [])
    return sentence_list(head + (f" ({', '.join(rests)})" if rests else "") for head, rests in heads.items())


def _ends(column: "pd.Series[float]") -> tuple[float, float]:
    return (float(column.min()), float(column.max())) if len(column) else (np.nan, np.nan)


def cases_of(
    references: Sequence[str], claims: Claims, readings: Claims | None = None, names: Sequence[str] = ()
) -> pd.DataFrame:
    """Return the rows of the claims in ``references``.

    With ``readings``, the rows are under the reading in ``names`` that the figure has, if it has such a reading.
    """
    parts = []
    for reference in references:
        figure, _, rest = reference.partition("#")
        claim, _, case = rest.partition("@")
        rows = first = _of(claims(figure), claim, case)
        others = _of(readings(figure), claim, case) if readings else pd.DataFrame()
        if len(others) and len(others := others[others[READING].isin(names)]) and len(first):
            rows = others.assign(expect=first["expect"].iloc[0])
        parts += [rows] if len(rows) else []
    if not parts:
        return pd.DataFrame()
    return pd.concat(parts, ignore_index=True).reindex(columns=list(_COLUMNS)).astype(_COLUMNS)


def _of(rows: pd.DataFrame, claim: str, case: str) -> pd.DataFrame:
    if not len(rows):
        return rows
    rows = rows[rows["claim"] == claim]
    return rows[rows["case"] == case] if case else rows


_COLUMNS: Mapping[str, Any] = {
    **dict.fromkeys(("claim", "case", "verdict", "holm", "expect"), object),
    **dict.fromkeys(("estimate", "ci_low", "ci_high", "relative", "n"), float),
}
