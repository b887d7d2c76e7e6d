"""Counts of cases of claims by verdict and origin: never added across origins, each case once."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bench.report.claims.judgement import DOES_NOT_REMAIN, FAILS, HOLDS, TIE, spell
from bench.report.figure import Figure
from bench.report.figure_keys import Origin

ORIGINS: tuple[Origin, ...] = ("stated", "theorem", "ours")
ORIGIN_WORDS = {"stated": "stated", "theorem": "from theorems", "ours": "ours"}
DECIDED = (HOLDS, FAILS, TIE)


class ClaimSource(NamedTuple):
    """The origin of a claim, and whether its cases count in tallies.

    Cases that a figure judges again count in the first figure; a count of cases (`is_count`) is not a case.
    """

    origin: Origin = "ours"
    place: str = ""
    is_counted: bool = True
    is_count: bool = False


@dataclass
class Tally:
    """The number of cases by verdict, and the number of them that survives Holm's correction."""

    cases: Counter[str] = field(default_factory=Counter)
    remain: Counter[str] = field(default_factory=Counter)

    def add(self, verdict: str, holm: str) -> None:
        self.cases[verdict] += 1
        self.remain[verdict] += holm != DOES_NOT_REMAIN

    def update(self, other: "Tally") -> None:
        self.cases.update(other.cases)
        self.remain.update(other.remain)

    @property
    def is_empty(self) -> bool:
        return not self.cases.total()

    def __str__(self) -> str:
        return spell(self.cases, self.remain)


Tallies = Mapping[str, Tally]
"""A tally for each origin, in the order of `ORIGINS`."""


def tally_of(cases: Iterable[Mapping[Any, Any]]) -> Tally:
    """Return the tally of some cases with columns `verdict` and `holm`."""
    tally = Tally()
    for case in cases:
        tally.add(str(case["verdict"]), str(case["holm"]))
    return tally


def sources(figure: Figure | None) -> dict[str, ClaimSource]:
    """Return the origin of each claim of a figure, by its id."""
    by_claim = {}
    for claim in map(figure.with_source, figure.claims) if figure else ():
        is_count = claim["kind"] == "count"
        by_claim[str(claim["id"])] = ClaimSource(
            claim["origin"], claim["place"], not claim["repeats"] and not is_count, is_count
        )
    return by_claim


def tallies(figure: Figure | None, cases: Iterable[Mapping[Any, Any]], *, every: bool = False) -> dict[str, Tally]:
    """Return the tallies of a figure's cases, which have `claim`, `verdict` and `holm`.

    With ``every``, cases that count elsewhere are included, but no counts of cases.
    """
    by_claim, total = sources(figure), added_up([])
    for case in cases:
        source = by_claim.get(str(case["claim"]), ClaimSource())
        if source.is_counted or (every and not source.is_count):
            total[source.origin].add(str(case["verdict"]), str(case["holm"]))
    return total


def added_up(parts: Iterable[Tallies]) -> dict[str, Tally]:
    total = {str(origin): Tally() for origin in ORIGINS}
    for part in parts:
        for origin, tally in part.items():
            total[origin].update(tally)
    return total


def spell_by_origin(parts: Tallies) -> str:
    """Return tallies as text: ``stated: 3 hold, 1 fails, 0 open; ours: ...``, without empty ones."""
    return "; ".join(f"{ORIGIN_WORDS[origin]}: {tally}" for origin, tally in parts.items() if not tally.is_empty)
