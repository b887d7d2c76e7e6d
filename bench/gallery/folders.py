"""The papers and comparisons in a folder of results."""

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from bench.errors import one_line
from bench.gallery.papers import COMPARE, FigurePage, PaperPage
from bench.gallery.result import ResultView
from bench.report.figure import read_figure
from bench.report.folder import COMPARISON, ResultFiles


def read_papers(
    results: Path,
    figures: Mapping[str, Any],
    about: Mapping[str, Mapping[str, Any]] | None = None,
    counted: Collection[str] | None = None,
) -> list[PaperPage]:
    """Return all papers with their figures: those of ``figures`` by ``paper/figure``, and others that have results.

    ``about`` has by paper, in display order, ``title``, ``authors``, ``summary``, ``questions`` (see
    `bench.gallery.docs.questions_of`), ``headlines`` (see `bench.audit.headlines`), and ``headline``, the figure whose
    ranks are on the first page. ``counted`` are the names of the figures that count in totals, by default all.
    """
    about = about or {}
    names = sorted({*figures, *with_results(results)}, key=_order)
    of_names = {name.partition("/")[0] for name in names}
    pages = []
    for paper in [*(name for name in about if name in of_names), *sorted(of_names - set(about))]:
        configs = {name: figures.get(name, {}) for name in names if name.partition("/")[0] == paper}
        page = read_paper(results, paper, configs, about.get(paper, {}))
        for figure in page.figures:
            figure.is_counted = counted is None or f"{paper}/{figure.name}" in counted
        pages.append(page)
    own = comparisons(results)
    return [*pages, own] if own.figures else pages


def read_paper(results: Path, paper: str, figures: Mapping[str, Any], about: Mapping[str, Any]) -> PaperPage:
    """Return one paper with the given figures; for the other arguments see `read_papers`."""
    words = {key: str(about.get(key, "")).strip() for key in ("title", "authors", "summary", "questions")}
    made = [_figure(results, name, config) for name, config in figures.items()]
    return PaperPage(
        paper, headline=about.get("headline", {}), headlines=about.get("headlines", []), figures=made, **words
    )


def _figure(results: Path, name: str, config: Any) -> FigurePage:
    """Return a figure, by its name ``paper/figure``, with its results, if any."""
    paper, _, own_name = name.partition("/")
    figure = read_figure(config) if not isinstance(config, dict) or "kind" in config else None
    is_link = (results / paper).is_symlink() or (results / name).is_symlink()
    results_of = [] if is_link else [ResultView(folder, figure) for folder in _scales(results / name)]
    given = figure.given() if figure else config
    return FigurePage(paper, own_name, given, sorted(results_of, key=lambda result: result.order))


def comparisons(results: Path) -> PaperPage:
    """Return a user's comparisons."""
    figures = []
    for folder in _folders(results / COMPARE) if not (results / COMPARE).is_symlink() else []:
        path, config = folder / COMPARISON, {}
        if not path.is_file():
            continue
        try:
            config = ResultFiles(folder).read(COMPARISON, json.loads)
            result = ResultView(folder, read_figure(config), is_own=True)
        except Exception as error:  # a damaged file can raise any error in its reader
            config, result = {}, ResultView(folder, None, is_own=True)
            result.problems.append(f"{path.name} cannot be read: {one_line(error)}")
        figures.append(FigurePage(COMPARE, folder.name, config, [result]))
    return PaperPage(COMPARE, figures=figures)


def _order(name: str) -> tuple[bool, list[tuple[bool, int, str]]]:
    """Return a sort key: the papers' own figures and tables come first, and figure 10 after figure 9."""
    parts = [part for part in re.split(r"(\d+)", name) if part]
    is_ours = not re.search(r"/(figure|table)\d", name)
    return is_ours, [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def with_results(results: Path) -> set[str]:
    papers = [paper for paper in _folders(results) if paper.name not in ("raw", COMPARE)]
    return {f"{paper.name}/{figure.name}" for paper in papers for figure in _folders(paper) if _scales(figure)}


def _scales(figure: Path) -> list[Path]:
    return [folder for folder in _folders(figure) if (folder / "manifest.json").is_file()]


def _folders(folder: Path) -> list[Path]:
    """Return the subfolders of a folder, without links, which may lead out of the results."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink() and path.name[0] != ".")
