"""What is on disk of one figure at one scale: pages, notebooks and overviews read it here."""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from bench.columns import names_of
from bench.data_kind import DataKind
from bench.errors import BenchError, DataError
from bench.report.claims.judgement import VERDICTS
from bench.report.claims.tallies import ClaimSource, Tally, sources, tallies
from bench.report.figure import Figure
from bench.report.plot import Plot
from bench.report.provenance import (
    Made,
    Manifest,
    ManifestRun,
    Provenance,
    commands,
    folder_of_runs,
    number_of_repetitions,
    number_of_rounds,
    overrides_of,
    read_manifest,
    text_of,
)
from bench.report.reading import READING
from bench.report.render import plot_of
from bench.report.results import Results
from bench.report.tables import from_csv
from bench.report.typeset import duration, interval, number

PARTS = ("env", "algorithm", "tuner")
SCALES = ("paper", "reduced", "quick", "smoke")
COMPARISON = "comparison.json"
"""The figure of a comparison, beside its results."""
PAGE = "index.html"
"""What a comparison's own page is called, which lies among its results."""
DERIVED, REPETITIONS = ("finals.csv", "curves.csv"), "repetitions.parquet"
"""Tables of which reference results have no files, and the file that has all that they say."""
_CAVEATS = (DataKind.ALTERED, DataKind.SURROGATE, DataKind.PACKAGED)
Read = TypeVar("Read")
Derive = Callable[[Figure, Path], Mapping[str, bytes]]


class Stored:
    """A folder of results, read as far as it goes; what is missing or damaged is said in `problems`.

    The folder is ``<paper>/<figure>/<scale>[-custom][-surrogate|-altered]``, of a comparison ``compare/<name>``;
    ``derive`` makes the files `DERIVED` of a figure and a folder that has `REPETITIONS` in place of them, or whose
    `folder_of_runs` has. With ``strict``, a file that is there and cannot be read is an error (DataError, StoreError),
    not a problem.
    """

    def __init__(
        self, folder: Path, figure: Figure | None, derive: Derive | None = None, *, strict: bool = False
    ) -> None:
        self.scale = folder.name
        self.problems: list[str] = []
        self.folder = folder
        self.figure = figure
        self._derive, self._strict = derive, strict
        names = (path.name for path in folder.iterdir() if path.is_file())
        self.files = sorted(name for name in names if name[0] != "." and name != PAGE)
        of_manifest = self._read("manifest.json", lambda _: Manifest.model_validate(read_manifest(folder)))
        self.manifest = of_manifest or Manifest()
        self.folder_of_runs = folder_of_runs(folder)
        self.provenance = Provenance.of_manifest(self.manifest.model_dump(exclude_none=True))
        self.made = self._read("environment.json", Made.model_validate_json, self.folder_of_runs) or Made()
        self.data = self._data()
        self.caveat: DataKind | str = next((kind for kind in _CAVEATS if kind in self.data), "")
        self.claims = self._claims()
        self._tables = {name: self.csv(f"{name}.csv") for name in self.titles}
        missing = sum(run.repetitions == 0 for run in self.manifest.runs)
        if missing:
            self.problems.append(f"{missing} of {len(self.manifest.runs)} experiments have no repetition yet")

    @property
    def titles(self) -> Mapping[str, str]:
        titles = dict(self.figure.table_titles()) if self.figure else {"table": "Table"}
        if not any(map(self._is_limit, self.manifest.runs)):  # small scales run none
            titles.pop("limits", None)
        return titles

    @property
    def order(self) -> tuple[bool, int, bool, str]:
        """What to sort by: whole figures first, the largest scale, real and synthetic data before stand-ins."""
        size = self.scale.split("-")[0]
        place = SCALES.index(size) if size in SCALES else len(SCALES)
        return bool(self.manifest.part), place, bool(self.caveat), self.scale

    @property
    def is_reference(self) -> bool:
        """Whether it is a result to be committed, not a user's own."""
        return self.scale.startswith("paper")

    @property
    def gives_verdicts(self) -> bool:
        """Whether it has the size of the paper's runs, or needs none: a few short repetitions settle nothing."""
        return self.is_computed or (self.is_reference and "-custom" not in self.scale)

    @property
    def is_computed(self) -> bool:
        """Whether a formula made the numbers, and nothing was run."""
        return self.figure is not None and self.figure.source == "formula"

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of claims, case by case, by verdict."""
        return {verdict: sum(claim["verdict"] == verdict for claim in self.claims) for verdict in VERDICTS}

    @cached_property
    def tallies(self) -> dict[str, Tally]:
        """Its cases by origin and verdict, without those that count elsewhere."""
        return tallies(self.figure, self.claims)

    @cached_property
    def every_tally(self) -> dict[str, Tally]:
        """The same with those that count elsewhere."""
        return tallies(self.figure, self.claims, every=True)

    @property
    def size(self) -> str:
        horizons = {run.horizon for run in self.manifest.runs if run.horizon}
        rounds = number_of_rounds(horizons) if horizons else ""
        if self.provenance.accepted:
            rounds = self.provenance.rounds()
        return " of ".join(filter(None, [self.repetitions, rounds]))

    @property
    def repetitions(self) -> str:
        numbers = {run.repetitions for run in self.manifest.runs if not self._is_limit(run)}
        return number_of_repetitions(numbers, sequential=self.provenance.sequential) if numbers else ""

    @property
    def seconds(self) -> float | None:
        times = self.seconds_by_run
        return sum(times.values()) if times else None

    @property
    def seconds_by_run(self) -> dict[str, float]:
        """The seconds of each run's repetitions, as far as they are known; readings may share some of them."""
        means = self.made.seconds_per_repetition
        in_order = sorted(self.manifest.runs, key=lambda run: run.repetitions)  # the largest number counts
        return {run.key: means[run.key] * run.repetitions for run in in_order if run.key in means}

    @property
    def run_time(self) -> str:
        return "unknown" if self.seconds is None else duration(self.seconds)

    @property
    def commit(self) -> str:
        """The commit of the code that made it, in words; "" if it is not known."""
        git = self.made.git or {}
        commit = str(git.get("commit") or "")[:10]
        return f"{commit}{' with changes' if git.get('dirty') else ''}" if commit else ""

    @cached_property
    def commands(self) -> list[str]:
        return list(dict.fromkeys(commands(self.manifest.model_dump())))

    @cached_property
    def choices(self) -> dict[str, list[str]]:
        """The environments, algorithms and tuners of its runs, as their overrides name them."""
        overrides = overrides_of(self.manifest.model_dump())
        pairs = {tuple(word.split("=", 1)) for words in overrides for word in words if "=" in word}
        return {part: sorted(value for key, value in pairs if key == part) for part in PARTS}

    @cached_property
    def finals(self) -> pd.DataFrame:
        """The last values of every repetition, with measured seconds, if there are any."""
        finals = self.csv("finals.csv")
        seconds = self.csv("seconds.csv") if len(finals) and "seconds.csv" in self.files else pd.DataFrame()
        # Its first rows are those of finals.csv.
        return finals.join(seconds[[name for name in seconds if name not in finals and name != READING]])

    @cached_property
    def curves(self) -> pd.DataFrame:
        return self.csv("curves.csv")

    def plot_as(self, figure: Figure) -> Plot | None:
        """Return what a figure, its own or one with another look, shows of the tables; None if they say it all."""
        curves = self.curves if figure.curve_columns() else pd.DataFrame()
        finals = self.finals if figure.draws_finals else pd.DataFrame()
        return plot_of(Results(figure, curves, finals, self.provenance), self._tables)

    @cached_property
    def plot(self) -> Plot | None:
        """What the figure shows, from the tables; None if that cannot be said."""
        if self.figure is None or self.is_computed:
            return None
        try:
            return self.plot_as(self.figure)
        except (BenchError, KeyError, TypeError, ValueError) as error:
            self.problems.append(f"no picture to point at: the tables don't fit the figure's settings ({error})")
            return None

    def table(self, name: str) -> pd.DataFrame:
        """Return a table by its file name; empty without."""
        return self._tables.get(name, pd.DataFrame())

    def csv(self, name: str, *words: str) -> pd.DataFrame:
        """Return what a file says, empty if it cannot be read; columns ``words`` are not taken for numbers."""
        table = self._read(name, lambda text: from_csv(text, *words))
        return pd.DataFrame() if table is None else table

    def grouped_claims(self) -> list[list[dict[str, Any]]]:
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in self.claims:
            groups.setdefault(row["claim"], []).append(row)
        return list(groups.values())

    def _is_limit(self, run: ManifestRun) -> bool:
        return self.figure is not None and self.figure.is_limit(run.labels)

    def _data(self) -> dict[DataKind, list[str]]:
        """Return the kinds of data used with their checksums."""
        sums: dict[DataKind, set[str]] = {}
        for run in self.manifest.runs:
            of_kind = sums.setdefault(DataKind.of(run.data), set())
            if run.data and run.data != DataKind.SURROGATE:
                of_kind.add(run.data.rpartition("-")[2])
        if DataKind.SURROGATE in self.scale:
            sums.setdefault(DataKind.SURROGATE, set())
        if self.is_computed:
            sums = {DataKind.COMPUTED: set()}
        return {kind: sorted(sums[kind]) for kind in DataKind if kind in sums}

    def _claims(self) -> list[dict[str, Any]]:
        """Return the cases, with numbers as a reader sees them and, as `values`, as they are."""
        rows, known = [], sources(self.figure)
        for row in self.csv("claims.csv", "claim").reindex(columns=names_of("claims")).to_dict("records"):
            values = {part: float(pd.to_numeric(row[part], errors="coerce")) for part in names_of("claims", "number")}
            words = {part: number(row[part]) if pd.notna(row[part]) else "" for part in names_of("claims")}
            if words["verdict"] not in VERDICTS:
                self.problems.append(f"claims.csv: claim {words['claim']} has no verdict, it is shown as open")
                words["verdict"] = "open"
            source = known.get(words["claim"], ClaimSource())
            shown = {"estimate": number(values["estimate"]), "interval": interval(values["ci_low"], values["ci_high"])}
            rows.append({**words, **source._asdict(), **shown, "values": values})
        return rows

    def _read(self, name: str, parse: Callable[[str], Read], folder: Path | None = None) -> Read | None:
        try:
            derived = self._derived if name in DERIVED and name not in self.files else {}
            path = (folder or self.folder) / name
            return parse(derived[name].decode() if name in derived else text_of(path))
        except FileNotFoundError:
            self.problems.append(f"{name} is missing")
        except BenchError as error:
            if self._strict:
                raise
            self.problems += [] if str(error) in self.problems else [str(error)]
        except Exception as error:  # what a damaged file makes of its reader
            reason = str(error).splitlines()[0] if str(error) else "empty"
            problem = f"{name} cannot be read: {reason}; delete it and run the figure's command again"
            if self._strict:
                raise DataError(f"{self.folder}: {problem}") from None
            self.problems.append(problem)
        return None

    @cached_property
    def _derived(self) -> Mapping[str, bytes]:
        if self.figure is None or self._derive is None or not (self.folder_of_runs / REPETITIONS).is_file():
            return {}
        return self._derive(self.figure, self.folder)
