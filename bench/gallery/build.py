"""Pages of the suite's results: static, self-contained, made from the existing files."""

from collections.abc import Mapping
from typing import Any

from bench.audit.published import PublishedOverview, counted, published_text
from bench.gallery.claims import spot_of
from bench.gallery.docs import page_of, title_of
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
    says = (
        published_text(numbers) if numbers and len(numbers.numbers) else "# No published number stands beside ours yet"
    )
    pages["readings.html"] = render("readings", readings=_readings(figures))
    pages["docs.html"] = render("docs", docs={name: title_of(text) for name, text in docs.items()})
    for name, text in {**docs, "numbers": says}.items():
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


def _readings(figures: list[FigurePage]) -> list[dict[str, Any]]:
    """Return every reading of each paper once, with its figures."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for figure in figures:
        for reading in figure.config.get("readings", []):
            key = figure.paper, reading["name"], reading["text"]
            row = {"paper": figure.paper, **{name: reading[name] for name in ("name", "text", "source")}, "figures": []}
            rows.setdefault(key, row)["figures"].append(figure)
    return list(rows.values())
