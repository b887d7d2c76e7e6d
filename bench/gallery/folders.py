"""Papers and comparisons, as a folder of results has them."""

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from bench.errors import one_line
from bench.gallery.freshness import checksum, is_fresh
from bench.gallery.papers import COMPARE, FigurePage, PaperPage
from bench.gallery.result import ResultView
from bench.gallery.stored import COMPARISON, PAGE, Derive
from bench.report.figure import read_figure
from bench.report.provenance import text_of


def read_papers(
    results: Path,
    figures: Mapping[str, Any],
    about: Mapping[str, Mapping[str, Any]] | None = None,
    counted: Collection[str] | None = None,
    derive: Derive | None = None,
    *,
    with_pages: bool = True,
) -> list[PaperPage]:
    """Return all papers with their figures, those of ``figures`` by ``paper/figure`` and others that have results.

    ``about`` has by paper, in the order in which they are shown, ``title``, ``authors``, ``summary``, ``headlines`` as
    `bench.audit.headlines` reads them, and ``headline``, of which the figure's ranks stand on the first page.
    ``counted`` are the names of the figures that count in totals, by default all; for ``derive`` see `Stored`;
    ``with_pages``: whether to find out which figures have a page of what there is, which reads every file.
    """
    about = about or {}
    names = sorted({*figures, *with_results(results)}, key=_order)
    of_names = {name.partition("/")[0] for name in names}
    pages = []
    for paper in [*(name for name in about if name in of_names), *sorted(of_names - set(about))]:
        configs = {name: figures.get(name, {}) for name in names if name.partition("/")[0] == paper}
        page = read_paper(results, paper, configs, about.get(paper, {}), derive)
        for figure in page.figures:
            figure.is_counted = counted is None or f"{paper}/{figure.name}" in counted
        if with_pages:
            _look_for_pages(page, results, [figure.name for figure in page.made])
        pages.append(page)
    own = comparisons(results, in_gallery=True)
    return [*pages, own] if own.figures else pages


def read_paper(
    results: Path, paper: str, figures: Mapping[str, Any], about: Mapping[str, Any], derive: Derive | None = None
) -> PaperPage:
    """Return one paper with those of its figures that are given; for the rest see `read_papers`."""
    title, authors, summary = (str(about.get(key, "")).strip() for key in ("title", "authors", "summary"))
    made = [_figure(results, name, config, derive) for name, config in figures.items()]
    return PaperPage(paper, title, authors, summary, about.get("headline", {}), about.get("headlines", []), made)


def comparisons(results: Path, *, in_gallery: bool) -> PaperPage:
    """Return the page of a user's comparisons; ``in_gallery``: whether there are the pages that all lead to."""
    page = PaperPage(COMPARE, figures=_comparisons(results))
    _look_for_pages(page, results, in_gallery)
    return page


def _look_for_pages(page: PaperPage, results: Path, beside: Any) -> None:
    """Find out which figures have a page that was made of what there is now; ``beside``: what it leads to.

    A headline on it may have another verdict though only another figure has changed.
    """
    for figure in page.made:
        decided = [
            [row.headline.claim, row.verdict, row.by_reading, row.sentence] for row in page.decided_by(figure.name)
        ]
        around = [page.name, page.title, beside, decided]
        folders = dict.fromkeys(path for result in figure.results for path in (result.folder, result.folder_of_runs))
        figure.inputs = checksum(list(folders), figure.config, around)
        figure.is_fresh = is_fresh(results / figure.folder / PAGE, figure.inputs)


def _figure(results: Path, name: str, config: Any, derive: Derive | None) -> FigurePage:
    """Return a figure, by its name ``paper/figure``, with its results, if any."""
    paper, _, own_name = name.partition("/")
    figure = read_figure(config) if not isinstance(config, dict) or "kind" in config else None
    is_link = (results / paper).is_symlink() or (results / name).is_symlink()
    results_of = [] if is_link else [ResultView(folder, figure, derive) for folder in _scales(results / name)]
    given = figure.given() if figure else config
    return FigurePage(paper, own_name, given, sorted(results_of, key=lambda result: result.order))


def _comparisons(results: Path) -> list[FigurePage]:
    figures = []
    for folder in _folders(results / COMPARE) if not (results / COMPARE).is_symlink() else []:
        path, config = folder / COMPARISON, {}
        if not path.is_file():
            continue
        try:
            config = json.loads(text_of(path))
            result = ResultView(folder, read_figure(config), is_own=True)
        except Exception as error:  # what a damaged file makes of its reader
            config, result = {}, ResultView(folder, None, is_own=True)
            result.problems.append(f"{path.name} cannot be read: {one_line(error)}")
        figures.append(FigurePage(COMPARE, folder.name, config, [result]))
    return figures


def _order(name: str) -> tuple[bool, list[tuple[bool, int, str]]]:
    """Return what to sort by: the papers' own figures and tables come first, and figure 10 after figure 9."""
    parts = [part for part in re.split(r"(\d+)", name) if part]
    is_ours = not re.search(r"/(figure|table)\d", name)
    return is_ours, [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def with_results(results: Path) -> set[str]:
    papers = [paper for paper in _folders(results) if paper.name not in ("raw", COMPARE)]
    return {f"{paper.name}/{figure.name}" for paper in papers for figure in _folders(paper) if _scales(figure)}


def _scales(figure: Path) -> list[Path]:
    return [folder for folder in _folders(figure) if (folder / "manifest.json").is_file()]


def _folders(folder: Path) -> list[Path]:
    """Return the folders in a folder, without links, which may lead out of the results."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink() and path.name[0] != ".")
