"""The pages of all results, and the overviews of claims and published numbers."""

import json
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from bench.audit.headlines import Headline, read_headlines
from bench.audit.published import PublishedOverview, published_overview, published_text
from bench.digest import digest
from bench.errors import BenchError, ConfigError, one_line
from bench.gallery.build import build
from bench.gallery.overview import overview
from bench.gallery.papers import PaperPage, read_paper, read_papers, with_results
from bench.gallery.render import build_own
from bench.report.figure import Figure
from bench.report.tables import to_csv
from runners.config.figures import figure_names, load_figure
from runners.config.filled import filled
from runners.config.folders import CHECKOUT, CONFIGS, remembered, user_folder
from runners.config.papers import compared, load_paper
from runners.config.reference import pages as choices_pages
from runners.config.tree import choices, expect, one_of, path_of, placed, read
from runners.results import made_of
from runners.results.checksums import note
from runners.results.comparison_pages import is_suites, write_pages
from runners.results.store import read_json, write_text

_MADE = "raw/made_of/pages.json"
_DAMAGED = "manifest.json cannot be read"


def write_gallery(folder: Path) -> tuple[Path, int]:
    """Write the pages of a folder of results; return the path of the first page and the number of pages written.

    The pages of the checkout's folder include all papers, the documentation, and overviews of reference results; the
    pages of any other folder include its own figures and comparisons. All pages are written again if a result, the
    code, the configuration or the documentation has changed, otherwise none.
    """
    made = _made_of()
    if read_json(folder / _MADE) == made_of.of_pages(made, folder):
        return folder / "index.html", 0
    papers, pages = _of_suite(folder) if is_suites(folder) else _of_user(folder)
    write_pages(folder, pages)
    results = [result for page in papers for figure in page.figures for result in figure.results]
    damaged = [
        f"{one.folder.path}/{problem}" for one in results for problem in one.problems if problem.startswith(_DAMAGED)
    ]
    for problem in damaged:
        print(f"error: {problem}", file=sys.stderr)
    known = set(choices("figure")) if is_suites(folder) else with_results(folder) & set(choices("figure"))
    shown = {f"{page.name}/{figure.name}" for page in papers for figure in page.figures if figure.figure}
    if not damaged and known <= shown:  # errors are reported again the next time
        write_text(folder / _MADE, json.dumps(made_of.of_pages(made, folder)) + "\n")
    return folder / "index.html", len(pages)


def _of_suite(folder: Path) -> tuple[list[PaperPage], dict[str, str]]:
    papers = read_papers(folder, *_configured(user_folder()), figure_names())
    numbers = _published(folder, figure_names())
    names = list(_configured(user_folder())[0])
    shown = _published(folder, names) if len(names) > len(figure_names()) else numbers  # including a user's own
    pages = build(papers, shown, _texts(folder))
    overviews = _overviews(papers, numbers)
    for name, text in overviews.items():
        write_text(folder / name, text)
    note(folder, [folder / name for name in overviews])
    return papers, pages


def _of_user(folder: Path) -> tuple[list[PaperPage], dict[str, str]]:
    names = sorted(with_results(folder) & set(choices("figure")))
    papers = read_papers(folder, *_read(names))
    return papers, build_own(papers)


def _made_of() -> str:
    """Return the digest of all inputs of pages other than the results: code, configuration and documentation."""
    docs = CHECKOUT / "docs" if CHECKOUT else None
    folders = [folder for folder in (CONFIGS, user_folder(), docs) if folder]
    paths = [path for folder in folders for ending in ("*.yaml", "*.md") for path in sorted(folder.rglob(ending))]
    return digest([made_of.code(), {str(path): digest(path.read_bytes(), 20) for path in paths}], 20)


def _texts(folder: Path) -> dict[str, str]:
    """Return the Markdown texts that become pages, by name."""
    assert CHECKOUT is not None
    texts = {path.stem: path for path in sorted((CHECKOUT / "docs").glob("*.md"))}
    texts |= {f"benchmark_{path.stem}": path for path in sorted(folder.glob("benchmark/*.md"))}
    return {name: path.read_text(encoding="utf-8") for name, path in texts.items()} | choices_pages(folder)


def overviews(folder: Path) -> dict[str, str]:
    """Return the overviews of claims and published numbers by file name; empty without reference results."""
    return _overviews(read_pages(folder), _published(folder, figure_names()))


def read_pages(folder: Path) -> list[PaperPage]:
    """Return the papers with their results, if there are any, for a use other than the papers' pages."""
    return read_papers(folder, *_configured(user_folder()), figure_names())


def read_page(folder: Path, paper: str) -> PaperPage:
    """Return a paper with its results, which is faster than reading all papers by `read_pages`."""
    return read_paper(folder, paper, {name: load_figure(name) for name in figure_names(paper)}, _about(paper))


def _published(folder: Path, names: Sequence[str]) -> PublishedOverview:
    """Return the comparison of published numbers with our numbers for some figures."""
    papers = dict.fromkeys(name.partition("/")[0] for name in names)
    figures = {name: _configured(user_folder())[0][name] for name in names}
    return published_overview(figures, folder, {paper: compared(paper) for paper in papers})


def _overviews(papers: list[PaperPage], numbers: PublishedOverview) -> dict[str, str]:
    claims = overview(papers)
    if not len(claims):
        return {}
    return {
        "claims.csv": to_csv(claims),
        "numbers.csv": to_csv(numbers.numbers),
        "numbers.md": published_text(numbers),
    }


@remembered
@cache
def _configured(folder: Path | None) -> tuple[dict[str, Figure], dict[str, dict[str, Any]]]:
    """Return all figures and their papers from the configuration; ``folder`` is the user's folder."""
    return _read(dict.fromkeys([*figure_names(), *choices("figure")]))


def _read(names: Iterable[str]) -> tuple[dict[str, Figure], dict[str, dict[str, Any]]]:
    """Return some figures, and the configurations of their papers.

    A user's figure that cannot be read is left out, and the error is printed.
    """
    figures, about = dict[str, Figure](), dict[str, dict[str, Any]]()
    errors = set()
    for name in names:
        paper = name.partition("/")[0]
        try:
            about[paper] = about.get(paper) or _about(paper)
            figures[name] = load_figure(name)
        except BenchError as error:
            errors.add(one_line(error))
    for text in sorted(errors):
        print("error:", text, file=sys.stderr)
    return figures, about


def _about(paper: str) -> dict[str, Any]:
    path = path_of(f"paper/{paper}")
    asked = path.with_name("questions.md") if path else None
    questions = asked.read_text(encoding="utf-8") if asked and asked.is_file() else ""
    return {**load_paper(paper), "headlines": load_headlines(paper), "questions": questions}


def load_headlines(paper: str) -> list[Headline]:
    """Return a paper's headlines. Raises ConfigError if a headline rests on an unknown figure or claim."""
    file = f"headlines/{paper}"
    if path_of(file) is None:
        return []
    with placed(file):
        content = read(file)
        for key in content.keys() - {"headlines"}:
            raise ConfigError(f"found the key '{key}', expected only 'headlines'")
        headlines = read_headlines(paper, expect(list, content.get("headlines"), "headlines"))
        claims: dict[str, list[str]] = {}
        names = [name.partition("/")[2] for name in figure_names(paper)]
        for number, headline in enumerate(headlines, start=1):
            keys = ("rests_on", "beside", "totals")
            parts = [(f"{key}.{part}", one) for key in keys for part, one in getattr(headline, key).items()]
            for place, reference in [(place, one) for place, references in parts for one in references]:
                figure, _, rest = reference.partition("#")
                claim, where = rest.partition("@")[0], f"headline {number}, {place}: found '{reference}'"
                if figure not in names:
                    raise ConfigError(f"{where}, but no figure is called {figure}, {one_of(figure, names)}")
                if figure not in claims:
                    claims[figure] = [str(given.get("id")) for given in filled(f"{paper}/{figure}")["claims"]]
                if claim not in claims[figure]:
                    raise ConfigError(f"{where}, but {figure} has no claim '{claim}', {one_of(claim, claims[figure])}")
    return headlines
