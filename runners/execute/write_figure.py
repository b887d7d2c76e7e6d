"""Everything that is written of a figure: tables, claims, pictures, manifest, and its repetitions."""

import json
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from bench.errors import BenchError, one_line
from bench.report.figure import Figure
from bench.report.kinds.timing import Timing
from bench.report.overrides import factored
from bench.report.page import draw
from bench.report.provenance import Provenance
from bench.report.reading import READING
from bench.report.render import Evidence, notes
from bench.report.results import Results
from bench.report.saving import save
from bench.report.tables import to_csv, to_markdown
from runners.config.compose import PARTS
from runners.config.figures import LabelledRun, by_reading, load_paper, without_reading
from runners.execute.failures import all_failed, failures
from runners.execute.fanout import Key
from runners.execute.timing import Part, measurements
from runners.execute.timing import finals as timed_finals
from runners.results.aggregate import Kept, is_measured, kept
from runners.results.capture import environment, kind_of_machine
from runners.results.committed import FILE, SECONDS, CommittedRepetitions, write_repetitions
from runners.results.derive import Derived, LabelledKept, derive, long_tables, needs
from runners.results.plan import FigurePlan, Reproduced, figure_line, reproduced
from runners.results.store import Store, results_folder, write_bytes, write_manifest, write_text


class FinishedFigure(NamedTuple):
    """A figure whose repetitions are all there.

    Parameters
    ----------
    plan
        What was asked for.
    drawn, done
        Its experiments, and for each the repetitions that have a result.
    committed
        Repetitions that lie beside the figure.
    new
        How many were run.
    failed
        The errors of those that failed.
    """

    plan: FigurePlan
    drawn: list[LabelledRun]
    done: list[list[int]]
    committed: CommittedRepetitions | None
    new: int
    failed: Mapping[Key, str]


def folder_of(plan: FigurePlan, drawn: list[LabelledRun]) -> Path:
    """Return where the figure is written."""
    surrogate = any(one.run.experiment.surrogate for one in drawn)
    altered = any(one.run.experiment.altered for one in drawn)
    return results_folder() / f"{plan.where}{'-altered' if altered else '-surrogate' if surrogate else ''}"


def write_or_say_why(finished: FinishedFigure, store: Store) -> tuple[Reproduced, str, list[str]]:
    """Write all files of a figure; return what it is, its line and its errors. Called in the workers.

    An error is part of what is returned, so that other figures go on. Where all repetitions failed nothing is written.
    """
    claims = pd.DataFrame({"verdict": [], "holm": []})
    if finished.failed and not any(finished.done):
        why = all_failed(finished.failed, store)
        return Reproduced(False, claims, folder_of(finished.plan, finished.drawn), error=why), "", []
    try:
        reproduced, line = _write(finished, store)
    except Exception as error:
        why = one_line(error) if isinstance(error, BenchError) else _where(error)
        reproduced, line = Reproduced(False, claims, folder_of(finished.plan, finished.drawn), error=why), ""
    return reproduced, line, failures(finished.plan.where, finished.drawn, finished.failed, finished.done, store)


def _where(error: Exception) -> str:
    """Return an unexpected error with the place in the code."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {one_line(error)} ({Path(last.filename).name}, line {last.lineno})"


def _write(finished: FinishedFigure, store: Store) -> tuple[Reproduced, str]:
    """Write all files of a figure; return what it is, and its line."""
    plan, drawn, done, _, new, failed = finished
    figure, folder = plan.figure, folder_of(plan, drawn)
    own: list[list[Kept]] = []
    if figure.source == "runs":
        columns, keep = figure.curve_columns(), figure.kept_rounds
        own = kept(drawn, done, store, columns=columns, keep=keep, committed=finished.committed)
    derived = _derived(finished, own, store)
    if plan.is_reference and own:
        write_repetitions(folder, needs(figure), [one.run.experiment.run_id for one in drawn], done, own)
    write_tables(plan, derived, folder)
    write_manifest(folder, _manifest(plan, drawn, derived, done))
    write_text(folder / "environment.json", json.dumps(_environment(finished, own, store), indent=1))
    write_pictures(plan, derived, folder)
    total = sum(map(len, done))
    counts = [f"{total} repetitions"]
    counts += [f"{new} new"] * (new != total) + [f"{len(failed)} failed"] * bool(failed)
    claims = derived.rendering.claims
    return reproduced(figure, claims, folder, complete=not failed), figure_line(plan, counts, claims)


def _derived(finished: FinishedFigure, own: list[list[Kept]], store: Store) -> Derived:
    """Return what the figure says, of its repetitions or of the seconds that were measured for it."""
    plan, drawn, done = finished.plan, finished.drawn, finished.done
    positions = by_reading(plan.figure, drawn)
    provenances = {name: _provenance(plan, [drawn[i] for i in places]) for name, places in positions.items()}
    if plan.figure.source == "timing":
        finals = timed_finals(drawn, done, store, timed_part(plan.figure))
        return Derived(plan.figure, {"": Evidence(pd.DataFrame(), finals, provenances[""])})
    parts = zip(drawn, done, own, strict=True) if own else ()
    runs = [LabelledKept(one.labels, numbers, repetitions) for one, numbers, repetitions in parts]
    return derive(plan.figure, runs, provenances)


def write_tables(plan: FigurePlan, derived: Derived, folder: Path) -> None:
    """Write all tables; those that an earlier run had and this one has not are removed.

    What is committed is written once: `FILE` holds final values and curves, and CSV what Markdown repeats.
    """
    figure = plan.figure
    has_repetitions = (folder / FILE).exists()
    tables = derived.tables() | ({} if has_repetitions else long_tables(derived.curves, derived.finals))
    for name, table in derived.rendering.tables.items():
        text = to_markdown(table, figure.heading, notes(figure, derived.provenance))
        tables |= {} if plan.is_reference else {f"{name}.md": text.encode()}
    repeated = {f"{name}.md" for name in derived.rendering.tables}
    for name in {"readings.csv", "numbers.csv", "curves.csv", "finals.csv", *repeated} - tables.keys():
        (folder / name).unlink(missing_ok=True)
    for name, content in tables.items():
        write_bytes(folder / name, content)
    if figure.draws_finals or not has_repetitions:
        _write_seconds(derived.finals, folder)
    else:
        (folder / SECONDS).unlink(missing_ok=True)
    if "tex" in plan.formats:
        from bench.report.latex import latex_tables

        results = Results(figure, derived.curves, derived.finals, derived.provenance)
        for name, text in latex_tables(figure, derived.rendering.tables, results).items():
            write_text(folder / f"{name}.tex", text)


def _write_seconds(finals: pd.DataFrame, folder: Path) -> None:
    """Write the measured seconds of repetitions."""
    measured = [name for name in finals if is_measured(str(name))]
    if measured:
        axes = list(finals.columns[: list(finals.columns).index("repetition") + 1])
        write_text(folder / SECONDS, to_csv(finals[axes + measured]))


def write_pictures(plan: FigurePlan, derived: Derived, folder: Path) -> None:
    """Write the figure, and what its readings say, and remove the pictures that are not among them.

    What is committed is an SVG alone: a PNG is larger, and new in every byte whenever a number moves.
    """
    kinds, name = ["svg"] if plan.is_reference else ["png", "svg"], plan.figure.name
    wanted = [*kinds, *(["pdf"] if "pdf" in plan.formats else [])]
    for path in (*folder.glob(f"{name}_[rn]*.*"), *folder.glob(f"{name}*.png")):
        if path.stem not in derived.plots or path.suffix[1:] not in wanted:
            path.unlink(missing_ok=True)
    for stem, plot in derived.plots.items():
        save(draw(plot), folder, stem, kinds)
        if "pdf" in plan.formats:
            save(draw(plot, plan.size), folder, stem, ["pdf"])


def _provenance(plan: FigurePlan, drawn: list[LabelledRun]) -> Provenance:
    """Return what the figure's numbers rest on."""
    all_real = not any(one.run.experiment.surrogate for one in drawn)
    return Provenance(
        scale="" if plan.figure.paper == "none" else plan.scale,
        repetitions=tuple(sorted({one.run.settings.repetitions for one in drawn if not one.is_limit})),
        horizons=tuple(sorted({one.run.settings.horizon for one in drawn})),
        surrogate=tuple(sorted({one.run.choices["env"] for one in drawn if one.run.experiment.surrogate})),
        altered=tuple(sorted({one.run.choices["env"] for one in drawn if one.run.experiment.altered})),
        genuine=tuple(without_reading(one).labels for one in drawn if not _stands_in(one)) * (not all_real),
        packaged=any(one.run.experiment.packaged for one in drawn),
        sequential=plan.is_sequential(drawn),
    )


def _stands_in(one: LabelledRun) -> bool:
    return one.run.experiment.surrogate or one.run.experiment.packaged


def _manifest(plan: FigurePlan, drawn: list[LabelledRun], derived: Derived, done: list[list[int]]) -> dict[str, Any]:
    """Return what a reader needs to judge the figure or to make it again: the same whenever it is made."""
    words = [[*one.overrides, *plan.extra] for one in drawn]
    shared, rest = factored([one.labels for one in drawn], words)
    runs = [
        {
            "labels": one.labels,
            **({"overrides": own} if own else {}),
            "run_id": one.run.experiment.run_id,
            "inputs": one.run.experiment.inputs,
            "repetitions": len(repetitions),
            "horizon": one.run.settings.horizon,
            "data": one.run.experiment.fingerprint,
        }
        for one, repetitions, own in zip(drawn, done, rest, strict=True)
    ]
    return {
        "figure": f"{plan.where.partition('/')[0]}/{plan.figure.name}",
        "title": plan.figure.heading,
        "scale": plan.scale,
        "command": plan.command,
        "settings": settings_table(plan.figure, [one for one in drawn if READING not in one.labels], plan.scale),
        "provenance": derived.provenance.model_dump(mode="json"),
        "published": plan.figure.published,
        **plan.figure.model_dump(mode="json", include={"readings"}, exclude_unset=True),
        "overrides": shared,
        "runs": runs,
    }


def timed_part(figure: Figure) -> Part:
    return figure.part if isinstance(figure, Timing) else "run"


def _environment(finished: FinishedFigure, own: list[list[Kept]], store: Store) -> dict[str, Any]:
    """Return with what and when the figure was made, and the mean seconds of a repetition of each run.

    Of runs whose repetitions all come from ``committed`` without their seconds, it is the mean noted there. Other kinds
    of machines that made repetitions are noted, too.
    """
    figure, committed = finished.plan.figure, finished.committed
    run_ids = [one.run.experiment.run_id for one in finished.drawn]
    earlier = committed.mean_seconds if committed else {}
    others = [kind for kind in (committed.machines if committed else []) if kind != kind_of_machine(environment())]
    seconds = {}
    for position, (run_id, numbers) in enumerate(zip(run_ids, finished.done, strict=True)):
        if figure.source == "timing":
            measured = measurements(store, run_id, timed_part(figure))
            known = [measured[number]["seconds"] for number in numbers]
        else:
            known = [one.seconds["seconds_total"] for one in own[position] if "seconds_total" in one.seconds]
        if known:
            seconds[run_id] = round(sum(known) / len(known), 4)
        elif run_id in earlier:
            seconds[run_id] = earlier[run_id]
    when = datetime.now(UTC).isoformat(timespec="seconds")
    adopted: dict[str, Any] = {"adopted_from": others} if others else {}
    if committed and committed.carried:
        adopted["carried"] = committed.carried
    return {"made": when, **environment(), **adopted, "seconds_per_repetition": seconds}


def settings_table(figure: Figure, drawn: list[LabelledRun], scale: str = "paper") -> list[dict[str, Any]]:
    """Return every setting of the figure's experiments with its values, its source and the place.

    The source is ``scale`` for what is not of the paper's size; else the figure's where it names the key
    (``env.dim``), else the paper's (``env.synthetic_linear.dim``), else ``assumed``: the suite's own default.
    """
    paper, limits = load_paper(figure.paper), figure.limit_runs()
    sources, figure_sources = paper["sources"], figure.sources | (limits.sources if limits else {})
    rows: dict[str, dict[str, Any]] = {}
    smaller = figure.scales[scale].overrides if scale in figure.scales else []
    at_scale = {override.lstrip("+").partition("=")[0] for override in smaller}
    for one in drawn:
        flat = {"horizon": one.run.settings.horizon, "repetitions": one.run.settings.repetitions}
        for part in PARTS:
            own = _flatten(one.run.experiment.settings.get(part) or {}, f"{part}.{one.run.choices[part]}")
            flat |= {key: value for key, value in own.items() if part != "task" or value}  # what a task is not given
        for key, value in flat.items():
            part, _, rest = key.partition(".")
            general = f"{part}.{rest.partition('.')[2]}" if rest else key
            given = figure_sources.get(general) or sources.get(key)
            source, where = given or ["assumed", "the suite's default"]
            if general in at_scale or (
                not rest and value != (getattr(figure, key) or paper["settings"].get(key, value))
            ):
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
