"""The content of a page about one figure at one scale."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import pandas as pd

from bench.columns import names_of
from bench.data_kind import DataKind
from bench.errors import DataError
from bench.gallery.claims import ClaimView, claim_of
from bench.report.claims.check import claims_of
from bench.report.claims.judgement import VERDICTS
from bench.report.claims.tallies import ClaimSource, Tally, sources, tallies
from bench.report.figure import Figure
from bench.report.folder import CAVEATS, ENVIRONMENT, Made, Manifest, ManifestRun, ResultFiles
from bench.report.provenance import commands, compare_commands, overrides_of
from bench.report.reading import READING, Reading
from bench.report.results import Results
from bench.report.tasks import METHOD
from bench.report.typeset import duration, interval, number, readable

Read = TypeVar("Read")
Verdicts = dict[str, dict[str, tuple[str, str]]]
"""Case -> reading -> verdict, and whether it survives Holm's correction."""


class ReadingsView(NamedTuple):
    """The readings, the claims under these readings, and the published numbers as a table and as counts.

    ``rows`` are claims as text, each with the cases that differ between readings and the number of other cases.
    """

    readings: Sequence[Reading]
    has_claims: bool
    rows: list[tuple[str, Verdicts, int]]
    numbers: dict[str, Any] | None
    counts: dict[str, int]


class ResultView:
    """The readable part of a folder of results; missing and damaged files are listed in `problems`.

    A user's comparison (``is_own``) has its page in the same folder.
    """

    def __init__(self, folder: Path, figure: Figure | None, *, is_own: bool = False) -> None:
        self.folder, self.figure, self.is_own = ResultFiles(folder), figure, is_own
        self.scale = folder.name
        self.at = "" if is_own else f"{quote(folder.name)}/"
        """Path from the figure's page to its files."""
        self.problems: list[str] = []
        self.files = self.folder.files
        self.manifest = self._tried(lambda: self.folder.about, Manifest())
        self.provenance = self.manifest.provenance
        runs = self.folder.with_runs
        self.made = self._tried(lambda: runs.read(ENVIRONMENT, Made.model_validate_json), Made())
        found = self.folder.data if self.manifest.runs else {}
        self.data = {DataKind.COMPUTED: list[str]()} if self.is_computed else found
        self.caveat: DataKind | str = next((kind for kind in CAVEATS if kind in self.data), "")
        self.claims: list[ClaimView] = self._claims()
        self._tables = {name: self.csv(f"{name}.csv") for name in self.titles}
        missing = sum(run.repetitions == 0 for run in self.manifest.runs)
        if missing:
            self.problems.append(f"{missing} of {len(self.manifest.runs)} experiments have no repetition yet")

    def _tried(self, read: Callable[[], Read], otherwise: Read) -> Read:
        try:
            return read()
        except FileNotFoundError as error:
            problem = f"{Path(error.filename).name} is missing"
        except DataError as error:
            problem = str(error).removeprefix(f"{self.folder.path}/")
        self.problems += [problem] * (problem not in self.problems)
        return otherwise

    def csv(self, name: str, *words: str) -> pd.DataFrame:
        """Return the content of a file, which is empty if the file cannot be read; the columns ``words`` stay text."""
        return self._tried(lambda: self.folder.csv(name, *words), pd.DataFrame())

    @property
    def order(self) -> tuple[bool, int, bool, str]:
        return self._tried(lambda: self.folder.order, (True, 9, True, self.scale))

    @property
    def titles(self) -> Mapping[str, str]:
        titles = dict(self.figure.table_titles()) if self.figure else {"table": "Table"}
        if not any(map(self._is_limit, self.manifest.runs)):  # small scales run none
            titles.pop("limits", None)
        return titles

    @property
    def is_reference(self) -> bool:
        """Whether the result is to be committed, and is not a user's own."""
        return not self.is_own and self.scale.startswith("paper")

    @property
    def gives_verdicts(self) -> bool:
        """Whether the verdicts may be stated as findings, which a few short repetitions would not allow."""
        return self.is_own or self.is_computed or (self.is_reference and "-custom" not in self.scale)

    @property
    def is_computed(self) -> bool:
        """Whether a formula made the numbers, without a run."""
        return self.figure is not None and self.figure.source == "formula"

    @cached_property
    def tallies(self) -> dict[str, Tally]:
        """The tallies of the cases by origin and verdict, except cases that count in another figure."""
        return tallies(self.figure, self._cases)

    @cached_property
    def every_tally(self) -> dict[str, Tally]:
        """The tallies of the cases by origin and verdict, including cases that count in another figure."""
        return tallies(self.figure, self._cases, every=True)

    @property
    def _cases(self) -> Iterator[dict[str, Any]]:
        return (case for claim in self.claims for case in claim.every)

    @property
    def size(self) -> str:
        """The repetitions and rounds of the runs as text, or "" if they are unknown."""
        return self.provenance.size() if self.provenance.repetitions else ""

    @property
    def seconds_by_run(self) -> dict[str, float]:
        """The known seconds of each run's repetitions; readings may share repetitions."""
        means = self.made.seconds_per_repetition
        in_order = sorted(self.manifest.runs, key=lambda run: run.repetitions)  # the largest number counts
        return {run.key: means[run.key] * run.repetitions for run in in_order if run.key in means}

    @property
    def run_time(self) -> str:
        times = self.seconds_by_run
        return duration(sum(times.values())) if times else "unknown"

    @property
    def commit(self) -> str:
        """The commit of the code that made the result as text, or "" if it is unknown."""
        git = self.made.git or {}
        commit = str(git.get("commit") or "")[:10]
        return f"{commit}{' with changes' if git.get('dirty') else ''}" if commit else ""

    @cached_property
    def commands(self) -> list[str]:
        return list(dict.fromkeys(commands(self.manifest.model_dump())))

    @property
    def comparisons(self) -> list[str]:
        """The commands that compare the methods of each panel as in the figure."""
        if self.figure is None or self.figure.source != "runs" or self.is_own:
            return []
        pairs = zip(self.manifest.runs, overrides_of(self.manifest.model_dump()), strict=True)
        runs = [(run.labels, words) for run, words in pairs if READING not in run.labels and not self._is_limit(run)]
        ties = {claim.get("margin", 0) for claim in self.figure.claims if claim["kind"] == "relative_difference"}
        tie = float(ties.pop()) if len(ties) == 1 else 0.0
        return compare_commands(runs, METHOD, self.figure.column, tie)

    @property
    def picture(self) -> str:
        """The address of the picture that was written with the result, or "" if there is no picture."""
        file = f"{self.figure.name}.svg" if self.figure else ""
        return f"{self.at}{quote(file)}" if file in self.files else ""

    def table(self, name: str) -> pd.DataFrame:
        """Return a table by its file name; the result is empty if there is no such table."""
        return self._tables.get(name, pd.DataFrame())

    @cached_property
    def tables(self) -> dict[str, dict[str, Any]]:
        """The tables by title, in the form of `readable`."""
        return {title: readable(self.table(name)) for name, title in self.titles.items() if len(self.table(name))}

    def readings(self) -> ReadingsView | None:
        """Return the figure's readings and published numbers for the page, or None if there are neither."""
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
        rows = []
        for (claim, text), cases in matrix.items():
            differ = {case: row for case, row in cases.items() if len({verdict for verdict, _ in row.values()}) > 1}
            rows += [(text or claim, differ, len(cases) - len(differ))] if differ else []
        counts = dict[str, int]()
        if {"reading", "verdict"} <= set(numbers):
            verdicts = numbers.loc[numbers["reading"] == names[0], "verdict"]
            counts = {word: int((verdicts == word).sum()) for word in (EXACT, INSIDE, POSSIBLE, OUTSIDE)}
            if is_assuming(self.figure, self.manifest):
                counts = {ASSUMING if word == INSIDE else word: count for word, count in counts.items()}
        elsewhere = ["verdict", "cell"] if self.figure.readings else ["verdict", "cell", "reading"]
        others = numbers.columns.drop(elsewhere, errors="ignore")
        shown = readable(numbers[["verdict", *others]]) if counts else None
        return ReadingsView(self.figure.readings, bool(matrix), rows, shown, counts)

    def _is_limit(self, run: ManifestRun) -> bool:
        return self.figure is not None and self.figure.is_limit(run.labels)

    def _claims(self) -> list[ClaimView]:
        """Return the claims, whose cases have formatted numbers, and unformatted numbers as `values`."""
        figure, known = self.figure, sources(self.figure)
        by_claim: dict[str, list[dict[str, Any]]] = {}
        claims = claims_of(Results(figure)) if figure else []
        thresholds = {claim.id: claim.compared_with() for claim in claims}
        for row in self.csv("claims.csv", "claim").reindex(columns=names_of("claims")).to_dict("records"):
            values = {part: float(pd.to_numeric(row[part], errors="coerce")) for part in names_of("claims", "number")}
            words = {part: number(row[part]) if pd.notna(row[part]) else "" for part in names_of("claims")}
            if words["verdict"] not in VERDICTS:
                self.problems.append(f"claims.csv: claim {words['claim']} has no verdict, it is shown as open")
                words["verdict"] = "open"
            source = known.get(words["claim"], ClaimSource())
            shown = {"estimate": number(values["estimate"]), "interval": interval(values["ci_low"], values["ci_high"])}
            threshold = thresholds.get(words["claim"])
            case = {**words, **source._asdict(), **shown, "values": values, "threshold": threshold}
            by_claim.setdefault(words["claim"], []).append(case)
        return [claim_of(cases) for cases in by_claim.values()]
