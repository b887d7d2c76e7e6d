"""Figures whose data is not here, drawn from the repetitions that are committed beside them: nothing is run."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from bench.errors import BenchError, one_line
from bench.report.provenance import SURROGATE
from runners.config.figures import LabelledRun, expand
from runners.config.runner import Runner
from runners.execute.pool import spread
from runners.execute.write_figure import write_pictures, write_tables
from runners.results.derive import derive_committed
from runners.results.golden import is_backed
from runners.results.plan import FigurePlan, Reproduced, figure_line, reproduced
from runners.results.store import results_folder


def with_committed(plans: Iterable[FigurePlan]) -> list[tuple[FigurePlan, Path]]:
    """Return the figures all of whose repetitions are committed, each with the folder where they are."""
    return [(plan, folder) for plan in plans if (folder := _committed_folder(plan))]


def _committed_folder(plan: FigurePlan) -> Path | None:
    """Return the folder whose committed repetitions are those of all runs of a figure, None if there is none.

    A run whose data is not here is one of them if its identity with the data that the manifest names is committed.
    """
    figure = plan.figure
    folders = [results_folder() / f"{plan.where}{kind}" for kind in ("", "-surrogate")]
    manifests = {folder: _manifest(folder) for folder in folders if figure.source == "runs"}
    there = [folder for folder in folders if manifests.get(folder) and is_backed(figure, folder)]
    if not there:
        return None
    drawn = expand(figure, plan.scale, list(plan.extra), readings=plan.readings)
    return next((folder for folder in there if _has_all(manifests[folder]["runs"], drawn, plan.most)), None)


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _has_all(entries: list[Mapping[str, Any]], drawn: list[LabelledRun], most: int | None) -> bool:
    by_labels = {_key(entry["labels"]): entry for entry in entries}
    if by_labels.keys() != {_key(one.labels) for one in drawn}:
        return False
    for one in drawn:
        entry, experiment = by_labels[_key(one.labels)], one.run.experiment
        if experiment.fingerprint == SURROGATE:
            experiment = experiment.on_data(entry["data"])
        if entry["run_id"] != experiment.run_id:
            return False
        if most is None and entry["repetitions"] != one.run.settings.repetitions:
            return False
    return True


def _key(labels: Mapping[str, str]) -> str:
    return json.dumps(labels, sort_keys=True)


def redraw_figures(plans: Iterable[tuple[FigurePlan, Path]], *, jobs: int, runner: Runner) -> Iterator[Reproduced]:
    """Write tables and pictures of some figures from what is committed in their folders, and print their lines."""
    for made, line in spread(runner, jobs)(_redraw, list(plans)):
        if line:
            print(line, flush=True)
        yield made


def _redraw(plan: FigurePlan, folder: Path) -> tuple[Reproduced, str]:
    try:
        derived = derive_committed(plan.figure, folder)
        write_tables(plan, derived, folder)
        write_pictures(plan, derived, folder)
    except BenchError as error:
        claims = pd.DataFrame({"verdict": [], "holm": []})
        return Reproduced(False, claims, folder, error=one_line(error)), ""
    claims = derived.rendering.claims
    total = sum(run["repetitions"] for run in _manifest(folder)["runs"])
    return reproduced(plan.figure, claims, folder, complete=True), figure_line(
        plan, [f"{total} repetitions", "0 new"], claims
    )
