"""What a page shows of one figure at one scale."""

import math
import re
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pandas as pd

from bench.report.figure import Figure
from bench.report.gallery.beside import Beside
from bench.report.gallery.finding import compared, finding
from bench.report.gallery.forest import threshold_of
from bench.report.gallery.groups import Group, grouped
from bench.report.gallery.heat import Heat, heat
from bench.report.gallery.picture import Picture, picture
from bench.report.kinds.ranking import Ranking
from bench.report.published import ASSUMING, is_assuming
from bench.report.reading import Reading
from bench.report.readings import AS_PRINTED, EXACT, INSIDE, OUTSIDE, POSSIBLE
from bench.report.stored import REPETITIONS, Derive, Stored
from bench.report.text import number, readable

PICTURES = ("png", "svg", "pdf")


class ReadingsView(NamedTuple):
    """Readings, verdicts by claim (id and text), case and reading, and published numbers: table and counts."""

    readings: list[Reading]
    matrix: dict[tuple[str, str], dict[str, dict[str, tuple[str, str]]]]
    numbers: dict[str, Any] | None
    counts: dict[str, int]

    def rows(self) -> list[tuple[str, dict[str, dict[str, tuple[str, str]]], int]]:
        """Return the claims in words, each with its cases that differ under some reading, and how many do not."""
        rows = []
        for (claim, text), cases in self.matrix.items():
            differ = {
                case: found for case, found in cases.items() if len({verdict for verdict, _ in found.values()}) > 1
            }
            rows.append((text or claim, differ, len(cases) - len(differ)))
        return [row for row in rows if row[1]]


class Result(Stored):
    """A folder of results; parameters are those of `Stored`.

    Parameters
    ----------
    is_own
        Whether it is a comparison of a user's own, whose page lies beside its results.
    """

    def __init__(
        self, folder: Path, figure: Figure | None, derive: Derive | None = None, *, is_own: bool = False
    ) -> None:
        super().__init__(folder, figure, derive)
        self.is_own = is_own
        self.at = "" if is_own else f"{quote(folder.name)}/"
        """What leads from the figure's page to its files."""
        thresholds = {str(claim["id"]): threshold_of(claim) for claim in figure.claims} if figure else {}
        for row in self.claims:
            row["threshold"] = thresholds.get(row["claim"])

    @property
    def paper(self) -> str:
        """The paper, by its name."""
        return self.folder.parent.parent.name

    @property
    def is_reference(self) -> bool:
        """Whether it is a result to be committed, not a user's own."""
        return not self.is_own and super().is_reference

    @property
    def made_with(self) -> str:
        """Python, machine and commit in words."""
        python = self.made.python and f"Python {self.made.python}"
        return ", ".join(filter(None, [python, self.made.cpu, self.commit and f"commit {self.commit}"]))

    @property
    def finding(self) -> str:
        """What its claims came to, in a sentence."""
        if self.is_own:
            return compared(self.grouped_claims())
        return finding([[case["verdict"] for case in cases] for cases in self.grouped_claims()])

    @cached_property
    def claim_groups(self) -> list[Group]:
        """Its claims as the page shows them."""
        return grouped(self.grouped_claims())

    @cached_property
    def tables(self) -> dict[str, dict[str, Any]]:
        """Its tables as `readable` has them, by title, without published numbers, which have a part of their own."""
        tables = {title: self.table(name) for name, title in self.titles.items() if name != "limits"}
        measured = {title: table.filter(regex="^(?!published_|ratio_)") for title, table in tables.items()}
        return {title: readable(table) for title, table in measured.items() if len(table)}

    @property
    def gaps(self) -> dict[str, Any]:
        """Which share of the gap to the best fixed configuration each method closes, by panel; empty without limits."""
        table = self.table("limits").dropna(subset=["ci_low"]) if len(self.table("limits")) else pd.DataFrame()
        if table.empty:
            return {}
        names = [str(name) for name in table][: list(table).index("method")]
        table = table[table["share"].abs() + table["ci_high"] - table["ci_low"] > 0]
        panels = [", ".join(map(str, row)) or "share" for row in table[names].itertuples(index=False)]
        numbers = zip(table["share"], table["ci_low"], table["ci_high"], strict=True)
        cells = ["{:.0f} % [{:.0f}, {:.0f}]".format(*(100 * value for value in row)) for row in numbers]
        wide = table.assign(panel=panels, cell=cells).pivot(index="method", columns="panel", values="cell")
        return readable(wide.reindex(index=table["method"].unique(), columns=list(dict.fromkeys(panels))).reset_index())

    @cached_property
    def heat(self) -> Heat | None:
        """Methods against families, of a figure of that kind."""
        if not isinstance(self.figure, Ranking):
            return None
        return heat(self.table("table"), self.table("ranks"), has_ranks=self.figure.has_ranks)

    @property
    def heat_note(self) -> str:
        """What stands below that table: the picture's caption, in the table's colours."""
        caption = " ".join(self.plot.caption) if self.plot else ""
        return re.sub(r"; purple: less, orange: more.*? times", "; blue: less, orange: more", caption)

    def picture(self) -> Picture | None:
        """Return the figure with its numbers; None if it cannot be drawn."""
        return None if self.plot is None else picture(self.plot)

    @cached_property
    def published(self) -> list[Beside]:
        """Published means, each beside the measured mean with its interval."""
        table = self.table("table")
        needed = ["mean", "ci_low", "ci_high", "published_mean"]
        if self.caveat or not set(needed) <= set(table):
            return []
        numbers = table[needed].apply(pd.to_numeric, errors="coerce")
        at = list(table.columns)
        names = at[: min(at.index(name) for name in ("n", "rounds", "mean") if name in at)]
        row_name = "method" if "method" in names else (names or [""])[0]
        labels = table[sorted(names, key=lambda name: name == row_name)].fillna("")
        rows = [
            Beside(tuple(map(number, labels.loc[i].tolist())), *(float(value) for value in row))
            for i, row in zip(numbers.index, numbers.to_numpy(), strict=True)
        ]
        return [row for row in rows if all(map(math.isfinite, row[1:]))]

    @property
    def downloads(self) -> dict[str, list[tuple[str, str]]]:
        """Files to be downloaded, by what they are: what each is called, and its name."""
        kinds: dict[str, list[tuple[str, str]]] = {"Picture": [], "Other pictures": [], "Tables": []}
        name = self.figure.name if self.figure else self.folder.parent.name
        for file in self.files:
            stem, _, ending = file.rpartition(".")
            if ending in PICTURES:
                is_main = stem == name
                words = ending.upper() if is_main else f"{stem.removeprefix(f'{name}_')} {ending.upper()}"
                kinds["Picture" if is_main else "Other pictures"].append((words, file))
            elif ending in ("csv", "tex") or file in ("manifest.json", REPETITIONS):
                kinds["Tables"].append((file, file))
        return {kind: files for kind, files in kinds.items() if files}

    def readings(self) -> ReadingsView | None:
        """Return what the page shows of the figure's readings and published numbers; None where there are neither."""
        if self.figure is None or self.is_own:
            return None
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
        matrix: dict[tuple[str, str], dict[str, dict[str, tuple[str, str]]]] = {}
        for row in claims.fillna({"case": "", "text": "", "holm": ""}).to_dict("records"):
            of_case = matrix.setdefault((row["claim"], row["text"]), {}).setdefault(str(row["case"]), {})
            of_case[row["reading"]] = row["verdict"], row.get("holm", "")
        counts = dict[str, int]()
        if {"reading", "verdict"} <= set(numbers):
            verdicts = numbers.loc[numbers["reading"] == names[0], "verdict"]
            counts = {word: int((verdicts == word).sum()) for word in (EXACT, INSIDE, POSSIBLE, OUTSIDE)}
            if is_assuming(self.figure, self.manifest):
                counts = {ASSUMING if word == INSIDE else word: count for word, count in counts.items()}
        shown = readable(numbers.drop(columns="cell", errors="ignore")) if counts else None
        return ReadingsView(self.figure.readings, matrix, shown, counts)
