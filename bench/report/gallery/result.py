"""What is on disk of one figure at one scale."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from bench.errors import BenchError
from bench.report.gallery.manifest import Manifest
from bench.report.gallery.picture import Picture, inline
from bench.report.gallery.points import read_marks
from bench.report.gallery.text import duration, interval, number, readable

VERDICTS = ("holds", "fails", "open")
SCALES = ("paper", "reduced", "quick", "smoke")
_CLAIM = ("claim", "text", "case", "estimate", "ci_low", "ci_high", "n", "unit", "expect", "verdict", "note")
_SURROGATE, _PACKAGED = "surrogate", "packaged-"
DATA = {
    "real": "real data",
    "synthetic": "synthetic: drawn at random by a rule",
    "packaged": "a small packaged sample of the real data, which allows no conclusion",
    "surrogate": "data generated in place of the real, which allows no conclusion",
    "computed": "none: computed, nothing was run",
}
"""Kinds of data in words."""
# Kinds whose pictures show more than their tables hold.
_WITH_FINALS = ("dots", "distribution", "bound")
Read = TypeVar("Read")


class Result:
    """A folder of results, read as far as it goes; what is missing or damaged is said in `problems`.

    Parameters
    ----------
    folder
        ``<paper>/<figure>/<scale>[-custom][-surrogate]``.
    figure
        The figure as a plain dict; may be empty.
    """

    def __init__(self, folder: Path, figure: Mapping[str, Any]) -> None:
        self.scale = folder.name
        self.figure_name = folder.parent.name
        self.problems: list[str] = []
        self._folder = folder
        self._figure = figure
        self.files = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name[0] != ".")
        self.manifest = self._read("manifest.json", Manifest.model_validate_json) or Manifest()
        self.data = self._data()
        self.caveat = next((kind for kind in ("surrogate", "packaged") if kind in self.data), "")
        self.claims = self._claims()
        self._table = self._csv(f"{figure.get('compute', 'table')}.csv")
        self.tables = self._tables()
        missing = sum(run.repetitions == 0 for run in self.manifest.runs)
        if missing:
            self.problems.append(f"{missing} of {len(self.manifest.runs)} experiments have no repetition yet")

    @property
    def order(self) -> tuple[int, bool, str]:
        """What to sort by: the largest scale first, what allows conclusions before what does not."""
        size = self.scale.split("-")[0]
        return (SCALES.index(size) if size in SCALES else len(SCALES), bool(self.caveat), self.scale)

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of claims, case by case, that hold, fail and stay open."""
        return {verdict: sum(claim["verdict"] == verdict for claim in self.claims) for verdict in VERDICTS}

    @property
    def size(self) -> str:
        """Repetitions and rounds in words."""
        words = []
        for values, unit in (
            ({run.repetitions for run in self.manifest.runs}, "repetitions"),
            ({run.horizon for run in self.manifest.runs if run.horizon}, "rounds"),
        ):
            if values:
                words.append(
                    f"{' or '.join(f'{value:,}' for value in sorted(values))} {unit[:-1] if values == {1} else unit}"
                )
        return " of ".join(words)

    @property
    def run_time(self) -> str:
        """The seconds of all repetitions together, in words."""
        times = [(run.seconds_per_repetition, run.repetitions) for run in self.manifest.runs]
        known = [seconds * repetitions for seconds, repetitions in times if seconds is not None]
        return duration(sum(known)) if known else "unknown"

    @property
    def made_with(self) -> str:
        """Python, machine and commit in words."""
        about = self.manifest.environment
        git = about.get("git") if isinstance(about.get("git"), dict) else {}
        words = [f"Python {about['python']}" if about.get("python") else "", str(about.get("cpu") or "")]
        if git and git.get("commit"):
            words.append(f"commit {str(git['commit'])[:10]}{' with changes' if git.get('dirty') else ''}")
        return ", ".join(filter(None, words))

    def picture(self) -> Picture | None:
        """Return the figure with its numbers, None if there is none."""
        kind = self._figure.get("kind")
        curves = self._csv("curves.csv") if kind == "curves" else pd.DataFrame()
        finals = self._csv("finals.csv") if kind in _WITH_FINALS else pd.DataFrame()
        try:
            marks = read_marks(self._figure, curves, self._table, finals)
        except (BenchError, KeyError, TypeError, ValueError) as error:
            self.problems.append(f"no numbers in the picture: the tables don't fit the figure's settings ({error})")
            marks = {}
        title = f"{self._figure.get('title', self.figure_name)}, scale {self.scale}"
        prefix = f"{self.scale}-"
        return self._read(f"{self.figure_name}.svg", lambda text: inline(text, prefix, title, marks))

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
            if run.data is None or run.data == _SURROGATE:
                found.setdefault(run.data or "synthetic", set())
            else:
                kind = "packaged" if run.data.startswith(_PACKAGED) else "real"
                found.setdefault(kind, set()).add(run.data.removeprefix(_PACKAGED))
        if _SURROGATE in self.scale:
            found.setdefault(_SURROGATE, set())
        if self._figure.get("kind") == "computed":
            found = {"computed": set()}
        return {kind: sorted(found[kind]) for kind in DATA if kind in found}

    def _tables(self) -> dict[str, dict[str, Any]]:
        kind, figure = self._figure.get("kind"), self._figure
        named = {"Table": self._table}
        if "best.csv" in self.files or (kind == "grid" and figure.get("best") != "none"):
            named = {"Best on the grid": self._csv("best.csv"), "Whole grid": self._table}
        if "ranks.csv" in self.files or kind == "ranking":
            named = {"Ranks": self._csv("ranks.csv"), "By task": self._table}
        return {title: readable(table) for title, table in named.items() if len(table)}

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
        table = self._read(name, lambda text: pd.read_csv(io.StringIO(text), dtype=types))
        return pd.DataFrame() if table is None else table

    def _read(self, name: str, parse: Callable[[str], Read]) -> Read | None:
        try:
            return parse((self._folder / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            self.problems.append(f"{name} is missing")
        except (OSError, ValueError) as error:
            self.problems.append(f"{name} cannot be read: {str(error).splitlines()[0] if str(error) else 'empty'}")
        return None


def _numeric(value: Any) -> Any:
    return pd.to_numeric(value, errors="coerce")
