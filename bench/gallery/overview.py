"""The overview of all papers, with every claim and the number of its cases by verdict."""

from typing import Any

import pandas as pd

from bench.gallery.papers import PaperPage
from bench.report.claims.judgement import VERDICTS
from bench.report.claims.tallies import DECIDED, tally_of

_REMAIN = {verdict: f"{verdict}_holm" for verdict in DECIDED}
_COUNTS = (*VERDICTS, *_REMAIN.values())
_COLUMNS = ("paper", "figure", "scale", "data", "claim", "text", "origin", "place", "counted", *_COUNTS)


def overview(papers: list[PaperPage]) -> pd.DataFrame:
    """Return a row for each claim of each figure of the suite that has a reference result, at the largest scale.

    ``counted`` states whether the claim's cases count in tallies. ``holds_holm`` and so on are the numbers of verdicts
    that survive Holm's correction within their figure, and are "" for cases without their own test.
    """
    rows = []
    figures = [figure for paper in papers for figure in paper.figures if figure.is_counted]
    for figure, result in [(figure, result) for figure in figures if (result := figure.reference)]:
        for claim in result.claims:
            tally, first = tally_of(claim.every), claim.first
            row: dict[str, Any] = {"paper": figure.paper, "figure": figure.name, "scale": result.scale}
            row |= {"data": ", ".join(result.data), "counted": "yes" if first["is_counted"] else "no"}
            row |= {key: first[key] for key in ("claim", "text", "origin", "place")}
            counts = {verdict: tally[verdict, True] + tally[verdict, False] for verdict in VERDICTS}
            is_tested = any(case["holm"] for case in claim.every)
            remain = {
                column: tally[verdict, True] if is_tested or not counts[verdict] else ""
                for verdict, column in _REMAIN.items()
            }
            rows.append(row | counts | remain)
    return pd.DataFrame(rows, columns=list(_COLUMNS))
