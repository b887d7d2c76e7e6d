"""The papers and comparisons in a folder of results, with their figures and available results."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from bench.audit.headlines import NOT_RUN, Headline, Judged, judged
from bench.errors import one_line
from bench.gallery.claims import slug
from bench.gallery.result import ResultView
from bench.report.claims.tallies import Tally, added_up
from bench.report.figure import Figure, read_figure
from bench.report.folder import COMPARISON, ResultFiles
from bench.report.reading import READING
from bench.report.typeset import in_unicode, spelled

COMPARE = "compare"
"""The folder of a user's own comparisons, among those of papers."""


@dataclass
class FigurePage:
    """A figure with its results, the largest scale first; a user's own results do not count in the suite's totals."""

    paper: str
    name: str
    figure: Figure | None
    results: list[ResultView]
    is_counted: bool = True

    @property
    def first(self) -> ResultView | None:
        return self.results[0] if self.results else None

    @property
    def reference(self) -> ResultView | None:
        return next((result for result in self.results if result.is_reference), None)

    @property
    def title(self) -> str:
        return in_unicode(spelled(self.figure.heading, self.figure.looks.words)) if self.figure else self.name

    @property
    def label(self) -> str:
        """The name as text, such as ``Figure 2, scale`` for ``figure2_scale``; a comparison's name is unchanged."""
        if self.paper == COMPARE:
            return self.name
        match = re.fullmatch(r"(figure|table)(\d+)(?:_(.+))?", self.name)
        words = ", ".join(filter(None, (f"{match[1]} {match[2]}", match[3]))) if match else self.name
        return words[:1].upper() + words[1:].replace("_", " ")

    @property
    def folder(self) -> str:
        return f"{self.paper}/{self.name}"

    @property
    def address(self) -> str:
        """The path of the figure's page in the folder of results or, without results, an anchor on the paper's page."""
        if self.results:
            return f"{quote(self.folder)}/index.html"
        return f"{quote(self.paper)}/index.html#{quote(self.name)}"

    @property
    def picture(self) -> str:
        """The address of the figure's picture, relative to the folder of results, or "" if there is no picture."""
        return f"{quote(self.folder)}/{self.first.picture}" if self.first and self.first.picture else ""


@dataclass
class PaperPage:
    """A paper with its figures and its configuration."""

    name: str
    title: str = ""
    authors: str = ""
    summary: str = ""
    headlines: list[Headline] = field(default_factory=list)
    figures: list[FigurePage] = field(default_factory=list)
    questions: str = ""

    def __post_init__(self) -> None:
        self.title = self.title or ("Your comparisons" if self.is_own else self.name)

    @property
    def is_own(self) -> bool:
        """Whether the figures are a user's comparisons, not figures of a paper."""
        return self.name == COMPARE

    @property
    def is_counted(self) -> bool:
        return any(figure.is_counted for figure in self.figures)

    @property
    def made(self) -> list[FigurePage]:
        return [figure for figure in self.figures if figure.results]

    @property
    def tallies(self) -> dict[str, Tally]:
        """The tallies of cases by origin and verdict, for results that allow conclusions."""
        firsts = [figure.first for figure in self.figures if figure.is_counted == self.is_counted]
        return added_up(first.tallies for first in firsts if first and first.gives_verdicts and not first.caveat)

    @property
    def small(self) -> list[ResultView]:
        """The shown results whose runs are too short and too few for verdicts."""
        return [figure.first for figure in self.made if figure.first and not figure.first.gives_verdicts]

    @cached_property
    def judged(self) -> list[Judged]:
        """The headlines with their verdicts, empty if all results are too small for verdicts."""
        shown = {figure.name: figure.first for figure in self.figures if figure.first}
        firsts = {name: first for name, first in shown.items() if first.gives_verdicts}
        if not self.headlines or (shown and not firsts):
            return []
        claims, readings = (
            {name: first.csv(file, *text) for name, first in firsts.items() if file in first.files}
            for file, text in (("claims.csv", ("claim", "case")), ("readings.csv", (READING, "claim", "case")))
        )
        none = pd.DataFrame()
        return [
            judged(headline, lambda name: claims.get(name, none), lambda name: readings.get(name, none))
            for headline in self.headlines
        ]

    @property
    def is_judged(self) -> bool:
        """Whether any headline has a verdict."""
        return any(row.verdict != NOT_RUN for row in self.judged)

    @property
    def picture(self) -> FigurePage | None:
        """The paper's figure on the first page, which is named by a headline or else is the first with a picture."""
        named = [headline.picture for headline in self.headlines if headline.picture][:1]
        with_picture = [figure for figure in self.made if figure.picture]
        return next(iter(sorted(with_picture, key=lambda figure: figure.name not in named)), None)

    @property
    def short(self) -> str:
        """The sentence on the first page, or "" if there is no sentence."""
        return next((row.short for row in self.judged if row.headline.picture), "")

    def decided_by(self, figure: str) -> list[Judged]:
        """Return the headlines that rest on a figure and whose sentence is shown."""
        return [row for row in self.judged if row.sentence and figure in row.figures]

    def evidence(self, row: Judged) -> dict[str, str]:
        """Return the address of the first claim of a headline's evidence in each figure, by figure title."""
        figures = {figure.name: figure for figure in self.figures}
        addresses: dict[str, str] = {}
        for reference in (reference for several in row.headline.rests_on.values() for reference in several):
            name, _, claim = reference.partition("#")
            if figure := figures.get(name):
                at = f"#claim-{slug(claim.partition('@')[0])}" if figure.results else ""
                addresses.setdefault(figure.label, f"{figure.address}{at}")
        return addresses


def read_papers(
    results: Path,
    figures: Mapping[str, Any],
    about: Mapping[str, Mapping[str, Any]] | None = None,
    counted: Collection[str] | None = None,
) -> list[PaperPage]:
    """Return all papers with the ``figures``, by ``paper/figure``, and with further figures that have results.

    ``about`` maps each paper, in display order, to its ``title``, ``authors``, ``summary``, ``questions`` (see
    `bench.gallery.docs.questions_of`) and ``headlines`` (see `bench.audit.headlines`). ``counted`` are the names of the
    figures that count in totals, by default all.
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
    return PaperPage(paper, headlines=about.get("headlines", []), figures=made, **words)


def _figure(results: Path, name: str, config: Any) -> FigurePage:
    """Return the figure with the name ``paper/figure`` with its results, if there are any."""
    paper, _, own_name = name.partition("/")
    figure = read_figure(config) if config else None
    is_link = (results / paper).is_symlink() or (results / name).is_symlink()
    results_of = [] if is_link else [ResultView(folder, figure) for folder in _scales(results / name)]
    return FigurePage(paper, own_name, figure, sorted(results_of, key=lambda result: result.order))


def comparisons(results: Path) -> PaperPage:
    """Return a user's comparisons."""
    figures = []
    for folder in _folders(results / COMPARE) if not (results / COMPARE).is_symlink() else []:
        path, figure = folder / COMPARISON, None
        if not path.is_file():
            continue
        try:
            figure = read_figure(ResultFiles(folder).read(COMPARISON, json.loads))
            result = ResultView(folder, figure, is_own=True)
        except Exception as error:  # a damaged file can raise any error in its reader
            figure, result = None, ResultView(folder, None, is_own=True)
            result.problems.append(f"{path.name} cannot be read: {one_line(error)}")
        figures.append(FigurePage(COMPARE, folder.name, figure, [result]))
    return PaperPage(COMPARE, figures=figures)


def _order(name: str) -> tuple[bool, list[tuple[bool, int, str]]]:
    """Return a sort key by which the papers' own figures and tables come first, and figure 10 follows figure 9."""
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
