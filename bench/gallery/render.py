"""From a template and what it shows to a page; a user's comparisons have all their pages made here."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from bench.gallery.claims import needed_in_words, slug
from bench.gallery.docs import emphasised, linked, words
from bench.gallery.papers import COMPARE, PaperPage
from bench.gallery.stored import PAGE
from bench.report.claims.judgement import VERDICTS
from bench.report.claims.tallies import DECIDED, ORIGIN_WORDS, tally_of
from bench.report.typeset import duration, in_unicode, interval, listed, number

MARKS = {"holds": "✓", "fails": "✗", "tie": "=", "open": "○", "no evidence": "·"}
"""A symbol for each verdict: colour alone does not reach every reader."""

WORKED = {"right": "holds", "slip": "fails", "inherited": "open"}
"""Verdicts on a paper's own computations, in the signs of claims."""

SOURCES = {"stated": "●", "code": "◐", "assumed": "○", "scale": "◇"}
"""A symbol for each source of a setting."""

SOURCES_IN_WORDS = {
    "stated": "the paper says so",
    "code": "its authors' code does so",
    "assumed": "neither says, the choice is ours",
    "scale": "another size than the paper's, as the scale or the command says",
}


SITE = {
    "index.html": "Tuning by bandits",
    "figures.html": "Figures",
    "claims.html": "Claims",
    "numbers.html": "Published numbers",
    "docs.html": "Documentation",
}
"""What every page leads to."""


def render(template: str, up: str = "", **words: Any) -> str:
    """Return a page made of a template and what it shows; ``up`` leads from it to the folder of results."""
    return _environment().get_template(f"{template}.html.j2").render(up=up, **words)


def build_comparisons(page: PaperPage, *, in_gallery: bool) -> dict[str, str]:
    """Return only the pages of a user's comparisons: those that have changed, and the one that lists them."""
    site = {} if in_gallery else {"SITE": {f"{COMPARE}/{PAGE}": page.title}}
    made = [figure for figure in page.made if not figure.is_fresh]
    pages = {
        f"{own.folder}/{PAGE}": render("figure", "../../", paper=page.around(own), figure=own, **site) for own in made
    }
    return pages | {f"{COMPARE}/{PAGE}": render("paper", "../", paper=page, printed={}, docs={}, **site)}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bench.gallery"),
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
        "DECIDED": DECIDED,
        "ORIGIN_WORDS": ORIGIN_WORDS,
        "tally_of": tally_of,
        "WORKED": WORKED,
        "interval": interval,
        "SITE": SITE,
        "needed_in_words": needed_in_words,
    }
    filters = {
        "number": number,
        "listed": listed,
        "duration": duration,
        "slug": slug,
        "linked": linked,
        "words": words,
        "emphasised": emphasised,
        "in_unicode": in_unicode,
    }
    environment.filters |= filters
    return environment
