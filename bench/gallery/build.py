"""Static and self-contained pages of the suite's results, made from the existing files."""

from collections.abc import Mapping
from typing import Any

from bench.audit.published import PublishedOverview, counted, published_text
from bench.gallery.docs import page_of, title_of
from bench.gallery.papers import FigurePage, PaperPage
from bench.gallery.render import SITE, pages_of, render
from bench.report.claims.tallies import added_up
from bench.report.folder import PAGE


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
    common: dict[str, Any] = {
        "papers": of_papers,
        "figures": figures,
        "totals": added_up(page.tallies for page in of_papers if page.is_counted),
    }
    comparisons = [figure for page in papers if page.is_own for figure in page.figures]
    pages[PAGE] = render("index", **common, comparisons=comparisons, docs=docs)
    pages["claims.html"] = render("claims", **common | {"papers": papers})  # including those of comparisons
    pages["readings.html"] = render("readings", readings=_readings(figures))
    pages["docs.html"] = render("docs", docs={name: title_of(text) for name, text in docs.items()})
    of_numbers = published_text(numbers) if numbers else "# Published numbers of all papers\n\nNo results yet.\n"
    for name, text in {**docs, "numbers": of_numbers}.items():
        pages[f"{name}.html"] = render("doc", title=title_of(text), text=page_of(text, docs))
    return pages


def _readings(figures: list[FigurePage]) -> list[dict[str, Any]]:
    """Return every reading of each paper once, with its figures."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for figure in figures:
        for reading in figure.figure.readings if figure.figure else ():
            row = {"paper": figure.paper, "reading": reading, "figures": []}
            rows.setdefault((figure.paper, reading.name, reading.text), row)["figures"].append(figure)
    return list(rows.values())
