"""The overview of all papers: every claim with the number of its cases by verdict."""

from typing import Any

import pandas as pd

from bench.gallery.papers import PaperPage
from bench.report.claims.judgement import VERDICTS
from bench.report.claims.tallies import DECIDED, ORIGINS, Tally, added_up, tally_of
from bench.report.tables import to_markdown

_REMAIN = {verdict: f"{verdict}_holm" for verdict in DECIDED}
_COUNTS = (*VERDICTS, *_REMAIN.values())
_COLUMNS = ("paper", "figure", "scale", "data", "claim", "text", "origin", "place", "counted", *_COUNTS)
_TITLES = {"stated": "Stated by the papers", "theorem": "What theorems say", "ours": "Ours"}
_NOT_REAL = "surrogate|altered|packaged"


def overview(papers: list[PaperPage]) -> pd.DataFrame:
    """Return a row for each claim of each figure of the suite that has a reference result, at the largest scale.

    ``counted`` says whether its cases count in tallies; ``holds_holm`` and so on, the numbers of verdicts that survive
    Holm's correction within their figure, are "" for cases without a test of their own.
    """
    rows = []
    figures = [figure for paper in papers for figure in paper.figures if figure.is_counted]
    for figure, result in [(figure, result) for figure in figures if (result := figure.reference)]:
        for cases in result.grouped_claims():
            tally, first = tally_of(cases), cases[0]
            row: dict[str, Any] = {"paper": figure.paper, "figure": figure.name, "scale": result.scale}
            row |= {"data": ", ".join(result.data), "counted": "yes" if first["is_counted"] else "no"}
            row |= {key: first[key] for key in ("claim", "text", "origin", "place")}
            row |= {verdict: tally.cases[verdict] for verdict in VERDICTS}
            is_tested = any(case["holm"] for case in cases)
            for verdict, column in _REMAIN.items():
                row[column] = tally.remain[verdict] if is_tested or not tally.cases[verdict] else ""
            rows.append(row)
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def counted(table: pd.DataFrame) -> dict[str, Tally]:
    """Return the tallies of an overview's rows that count and rest on evidence."""
    tallies = added_up([])
    rows = table[(table["counted"] == "yes") & ~table["data"].astype(str).str.contains(_NOT_REAL)]
    for verdict, column in _REMAIN.items():
        rows = rows.assign(**{column: pd.to_numeric(rows[column], errors="coerce").fillna(rows[verdict])})
    for row in rows.to_dict("records"):
        tally = tallies[row["origin"]]
        tally.cases.update({verdict: int(row[verdict]) for verdict in VERDICTS})
        tally.remain.update({verdict: int(row[column]) for verdict, column in _REMAIN.items()})
    return tallies


def overview_text(table: pd.DataFrame) -> str:
    """Return the overview as Markdown: the counts of each paper by origin, then its claims."""
    notes = (
        "# Claims of all papers\n\n"
        "- A case is a claim in one panel of its figure; it holds or fails if its whole 95 % interval says so, is "
        "a tie if the difference is too small to matter, and otherwise open. A case that is no evidence is so for the "
        "reason on its figure's page\n"
        "- In brackets: how many of these verdicts remain after Holm's correction for all cases tested in their "
        "figure\n"
        "- What a paper states, what theorems say and what is ours are never added up. A case counts once: not "
        "again under other readings, in a figure that repeats another, or in a count of cases (in most of them ...). "
        "What was found on data generated in place of the real, or on a small packaged sample of it, does not count\n"
    )
    parts = [notes]
    for origin in ORIGINS:
        groups = table[table["origin"] == origin].groupby("paper", sort=False)
        rows = [_row({"paper": paper}, counted(claims)[origin]) for paper, claims in groups]
        if len(rows) > 1:
            rows.append(_row({"paper": "all"}, counted(table)[origin]))
        if rows:
            parts.append(to_markdown(pd.DataFrame(rows), _TITLES[origin]))
    for paper, claims in table.groupby("paper", sort=False):
        rows = [_claim(row) for row in claims.to_dict("records")]
        parts.append(to_markdown(pd.DataFrame(rows), str(paper)))
    return "\n".join(parts)


def _claim(row: dict[Any, Any]) -> dict[str, Any]:
    cells = {verdict: str(row[verdict]) for verdict in VERDICTS}
    for verdict, column in _REMAIN.items():
        if row[verdict] and row[column] != "":
            cells[verdict] += f" ({row[column]})"
    about = {key: row[key] for key in ("figure", "claim", "text", "data")}
    origin = ": ".join(filter(None, [row["origin"], row["place"]]))
    return {**about, "origin": origin, "counts": row["counted"], **cells}


def _row(first: dict[str, Any], tally: Tally) -> dict[str, Any]:
    """Return a row: counts by verdict, in brackets the number that survives Holm's correction."""
    cells = {verdict: str(tally.cases[verdict]) for verdict in VERDICTS}
    for verdict in _REMAIN:
        if tally.cases[verdict]:
            cells[verdict] += f" ({tally.remain[verdict]})"
    return {**first, **cells}
