"""Pages of all results: static, nothing loaded from elsewhere, made from the files that there are."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import starmap
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from bench.report.claims import ORIGIN_WORDS, VERDICTS, added_up
from bench.report.claims.judgement import in_words
from bench.report.claims.origin import DECIDED, tally_of
from bench.report.gallery.beside import groups, place
from bench.report.gallery.docs import page_of, title_of
from bench.report.gallery.numbers import counted, view
from bench.report.gallery.papers import Figure, PaperPage
from bench.report.published import Published
from bench.report.published_text import reached
from bench.report.stored import DATA, PAGE, PARTS
from bench.report.text import duration, interval, number

MARKS = {"holds": "✓", "fails": "✗", "tie": "=", "open": "○", "says_nothing": "·"}
"""A symbol for each verdict: colour alone does not reach every reader."""

WORKED = {"right": "holds", "slip": "fails", "inherited": "open"}
"""Verdicts on a paper's own computations, in the signs of claims."""

SOURCES = {"stated": "●", "code": "◐", "assumed": "○", "scale": "◇"}
"""A symbol for each source of a setting."""

SOURCES_IN_WORDS = {
    "stated": "the paper says so",
    "code": "its authors' code does so",
    "assumed": "neither says, the choice is ours",
    "scale": "less than the paper's size, or as the command says",
}


def build(
    papers: list[PaperPage],
    numbers: Published | None = None,
    docs: Mapping[str, str] | None = None,
    each: Callable[..., Iterable[tuple[str, str]]] = starmap,
) -> dict[str, str]:
    """Return the pages of the gallery by their path in the folder of results.

    Those of a figure that were made of what there is now are left out.

    Parameters
    ----------
    papers
        What there is, as `read` returns it.
    numbers
        All published numbers, as `bench.report.published.published_overview` returns them.
    docs
        Texts of the documentation, in Markdown, by their names.
    each
        What calls a function for each figure, in any order, by default one after another here.
    """
    outdated = [(page, figure) for page in papers for figure in page.made if not figure.is_fresh]
    pages = dict(each(figure_page, outdated))
    of_papers = [page for page in papers if not page.is_own]
    figures = [figure for page in of_papers for figure in page.figures]
    firsts = [figure.first for figure in figures if figure.first]
    published = [] if numbers is None else _with_addresses(numbers.numbers, figures)
    readings = _readings(figures)
    docs = docs or {}
    common = {
        "papers": of_papers,
        "figures": figures,
        "totals": added_up(page.tallies for page in of_papers if page.is_counted),
    }
    pages["index.html"] = render(
        "index",
        **common,
        choices={part: sorted({name for first in firsts for name in first.choices[part]}) for part in PARTS},
        ranks=_ranks(of_papers),
        comparisons=[figure for page in papers if page.is_own for figure in page.figures],
        numbers=published,
        readings=readings,
        published={page.name: counted(numbers, page.name) if numbers else {} for page in of_papers},
        reached={page.name: reached(numbers, page.name) if numbers else [] for page in of_papers},
        docs={name: title_of(text) for name, text in docs.items()},
    )
    pages["claims.html"] = render("claims", **common)
    if published:
        pages["numbers.html"] = render("numbers", numbers=published, papers=of_papers)
    if readings:
        pages["readings.html"] = render("readings", readings=readings)
    for name, text in docs.items():
        pages[f"{name}.html"] = render("doc", title=title_of(text), text=page_of(text, docs))
    for page in papers:
        pages[f"{page.name}/index.html"] = render("paper", paper=page, numbers=numbers and view(numbers, page.name))
    return pages


def figure_page(paper: PaperPage, figure: Figure) -> tuple[str, str]:
    """Return the path of a figure's page in the folder of results, and the page."""
    return f"{figure.folder}/{PAGE}", render("figure", paper=paper, figure=figure)


def render(template: str, **words: Any) -> str:
    """Return a page made of a template and what it shows."""
    return _environment().get_template(f"{template}.html.j2").render(words)


def _with_addresses(numbers: pd.DataFrame, figures: list[Figure]) -> list[dict[str, Any]]:
    """Return published numbers, each with the page of the figure that says most of it."""
    addresses = {figure.folder: figure.address for figure in figures if figure.results}
    shown_in = [addresses.get(name, "") for name in numbers["paper"] + "/" + numbers["figure"]]
    return numbers.assign(address=shown_in).to_dict("records")  # type: ignore[return-value]


def _readings(figures: list[Figure]) -> list[dict[str, Any]]:
    """Return every reading of each paper once, with the figures that have it."""
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for figure in figures:
        for reading in figure.config.get("readings", []):
            key = figure.paper, reading["name"], reading["text"]
            row = {"paper": figure.paper, **{name: reading[name] for name in ("name", "text", "source")}, "figures": []}
            rows.setdefault(key, row)["figures"].append(figure)
    return list(rows.values())


def _ranks(papers: list[PaperPage]) -> dict[str, Any] | None:
    """Return the mean ranks of a headline figure that has them, the best first; None without."""
    for figure in (page.shown for page in papers):
        table = figure.first.table("ranks") if figure and figure.first else pd.DataFrame()
        if figure and len(table) and {"method", "tasks", "n", "mean_rank", "ci_low", "ci_high"} <= set(table):
            table = table[table["mean_rank"].notna()]
            last = max(len(table), float(table["ci_high"].max()))
            rows = table.sort_values("mean_rank").to_dict("records")
            return {"figure": figure, "rows": rows, "last": last, "command": _beside_best(figure, rows)}
    return None


def _beside_best(figure: Figure, rows: list[dict[Any, Any]]) -> str:
    """Return the command that compares a user's tuner with the three that rank first; "" if it cannot be said."""
    methods: Mapping[str, Any] = figure.config.get("runs", [{}])[0].get("method", {})
    chosen = [methods.get(row["method"], []) for row in rows[:3]]
    if not all(len(words) == 1 and words[0].startswith("tuner=") for words in chosen):
        return ""
    tuners = ",".join(["my_module.MyTuner", *(words[0].removeprefix("tuner=") for words in chosen)])
    return f"python -m runners.compare tuner={tuners} env=synthetic_linear horizon=2000 repetitions=20 format=tex"


@cache
def _environment() -> Environment:
    """Return where the templates are."""
    environment = Environment(
        loader=PackageLoader("bench.report.gallery"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "MARKS": MARKS,
        "SOURCES": SOURCES,
        "SOURCES_IN_WORDS": SOURCES_IN_WORDS,
        "VERDICTS": VERDICTS,
        "WORDS": {"holds": "hold", "fails": "fail", "tie": "tie", "open": "open", "says_nothing": "no evidence"},
        "ALWAYS": ("holds", "fails", "open"),
        "DECIDED": DECIDED,
        "ORIGIN_WORDS": ORIGIN_WORDS,
        "tally_of": tally_of,
        "WORKED": WORKED,
        "DATA": DATA,
        "groups": groups,
        "interval": interval,
        "place": place,
    }
    environment.filters |= {"number": number, "duration": duration, "in_words": in_words}
    return environment
