"""What came out, over all papers: every claim with the number of its cases by verdict."""

from typing import Any

import pandas as pd

from bench.report.gallery.build import PaperPage
from bench.report.gallery.result import VERDICTS
from bench.report.tables import to_markdown

_COLUMNS = ("paper", "figure", "scale", "data", "claim", "text", *VERDICTS)


def overview(papers: list[PaperPage]) -> pd.DataFrame:
    """Return a row for each claim of each figure that has a reference result, the largest scale there is.

    Returns
    -------
    DataFrame
        ``paper``, ``figure``, ``scale``, ``data`` (real, synthetic, packaged, surrogate, computed), ``claim``,
        ``text``, and the number of cases by verdict.
    """
    rows = []
    for paper in papers:
        for figure in paper.figures:
            reference = next((result for result in figure.results if result.is_reference), None)
            if reference is None:
                continue
            for cases in reference.grouped_claims():
                found = [case["verdict"] for case in cases]
                rows.append(
                    {
                        "paper": paper.name,
                        "figure": figure.name,
                        "scale": reference.scale,
                        "data": ", ".join(reference.data),
                        "claim": cases[0]["claim"],
                        "text": cases[0]["text"],
                        **{verdict: found.count(verdict) for verdict in VERDICTS},
                    }
                )
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def overview_text(table: pd.DataFrame) -> str:
    """Return the overview as Markdown: the counts of each paper, then its claims."""
    without = table["data"].str.contains("surrogate|packaged")
    rows = [_sum(paper, claims) for paper, claims in table[~without].groupby("paper", sort=False)]
    rows += [_sum("all", table[~without]), _sum("apart: on surrogate or packaged data", table[without])]
    notes = [
        "A case is a claim in one panel of its figure; it holds or fails if its whole 95 % interval says so, else it "
        "is open. Each figure counts once, at the largest scale of its reference results",
        "What was found on data generated in place of the real data, or on a small packaged sample of it, allows no "
        "conclusion about the claim",
    ]
    parts = [to_markdown(pd.DataFrame(rows), "Claims of all papers", notes).removeprefix("#")]
    parts += [
        to_markdown(claims.drop(columns="paper"), str(paper)) for paper, claims in table.groupby("paper", sort=False)
    ]
    return "\n".join(parts)


def _sum(name: Any, claims: pd.DataFrame) -> dict[str, Any]:
    return {"paper": name, **{verdict: int(claims[verdict].sum()) for verdict in VERDICTS}}
