"""What came out, over all papers: every claim with the number of its cases by verdict."""

from typing import Any

import pandas as pd

from bench.report.claims import VERDICTS, after_holm
from bench.report.gallery.papers import PaperPage
from bench.report.tables import to_markdown

_HOLM = ("decided", "holm")
_COUNTS = (*VERDICTS, *_HOLM)
_COLUMNS = ("paper", "figure", "scale", "data", "claim", "text", *_COUNTS)


def overview(papers: list[PaperPage]) -> pd.DataFrame:
    """Return a row for each claim of each figure of the suite that has a reference result, the largest scale there is.

    Returns
    -------
    DataFrame
        ``paper``, ``figure``, ``scale``, ``data`` (real, synthetic, packaged, surrogate, altered, computed), ``claim``,
        ``text``, the number of cases by verdict, ``decided``: how many of them are the verdict of a test, and ``holm``:
        how many of those remain after Holm's correction within their figure.
    """
    rows = []
    for paper in papers:
        for figure in paper.figures:
            reference = next((result for result in figure.results if result.is_reference), None)
            if reference is None or not figure.is_counted:
                continue
            for cases in reference.grouped_claims():
                verdicts = [case["verdict"] for case in cases]
                rows.append(
                    {
                        "paper": paper.name,
                        "figure": figure.name,
                        "scale": reference.scale,
                        "data": ", ".join(reference.data),
                        "claim": cases[0]["claim"],
                        "text": cases[0]["text"],
                        **{verdict: verdicts.count(verdict) for verdict in VERDICTS},
                        **dict(zip(_HOLM, after_holm([case["holm"] for case in cases]), strict=True)),
                    }
                )
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def overview_text(table: pd.DataFrame) -> str:
    """Return the overview as Markdown: the counts of each paper, then its claims."""
    without = table["data"].str.contains("surrogate|altered|packaged")
    rows = [_sum(paper, claims) for paper, claims in table[~without].groupby("paper", sort=False)]
    rows += [_sum("all", table[~without]), _sum("apart: on surrogate or packaged data", table[without])]
    notes = [
        "A case is a claim in one panel of its figure; it holds or fails if its whole 95 % interval says so, is "
        "a tie if the difference is too small to matter, and else open. A case that says nothing, for the reason on "
        "its figure's page, is no evidence. Each figure counts once, at the largest scale of its reference results",
        "Decided are the cases with the verdict of a test of their own, which leaves out counts of other cases; after "
        "Holm: how many of these remain after Holm's correction for the number of cases tested in their figure",
        "What was found on data generated in place of the real data, or on a small packaged sample of it, is no "
        "evidence for or against the claim",
    ]
    parts = [to_markdown(_headed(pd.DataFrame(rows)), "Claims of all papers", notes).removeprefix("#")]
    parts += [
        to_markdown(_headed(claims.drop(columns="paper")), str(paper))
        for paper, claims in table.groupby("paper", sort=False)
    ]
    return "\n".join(parts)


def _sum(name: Any, claims: pd.DataFrame) -> dict[str, Any]:
    return {"paper": name, **{count: int(claims[count].sum()) for count in _COUNTS}}


def _headed(table: pd.DataFrame) -> pd.DataFrame:
    return table.rename(columns={"holm": "after Holm"})
