"""Pages of the suite's results: static, self-contained, made from the existing files."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pandas as pd

from bench.audit.published import PublishedOverview
from bench.gallery.claims import slug, spot_of
from bench.gallery.docs import page_of, title_of
from bench.gallery.numbers import counted, ratio_of, view
from bench.gallery.papers import FigurePage, PaperPage
from bench.gallery.render import SITE, pages_of, render
from bench.gallery.result import PARTS
from bench.report.claims.tallies import added_up
from bench.report.folder import PAGE

_RANKS = {"method", "tasks", "n", "mean_rank", "ci_low", "ci_high"}


def build(
    papers: list[PaperPage],
    numbers: PublishedOverview | None = None,
    docs: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the pages of the gallery by their path in the folder of results.

    ``docs`` are texts in Markdown by name.
    """
    docs = docs or {}
    pages = dict[str, str]()
    for page in papers:
        printed = counted(numbers, page.name) if numbers else {}
        pages |= pages_of([page], SITE, printed=printed, docs=docs)
    of_papers = [page for page in papers if not page.is_own]
    figures = [figure for page in of_papers for figure in page.figures]
    firsts = [figure.first for figure in figures if figure.first]
    common: dict[str, Any] = {
        "papers": of_papers,
        "figures": figures,
        "totals": added_up(page.tallies for page in of_papers if page.is_counted),
    }
    comparisons = [figure for page in papers if page.is_own for figure in page.figures]
    pages[PAGE] = render("index", **common, ranks=_ranks(of_papers), comparisons=comparisons, docs=docs)
    choices = {part: sorted({name for first in firsts for name in first.choices[part]}) for part in PARTS}
    pages["figures.html"] = render("figures", **common, choices=choices)
    pages["claims.html"] = render("claims", **common | {"papers": papers})  # including those of comparisons
    pages["numbers.html"] = render(
        "numbers",
        papers=of_papers,
        numbers=[] if numbers is None else _with_addresses(numbers.numbers, figures),
        views={page.name: numbers and view(numbers, page.name, page.figures[0].looks) for page in of_papers},
        texts=defaultdict(str, {(row["paper"], row["name"]): row["text"] for row in _readings(figures)}),
    )
    pages["readings.html"] = render("readings", readings=_readings(figures))
    pages["docs.html"] = render("docs", docs={name: title_of(text) for name, text in docs.items()})
    for name, text in docs.items():
        pages[f"{name}.html"] = render("doc", title=title_of(text), text=page_of(text, docs))
    return pages


def _ranks(papers: list[PaperPage]) -> dict[str, Any] | None:
    """Return the mean ranks of the headline figure, the best first, as text and percent; None without ranks."""
    of_paper = {method: page.name for page in papers for method in page.headline.get("methods", ())}
    headline = {f"{page.name}/{page.headline.get('figure')}" for page in papers}
    for figure in (figure for page in papers for figure in page.made if figure.folder in headline):
        table = figure.results[0].table("ranks")
        if set(table) >= _RANKS and table["mean_rank"].notna().any():
            table = table[table["mean_rank"].notna()].sort_values("mean_rank")
            ends = ("mean_rank", "ci_low", "ci_high")
            places = 3 + 94 * (table[[*ends]].to_numpy() - 1) / (float(table["ci_high"].max()) - 1 or 1)
            rows = [
                row | {"paper": of_paper.get(row["method"], ""), "spot": spot_of(*place)}
                for row, place in zip(table.to_dict("records"), places.tolist(), strict=True)
            ]
            return {"figure": figure, "rows": rows, "worst": float(table["ci_high"].max())}
    return None


def _with_addresses(numbers: pd.DataFrame, figures: list[FigurePage]) -> list[dict[str, Any]]:
    """Return published numbers, each with the page of the most informative figure."""
    addresses = {figure.folder: figure.address for figure in figures if figure.results}
    shown_in = [addresses.get(name, "") for name in numbers["paper"] + "/" + numbers["figure"]]
    with_results_first = numbers.assign(address=shown_in).sort_values("ours", key=pd.isna, kind="stable")
    rows = with_results_first.to_dict("records")
    return [{str(key): value for key, value in (row | ratio_of(row)).items()} for row in rows]


def _readings(figures: list[FigurePage]) -> list[dict[str, Any]]:
    """Return every reading of each paper once, with its figures."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for figure in figures:
        for reading in figure.config.get("readings", []):
            key = figure.paper, reading["name"], reading["text"]
            row = {"paper": figure.paper, **{name: reading[name] for name in ("name", "text", "source")}, "figures": []}
            rows.setdefault(key, row)["figures"].append(figure)
    ids: set[str] = set()
    for row in rows.values():
        row["id"] = slug(f"{row['paper']}-{row['name']}")
        row["id"] = "" if row["id"] in ids else row["id"]
        ids.add(row["id"])
    return list(rows.values())
