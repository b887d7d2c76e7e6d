"""Papers with their figures, and their results, if there are any."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pandas as pd

from bench.gallery.claims import slug
from bench.gallery.picture import Picture
from bench.gallery.result import ResultView
from bench.report.claims.tallies import Tally, added_up
from bench.report.reading import READING
from bench.report.style import Looks
from bench.report.typeset import in_unicode, spelled

if TYPE_CHECKING:  # for papers only: a comparison has no headlines
    from bench.audit.headlines import Headline, Judged

COMPARE = "compare"
"""The folder of a user's own comparisons, among those of papers."""


def label(name: str) -> str:
    match = re.fullmatch(r"(figure|table)(\d+)(?:_(.+))?", name)
    words = f"{match[1]} {match[2]}{f', {match[3]}' if match[3] else ''}" if match else name
    words = words.replace("_", " ")
    return words[:1].upper() + words[1:]


@dataclass
class FigurePage:
    """A figure with its results, the largest scale first; a user's own are not counted in the suite's totals."""

    paper: str
    name: str
    config: Mapping[str, Any]
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
        return in_unicode(spelled(str(self.config.get("title", self.name)), self.looks.words))

    @property
    def looks(self) -> Looks:
        return Looks.model_validate(self.config.get("looks", {}))

    @property
    def label(self) -> str:
        return self.name if self.paper == COMPARE else label(self.name)

    @property
    def words(self) -> str:
        """Words for the search: choices, claims and readings."""
        first = self.first
        readings = [f"{row['name']} {row['text']} {row['source'][1]}" for row in self.config.get("readings", [])]
        choices = [name for names in first.choices.values() for name in names] if first else []
        claims = [cases[0]["text"] for cases in first.grouped_claims()] if first else []
        labels = [str(label) for block in self.config.get("runs", []) for values in block.values() for label in values]
        return " ".join(dict.fromkeys([*choices, *labels, *claims, *readings]))

    @property
    def folder(self) -> str:
        return f"{self.paper}/{self.name}"

    @property
    def address(self) -> str:
        """The path of its page in the folder of results; without results, an anchor on its paper's page."""
        if self.results:
            return f"{quote(self.folder)}/index.html"
        return f"{quote(self.paper)}/index.html#{quote(self.name)}"

    @property
    def picture(self) -> Picture | None:
        """The address of its picture, relative to the folder of results."""
        drawn = self.first.picture if self.first else None
        return drawn and drawn._replace(address=f"{quote(self.folder)}/{drawn.address}")


@dataclass
class PaperPage:
    """A paper with its figures and its configuration."""

    name: str
    title: str = ""
    authors: str = ""
    summary: str = ""
    headline: Mapping[str, Any] = field(default_factory=dict)
    headlines: "list[Headline]" = field(default_factory=list)
    figures: list[FigurePage] = field(default_factory=list)
    questions: str = ""

    def __post_init__(self) -> None:
        self.title = self.title or ("Your comparisons" if self.is_own else self.name)

    @property
    def is_own(self) -> bool:
        """Whether these are a user's comparisons, not figures of a paper."""
        return self.name == COMPARE

    @property
    def is_counted(self) -> bool:
        return any(figure.is_counted for figure in self.figures)

    @property
    def made(self) -> list[FigurePage]:
        return [figure for figure in self.figures if figure.results]

    @property
    def tallies(self) -> dict[str, Tally]:
        """The cases by origin and verdict, of results that allow conclusions."""
        firsts = [figure.first for figure in self.figures if figure.is_counted == self.is_counted]
        return added_up(first.tallies for first in firsts if first and first.gives_verdicts and not first.caveat)

    @property
    def small(self) -> list[ResultView]:
        """The shown results with runs too short and few for verdicts."""
        return [figure.first for figure in self.made if figure.first and not figure.first.gives_verdicts]

    @cached_property
    def judged(self) -> "list[Judged]":
        if not self.headlines:
            return []
        from bench.audit.headlines import judged

        shown = {figure.name: figure.first for figure in self.figures if figure.first}
        firsts = {name: first for name, first in shown.items() if first.gives_verdicts}
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
    def rule(self) -> tuple[str, str]:
        """The rule for headlines, and the meaning of totals by reading, as text."""
        from bench.audit.headlines import RULE, TOTALS

        return RULE, TOTALS

    @property
    def is_judged(self) -> bool:
        """Whether any headline has a verdict."""
        return any(row.verdict != "not run" for row in self.judged)

    @property
    def headline_words(self) -> dict[str, str]:
        """The number of headlines by verdict, as text."""
        from bench.audit.headlines import counted, spelled

        return {verdict: spelled({verdict: count}) for verdict, count in counted(self.judged).items()}

    @property
    def picture(self) -> "FigurePage | None":
        """The figure of the paper on the first page: that of its headline in short, else the first with a picture."""
        named = self.in_short.headline.picture if self.in_short else ""
        with_picture = [figure for figure in self.made if figure.picture]
        return next((figure for figure in with_picture if figure.name == named), next(iter(with_picture), None))

    @property
    def in_short(self) -> "Judged | None":
        """The headline that the first page shows."""
        return next((row for row in self.judged if row.headline.picture), None)

    def decided_by(self, figure: str) -> "list[Judged]":
        """Return the headlines that rest on a figure and have a sentence."""
        return [row for row in self.judged if row.sentence and figure in row.figures]

    def evidence(self, row: "Judged") -> dict[str, str]:
        """Return the places of a headline's evidence, by figure title: the first claim of each."""
        figures = {figure.name: figure for figure in self.figures}
        addresses: dict[str, str] = {}
        for reference in (reference for several in row.headline.rests_on.values() for reference in several):
            name, _, claim = reference.partition("#")
            if figure := figures.get(name):
                at = f"#claim-{slug(claim.partition('@')[0])}" if figure.results else ""
                addresses.setdefault(figure.label, f"{figure.address}{at}")
        return addresses
