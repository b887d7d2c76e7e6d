"""Ordinary pages of figures that are running, and of single runs, made of the repetitions there are."""

import json
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bench.errors import BenchError, one_line
from bench.report.figure import Figure, read_figure
from bench.report.gallery.build import figure_page, render
from bench.report.gallery.papers import COMPARE, PaperPage, read_one
from bench.report.gallery.papers import Figure as FigurePage
from bench.report.gallery.result import Result
from bench.report.provenance import Provenance
from bench.report.results import Results
from bench.report.tables import to_csv
from runners.execute.live import LiveRun, Status, running
from runners.results.aggregate import Kept, thin
from runners.results.derive import LabelledKept, committed_long_tables, evidence
from runners.results.store import Store, write_text

OVERVIEW, RUN = "live.html", "run"
"""The page of all that is running, and the folder of pages of single runs, among those of papers."""
_SCALE = "running"


class LivePages:
    """Pages made anew whenever they are asked for; each repetition is read once.

    Parameters
    ----------
    results
        The folder of results; nothing is changed in it.
    """

    def __init__(self, results: Path) -> None:
        self.store = Store(results)
        self._kept: dict[tuple[str, str, int], Kept] = {}
        self._seen: dict[str, str] = {}
        self.drawing = threading.Lock()
        """Held while pages are made: matplotlib's settings are those of the whole process."""

    def running(self) -> list[Status]:
        """Return what runs now, and remember where its pages are."""
        processes = running(self.store.root)
        for group in (group for process in processes for group in process.groups):
            if group.figure is not None:
                self._seen[group.name] = f"/{quote(group.name)}/index.html"
            else:
                self._seen |= {f"run {run.run_id}": f"/{RUN}/{run.run_id}/index.html" for run in group.runs}
        return processes

    def page(self, name: str) -> str | None:
        """Return `OVERVIEW`, the page of a figure while it runs, or of a run (``run/<run_id>``); None of all else."""
        paper, _, own_name = name.partition("/")
        if name in (OVERVIEW, RUN):
            processes = self.running()
            now = {group.name for process in processes for group in process.groups}
            now |= {f"run {run.run_id}" for process in processes for group in process.groups for run in group.runs}
            ended = {words: address for words, address in self._seen.items() if words not in now}
            return render("live", "/", processes=processes, ended=ended)
        if paper == RUN:
            return self._run(own_name)
        groups = [(status, group) for status in self.running() for group in status.groups]
        for status, group in groups:
            if group.name == name and group.figure is not None and group.finished:
                words = f"running: {group.finished:,} of {group.total:,} repetitions"
                return self._page(name, group.figure, group.runs, {"command": status.command}, words)
        return None

    def _run(self, run_id: str) -> str | None:
        identity = self._identity(run_id)
        if not identity:
            return None
        done = sorted(self.store.done(run_id))
        trace = self._read(run_id, done[0]) if done else None
        columns = [] if trace is None else [str(name) for name in trace if name != "round"]
        column = next((name for name in ("regret", "reward", *columns) if name in columns), "regret")
        config = {"name": "run", "title": "a single run", "kind": "curves", "column": column, "x_label": "round"}
        runs = [LiveRun(run_id=run_id, labels={}, repetitions=max(done, default=-1) + 1)]
        settings = [{"key": key, "values": [value], "source": ""} for key, value in identity["settings"].items()]
        return self._page(f"{RUN}/{run_id}", {**config, "runs": [{}]}, runs, {"settings": settings})

    def _page(
        self, name: str, config: Mapping[str, Any], runs: Sequence[LiveRun], more: Mapping[str, Any], words: str = ""
    ) -> str:
        """Return the ordinary page of the repetitions there are."""
        paper, _, own_name = name.partition("/")
        page, figure = FigurePage(paper, own_name, {}, []), None
        problems = [words] if words else []
        manifest = {**more, "runs": [self._entry(run) for run in runs]}
        provenance = Provenance.of_manifest(manifest).model_copy(update={"sequential": True})
        files = {"manifest.json": json.dumps(manifest | {"provenance": provenance.model_dump()})}
        try:
            figure = read_figure(config)
            page.config = figure.given()
            if paper not in (RUN, COMPARE):
                page.results += read_one(self.store.root, name, figure, committed_long_tables).results
            files |= self._tables(figure, runs, provenance)
        except (BenchError, KeyError, TypeError, ValueError) as error:
            problems.append(f"cannot be drawn yet: {one_line(error)}")
        with tempfile.TemporaryDirectory() as temporary, self.drawing:
            folder = Path(temporary) / _SCALE
            for file, text in files.items():
                write_text(folder / file, text)
            result = Result(folder, figure)
            result.problems[:] = problems  # that claims and environment are missing goes without saying
            result.commands, result.files = [], []  # overrides are not known here, and nothing can be downloaded
            page.results.insert(0, result)
            return figure_page(PaperPage(paper, figures=[page]), page)[1]

    def _tables(self, figure: Figure, runs: Sequence[LiveRun], provenance: Provenance) -> dict[str, str]:
        """Return the tables of the repetitions there are, as CSV by file name."""
        curves, finals, _ = evidence(figure, [self._labelled(figure, run) for run in runs], provenance)
        tables = {**figure.tables(Results(figure, curves, finals, provenance)), "curves": curves, "finals": finals}
        return {f"{name}.csv": to_csv(table) for name, table in tables.items() if len(table)}

    def _labelled(self, figure: Figure, run: LiveRun) -> LabelledKept:
        kept: dict[int, Kept] = {}
        for number in sorted(number for number in self.store.done(run.run_id) if number < run.repetitions):
            key = f"{figure.name} {figure.curve_columns()}", run.run_id, number
            if key not in self._kept:
                trace = self._read(run.run_id, number)
                if trace is None:
                    continue
                side = self.store.read_side(run.run_id, number)
                self._kept[key] = thin(trace, side, figure.curve_columns(), figure.kept_rounds, None)
            kept[number] = self._kept[key]
        return LabelledKept(run.labels, list(kept), list(kept.values()))

    def _read(self, run_id: str, number: int) -> pd.DataFrame | None:
        """Return a repetition; None if it is gone, or not whole, which is another command's business."""
        try:
            return pq.ParquetFile(self.store.path(run_id, number)).read().to_pandas()
        except (OSError, pa.ArrowException):
            return None

    def _identity(self, run_id: str) -> dict[str, Any]:
        """Return what a run's name is the hash of; empty if there is no such run."""
        try:
            identity: dict[str, Any] = json.loads((self.store.folder(run_id) / "settings.json").read_bytes())
        except (BenchError, OSError, ValueError):
            return {}
        return identity

    def _entry(self, run: LiveRun) -> dict[str, Any]:
        """Return what a manifest says of a run as far as it is."""
        identity = self._identity(run.run_id)
        done = sum(number < run.repetitions for number in self.store.done(run.run_id))
        of_run = {"horizon": identity.get("settings", {}).get("horizon"), "data": identity.get("fingerprint")}
        return {"run_id": run.run_id, "labels": run.labels, "repetitions": done, **of_run}
