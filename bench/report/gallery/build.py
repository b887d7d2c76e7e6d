"""Pages of all results: static, nothing loaded from elsewhere, made from the files that there are."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import starmap
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from bench.errors import BenchError, one_line
from bench.report.claims import VERDICTS
from bench.report.figure import read_figure
from bench.report.gallery.beside import groups, place
from bench.report.gallery.docs import page_of, title_of
from bench.report.gallery.inputs import PAGES, inputs_of
from bench.report.gallery.result import DATA, PARTS, Derive, Result
from bench.report.gallery.small import small
from bench.report.gallery.text import duration, number
from bench.report.plot import Panel
from bench.report.readings import EXACT, EXPLAINED, INSIDE, UNEXPLAINED

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


OWN = "compare"
"""The folder of a user's own comparisons, among those of papers."""


@dataclass
class Figure:
    """A figure with its results, the largest scale first.

    Parameters
    ----------
    paper, name, config, results
        What it is, and what there is of it.
    inputs
        The checksum of what its page is made of.
    is_fresh
        Whether its page was made of just that.
    has_thumbnail
        Whether its small picture is there.
    is_counted
        Whether it counts in the suite's totals, which a user's own figures do not.
    """

    paper: str
    name: str
    config: Mapping[str, Any]
    results: list[Result]
    inputs: str = ""
    is_fresh: bool = False
    has_thumbnail: bool = False
    is_counted: bool = True

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
    def folder(self) -> str:
        """The path of its pages in the folder of results."""
        return f"{self.paper}/{self.name}"

    @property
    def file(self) -> str:
        """What its pictures are called, without the ending."""
        return str(self.config.get("name", self.name))

    @property
    def picture(self) -> str:
        """The path of its SVG in the folder of results, or ""."""
        name = f"{self.file}.svg"
        found = self.first is not None and name in self.first.files
        return f"{quote(self.folder)}/{self.first.at}{quote(name)}" if self.first and found else ""

    @property
    def thumbnail(self) -> str:
        """The path of its small picture, or "" where there is none."""
        return quote(f"{self.folder}/thumbnail.svg") if self.has_plot else ""

    @cached_property
    def has_plot(self) -> bool:
        """Whether there is something to draw small."""
        if self.is_fresh:
            return self.has_thumbnail
        return self.first is not None and self.first.plot is not None and bool(self._panels(""))

    def small(self, panel: str = "", *, words: bool = False) -> str:
        """Return a panel, by default the first that is not empty, as a small SVG file."""
        size = (360, 220) if words else (200, 110)
        return small(self._panels(panel)[0], *size, words=words)

    def _panels(self, title: str) -> list[Panel]:
        plot = self.first.plot if self.first else None
        panels = [panel for panel in plot.panels if panel.marks] if plot else []
        return [panel for panel in panels if panel.title == title] or panels


@dataclass
class PaperPage:
    """A paper with its figures, and what its configuration says of it."""

    name: str
    title: str = ""
    authors: str = ""
    summary: str = ""
    finding: str = ""
    headline: Mapping[str, str] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)

    @property
    def is_own(self) -> bool:
        """Whether these are comparisons of a user's own, not figures of a paper."""
        return self.name == OWN

    @property
    def is_counted(self) -> bool:
        """Whether it is one of the suite's papers."""
        return any(figure.is_counted for figure in self.figures)

    @property
    def made(self) -> list[Figure]:
        """The figures that have results."""
        return [figure for figure in self.figures if figure.results]

    @property
    def totals(self) -> dict[str, int]:
        """The number of cases by verdict, of results that allow conclusions."""
        figures = [figure for figure in self.figures if figure.is_counted == self.is_counted]
        firsts = [figure.first for figure in figures if figure.first and not figure.first.caveat]
        return {verdict: sum(first.verdicts[verdict] for first in firsts) for verdict in VERDICTS}

    @property
    def shown(self) -> Figure | None:
        """The figure that its card shows."""
        wanted = [figure for figure in self.made if figure.name == self.headline.get("figure")]
        return next((figure for figure in wanted if figure.has_plot), None)

    @property
    def agreement(self) -> tuple[int, int]:
        """How many published means lie inside our interval, and of how many."""
        pairs = [figure.first.agreement for figure in self.figures if figure.first]
        return sum(inside for inside, _ in pairs), sum(number for _, number in pairs)


def read(
    results: Path,
    figures: Mapping[str, Mapping[str, Any]],
    about: Mapping[str, Mapping[str, Any]] | None = None,
    counted: Collection[str] | None = None,
    derive: Derive | None = None,
) -> list[PaperPage]:
    """Return all papers with their figures and what there is of their results.

    Parameters
    ----------
    results
        The folder of results; may be unfinished or not there.
    figures
        The figures there can be, by ``paper/figure``. Others that have results are shown, too.
    about
        By paper: ``title``, ``authors``, ``summary``, ``finding``, a sentence, and ``headline``, the ``figure`` and
        ``panel`` that its card shows. Papers are shown in this order, others after them.
    counted
        The names of the figures that count in totals; by default all.
    derive
        See `Result`.
    """
    about = about or {}
    names = sorted({*figures, *_found(results)}, key=_order)
    there = {name.partition("/")[0] for name in names}
    papers = {}
    for paper in [*(name for name in about if name in there), *sorted(there - set(about))]:
        own = about.get(paper, {})
        title, authors, summary, finding = (
            str(own.get(key, "")).strip() for key in ("title", "authors", "summary", "finding")
        )
        papers[paper] = PaperPage(paper, title or paper, authors, summary, finding, own.get("headline", {}))
    for name in names:
        paper, figure = name.split("/")
        config = figures.get(name, {})
        known = read_figure(config) if config.get("kind") else None
        is_link = (results / paper).is_symlink() or (results / name).is_symlink()
        made = [] if is_link else [Result(folder, known, derive) for folder in _scales(results / name)]
        results_of = sorted(made, key=lambda result: result.order)
        is_counted = counted is None or name in counted
        papers[paper].figures.append(Figure(paper, figure, config, results_of, is_counted=is_counted))
    comparisons = [_comparison(path) for path in _comparisons(results)]
    pages = list(papers.values())
    if comparisons:
        pages.append(PaperPage(OWN, "Your comparisons", figures=comparisons))
    for page in pages:
        around = [page.name, page.title, [figure.name for figure in page.made]]
        for shown in page.made:
            folders = [results / shown.folder / result.at for result in shown.results]
            shown.inputs = inputs_of(folders, shown.config, [*around, page.headline])
            shown.is_fresh = _is_fresh(results / shown.folder, shown.inputs)
            shown.has_thumbnail = (results / shown.folder / PAGES[1]).is_file()
    return pages


def _comparison(path: Path) -> Figure:
    """Return a comparison by the file that says what it is."""
    try:
        config = read_figure(json.loads(path.read_text(encoding="utf-8")))
    except (BenchError, OSError, ValueError) as error:
        result = Result(path.parent, None, is_own=True)
        result.problems.append(f"{path.name} cannot be read: {one_line(error)}")
        return Figure(OWN, path.parent.name, {}, [result])
    return Figure(OWN, path.parent.name, config, [Result(path.parent, config, is_own=True)])


def build(
    papers: list[PaperPage],
    numbers: pd.DataFrame | None = None,
    docs: Mapping[str, str] | None = None,
    each: Callable[..., Iterable[dict[str, str]]] = starmap,
) -> dict[str, str]:
    """Return the pages and small pictures of the gallery by their path in the folder of results.

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
        What calls a function for the pages of each figure, in any order, by default one after another here.
    """
    pages: dict[str, str] = {}
    outdated = [(page, figure) for page in papers for figure in page.made if not figure.is_fresh]
    for made in each(figure_pages, outdated):
        pages |= made
    for _, figure in outdated:
        figure.is_fresh, figure.has_thumbnail = True, f"{figure.folder}/{PAGES[1]}" in pages
    names = ("index", "claims", "numbers", "readings", "paper", "doc")
    templates = {name: environment().get_template(f"{name}.html.j2") for name in names}
    of_papers = [page for page in papers if not page.is_own]
    every = [figure for page in of_papers for figure in page.figures]
    totals = {verdict: sum(page.totals[verdict] for page in of_papers if page.is_counted) for verdict in VERDICTS}
    common = {"papers": of_papers, "totals": totals, "figures": every}
    choices = {part: sorted({own for f in every if f.first for own in f.first.choices[part]}) for part in PARTS}
    own = [figure for page in papers if page.is_own for figure in page.figures]
    known = [] if numbers is None else _with_addresses(numbers, every)
    readings = _readings(every)
    docs = docs or {}
    front = {
        "choices": choices,
        "ranks": _ranks(every),
        "comparisons": own,
        "numbers": known,
        "readings": readings,
        "published": {page.name: _counted(known, page.name) for page in of_papers},
        "docs": {name: title_of(text) for name, text in docs.items()},
    }
    pages["index.html"] = templates["index"].render(**common, **front)
    pages["claims.html"] = templates["claims"].render(**common)
    if known:
        pages["numbers.html"] = templates["numbers"].render(numbers=known)
    if readings:
        pages["readings.html"] = templates["readings"].render(readings=readings)
    for name, text in docs.items():
        pages[f"{name}.html"] = templates["doc"].render(title=title_of(text), text=page_of(text, docs))
    for page in papers:
        pages[f"{page.name}/index.html"] = templates["paper"].render(paper=page)
    return pages


def figure_pages(paper: PaperPage, figure: Figure) -> dict[str, str]:
    """Return a figure's page and small pictures by their path in the folder of results."""
    template = environment().get_template("figure.html.j2")
    pages = {f"{figure.folder}/{PAGES[0]}": template.render(paper=paper, figure=figure)}
    if figure.has_plot:
        pages[f"{figure.folder}/{PAGES[1]}"] = figure.small()
        if figure.name == paper.headline.get("figure"):
            pages[f"{paper.name}/headline.svg"] = figure.small(paper.headline.get("panel", ""), words=True)
    return pages


def _is_fresh(folder: Path, inputs: str) -> bool:
    """Return whether the page in a folder was made of what there is now."""
    try:
        with (folder / PAGES[0]).open(encoding="utf-8") as file:
            return f"<!-- {inputs} -->" in file.read(200)
    except (OSError, ValueError):
        return False


def _with_addresses(numbers: pd.DataFrame, figures: list[Figure]) -> list[dict[str, Any]]:
    """Return published numbers, each with the page of the figure that says most of it."""
    addresses = {(figure.paper, figure.name): figure.address for figure in figures if figure.results}
    words = ["by", "by_source", "reading"]
    rows = numbers.assign(**{name: numbers[name].astype(object).fillna("") for name in words}).to_dict("records")
    return [
        {str(name): value for name, value in row.items()}
        | {"address": addresses.get((row["paper"], row["figure"]), "")}
        for row in rows
    ]


def _readings(figures: list[Figure]) -> list[dict[str, Any]]:
    """Return every reading of each paper once, with the figures that have it."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for figure in figures:
        for reading in figure.config.get("readings", []):
            key = figure.paper, reading["name"], reading["text"]
            row = {"paper": figure.paper, "name": reading["name"], "text": reading["text"], "source": reading["source"]}
            found.setdefault(key, row | {"figures": []})["figures"].append(figure)
    return list(found.values())


def _counted(numbers: list[dict[str, Any]], paper: str) -> dict[str, int]:
    """Return how many of a paper's published numbers came to what, in words; empty if none came to anything."""
    counts = Counter(row["verdict"] for row in numbers if row["paper"] == paper)
    of_source = Counter(row["by_source"] for row in numbers if row["paper"] == paper and row["verdict"] == EXPLAINED)
    if not counts.keys() & {EXACT, INSIDE, EXPLAINED, UNEXPLAINED}:
        return {}
    words = {
        "exact": counts.pop(EXACT, 0),
        "inside our interval": counts.pop(INSIDE, 0),
        "explained": counts.pop(EXPLAINED, 0) - of_source["assumed"],
        "explained by what we assume": of_source["assumed"],
        "unexplained": counts.pop(UNEXPLAINED, 0),
        **counts,
    }
    return {word: count for word, count in words.items() if count}


def _ranks(figures: list[Figure]) -> dict[str, Any] | None:
    """Return the mean ranks of all tuners, the best first, with the figure they are of; None without."""
    for figure in figures:
        if figure.folder != "tournament/ranks" or not figure.first:
            continue
        table = figure.first.table("ranks")
        if {"method", "tasks", "n", "mean_rank", "ci_low", "ci_high"} <= set(table) and len(table):
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
def environment() -> Environment:
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
        "WORDS": {"holds": "hold", "fails": "fail", "tie": "tie", "open": "open", "says_nothing": "say nothing"},
        "ALWAYS": ("holds", "fails", "open"),
        "WORKED": WORKED,
        "DATA": DATA,
        "groups": groups,
        "place": place,
    }
    environment.filters |= {"number": number, "duration": duration}
    return environment


def _order(name: str) -> tuple[bool, list[tuple[bool, int, str]]]:
    """Return what to sort by: the papers' own figures and tables come first, and figure 10 after figure 9."""
    parts = [part for part in re.split(r"(\d+)", name) if part]
    is_ours = not re.search(r"/(figure|table)\d", name)
    return is_ours, [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def _found(results: Path) -> set[str]:
    """Return the figures that have results."""
    folders = [paper for paper in _folders(results) if paper.name not in ("raw", OWN)]
    return {f"{paper.name}/{figure.name}" for paper in folders for figure in _folders(paper) if _scales(figure)}


def _scales(figure: Path) -> list[Path]:
    return [folder for folder in _folders(figure) if (folder / "manifest.json").is_file()]


def _comparisons(results: Path) -> list[Path]:
    folders = _folders(results / OWN) if not (results / OWN).is_symlink() else []
    return [folder / "comparison.json" for folder in folders if (folder / "comparison.json").is_file()]


def _folders(folder: Path) -> list[Path]:
    """Return the folders in a folder, without links, which may lead out of the results."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink() and path.name[0] != ".")
