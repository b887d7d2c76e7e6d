"""Counts of the cases of claims by verdict and origin, in which a case counts once and origins are never added."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from bench.report.claims.judgement import DOES_NOT_REMAIN, FAILS, HOLDS, OPEN, TIE, VERDICTS
from bench.report.figure import Figure
from bench.report.figure_keys import Origin

ORIGIN_WORDS: dict[Origin, str] = {"stated": "stated", "theorem": "from theorems", "ours": "ours"}
"""The origins of claims as text, in order."""
DECIDED = (HOLDS, FAILS, TIE)
_PLURALS = {HOLDS: "hold", FAILS: "fail", TIE: "ties"}
Tally = Counter[tuple[str, bool]]
"""The number of cases by verdict, and by whether it survives Holm's correction, as all do that need none."""


class ClaimSource(NamedTuple):
    """The origin of a claim, and whether its cases count in tallies.

    A case that several figures judge counts in the first figure; a count of cases (`is_count`) is not a case.
    """

    origin: Origin = "ours"
    place: str = ""
    is_counted: bool = True
    is_count: bool = False


def tally_of(cases: Iterable[Mapping[Any, Any]]) -> Tally:
    """Return the tally of ``cases``, which have `verdict` and `holm`."""
    return Counter((str(case["verdict"]), str(case["holm"]) != DOES_NOT_REMAIN) for case in cases)


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
    """Return the tallies of a figure's cases, which have `claim`, `verdict` and `holm`, by origin in order.

    With ``every``, cases that count in another figure are included, but counts of cases are not.
    """
    by_claim = sources(figure)
    by_origin: dict[str, list[Mapping[Any, Any]]] = {origin: [] for origin in ORIGIN_WORDS}
    for case in cases:
        source = by_claim.get(str(case["claim"]), ClaimSource())
        if source.is_counted or (every and not source.is_count):
            by_origin[source.origin].append(case)
    return {origin: tally_of(of_origin) for origin, of_origin in by_origin.items()}


def added_up(parts: Iterable[Mapping[str, Tally]]) -> dict[str, Tally]:
    several = list(parts)
    return {origin: sum((part[origin] for part in several), Tally()) for origin in ORIGIN_WORDS}


def spelled(tally: Tally) -> str:
    """Return the number of cases by verdict, such as ``3 hold (2 after Holm's correction), 1 fails, 0 open``.

    Ties and cases without evidence are named only if there are any. The number of verdicts that survive Holm's
    correction is omitted if all verdicts survive.
    """
    parts = []
    for verdict in VERDICTS:
        remain, lost = tally[verdict, True], tally[verdict, False]
        n = remain + lost
        text = f"{n} {verdict if n == 1 else _PLURALS.get(verdict, verdict)}"
        text += f" ({remain} after Holm's correction)" if lost else ""
        if n or verdict in (HOLDS, FAILS, OPEN):
            parts.append(text)
    return ", ".join(parts)


def spell_by_origin(parts: Mapping[str, Tally]) -> str:
    """Return the tallies as text, such as ``stated: 3 hold, 1 fails, 0 open; ours: ...``; empty tallies are omitted."""
    return "; ".join(f"{words}: {spelled(parts[origin])}" for origin, words in ORIGIN_WORDS.items() if parts[origin])
