"""The page of what is running: how far it is, and the figures as they stand."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bench.errors import BenchError
from bench.report.figure import Figure, read_figure
from bench.report.gallery.live import Sketch, page, sketches
from bench.report.provenance import Provenance
from bench.report.results import Results
from runners.config.figures import unfold
from runners.execute.live import Group, LiveRun, Status
from runners.results.aggregate import Kept, curve_table, final_table, thin
from runners.results.store import Store

SECONDS = 4.0
"""How long a figure's sketch is shown before it is drawn anew."""
MOST_GROUPS = 4
"""Of the figures in progress, how many are drawn."""


class _Labelled(NamedTuple):
    """What the tables need to know of an experiment."""

    labels: dict[str, str]


class Drawings:
    """Figures drawn of the repetitions there are, each repetition read once.

    Parameters
    ----------
    results
        The folder of results; nothing is changed in it.
    """

    def __init__(self, results: Path) -> None:
        self.store = Store(results)
        self._kept: dict[tuple[str, str, int], Kept] = {}
        self._drawn: dict[str, tuple[float, list[Sketch]]] = {}

    def of(self, group: Group) -> list[Sketch]:
        """Return a group's panels as they stand; those of a moment ago if there are any."""
        name = json.dumps([group.name, [run.run_id for run in group.runs]])
        when, known = self._drawn.get(name, (0.0, []))
        if time.monotonic() - when > SECONDS or not when:
            known = self._draw(group)
            self._drawn[name] = (time.monotonic(), known)
        return known

    def settings(self, run_id: str) -> dict[str, Any] | None:
        """Return what a run's name is the hash of; None if there is no such run."""
        try:
            found: dict[str, Any] = json.loads((self.store.folder(run_id) / "settings.json").read_bytes())
        except (BenchError, OSError, ValueError):
            return None
        return found

    def _draw(self, group: Group) -> list[Sketch]:
        figure = read_figure(group.figure) if group.figure else self._of_runs(group.runs)
        own, done = [], []
        for run in group.runs:
            numbers = sorted(number for number in self.store.done(run.run_id) if number < run.repetitions)
            there = [self._read(figure, run.run_id, number) for number in numbers]
            own.append([one for one in there if one is not None])
            done.append([number for number, one in zip(numbers, there, strict=True) if one is not None])
        if not any(done):
            return []
        drawn: Any = [_Labelled(run.labels) for run in group.runs]
        curves, finals = unfold(figure, curve_table(drawn, own)), unfold(figure, final_table(drawn, done, own))
        results = Results(figure, curves, finals, Provenance())
        return sketches(figure.plot(results, figure.tables(results)))

    def _of_runs(self, runs: Sequence[LiveRun]) -> Figure:
        """Return a figure for runs that are of none: their regret, or what they have instead."""
        names: list[str] = []
        for run in runs:
            for number in sorted(self.store.done(run.run_id))[:1]:
                names = [name for name in self._table(run.run_id, number).column_names if name != "round"]
        column = next((name for name in ("regret", "reward") if name in names), (names or ["regret"])[0])
        return read_figure({"name": "run", "kind": "curves", "column": column, "x_label": "round", "runs": [{}]})

    def _read(self, figure: Mapping[str, Any], run_id: str, number: int) -> Kept | None:
        key = figure["name"], run_id, number
        if key not in self._kept:
            known = read_figure(figure)
            try:
                trace = self._table(run_id, number).to_pandas()
            except (OSError, pa.ArrowException):  # it is gone, or not whole
                return None
            side = self.store.read_side(run_id, number)
            self._kept[key] = thin(trace, side, known.curve_columns(), known.kept_rounds, None)
        return self._kept[key]

    def _table(self, run_id: str, number: int) -> pa.Table:
        return pq.ParquetFile(self.store.path(run_id, number)).read()


def live_page(drawings: Drawings, known: Sequence[Status]) -> str:
    """Return the page of all processes that run repetitions."""
    shown = []
    for status in known:
        groups = sorted(status.groups, key=lambda group: not 0 < group.finished < group.total)
        parts: list[tuple[Group, list[Sketch] | str]] = []
        for group in groups:
            parts.append((group, _try(drawings, group) if len(parts) < MOST_GROUPS and group.finished else []))
        shown.append((status, parts))
    return page(shown)


def run_page(drawings: Drawings, run_id: str) -> str | None:
    """Return the page of a single run; None if there is no such run."""
    settings = drawings.settings(run_id)
    if settings is None:
        return None
    done = drawings.store.done(run_id)
    run = LiveRun(run_id=run_id, labels={}, repetitions=max(done, default=-1) + 1)
    group = Group(name=run_id, runs=[run], finished=len(done), total=len(done))
    return page([], run=(group, _try(drawings, group), json.dumps(settings, indent=1)))


def _try(drawings: Drawings, group: Group) -> list[Sketch] | str:
    """Return a group's panels, or why it cannot be drawn."""
    try:
        return drawings.of(group)
    except (BenchError, KeyError, TypeError, ValueError, pd.errors.DataError) as error:
        return f"cannot be drawn yet: {error}"
