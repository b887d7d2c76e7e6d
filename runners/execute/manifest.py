"""The content of a figure's manifest: settings with their sources, and its runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from bench.errors import ConfigError
from bench.report.figure import Figure
from bench.report.folder import SUITES_DEFAULT
from bench.report.labels import Selection, matches
from bench.report.provenance import Provenance, factored, key_of
from bench.report.reading import READING
from runners.config.figures import LabelledRun, expand, load_figure, settings_of
from runners.config.papers import leaves, load_paper
from runners.execute.asked_figure import AskedFigure, has_all
from runners.execute.figure_run import FigureRun
from runners.results.folder import ResultFolder
from runners.results.replay import extra_of


def manifest_of(run: FigureRun, provenance: Provenance) -> dict[str, Any]:
    """Return the facts that a reader needs to judge or repeat a figure, without the time of its creation."""
    asked = run.asked
    shared, rest = factored(
        [labelled.labels for labelled in run.runs],
        [[*labelled.overrides, *asked.extra] for labelled in run.runs],
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
        for labelled, repetitions, overrides in zip(run.runs, run.done(), rest, strict=True)
    ]
    before = {} if run.new else ResultFolder(run.folder).own_manifest()
    notes = list(run.notes) or before.get("not_determined")
    about = _about(asked, run.runs, provenance) | ({"not_determined": notes} if notes else {})
    return {**about, "overrides": shared, "runs": runs}


def _about(asked: AskedFigure, runs: Sequence[LabelledRun], provenance: Provenance) -> dict[str, Any]:
    figure = asked.figure
    return {
        "figure": f"{asked.where.partition('/')[0]}/{figure.name}",
        "title": figure.heading,
        "scale": asked.scale,
        "command": asked.command,
        **({"part": asked.part} if asked.part else {}),
        "settings": settings_table(
            figure, [labelled for labelled in runs if READING not in labelled.labels], asked.scale
        ),
        "provenance": provenance.model_dump(mode="json"),
        "published": figure.published,
        **figure.model_dump(mode="json", include={"readings"}, exclude_unset=True),
    }


def own_manifest(asked: AskedFigure, folder: ResultFolder) -> dict[str, Any]:
    """Return the entries of a figure's manifest that differ from the manifest of the figure with the repetitions.

    The entry ``only`` selects the figure's runs; see `shared_runs`.
    """
    others = folder.beside(asked.figure.repetitions_of).own_manifest()
    runs, only = shared_runs(asked.figure, asked.scale, asked.extra, others)
    about = _about(asked, runs, Provenance.of_manifest(others))
    own = {key: value for key, value in about.items() if value != others.get(key)}
    return own | {"repetitions_of": asked.figure.repetitions_of, "only": only}


def shared_runs(
    figure: Figure, scale: str, extra: Sequence[str], others: Mapping[str, Any]
) -> tuple[list[LabelledRun], Selection]:
    """Return a figure's runs, and the labels that select them in the manifest ``others``.

    ``others`` belongs to the figure with the repetitions. Labels are given only for axes on which ``others`` has
    further labels. Raises ConfigError unless the selected runs are the figure's.
    """
    runs, entries = expand(figure, scale, list(extra)), others.get("runs", [])
    only: Selection = {}
    for axis in dict.fromkeys(axis for entry in entries for axis in entry["labels"]):
        labels = dict.fromkeys(labelled.labels.get(axis, "") for labelled in runs)
        if labels.keys() != {entry["labels"].get(axis, "") for entry in entries}:
            only[axis] = tuple(labels)
    if not has_all({"runs": [entry for entry in entries if matches(entry["labels"], only)]}, runs, numbers=False):
        raise ConfigError(
            f"{figure.paper}/{figure.name}, repetitions_of: found '{figure.repetitions_of}', whose committed runs "
            "differ, expected a figure with the runs of this one"
        )
    return runs, only


def check_shared_runs(folder: ResultFolder) -> None:
    """Raise ConfigError if a result is drawn from repetitions other than the ones that its figure requests today."""
    if (with_runs := folder.with_runs) != folder:
        manifest = folder.manifest()
        shared_runs(load_figure(folder.name), manifest["scale"], extra_of(manifest), with_runs.manifest())


def settings_table(figure: Figure, runs: list[LabelledRun], scale: str = "paper") -> list[dict[str, Any]]:
    """Return every setting of the figure's experiments, with its values, its source and the place in the source.

    The source is the first of these that applies: ``scale`` for a size other than the paper's; the figure's source if
    the figure names the key (``env.dim``); ``assumed`` if a run of the figure sets another value than the paper; the
    paper's source (``env.synthetic_linear.dim``); and ``assumed`` for the default of the suite or of a user's class.
    Each source of a key has a row.
    """
    paper, limits = load_paper(figure.paper), figure.limit_runs()
    of_paper, figure_sources = leaves(paper["settings"]), figure.sources | (limits.sources if limits else {})
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    smaller = set(map(key_of, figure.at(scale).overrides))
    for labelled in runs:
        own = labelled.experiment.own
        for general, key, value in settings_of(labelled):
            is_size = general == key
            if general in smaller or (is_size and value != (getattr(figure, key) or of_paper.get(key, value))):
                source, where = "scale", "as the scale or the command says"
            elif general in figure_sources:
                source, where = figure_sources[general]
            elif general in labelled.keys and value != of_paper.get(key):
                source, where = "assumed", "the figure sets it"
            else:
                default = "the class's default" if key.partition(".")[0] in own else SUITES_DEFAULT
                source, where = paper["sources"].get(key, ("assumed", default))
            row = rows.setdefault((key, source, where), {"key": key, "values": [], "source": source, "where": where})
            if value not in row["values"]:
                row["values"].append(value)
    return list(rows.values())
