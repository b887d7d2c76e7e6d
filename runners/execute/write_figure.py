"""Everything that is written of a figure: tables, claims, pictures, manifest, and its repetitions."""

import json
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from bench.audit.readings import ResultTables
from bench.columns import is_measured
from bench.data_kind import DataKind
from bench.errors import BenchError, one_line
from bench.report.figure import Figure
from bench.report.kinds.timing import Timing
from bench.report.page import draw
from bench.report.provenance import Provenance, factored, key_of
from bench.report.reading import READING
from bench.report.render import notes
from bench.report.results import Results
from bench.report.saving import save
from bench.report.tables import to_csv, to_markdown
from runners.config.compose import parse
from runners.config.figures import LabelledRun, by_reading, other_than_published, settings_of, without_reading
from runners.config.papers import leaves, load_paper
from runners.execute.figure_run import FigureRun, all_failed
from runners.execute.timing import Part, finals_of, measurements
from runners.results.aggregate import Repetitions
from runners.results.capture import environment, kind_of_machine
from runners.results.committed import FILE, SECONDS, write_repetitions
from runners.results.derive import Derived, derive, derive_committed, long_tables, thinning
from runners.results.golden import is_backed
from runners.results.stamps import read_stamps, renew_digests, write_stamps
from runners.results.store import Store, read_json, results_folder, write_bytes, write_manifest, write_text


def write(run: FigureRun, store: Store) -> FigureRun:
    """Write all files of a figure, and return it with its line. Called in the workers.

    An error becomes part of the figure, so that others go on. Where all repetitions failed nothing is written.
    """
    if run.failed and not any(run.done()):
        run.error = all_failed(run.failed, store)
        return run
    try:
        _write(run, store)
    except Exception as error:
        run.error = one_line(error) if isinstance(error, BenchError) else _where(error)
    run.say_what_failed(store)
    run.forget()
    return run


def _where(error: Exception) -> str:
    """Return an unexpected error with the place in the code."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {one_line(error)} ({Path(last.filename).name}, line {last.lineno})"


def _write(run: FigureRun, store: Store) -> None:
    figure, folder = run.figure, run.folder
    runs = run.read(store) if figure.source == "runs" else []
    derived = _derived(run, runs, store)
    if run.is_reference and runs:
        by_key: dict[str, dict[int, Any]] = {}
        for labelled, repetitions in zip(run.drawn, runs, strict=True):
            by_key.setdefault(labelled.experiment.key, {}).update(repetitions.kept)
        write_repetitions(folder, thinning(figure), by_key)
    write_manifest(folder, _manifest(run, derived))
    write_text(folder / "environment.json", json.dumps(_environment(run, runs, store), indent=1))
    _write_derived(run, derived, sum(map(len, run.done())))
    if run.is_reference:
        write_stamps(folder, {labelled.experiment.key: labelled.experiment.stamp for labelled in run.drawn})


def redraw(run: FigureRun, folder: Path) -> FigureRun:
    """Write tables and pictures of a figure from what is committed in its folder; nothing is run."""
    run.folder = folder
    try:
        repetitions = sum(entry["repetitions"] for entry in read_json(folder / "manifest.json")["runs"])
        _write_derived(run, derive_committed(run.figure, folder), repetitions)
        renew_digests(folder)
    except BenchError as error:
        run.error = one_line(error)
    return run


def _write_derived(run: FigureRun, derived: Derived, repetitions: int) -> None:
    write_tables(run, derived)
    write_pictures(run, derived)
    run.claims = derived.rendering.claims
    run.note(repetitions)


def committed_folder(run: FigureRun) -> Path | None:
    """Return the folder whose committed repetitions are those of all runs of a figure, None if there is none.

    A run whose data is not here is one of them if its key with the data that the manifest names is committed.
    """
    figure = run.figure
    folders = [results_folder() / f"{run.where}{kind}" for kind in ("", f"-{DataKind.SURROGATE}")]
    folders = [path for path in folders if figure.source == "runs" and is_backed(figure, path)]
    if folders:
        run.compose()
    folder = next((path for path in folders if _has_all(read_json(path / "manifest.json"), run)), None)
    if folder:
        stamps = set(read_stamps(folder).values())
        run.unconfirmed = sum(labelled.experiment.stamp not in stamps for labelled in run.drawn)
    return folder


def _has_all(manifest: dict[str, Any], run: FigureRun) -> bool:
    entries = {json.dumps(entry["labels"], sort_keys=True): entry for entry in manifest.get("runs", [])}
    drawn = {json.dumps(labelled.labels, sort_keys=True): labelled for labelled in run.drawn}
    if entries.keys() != drawn.keys():
        return False
    for labels, entry in entries.items():
        experiment = drawn[labels].experiment
        if experiment.fingerprint == DataKind.SURROGATE:
            experiment = experiment.on_data(entry["data"])
        if entry.get("key") != experiment.key:
            return False
        if run.most is None and entry["repetitions"] != drawn[labels].settings.repetitions:
            return False
    return True


def _derived(run: FigureRun, runs: Sequence[Repetitions], store: Store) -> Derived:
    """Return what the figure says, of its repetitions or of the seconds that were measured for it."""
    positions = by_reading(run.figure, run.drawn)
    reason = other_than_published(run.figure, run.drawn)
    provenances = {name: _provenance(run, [run.drawn[i] for i in places], reason) for name, places in positions.items()}
    if run.figure.source == "timing":
        finals = finals_of(run.drawn, run.done(), store, timed_part(run.figure))
        return Derived(run.figure, {"": ResultTables(pd.DataFrame(), finals, provenances[""])})
    return derive(run.figure, runs, provenances)


def write_tables(run: FigureRun, derived: Derived) -> None:
    """Write all tables, of what is committed each number once; those that only an earlier run had are removed."""
    figure, folder = run.figure, run.folder
    has_repetitions = (folder / FILE).exists()
    tables = derived.tables() | ({} if has_repetitions else long_tables(derived.curves, derived.finals))
    for name, table in derived.rendering.tables.items():
        text = to_markdown(table, figure.heading, notes(figure, derived.provenance))
        tables |= {} if run.is_reference else {f"{name}.md": text.encode()}
    repeated = {f"{name}.md" for name in derived.rendering.tables}
    for name in {"readings.csv", "numbers.csv", "curves.csv", "finals.csv", *repeated} - tables.keys():
        (folder / name).unlink(missing_ok=True)
    for name, content in tables.items():
        write_bytes(folder / name, content)
    if figure.draws_finals or not has_repetitions:
        _write_seconds(derived, folder)
    else:
        (folder / SECONDS).unlink(missing_ok=True)
    if "tex" in run.formats:
        from bench.report.latex import latex_tables

        results = Results(figure, derived.curves, derived.finals, derived.provenance)
        for name, text in latex_tables(figure, derived.rendering.tables, results, size=run.size).items():
            write_text(folder / f"{name}.tex", text)


def _write_seconds(derived: Derived, folder: Path) -> None:
    """Write the measured seconds of repetitions; of a figure about seconds under every reading, as claims use them."""
    figure, finals = derived.figure, derived.finals
    if len(derived.evidence) > 1 and is_measured(figure.column):
        under = {"" if not place else name: of.finals for place, (name, of) in enumerate(derived.evidence.items())}
        finals = pd.concat(under, names=[READING]).reset_index(READING)
    measured = [name for name in finals if is_measured(str(name))]
    if measured:
        axes = list(finals.columns[: list(finals.columns).index("repetition") + 1])
        write_text(folder / SECONDS, to_csv(finals[axes + measured]))


def write_pictures(run: FigureRun, derived: Derived) -> None:
    """Write the figure if it has a picture, of what is committed an SVG alone."""
    plot, name = derived.rendering.plot, run.figure.name
    if plot:
        save(draw(plot), run.folder, name, ["svg"] if run.is_reference else ["png", "svg"])
    if plot and "pdf" in run.formats:
        save(draw(plot, run.size), run.folder, name, ["pdf"])


def _provenance(run: FigureRun, drawn: Sequence[LabelledRun], other_than_published: str) -> Provenance:
    """Return what the figure's numbers rest on."""
    by_env = [(labelled.choices["env"], labelled.experiment.data_kind) for labelled in drawn]
    genuine = [without_reading(labelled).labels for labelled in drawn if labelled.experiment.data_kind.is_evidence]
    return Provenance(
        scale="" if run.figure.paper == "none" or run.where.startswith("compare/") else run.scale,
        repetitions=tuple(sorted({labelled.settings.repetitions for labelled in drawn if not labelled.is_limit})),
        horizons=tuple(sorted({labelled.settings.horizon for labelled in drawn})),
        surrogate=tuple(sorted({env for env, kind in by_env if kind.is_replaced})),
        altered=tuple(sorted({env for env, kind in by_env if kind is DataKind.ALTERED})),
        genuine=tuple(genuine) if len(genuine) < len(drawn) else (),
        packaged=any(kind is DataKind.PACKAGED for _, kind in by_env),
        sequential=run.is_sequential(drawn),
        other_than_published=other_than_published,
    )


def _manifest(run: FigureRun, derived: Derived) -> dict[str, Any]:
    """Return what a reader needs to judge the figure or to make it again: the same whenever it is made."""
    shared, rest = factored(
        [labelled.labels for labelled in run.drawn], [[*labelled.overrides, *run.extra] for labelled in run.drawn]
    )
    runs = [
        {
            "labels": labelled.labels,
            **({"overrides": overrides} if overrides else {}),
            "key": labelled.experiment.key,
            "repetitions": len(repetitions),
            "horizon": labelled.settings.horizon,
            "data": labelled.experiment.fingerprint,
        }
        for labelled, repetitions, overrides in zip(run.drawn, run.done(), rest, strict=True)
    ]
    return {
        "figure": f"{run.where.partition('/')[0]}/{run.figure.name}",
        "title": run.figure.heading,
        "scale": run.scale,
        "command": run.command,
        "settings": settings_table(
            run.figure, [labelled for labelled in run.drawn if READING not in labelled.labels], run.scale
        ),
        "provenance": derived.provenance.model_dump(mode="json"),
        "published": run.figure.published,
        **run.figure.model_dump(mode="json", include={"readings"}, exclude_unset=True),
        "overrides": shared,
        "runs": runs,
    }


def timed_part(figure: Figure) -> Part:
    """Return what of a run a figure of timings measures."""
    return figure.part if isinstance(figure, Timing) else "run"


def _environment(run: FigureRun, runs: Sequence[Repetitions], store: Store) -> dict[str, Any]:
    """Return with what and when the figure was made, and the mean seconds of a repetition of each run.

    Of runs whose repetitions were all committed without their seconds, it is the mean noted there. Other kinds of
    machines that made repetitions are noted, too.
    """
    others = [kind for kind in run.committed.machines if kind != kind_of_machine(environment())]
    seconds = {}
    for place, (labelled, numbers) in enumerate(zip(run.drawn, run.done(), strict=True)):
        key = labelled.experiment.key
        if run.figure.source == "timing":
            measured = measurements(store, labelled.experiment.run_id, timed_part(run.figure))
            known = [measured[number]["seconds"] for number in numbers]
        else:
            kept = runs[place].kept.values()
            known = [of_one.seconds["seconds_total"] for of_one in kept if "seconds_total" in of_one.seconds]
        if known:
            seconds[key] = round(sum(known) / len(known), 4)
        elif key in run.committed.mean_seconds:
            seconds[key] = run.committed.mean_seconds[key]
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        **environment(),
        **({"adopted_from": others} if others else {}),
        "seconds_per_repetition": seconds,
    }


def settings_table(figure: Figure, drawn: list[LabelledRun], scale: str = "paper") -> list[dict[str, Any]]:
    """Return every setting of the figure's experiments with its values, its source and the place.

    The source is ``scale`` for what is not of the paper's size; else the figure's where it names the key (``env.dim``);
    else ``assumed`` where a run of the figure sets another value than the paper; else the paper's
    (``env.synthetic_linear.dim``); else ``assumed``, the default of the suite or a user's class. Each source of a key
    has a row.
    """
    paper, limits = load_paper(figure.paper), figure.limit_runs()
    of_paper, figure_sources = leaves(paper["settings"]), figure.sources | (limits.sources if limits else {})
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    smaller = figure.scales[scale].overrides if scale in figure.scales else []
    for labelled in drawn:
        words = [leaves(parse(word).value(), key_of(word)) for word in labelled.overrides]
        by_figure = {key for keys in words for key in keys}
        for general, key, value in settings_of(labelled):
            is_size = general == key
            if general in map(key_of, smaller) or (
                is_size and value != (getattr(figure, key) or of_paper.get(key, value))
            ):
                source, where = "scale", "as the scale or the command says"
            elif general in figure_sources:
                source, where = figure_sources[general]
            elif general in by_figure and value != of_paper.get(key):
                source, where = "assumed", "the figure sets it"
            else:
                part = labelled.experiment.settings.get(key.partition(".")[0])
                is_own = isinstance(part, dict) and not part["_target_"].startswith("bench.")
                default = ("assumed", f"the {'class' if is_own else 'suite'}'s default")
                source, where = paper["sources"].get(key, default)
            row = rows.setdefault((key, source, where), {"key": key, "values": [], "source": source, "where": where})
            if value not in row["values"]:
                row["values"].append(value)
    return list(rows.values())
