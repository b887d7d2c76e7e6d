"""The rendering of templates, and all pages of a user's own results."""

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from platformdirs import user_cache_path

from bench.audit.headlines import RULE, TOTALS, counted, spelled
from bench.gallery.claims import needed_in_words, slug
from bench.gallery.docs import emphasised, linked, questions_of, words
from bench.gallery.papers import PaperPage
from bench.report.claims.judgement import VERDICTS
from bench.report.claims.tallies import ORIGIN_WORDS, tally_of
from bench.report.folder import PAGE
from bench.report.labels import anchor_of
from bench.report.typeset import in_unicode, listed

MARKS = {"holds": "✓", "fails": "✗", "tie": "=", "open": "○", "no evidence": "·"}
"""A symbol for each verdict: colour alone does not reach every reader."""

WORKED = {"right": "holds", "slip": "fails", "inherited": "open"}
"""Verdicts on a paper's own computations, in the signs of claims."""

SOURCES = {"stated": "●", "code": "◐", "assumed": "○", "scale": "◇"}
"""A symbol for each source of a setting."""

SOURCES_IN_WORDS = {
    "stated": "the paper says so",
    "code": "its authors' code does so",
    "assumed": "stated in neither, our choice",
    "scale": "a size other than the paper's, set by the scale or the command",
}


SITE = {
    "index.html": "Tuning by bandits",
    "claims.html": "Claims",
    "numbers.html": "Published numbers",
    "docs.html": "Documentation",
}
"""Pages that every page of the suite's own results links to."""
OWN = {PAGE: "Your results"}
"""Pages that every page of a user's results links to."""


def render(template: str, up: str = "", **words: Any) -> str:
    """Return a page from a template and its data; ``up`` is the path from the page to the folder of results."""
    return _environment().get_template(f"{template}.html.j2").render(up=up, **words)


def build_own(papers: list[PaperPage]) -> dict[str, str]:
    """Return the pages of a user's own folder of results: figures, comparisons, and their list."""
    return {PAGE: render("own", papers=papers, SITE=OWN)} | pages_of(papers, OWN)


def pages_of(
    papers: list[PaperPage], site: Mapping[str, str], only: Collection[str] | None = None, **about: Any
) -> dict[str, str]:
    """Return the page of each paper and of its figures with results, or only of the figures named in ``only``.

    All pages link to the pages ``site``. ``about`` is the text of a paper's page besides the figures.
    """
    pages = {}
    for paper in papers:
        words = {"docs": {}, "printed": {}} | about
        pages[f"{paper.name}/{PAGE}"] = render("paper", "../", paper=paper, SITE=site, **words)
        for figure in paper.made:
            if only is None or figure.name in only:
                pages[f"{figure.folder}/{PAGE}"] = render("figure", "../../", paper=paper, figure=figure, SITE=site)
    return pages


def _compiled_templates() -> FileSystemBytecodeCache | None:
    """Return the cache of compiled templates, which saves each command a third of a second."""
    folder = user_cache_path("bandit-tuning-bench") / "templates"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return FileSystemBytecodeCache(str(folder)) if os.access(folder, os.W_OK) else None


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bench.gallery"),
        bytecode_cache=_compiled_templates(),
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
        "WORDS": {"holds": "hold", "fails": "fail", "tie": "tie", "open": "open", "no evidence": "no evidence"},
        "ALWAYS": ("holds", "fails", "open"),
        "ORIGIN_WORDS": ORIGIN_WORDS,
        "tally_of": tally_of,
        "RULE": RULE,
        "TOTALS": TOTALS,
        "counted_headlines": counted,
        "spelled_headlines": spelled,
        "WORKED": WORKED,
        "SITE": SITE,
        "needed_in_words": needed_in_words,
    }
    environment.filters |= {
        "listed": listed,
        "slug": slug,
        "anchor": anchor_of,
        "linked": linked,
        "questions": questions_of,
        "words": words,
        "emphasised": emphasised,
        "in_unicode": in_unicode,
    }
    return environment
