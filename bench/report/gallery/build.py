"""Pages of all results: static, nothing loaded from elsewhere, made from the files that there are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from bench.report.gallery.papers import PAPERS, Paper
from bench.report.gallery.result import VERDICTS, Result
from bench.report.gallery.text import number

MARKS = {"holds": "✓", "fails": "✗", "open": "○"}
"""A symbol for each verdict: colour alone does not reach every reader."""

SOURCES = {"stated": "●", "code": "◐", "assumed": "○"}
"""A symbol for each source of a setting."""


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


@dataclass
class PaperPage:
    """A paper with its figures."""

    name: str
    about: Paper
    figures: list[Figure] = field(default_factory=list)


def read(results: Path, figures: Mapping[str, Mapping[str, Any]]) -> list[PaperPage]:
    """Return all papers with their figures and what there is of their results.

    Parameters
    ----------
    results
        The folder of results; may be unfinished or not there.
    figures
        The figures there can be, by ``paper/figure``, as plain dicts. Others that have results are shown, too.
    """
    names = sorted({*figures, *_found(results)})
    papers = {paper: PaperPage(paper, PAPERS.get(paper, Paper(paper, "", ""))) for paper in _in_order(names)}
    for name in names:
        paper, figure = name.split("/")
        config = figures.get(name, {})
        made = [Result(folder, config) for folder in _scales(results / name)]
        papers[paper].figures.append(Figure(paper, figure, config, sorted(made, key=lambda result: result.order)))
    return list(papers.values())


def build(papers: list[PaperPage]) -> dict[str, str]:
    """Return the pages of the gallery by their path in the folder of results."""
    environment = Environment(
        loader=PackageLoader("bench.report.gallery"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"MARKS": MARKS, "SOURCES": SOURCES, "VERDICTS": VERDICTS, "papers": papers}
    environment.filters["number"] = number
    index, template = environment.get_template("index.html.j2"), environment.get_template("paper.html.j2")
    pages = {f"{page.name}/index.html": template.render(paper=page) for page in papers}
    every = [figure for page in papers for figure in page.figures]
    return {"index.html": index.render(findings=_findings(every), totals=_totals(every), figures=every)} | pages


def _in_order(names: list[str]) -> list[str]:
    """Return the papers of some figures: those known in their own order, then others."""
    papers = {name.split("/")[0] for name in names}
    return [paper for paper in PAPERS if paper in papers] + sorted(papers - set(PAPERS))


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


def _totals(figures: list[Figure]) -> dict[str, int]:
    firsts = [figure.first for figure in figures if figure.first]
    return {verdict: sum(first.verdicts[verdict] for first in firsts) for verdict in VERDICTS}


def _findings(figures: list[Figure]) -> dict[str, list[tuple[Figure, list[dict[str, Any]]]]]:
    """Return, by verdict, the claims that have cases with it: the figure and these cases."""
    made = [(figure, figure.first) for figure in figures if figure.first]
    return {
        verdict: [(figure, cases) for figure, first in made for cases in first.grouped_claims(verdict)]
        for verdict in VERDICTS
    }
