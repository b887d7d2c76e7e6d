"""Everything that is written of a figure: tables, claims, pictures, manifest, and its repetitions."""

import json
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from bench.columns import is_measured
from bench.data_kind import DataKind
from bench.errors import BenchError, one_line
from bench.report.claims.tallies import spell_by_origin, tallies
from bench.report.figure import Figure
from bench.report.kinds.timing import Timing
from bench.report.page import draw
from bench.report.provenance import Provenance, factored
from bench.report.reading import READING
from bench.report.render import notes
from bench.report.results import Results
from bench.report.saving import save
from bench.report.tables import to_csv, to_markdown
from runners.config.figures import LabelledRun, by_reading, other_than_published, without_reading
from runners.execute.figure_run import AskedFigure, RunningFigure, WrittenFigure, all_failed
from runners.execute.settings_table import settings_table
from runners.execute.timing import Part, finals_of, measurements
from runners.results.aggregate import Repetitions
from runners.results.capture import environment, kind_of_machine
from runners.results.committed import FILE, SECONDS, write_repetitions
from runners.results.derive import Derived, derive, derive_committed, long_tables, thinning
from runners.results.stamps import renew_digests, write_stamps
from runners.results.store import Store, read_json, write_bytes, write_manifest, write_text


def write(running: RunningFigure, store: Store) -> WrittenFigure:
    """Write all files of a figure, and return what can be said of it. Called in the workers.

    An error becomes part of the figure, so that others go on. Where all repetitions failed nothing is written.
    """
    asked, folder = running.asked, running.composed.folder
    if running.failed and not any(running.done()):
        return WrittenFigure(asked, folder, error=all_failed(running.failed, store))
    failures = running.failures(store)
    try:
        derived, repetitions = _write(running, store), sum(map(len, running.done()))
    except Exception as error:
        text = one_line(error) if isinstance(error, BenchError) else _where(error)
        return WrittenFigure(asked, folder, failures=failures, error=text)
    claims = derived.claims
    line = _line(asked, claims, repetitions, new=running.new, failed=len(running.failed))
    return WrittenFigure(asked, folder, claims, line, failures)


def redraw(asked: AskedFigure, folder: Path, unconfirmed: int = 0) -> WrittenFigure:
    """Write tables and pictures of a figure from what is committed in its folder; nothing is run."""
    try:
        repetitions = sum(entry["repetitions"] for entry in read_json(folder / "manifest.json")["runs"])
        derived = derive_committed(asked.figure, folder)
        _write_derived(asked, folder, derived)
        renew_digests(folder)
    except BenchError as error:
        return WrittenFigure(asked, folder, error=one_line(error), unconfirmed=unconfirmed)
    claims = derived.claims
    line = _line(asked, claims, repetitions, unconfirmed=unconfirmed)
    return WrittenFigure(asked, folder, claims, line, unconfirmed=unconfirmed)


def _line(
    asked: AskedFigure, claims: pd.DataFrame, repetitions: int, *, new: int = 0, failed: int = 0, unconfirmed: int = 0
) -> str:
    """Return what is printed of a figure when it is written."""
    counts = [f"{repetitions} repetitions"] + [f"{new} new"] * (new != repetitions)
    counts += [f"{failed} failed"] * bool(failed) + [f"{unconfirmed} runs to be confirmed"] * bool(unconfirmed)
    verdicts = spell_by_origin(tallies(asked.figure, claims.to_dict("records"), every=True))
    return f"{asked.name}  {', '.join(counts)}  {verdicts}".rstrip()


def _where(error: Exception) -> str:
    """Return an unexpected error with the place in the code."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {one_line(error)} ({Path(last.filename).name}, line {last.lineno})"


def _write(running: RunningFigure, store: Store) -> Derived:
    asked, folder = running.asked, running.composed.folder
    kept = running.read(store) if asked.figure.source == "runs" else []
    derived = _derived(running, kept, store)
    if asked.is_reference and kept:
        by_key: dict[str, dict[int, Any]] = {}
        for labelled, repetitions in zip(running.runs, kept, strict=True):
            by_key.setdefault(labelled.experiment.key, {}).update(repetitions.kept)
        write_repetitions(folder, thinning(asked.figure), by_key)
    write_manifest(folder, _manifest(running, derived))
    write_text(folder / "environment.json", json.dumps(_environment(running, kept, store), indent=1))
    _write_derived(asked, folder, derived)
    if asked.is_reference:
        write_stamps(folder, {labelled.experiment.key: labelled.experiment.stamp for labelled in running.runs})
    return derived


def _write_derived(asked: AskedFigure, folder: Path, derived: Derived) -> None:
    _write_tables(asked, folder, derived)
    _write_pictures(asked, folder, derived)


def _derived(running: RunningFigure, kept: Sequence[Repetitions], store: Store) -> Derived:
    """Return what the figure says, of its repetitions or of the seconds that were measured for it."""
    figure, runs = running.asked.figure, running.runs
    reason = other_than_published(figure, runs)
    provenances = {
        name: _provenance(running.asked, [runs[i] for i in places], [kept[i] for i in places if kept], reason)
        for name, places in by_reading(figure, runs).items()
    }
    if figure.source == "timing":
        finals = finals_of(runs, running.done(), store, timed_part(figure))
        return Derived({"": Results(figure, finals=finals, provenance=provenances[""])})
    return derive(figure, kept, provenances)


def _write_tables(asked: AskedFigure, folder: Path, derived: Derived) -> None:
    """Write all tables, of what is committed each number once; those that only an earlier run had are removed."""
    figure = asked.figure
    has_repetitions = (folder / FILE).exists()
    tables = derived.files() | ({} if has_repetitions else long_tables(derived.results))
    if figure.readings or figure.published:  # of a paper, which comparisons know nothing of
        from runners.results.judged import judged_tables

        tables |= judged_tables(derived)
    for name, table in derived.tables.items():
        text = to_markdown(table, figure.heading, notes(derived.results))
        tables |= {} if asked.is_reference else {f"{name}.md": text.encode()}
    repeated = {f"{name}.md" for name in derived.tables}
    for name in {"readings.csv", "numbers.csv", "curves.csv", "finals.csv", *repeated} - tables.keys():
        (folder / name).unlink(missing_ok=True)
    for name, content in tables.items():
        write_bytes(folder / name, content)
    if figure.draws_finals or not has_repetitions:
        _write_seconds(derived, folder)
    else:
        (folder / SECONDS).unlink(missing_ok=True)
    if "tex" in asked.formats:
        from bench.report.latex import latex_tables

        for name, text in latex_tables(derived.results, derived.tables, size=asked.size).items():
            write_text(folder / f"{name}.tex", text)


def _write_seconds(derived: Derived, folder: Path) -> None:
    """Write the measured seconds of repetitions; of a figure about seconds under every reading, as claims use them."""
    figure, finals = derived.results.figure, derived.results.finals
    if len(derived.by_reading) > 1 and is_measured(figure.column):
        under = {"" if not place else name: of.finals for place, (name, of) in enumerate(derived.by_reading.items())}
        finals = pd.concat(under, names=[READING]).reset_index(READING)
    measured = [name for name in finals if is_measured(str(name))]
    if measured:
        axes = list(finals.columns[: list(finals.columns).index("repetition") + 1])
        write_text(folder / SECONDS, to_csv(finals[axes + measured]))


def _write_pictures(asked: AskedFigure, folder: Path, derived: Derived) -> None:
    """Write the figure if it has a picture, of what is committed only an SVG."""
    plot, name = derived.plot, asked.figure.name
    if plot:
        save(draw(plot), folder, name, ["svg"] if asked.is_reference else ["png", "svg"])
    if plot and "pdf" in asked.formats:
        save(draw(plot, asked.size), folder, name, ["pdf"])


def _provenance(
    asked: AskedFigure, runs: Sequence[LabelledRun], kept: Sequence[Repetitions], other_than_published: str
) -> Provenance:
    """Return what the figure's numbers rest on."""
    parts = [labelled.experiment.most_repetitions for labelled in runs]
    by_env = [(labelled.choices["env"], labelled.experiment.data_kind) for labelled in runs]
    genuine = [without_reading(labelled).labels for labelled in runs if labelled.experiment.data_kind.is_evidence]
    return Provenance(
        scale="" if asked.figure.paper == "none" or asked.where.startswith("compare/") else asked.scale,
        repetitions=tuple(sorted({labelled.settings.repetitions for labelled in runs if not labelled.is_limit})),
        horizons=tuple(sorted({labelled.settings.horizon for labelled in runs})),
        surrogate=tuple(sorted({env for env, kind in by_env if kind.is_replaced})),
        altered=tuple(sorted({env for env, kind in by_env if kind is DataKind.ALTERED})),
        genuine=tuple(genuine) if len(genuine) < len(runs) else (),
        packaged=any(kind is DataKind.PACKAGED for _, kind in by_env),
        sequential=asked.is_sequential(runs),
        other_than_published=other_than_published,
        accepted=_accepted(kept),
        parts=min(filter(None, parts)) if parts and all(parts) else None,
    )


def _accepted(kept: Sequence[Repetitions]) -> tuple[int, ...]:
    """Return the mean numbers of accepted rounds, each once; none unless all runs replay a log."""
    means = set()
    for run in kept:
        rounds = [repetition.finals.get("accepted") for repetition in run.kept.values()]
        numbers = [number for number in rounds if isinstance(number, float | int)]
        if not numbers or len(numbers) < len(rounds):
            return ()
        means.add(round(sum(numbers) / len(numbers)))
    return tuple(sorted(means))


def _manifest(running: RunningFigure, derived: Derived) -> dict[str, Any]:
    """Return what a reader needs to judge the figure or to make it again: the same whenever it is made."""
    asked, figure = running.asked, running.asked.figure
    shared, rest = factored(
        [labelled.labels for labelled in running.runs],
        [[*labelled.overrides, *asked.extra] for labelled in running.runs],
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
        for labelled, repetitions, overrides in zip(running.runs, running.done(), rest, strict=True)
    ]
    return {
        "figure": f"{asked.where.partition('/')[0]}/{figure.name}",
        "title": figure.heading,
        "scale": asked.scale,
        "command": asked.command,
        "settings": settings_table(
            figure, [labelled for labelled in running.runs if READING not in labelled.labels], asked.scale
        ),
        "provenance": derived.results.provenance.model_dump(mode="json"),
        "published": figure.published,
        **figure.model_dump(mode="json", include={"readings"}, exclude_unset=True),
        "overrides": shared,
        "runs": runs,
    }


def timed_part(figure: Figure) -> Part:
    """Return what of a run a figure of timings measures."""
    return figure.part if isinstance(figure, Timing) else "run"


def _environment(running: RunningFigure, kept: Sequence[Repetitions], store: Store) -> dict[str, Any]:
    """Return with what and when the figure was made, and the mean seconds of a repetition of each run.

    Of runs whose repetitions were all committed without their seconds, it is the mean noted there. Other kinds of
    machines that made repetitions are noted, too.
    """
    committed, figure = running.composed.committed, running.asked.figure
    others = [kind for kind in committed.machines if kind != kind_of_machine(environment())]
    seconds = {}
    for place, (labelled, numbers) in enumerate(zip(running.runs, running.done(), strict=True)):
        key = labelled.experiment.key
        if figure.source == "timing":
            measured = measurements(store, labelled.experiment.run_id, timed_part(figure))
            known = [measured[number]["seconds"] for number in numbers]
        else:
            of_run = kept[place].kept.values()
            known = [of_one.seconds["seconds_total"] for of_one in of_run if "seconds_total" in of_one.seconds]
        if known:
            seconds[key] = round(sum(known) / len(known), 4)
        elif key in committed.mean_seconds:
            seconds[key] = committed.mean_seconds[key]
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        **environment(),
        **({"adopted_from": others} if others else {}),
        "seconds_per_repetition": seconds,
    }
