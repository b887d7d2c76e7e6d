"""All files of a figure: tables, claims, pictures, manifest, and its repetitions."""

import json
import traceback
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from bench.columns import is_measured
from bench.data_kind import DataKind
from bench.errors import BenchError, one_line
from bench.report.claims.tallies import spell_by_origin, spelled, tallies
from bench.report.folder import COMPARISON
from bench.report.provenance import Provenance
from bench.report.reading import READING
from bench.report.results import Results
from bench.report.tables import to_csv, to_markdown
from runners.config.figures import LabelledRun, by_reading, other_than_published, without_reading
from runners.execute.asked_figure import AskedFigure, WrittenFigure
from runners.execute.figure_run import FigureRun, all_failed, timed_part
from runners.execute.manifest import manifest_of, own_manifest
from runners.execute.timing import finals_of, measurements
from runners.results import made_of
from runners.results.aggregate import Repetitions
from runners.results.capture import environment, kind_of_machine
from runners.results.derive import Derived, derive, derive_committed, long_tables, thinning
from runners.results.folder import ENVIRONMENT, MANIFEST, REPETITIONS, SECONDS, ResultFolder, write_repetitions

_JUDGED = ["claim", "verdict", "holm"]
"""Columns of claims that determine tallies."""


def write(run: FigureRun) -> WrittenFigure:
    """Write all files of a figure and return the written figure; may be called in any process.

    An error becomes part of the returned figure, so that other figures continue. No file is written if all repetitions
    failed, or if a table or picture cannot be made.
    """
    asked, folder = run.asked, run.folder
    if run.failed and not any(run.done()):
        return WrittenFigure(asked, folder, error=all_failed(run.failed, run.store))
    failures = run.failures()
    try:
        (derived, names), repetitions = _write(run), sum(map(len, run.done()))
    except Exception as error:
        return WrittenFigure(asked, folder, failures=failures, error=_words(error))
    claims = derived.claims
    if not run.failed:
        judged = claims.reindex(columns=_JUDGED).to_dict("list")
        made_of.note(folder, run.made_of, names, {"repetitions": repetitions, "claims": judged})
    line = _line(asked, claims, repetitions, new=run.new, failed=len(run.failed))
    return WrittenFigure(asked, folder, claims, line, failures, notes=[*run.notes, *_of_earlier(folder, names)])


def _of_earlier(folder: Path, written: Collection[str]) -> list[str]:
    """Return a sentence about PDF and LaTeX files that were not written with the figure, and so may differ from it."""
    printed = (path for kind in ("pdf", "tex") for path in sorted(folder.glob(f"*.{kind}")))
    older = [path for path in printed if path.name not in written]
    kinds = ",".join(dict.fromkeys(path.suffix[1:] for path in older))
    return [f"{', '.join(map(str, older))}: from an earlier run; format={kinds} writes new ones"] if older else []


def unchanged(run: FigureRun) -> WrittenFigure | None:
    """Return a figure as it was written, or None if one of its inputs has changed or the figure is to be renewed."""
    asked, folder = run.asked, run.folder
    noted = None if asked.renew else made_of.noted(folder, run.made_of)
    is_kept = asked.is_reference and asked.figure.source == "runs"  # the repetitions, in one of its files
    if noted is None or not (is_kept or asked.figure.source == "timing" or not run.missing()):
        return None
    claims = pd.DataFrame(noted["claims"])
    return WrittenFigure(asked, folder, claims, _line(asked, claims, noted["repetitions"]))


def redraw(asked: AskedFigure, folder: Path) -> WrittenFigure:
    """Write the tables and pictures of a figure from its committed repetitions in ``folder``, without a run."""
    try:
        result = ResultFolder(folder)
        if asked.repetitions_of:
            result.write({}, own_manifest(asked, result))
        repetitions = sum(entry["repetitions"] for entry in result.manifest()["runs"])
        derived = derive_committed(asked.figure, folder)
        files = _files(asked, derived, result, has_repetitions=result.is_backed(asked.figure))
        of_runs = (REPETITIONS, SECONDS, ENVIRONMENT) if asked.repetitions_of else ()
        result.write(files | dict.fromkeys(of_runs))
    except Exception as error:
        return WrittenFigure(asked, folder, error=_words(error))
    claims = derived.claims
    return WrittenFigure(asked, folder, claims, _line(asked, claims, repetitions))


def _line(asked: AskedFigure, claims: pd.DataFrame, repetitions: int, *, new: int = 0, failed: int = 0) -> str:
    """Return the line printed when a figure is written."""
    counts = [f"{repetitions} repetitions"] + [f"{new} new"] * (new != repetitions)
    counts += [f"{failed} failed"] * bool(failed)
    found = tallies(asked.figure, claims.to_dict("records"), every=True)
    counts += [f"smaller: {', '.join(asked.smaller)}"] * bool(asked.smaller)
    verdicts = spelled(found["ours"]) if asked.is_comparison else spell_by_origin(found)
    return f"{asked.name}  {', '.join(counts)}  {verdicts}".rstrip()


def _words(error: Exception) -> str:
    """Return an error in one line; the line of an unexpected error names the place in the code."""
    if isinstance(error, BenchError | OSError):
        return one_line(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {one_line(error)} ({Path(last.filename).name}, line {last.lineno})"


def _write(run: FigureRun) -> tuple[Derived, list[str]]:
    """Write the files of a figure, and return the figure's content and the names of the files."""
    asked, result = run.asked, ResultFolder(run.folder)
    kept = run.read() if asked.figure.source == "runs" else []
    derived = _derived(run, kept)
    keeps = asked.is_reference and bool(kept)
    files = _files(asked, derived, result, has_repetitions=keeps or result.has(REPETITIONS))
    manifest = manifest_of(run, derived.results.provenance)
    made = _environment(run, kept)
    if keeps:
        by_key: dict[str, dict[int, Any]] = {}
        for labelled, repetitions in zip(run.runs, kept, strict=True):
            by_key.setdefault(labelled.experiment.key, {}).update(repetitions.kept)
        write_repetitions(run.folder, thinning(asked.figure), by_key)
    result.write(files, manifest, made)
    return derived, [MANIFEST, ENVIRONMENT, *files, SECONDS, *([REPETITIONS] if keeps else [])]


def _derived(run: FigureRun, kept: Sequence[Repetitions]) -> Derived:
    """Return the figure derived from its repetitions, or from its measured seconds."""
    figure, runs = run.asked.figure, run.runs
    reason = other_than_published(figure, runs)
    provenances = {
        name: _provenance(run.asked, [runs[i] for i in places], [kept[i] for i in places if kept], reason)
        for name, places in by_reading(figure, runs).items()
    }
    if figure.source == "timing":
        finals = finals_of(runs, run.done(), run.store, timed_part(figure))
        return Derived({"": Results(figure, finals=finals, provenance=provenances[""])})
    return derive(figure, kept, provenances)


def _files(
    asked: AskedFigure, derived: Derived, result: ResultFolder, *, has_repetitions: bool
) -> dict[str, bytes | None]:
    """Return tables and pictures by file name; None stands for a file that only an earlier run had.

    A committed figure has each number in one file, and the picture only as SVG. ``has_repetitions`` is whether the
    figure's repetitions are stored with the files.
    """
    figure, texts = asked.figure, {}
    repeated = [f"{name}.md" for name in derived.tables]
    files = dict.fromkeys(["readings.csv", "numbers.csv", "curves.csv", "finals.csv", SECONDS, *repeated])
    files |= derived.files() | ({} if has_repetitions else long_tables(derived.results))
    if not asked.is_reference:
        below = derived.results.notes()
        texts = {f"{name}.md": to_markdown(table, figure.heading, below) for name, table in derived.tables.items()}
    if figure.draws_finals or not has_repetitions:
        del files[SECONDS]  # without measured ones the existing file is kept
        texts |= _seconds(derived)
    if asked.is_comparison:  # which no configuration has
        texts[COMPARISON] = json.dumps(figure.given(), indent=1) + "\n"
    if "tex" in asked.formats:
        from bench.report.latex import latex_tables

        pages = latex_tables(derived.results, derived.tables, size=asked.size)
        texts |= {f"{name}.tex": text for name, text in pages.items()}
    return files | {name: text.encode() for name, text in texts.items()} | _pictures(asked, derived, result)


def _seconds(derived: Derived) -> dict[str, str]:
    """Return the measured seconds of repetitions as a file.

    For a figure about seconds, all readings are included, as in its claims.
    """
    figure, finals = derived.results.figure, derived.results.finals
    if len(derived.by_reading) > 1 and figure.is_timed:
        under = {"" if not place else name: of.finals for place, (name, of) in enumerate(derived.by_reading.items())}
        finals = pd.concat(under, names=[READING]).reset_index(READING)
    measured = [name for name in finals if is_measured(str(name))]
    if not measured:
        return {}
    axes = list(finals.columns[: list(finals.columns).index("repetition") + 1])
    return {SECONDS: to_csv(finals[axes + measured])}


def _pictures(asked: AskedFigure, derived: Derived, result: ResultFolder) -> dict[str, bytes]:
    """Return the figure's picture in each format, if the figure has a picture; an existing PNG is drawn again."""
    plot, name = derived.plot, asked.figure.name
    if not plot:
        return {}
    from bench.report.pictures import content, draw  # slow to import

    page = draw(plot)
    has_png = asked.is_comparison or "png" in asked.formats or result.has(f"{name}.png")
    pictures = {f"{name}.{kind}": content(page, kind) for kind in ("svg", *["png"] * has_png)}
    if "pdf" in asked.formats:
        pictures[f"{name}.pdf"] = content(draw(plot, asked.size), "pdf")
    return pictures


def _provenance(
    asked: AskedFigure, runs: Sequence[LabelledRun], kept: Sequence[Repetitions], other_than_published: str
) -> Provenance:
    """Return the provenance of the numbers of a figure."""
    parts = [labelled.experiment.most_repetitions for labelled in runs]
    by_env = [(labelled.choices["env"], labelled.experiment.data_kind) for labelled in runs]
    genuine = [without_reading(labelled).labels for labelled in runs if labelled.experiment.data_kind.is_evidence]
    return Provenance(
        scale="" if asked.figure.paper == "none" or asked.is_comparison else asked.scale,
        repetitions=tuple(sorted({labelled.settings.repetitions for labelled in runs if not labelled.is_limit})),
        horizons=tuple(sorted({labelled.settings.horizon for labelled in runs})),
        surrogate=tuple(sorted({env for env, kind in by_env if kind.is_replaced})),
        altered=tuple(sorted({env for env, kind in by_env if kind is DataKind.ALTERED})),
        genuine=tuple(genuine) if len(genuine) < len(runs) else (),
        packaged=any(kind is DataKind.PACKAGED for _, kind in by_env),
        until_decided=asked.most_of(runs),
        other_than_published=other_than_published,
        accepted=_accepted(kept),
        parts=min(filter(None, parts)) if parts and all(parts) else None,
        smaller=asked.smaller,
    )


def _accepted(kept: Sequence[Repetitions]) -> tuple[int, ...]:
    """Return the different mean numbers of accepted rounds of the runs; empty unless all runs replay a log."""
    means = set()
    for run in kept:
        rounds = [repetition.finals.get("accepted") for repetition in run.kept.values()]
        numbers = [number for number in rounds if isinstance(number, float | int)]
        if not numbers or len(numbers) < len(rounds):
            return ()
        means.add(round(sum(numbers) / len(numbers)))
    return tuple(sorted(means))


def _environment(run: FigureRun, kept: Sequence[Repetitions]) -> dict[str, Any]:
    """Return the environment and day of the figure's creation, and the mean seconds of a repetition of each run.

    If all repetitions of a run were committed without seconds, the recorded mean is used. Other kinds of machines that
    made repetitions are listed, too.
    """
    committed, figure = run.committed, run.asked.figure
    others = [kind for kind in committed.machines if kind != kind_of_machine(environment())]
    seconds = {}
    for place, (labelled, numbers) in enumerate(zip(run.runs, run.done(), strict=True)):
        key = labelled.experiment.key
        if figure.source == "timing":
            measured = measurements(run.store, labelled.experiment.run_id, timed_part(figure))
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
