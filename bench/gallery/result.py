"""What a page shows of one figure at one scale."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import pandas as pd

from bench.gallery.claims import ClaimView, claim_of, compared, threshold_of
from bench.gallery.stored import Derive, Stored
from bench.report.claims.check import KINDS
from bench.report.figure import Figure
from bench.report.reading import Reading
from bench.report.typeset import readable

if TYPE_CHECKING:  # slow to import
    from bench.gallery.picture import Picture

Verdicts = dict[str, dict[str, tuple[str, str]]]


class ReadingsView(NamedTuple):
    """Readings, verdicts by claim (id and text), case and reading, and published numbers: table and counts."""

    readings: list[Reading]
    matrix: dict[tuple[str, str], Verdicts]
    numbers: dict[str, Any] | None
    counts: dict[str, int]

    def rows(self) -> list[tuple[str, Verdicts, int]]:
        """Return the claims in words, each with its cases that differ under some reading, and how many do not."""
        rows = []
        for (claim, text), cases in self.matrix.items():
            differ = {case: row for case, row in cases.items() if len({verdict for verdict, _ in row.values()}) > 1}
            rows += [(text or claim, differ, len(cases) - len(differ))] if differ else []
        return rows


class ResultView(Stored):
    """A folder of results; a user's comparison (``is_own``) has its page beside its results."""

    def __init__(
        self, folder: Path, figure: Figure | None, derive: Derive | None = None, *, is_own: bool = False
    ) -> None:
        super().__init__(folder, figure, derive)
        self.is_own = is_own
        self.at = "" if is_own else f"{quote(folder.name)}/"
        """What leads from the figure's page to its files."""
        thresholds = (
            {str(claim["id"]): threshold_of(claim, KINDS | figure.claim_kinds) for claim in figure.claims}
            if figure
            else {}
        )
        for row in self.claims:
            row["threshold"] = thresholds.get(row["claim"])

    @property
    def is_reference(self) -> bool:
        """Whether it is a result to be committed, not a user's own."""
        return not self.is_own and super().is_reference

    @property
    def gives_verdicts(self) -> bool:
        """Whether its verdicts may be stated as findings; a comparison is the size its user chose."""
        return self.is_own or super().gives_verdicts

    @property
    def finding(self) -> str:
        """The verdicts of a comparison in a sentence; "" of another result."""
        return compared(self.grouped_claims()) if self.is_own else ""

    @cached_property
    def shown_claims(self) -> list[ClaimView]:
        """Its claims as the page shows them; those of a comparison, which are of one kind, share an axis."""
        among = self.claims if self.is_own else ()
        return [claim_of(cases, among) for cases in self.grouped_claims()]

    @cached_property
    def tables(self) -> dict[str, dict[str, Any]]:
        """Its tables as `readable` has them, by title."""
        return {title: readable(self.table(name)) for name, title in self.titles.items() if len(self.table(name))}

    def picture(self) -> "Picture | None":
        """Return the figure with its numbers; None if it cannot be drawn."""
        from bench.gallery.picture import picture  # slow to import

        return None if self.plot is None else picture(self.plot, self.scale)

    def readings(self) -> ReadingsView | None:
        """Return what the page shows of the figure's readings and published numbers; None where there are neither."""
        if self.figure is None or self.is_own:
            return None
        from bench.audit.published import ASSUMING, is_assuming
        from bench.audit.readings import AS_PRINTED, EXACT, INSIDE, OUTSIDE, POSSIBLE

        claims, numbers = (
            self.csv(name, "claim", "reading", "holm") if name in self.files else pd.DataFrame()
            for name in ("readings.csv", "numbers.csv")
        )
        if claims.empty and numbers.empty:
            return None
        names = [reading.name for reading in self.figure.readings] or [AS_PRINTED]
        if not {*claims.get("reading", []), *numbers.get("reading", [])} <= set(names):
            self.problems.append("readings.csv or numbers.csv has other readings than the figure: they are not shown")
            return None
        matrix: dict[tuple[str, str], Verdicts] = {}
        for row in claims.fillna({"case": "", "text": "", "holm": ""}).to_dict("records"):
            of_case = matrix.setdefault((row["claim"], row["text"]), {}).setdefault(str(row["case"]), {})
            of_case[row["reading"]] = row["verdict"], row.get("holm", "")
        counts = dict[str, int]()
        if {"reading", "verdict"} <= set(numbers):
            verdicts = numbers.loc[numbers["reading"] == names[0], "verdict"]
            counts = {word: int((verdicts == word).sum()) for word in (EXACT, INSIDE, POSSIBLE, OUTSIDE)}
            if is_assuming(self.figure, self.manifest):
                counts = {ASSUMING if word == INSIDE else word: count for word, count in counts.items()}
        elsewhere = ["verdict", "cell"] if self.figure.readings else ["verdict", "cell", "reading"]
        others = numbers.columns.drop(elsewhere, errors="ignore")
        shown = readable(numbers[["verdict", *others]]) if counts else None
        return ReadingsView(self.figure.readings, matrix, shown, counts)
