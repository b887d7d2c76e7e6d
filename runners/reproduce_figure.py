"""One figure: run what is missing for it, then write its tables, claims, pictures and manifest."""

import json
import shlex
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from bench.report.figure import Figure, read_figure
from bench.report.provenance import Provenance
from bench.report.render import notes, render
from bench.report.saving import save
from bench.report.tables import to_csv, to_markdown
from runners.aggregate import aggregate
from runners.capture import environment
from runners.compose import PARTS
from runners.experiment import check as check_experiment
from runners.fanout import run_all
from runners.figures import LabelledRun, expand, load_paper, unfold
from runners.pool import Runner
from runners.store import Store, results_folder, write_text
from runners.timing import finals as timed_finals
from runners.timing import measure, measurements


@dataclass(frozen=True)
class Reproduced:
    """What came of a figure.

    Parameters
    ----------
    complete
        Whether no repetition failed.
    claims
        The verdicts, as `bench.report.claims.check` returns them.
    folder
        Where the files are.
    """

    complete: bool
    claims: pd.DataFrame
    folder: Path


def reproduce_figure(
    figure: Mapping[str, Any], where: str, scale: str, extra: Sequence[str], *, command: str, jobs: int, runner: Runner
) -> Reproduced:
    """Run what is missing for one figure, write all its files, and print a line.

    Parameters
    ----------
    figure
        Its configuration, as `runners.figures.load_figure` returns it.
    where
        The folder, among the results; ``-surrogate`` is added where data was generated in place of the real.
    scale
        How large.
    extra
        Overrides for all its experiments.
    command
        The command that makes the figure, for the manifest.
    jobs, runner
        As in `runners.fanout.run_all`.

    Raises
    ------
    BenchError
        When a setting is wrong, or results cannot be written; what is finished is kept.
    """
    start, figure = time.perf_counter(), read_figure(figure)
    drawn = expand(figure, scale, list(extra))
    for one in drawn:
        check_experiment(one.run.experiment)
    store = Store(results_folder())
    work = [(one.run.experiment, one.run.settings.repetitions) for one in drawn]
    is_timed = figure.source == "timing"  # apart from other work, so in this process and one after the other
    summary = measure(work, store) if is_timed else run_all(work, store, jobs=jobs, runner=runner)
    for one, result in zip(drawn, summary.results, strict=True):
        for repetition, error in sorted(result.failed.items()):
            print(f"error: {where}: {one.labels}: repetition {repetition} failed: {error}", file=sys.stderr)

    provenance = _provenance(figure, drawn, scale)
    folder = results_folder() / f"{where}{'-surrogate' if provenance.surrogate else ''}"
    done = [sorted(result.done) for result in summary.results]
    curves, finals = pd.DataFrame(), pd.DataFrame()
    if is_timed:
        finals = timed_finals(drawn, done, store)
    elif figure.source == "runs":
        both = aggregate(drawn, done, store, columns=figure.curve_columns(), keep=figure.kept_rounds)
        curves, finals = (unfold(figure, table) for table in both)
    made = render(figure, curves, finals, provenance=provenance)
    for file, table in made.tables.items():
        write_text(folder / f"{file}.csv", to_csv(table))
        write_text(folder / f"{file}.md", to_markdown(table, figure.heading, notes(figure, provenance)))
    if drawn:
        write_text(folder / "finals.csv", to_csv(finals))
    write_text(folder / "claims.csv", to_csv(made.claims))
    if len(curves):
        write_text(folder / "curves.csv", to_csv(curves, digits=8))
    manifest = _manifest(figure, where, drawn, provenance, scale, extra, command, store, done)
    write_text(folder / "manifest.json", json.dumps(manifest, indent=1))
    save(made.picture, folder, figure.name)

    new = sum(len(result.new) for result in summary.results)
    failed = sum(len(result.failed) for result in summary.results)
    print(
        f"{where}: {sum(map(len, done))} repetitions ({new} new, {failed} failed), "
        f"{time.perf_counter() - start:.1f} s; claims: {_spell(made.claims)}; {folder}",
        flush=True,
    )
    return Reproduced(not failed, made.claims, folder)


def _spell(claims: pd.DataFrame) -> str:
    return ", ".join(f"{count} {word}" for word, count in sorted(Counter(claims["verdict"]).items())) or "none"


def _provenance(figure: Figure, drawn: list[LabelledRun], scale: str) -> Provenance:
    """Return what the figure's numbers rest on."""
    return Provenance(
        scale="" if figure.paper == "none" else scale,
        repetitions=tuple(sorted({one.run.settings.repetitions for one in drawn})),
        horizons=tuple(sorted({one.run.settings.horizon for one in drawn})),
        surrogate=tuple(sorted({one.run.choices["env"] for one in drawn if one.run.experiment.surrogate})),
        packaged=any(one.run.experiment.packaged for one in drawn),
    )


def _manifest(
    figure: Figure,
    where: str,
    drawn: list[LabelledRun],
    provenance: Provenance,
    scale: str,
    extra: Sequence[str],
    command: str,
    store: Store,
    done: list[list[int]],
) -> dict[str, Any]:
    """Return everything that a reader needs to judge the figure or to make it again."""
    runs = []
    for one, repetitions in zip(drawn, done, strict=True):
        experiment = one.run.experiment
        if figure.source == "timing":
            sides = [measurements(store, experiment.run_id)[number] for number in repetitions]
        else:
            sides = [store.read_side(experiment.run_id, repetition) for repetition in repetitions]
        known = [side["seconds"] for side in sides if side.get("seconds") is not None]
        runs.append(
            {
                "labels": one.labels,
                "command": shlex.join(["python", "-m", "runners.run", *one.overrides, *_size(one), *extra]),
                "run_id": experiment.run_id,
                "repetitions": len(repetitions),
                "horizon": one.run.settings.horizon,
                "data": experiment.fingerprint,
                "seconds_per_repetition": round(sum(known) / len(known), 4) if known else None,
            }
        )
    return {
        "figure": f"{where.partition('/')[0]}/{figure.name}",
        "title": figure.heading,
        "scale": scale,
        "command": command,
        "settings": settings_table(figure, drawn, scale),
        "provenance": provenance.model_dump(mode="json"),
        "published": figure.published,
        "runs": runs,
        "environment": environment(),
    }


def _size(one: LabelledRun) -> list[str]:
    """Return what scale and figure say of the run's size, as overrides of a single run."""
    return [f"horizon={one.run.settings.horizon}", f"repetitions={one.run.settings.repetitions}"]


def settings_table(figure: Mapping[str, Any], drawn: list[LabelledRun], scale: str = "paper") -> list[dict[str, Any]]:
    """Return every setting of the figure's experiments with its values, its source and the place.

    The source is ``scale`` for what is not of the paper's size; else the figure's where it names the key
    (``env.dim``), else the paper's (``env.synthetic_linear.dim``), else ``assumed``: the suite's own default.
    """
    paper = load_paper(figure["paper"])
    sources = paper["sources"]
    rows: dict[str, dict[str, Any]] = {}
    at_scale = {
        override.lstrip("+").partition("=")[0]
        for override in figure.get("scales", {}).get(scale, {}).get("overrides", [])
    }
    for one in drawn:
        flat = {"horizon": one.run.settings.horizon, "repetitions": one.run.settings.repetitions}
        for part in PARTS:
            own = _flatten(one.run.experiment.settings.get(part) or {}, f"{part}.{one.run.choices[part]}")
            flat |= {key: value for key, value in own.items() if part != "task" or value}  # what a task is not given
        for key, value in flat.items():
            part, _, rest = key.partition(".")
            general = f"{part}.{rest.partition('.')[2]}" if rest else key
            given = figure.get("sources", {}).get(general) or sources.get(key)
            source, where = given or ["assumed", "the suite's default"]
            if general in at_scale or (not rest and value != figure.get(key, paper["settings"].get(key, value))):
                source, where = "scale", "less than the paper's, or as the command says"
            row = rows.setdefault(key, {"key": key, "values": [], "source": source, "where": where})
            if value not in row["values"]:
                row["values"].append(value)
    return list(rows.values())


def _flatten(node: dict[str, Any], prefix: str) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in node.items():
        if key == "_target_":
            continue
        if isinstance(value, dict) and value:
            flat |= _flatten(value, f"{prefix}.{key}")
        else:
            flat[f"{prefix}.{key}"] = value
    return flat
