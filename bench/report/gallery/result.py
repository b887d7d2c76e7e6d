"""What is on disk of one figure at one scale."""

import io
import math
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import pandas as pd

from bench.errors import BenchError
from bench.report.claims import VERDICTS, after_holm
from bench.report.figure import Figure
from bench.report.gallery.beside import Beside
from bench.report.gallery.finding import finding
from bench.report.gallery.inputs import PAGE
from bench.report.gallery.manifest import Made, Manifest
from bench.report.gallery.picture import Picture, picture
from bench.report.gallery.text import duration, interval, number, readable
from bench.report.overrides import commands
from bench.report.plot import Plot
from bench.report.provenance import ALTERED, PACKAGED, SURROGATE, Provenance, number_of_repetitions, number_of_rounds
from bench.report.reading import Reading
from bench.report.readings import AS_PRINTED, EXACT, EXPLAINED, INSIDE, UNEXPLAINED, specification
from bench.report.render import plot_of
from bench.report.results import Results

PARTS = ("env", "algorithm", "tuner")
PICTURES = ("png", "svg", "pdf")
SCALES = ("paper", "reduced", "quick", "smoke")
_CLAIM = (
    *("claim", "text", "case", "estimate", "ci_low", "ci_high", "n", "unit", "expect"),
    *("verdict", "holm", "needs", "note"),
)
DATA = {
    "real": "real data",
    "synthetic": "synthetic: drawn at random by a rule",
    "packaged": "a small packaged sample of the real data, too small to conclude from",
    "surrogate": "data generated in place of the real, which says nothing about the paper",
    "altered": "data that differs from the published data, which says nothing about the paper",
    "computed": "none: computed, nothing was run",
}
"""Kinds of data in words."""
DERIVED, REPETITIONS = ("finals.csv", "curves.csv"), "repetitions.parquet"
"""Tables of which reference results have no files, and the file that has all that they say."""
Read = TypeVar("Read")
Derive = Callable[[Figure, Path], Mapping[str, bytes]]


class ReadingsView(NamedTuple):
    """Readings, verdicts by claim (id and text), case and reading, and published numbers: table, picture, counts."""

    readings: list[Reading]
    matrix: dict[tuple[str, str], dict[str, dict[str, str]]]
    numbers: dict[str, Any] | None
    picture: Picture | None
    counts: dict[str, int]


class Result:
    """A folder of results, read as far as it goes; what is missing or damaged is said in `problems`.

    Parameters
    ----------
    folder
        ``<paper>/<figure>/<scale>[-custom][-surrogate|-altered]``; of a comparison ``compare/<name>``.
    figure
        The figure; None if it is unknown.
    derive
        What makes the files `DERIVED` of a figure and a folder that has `REPETITIONS` in place of them.
    is_own
        Whether it is a comparison of a user's own, whose pages lie beside its results.
    """

    def __init__(
        self, folder: Path, figure: Figure | None, derive: Derive | None = None, *, is_own: bool = False
    ) -> None:
        self.scale = folder.name
        self.is_own = is_own
        self.at = "" if is_own else f"{quote(folder.name)}/"
        """What leads from the figure's page to its files."""
        self.problems: list[str] = []
        self.folder = folder
        self._figure = figure
        self._derive = derive
        found = (path.name for path in folder.iterdir() if path.is_file() and path.name[0] != ".")
        self.files = sorted(name for name in found if name != PAGE)
        self.manifest = self._read("manifest.json", Manifest.model_validate_json) or Manifest()
        self._provenance = Provenance.of_manifest(self.manifest.model_dump(exclude_none=True))
        self.made = self._read("environment.json", Made.model_validate_json) or Made()
        self.data = self._data()
        self.caveat = next((kind for kind in ("altered", "surrogate", "packaged") if kind in self.data), "")
        self.claims = self._claims()
        titles = figure.table_titles() if figure else {"table": "Table"}
        self._tables = {name: self._csv(f"{name}.csv") for name in titles}
        self.tables = {titles[name]: readable(table) for name, table in self._tables.items() if len(table)}
        missing = sum(run.repetitions == 0 for run in self.manifest.runs)
        if missing:
            self.problems.append(f"{missing} of {len(self.manifest.runs)} experiments have no repetition yet")

    @property
    def order(self) -> tuple[int, bool, str]:
        """What to sort by: the largest scale first, real and synthetic data before stand-ins."""
        size = self.scale.split("-")[0]
        return (SCALES.index(size) if size in SCALES else len(SCALES), bool(self.caveat), self.scale)

    @property
    def is_reference(self) -> bool:
        """Whether it is a result to be committed, not a user's own."""
        return not self.is_own and self.scale.startswith("paper")

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of claims, case by case, by verdict."""
        return {verdict: sum(claim["verdict"] == verdict for claim in self.claims) for verdict in VERDICTS}

    @property
    def holm(self) -> str:
        """How many verdicts remain after Holm's correction, in words; "" where no case was decided by a test."""
        decided, remain = after_holm([case["holm"] for case in self.claims])
        return f"{remain} of {decided} decided cases remain after Holm's correction" if decided else ""

    @property
    def size(self) -> str:
        """Repetitions and rounds in words."""
        words = [self.repetitions] if self.manifest.runs else []
        horizons = {run.horizon for run in self.manifest.runs if run.horizon}
        if horizons:
            words.append(number_of_rounds(horizons))
        return " of ".join(words)

    @property
    def repetitions(self) -> str:
        """The number of repetitions in words."""
        numbers = {run.repetitions for run in self.manifest.runs}
        return number_of_repetitions(numbers, sequential=self._provenance.sequential) if numbers else ""

    @property
    def seconds(self) -> float | None:
        """The seconds of all repetitions together; None if they are not known."""
        times = self.seconds_by_run
        return sum(times.values()) if times else None

    @property
    def seconds_by_run(self) -> dict[str, float]:
        """The seconds of each run's repetitions, as far as they are known; readings may share some of them."""
        known = self.made.seconds_per_repetition
        in_order = sorted(self.manifest.runs, key=lambda run: run.repetitions)  # the largest number counts
        return {run.run_id: known[run.run_id] * run.repetitions for run in in_order if run.run_id in known}

    @property
    def run_time(self) -> str:
        """The seconds of all repetitions together, in words."""
        return "unknown" if self.seconds is None else duration(self.seconds)

    @property
    def commit(self) -> str:
        """The commit of the code that made it, in words; "" if it is not known."""
        git = self.made.git or {}
        known = str(git.get("commit") or "")[:10]
        return f"{known}{' with changes' if git.get('dirty') else ''}" if known else ""

    @property
    def made_with(self) -> str:
        """Python, machine and commit in words."""
        made = self.made
        words = [f"Python {made.python}" if made.python else "", made.cpu, self.commit and f"commit {self.commit}"]
        return ", ".join(filter(None, words))

    @property
    def is_computed(self) -> bool:
        """Whether a formula made the numbers, and nothing was run."""
        return self._figure is not None and self._figure.source == "formula"

    @cached_property
    def finals(self) -> pd.DataFrame:
        """The final values of all repetitions."""
        return self._csv("finals.csv")

    @cached_property
    def plot(self) -> Plot | None:
        """What the figure shows, from the tables; None if that cannot be said."""
        if self._figure is None or self.is_computed:
            return None
        curves = self._csv("curves.csv") if self._figure.curve_columns() else pd.DataFrame()
        finals = self.finals if self._figure.draws_finals else pd.DataFrame()
        if len(finals) and "seconds.csv" in self.files:  # its rows are those of finals.csv
            seconds = self._csv("seconds.csv")
            finals = finals.join(seconds[[name for name in seconds if name not in finals]])
        try:
            results = Results(self._figure, curves, finals, self._provenance)
            return plot_of(self._figure, results, self._tables)
        except (BenchError, KeyError, TypeError, ValueError) as error:
            self.problems.append(f"no picture to point at: the tables don't fit the figure's settings ({error})")
            return None

    def picture(self) -> Picture | None:
        """Return the figure with its numbers; None if it cannot be drawn."""
        return None if self.plot is None else picture(self.plot, f"{self.scale}-")

    def table(self, name: str) -> pd.DataFrame:
        """Return a table by its file name; empty without."""
        return self._tables.get(name, pd.DataFrame())

    @cached_property
    def commands(self) -> list[str]:
        """The command of each distinct run."""
        return list(dict.fromkeys(commands(self.manifest.model_dump())))

    @cached_property
    def choices(self) -> dict[str, list[str]]:
        """The environments, algorithms and tuners of its runs, as their commands name them."""
        words = [word for command in self.commands for word in command.split()]
        return {
            part: sorted({word.removeprefix(f"{part}=") for word in words if word.startswith(f"{part}=")})
            for part in PARTS
        }

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
    def agreement(self) -> tuple[int, int]:
        """How many published means lie inside the interval of the measured mean, and of how many."""
        return sum(row.is_inside for row in self.published), len(self.published)

    @property
    def finding(self) -> str:
        """What its claims came to, in a sentence."""
        return finding([[case["verdict"] for case in cases] for cases in self.grouped_claims()])

    @property
    def downloads(self) -> dict[str, list[tuple[str, str]]]:
        """Files to be downloaded, by what they are: what each is called, and its name."""
        found: dict[str, list[tuple[str, str]]] = {"Picture": [], "Other pictures": [], "Tables": []}
        name = self._figure.name if self._figure else self.folder.parent.name
        for file in self.files:
            stem, _, ending = file.rpartition(".")
            if ending in PICTURES:
                is_main = stem == name
                words = ending.upper() if is_main else f"{stem.removeprefix(f'{name}_')} {ending.upper()}"
                found["Picture" if is_main else "Other pictures"].append((words, file))
            elif ending in ("csv", "tex") or file in ("manifest.json", REPETITIONS):
                found["Tables"].append((file, file))
        return {kind: own for kind, own in found.items() if own}

    def readings(self) -> "ReadingsView | None":
        """Return what the page shows of the figure's readings and published numbers; None where there are neither."""
        if self._figure is None or self.is_own:
            return None
        claims, numbers = (
            self._csv(name, {"claim": str, "reading": str, "by": str}) if name in self.files else pd.DataFrame()
            for name in ("readings.csv", "numbers.csv")
        )
        if claims.empty and numbers.empty:
            return None
        names = [reading.name for reading in self._figure.readings] or [AS_PRINTED]
        if not {*claims.get("reading", []), *numbers.get("reading", [])} <= set(names):
            self.problems.append("readings.csv or numbers.csv has other readings than the figure: they are not shown")
            return None
        matrix: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
        for row in claims.fillna({"case": "", "text": ""}).to_dict("records"):
            verdicts = matrix.setdefault((row["claim"], row["text"]), {}).setdefault(str(row["case"]), {})
            verdicts[row["reading"]] = row["verdict"]
        drawn, counts = None, dict[str, int]()
        try:
            if len(numbers):
                of_numbers = numbers.loc[numbers["reading"] == names[0], "verdict"]
                counts = {word: int((of_numbers == word).sum()) for word in (EXACT, INSIDE, EXPLAINED, UNEXPLAINED)}
                if self._figure.readings:
                    drawn = picture(specification(self._figure, numbers), f"{self.scale}-numbers-")
        except (KeyError, TypeError, ValueError) as error:
            self.problems.append(f"no picture of the numbers: numbers.csv doesn't fit the figure ({error})")
        shown = readable(numbers.drop(columns="cell", errors="ignore")) if counts else None
        return ReadingsView(self._figure.readings, matrix, shown, drawn, counts)

    def grouped_claims(self, verdict: str = "") -> list[list[dict[str, Any]]]:
        """Return, claim by claim, the cases that have a verdict; of all verdicts by default."""
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in self.claims:
            if verdict in ("", row["verdict"]):
                groups.setdefault(row["claim"], []).append(row)
        return list(groups.values())

    def _data(self) -> dict[str, list[str]]:
        """Return the kinds of data used, see `DATA`, with their checksums."""
        found: dict[str, set[str]] = {}
        for run in self.manifest.runs:
            if run.data is None or run.data == SURROGATE:
                found.setdefault(run.data or "synthetic", set())
            else:
                mark = next((mark for mark in (ALTERED, PACKAGED) if run.data.startswith(mark)), "")
                found.setdefault(mark.rstrip("-") or "real", set()).add(run.data.removeprefix(mark))
        if SURROGATE in self.scale:
            found.setdefault(SURROGATE, set())
        if self.is_computed:
            found = {"computed": set()}
        return {kind: sorted(found[kind]) for kind in DATA if kind in found}

    def _claims(self) -> list[dict[str, Any]]:
        table = self._csv("claims.csv", {"claim": str})
        rows = []
        for row in table.reindex(columns=_CLAIM).to_dict("records"):
            estimate, low, high = (float(_numeric(row[part])) for part in ("estimate", "ci_low", "ci_high"))
            words = {part: number(row[part]) if pd.notna(row[part]) else "" for part in _CLAIM}
            if words["verdict"] not in VERDICTS:
                self.problems.append(f"claims.csv: claim {words['claim']} has no verdict, it is shown as open")
                words["verdict"] = "open"
            rows.append({**words, "estimate": number(estimate), "interval": interval(low, high)})
        return rows

    def _csv(self, name: str, types: Any = None) -> pd.DataFrame:
        table = self._read(name, lambda text: pd.read_csv(io.StringIO(text), dtype=types, low_memory=False))
        return pd.DataFrame() if table is None else table

    def _read(self, name: str, parse: Callable[[str], Read]) -> Read | None:
        try:
            return parse(self._text(name))
        except FileNotFoundError:
            self.problems.append(f"{name} is missing")
        except BenchError as error:
            self.problems += [] if str(error) in self.problems else [str(error)]
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0] if str(error) else "empty"
            self.problems.append(f"{name} cannot be read: {reason}; delete it and run the figure's command again")
        return None

    def _text(self, name: str) -> str:
        derived = self._derived if name in DERIVED and name not in self.files else {}
        return derived[name].decode() if name in derived else (self.folder / name).read_text(encoding="utf-8")

    @cached_property
    def _derived(self) -> Mapping[str, bytes]:
        if self._figure is None or self._derive is None or REPETITIONS not in self.files:
            return {}
        return self._derive(self._figure, self.folder)


def _numeric(value: Any) -> Any:
    return pd.to_numeric(value, errors="coerce")
