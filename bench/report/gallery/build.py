"""Pages of all results: static, nothing loaded from elsewhere, made from the files that there are."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from bench.report.claims import VERDICTS
from bench.report.figure import read_figure
from bench.report.gallery.papers import PAPERS, Paper
from bench.report.gallery.result import DATA, Result
from bench.report.gallery.text import number

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


@dataclass
class Figure:
    """A figure with its results, the largest scale first."""

    paper: str
    name: str
    config: Mapping[str, Any]
    results: list[Result]

    @property
    def first(self) -> Result | None:
        """The result that counts on the front page."""
        return self.results[0] if self.results else None

    @property
    def title(self) -> str:
        """The figure's title, or its name."""
        return str(self.config.get("title", self.name))

    @property
    def address(self) -> str:
        """The path of its page in the folder of results; without results it is a part of its paper's page."""
        own = quote(f"{self.paper}/{self.name}")
        return f"{own}/index.html" if self.results else f"{quote(self.paper)}/index.html#{quote(self.name)}"

    @property
    def picture(self) -> str:
        """The path of its PNG in the folder of results, or ""."""
        file = f"{self.name}.png"
        found = self.first is not None and file in self.first.files
        return quote(f"{self.paper}/{self.name}/{self.first.scale}/{file}") if self.first and found else ""


@dataclass
class PaperPage:
    """A paper with its figures."""

    name: str
    about: Paper
    figures: list[Figure] = field(default_factory=list)

    @property
    def made(self) -> list[Figure]:
        """The figures that have results."""
        return [figure for figure in self.figures if figure.results]

    @property
    def totals(self) -> dict[str, int]:
        """The number of cases by verdict, of results that allow conclusions."""
        firsts = [figure.first for figure in self.figures if figure.first and not figure.first.caveat]
        return {verdict: sum(first.verdicts[verdict] for first in firsts) for verdict in VERDICTS}


def read(results: Path, figures: Mapping[str, Mapping[str, Any]]) -> list[PaperPage]:
    """Return all papers with their figures and what there is of their results.

    Parameters
    ----------
    results
        The folder of results; may be unfinished or not there.
    figures
        The figures there can be, by ``paper/figure``. Others that have results are shown, too.
    """
    names = sorted({*figures, *_found(results)}, key=_natural)
    papers = {paper: PaperPage(paper, PAPERS.get(paper, Paper(paper, "", ""))) for paper in _in_order(names)}
    for name in names:
        paper, figure = name.split("/")
        config = figures.get(name, {})
        known = read_figure(config) if config.get("kind") else None
        made = [Result(folder, known) for folder in _scales(results / name)]
        papers[paper].figures.append(Figure(paper, figure, config, sorted(made, key=lambda result: result.order)))
    return list(papers.values())


def build(papers: list[PaperPage], skipped: Collection[str] = ()) -> dict[str, str]:
    """Return the pages of the gallery by their path in the folder of results.

    Parameters
    ----------
    papers
        What there is, as `read` returns it.
    skipped
        Pages of figures that are not wanted.
    """
    templates = {name: _environment().get_template(f"{name}.html.j2") for name in ("index", "paper", "figure")}
    every = [figure for page in papers for figure in page.figures]
    totals = {verdict: sum(page.totals[verdict] for page in papers) for verdict in VERDICTS}
    pages = {
        "index.html": templates["index"].render(papers=papers, findings=_findings(every), totals=totals, figures=every)
    }
    for page in papers:
        pages[f"{page.name}/index.html"] = templates["paper"].render(paper=page)
        for figure in page.made:
            name = f"{page.name}/{figure.name}/index.html"
            if name not in skipped:
                pages[name] = templates["figure"].render(paper=page, figure=figure)
    return pages


@cache
def _environment() -> Environment:
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
        "WORDS": {"holds": "hold", "fails": "fail", "tie": "tie", "open": "open", "says_nothing": "say nothing"},
        "ALWAYS": ("holds", "fails", "open"),
        "WORKED": WORKED,
        "DATA": DATA,
    }
    environment.filters["number"] = number
    return environment


def _in_order(names: list[str]) -> list[str]:
    """Return the papers of some figures: those known in their own order, then others."""
    papers = {name.split("/")[0] for name in names}
    return [paper for paper in PAPERS if paper in papers] + sorted(papers - set(PAPERS))


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Return what to sort by, so that figure 10 comes after figure 9."""
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", name) if part]


def _found(results: Path) -> set[str]:
    """Return the figures that have results."""
    folders = [paper for paper in _folders(results) if paper.name != "raw"]
    return {f"{paper.name}/{figure.name}" for paper in folders for figure in _folders(paper) if _scales(figure)}


def _scales(figure: Path) -> list[Path]:
    return [folder for folder in _folders(figure) if any(folder.iterdir())]


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] != ".")


def _findings(figures: list[Figure]) -> dict[str, list[tuple[Figure, list[dict[str, Any]]]]]:
    """Return, by verdict, the claims that have cases with it: the figure and these cases."""
    made = [(figure, figure.first) for figure in figures if figure.first]
    made.sort(key=lambda pair: bool(pair[1].caveat))  # at the end what allows no conclusion
    return {
        verdict: [(figure, cases) for figure, first in made for cases in first.grouped_claims(verdict)]
        for verdict in VERDICTS
    }
