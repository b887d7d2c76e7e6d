"""Where each setting of a figure's experiments comes from."""

from typing import Any

from bench.report.figure import Figure
from bench.report.provenance import key_of
from runners.config.classes import is_suites
from runners.config.compose import parse
from runners.config.figures import LabelledRun, settings_of
from runners.config.papers import leaves, load_paper


def settings_table(figure: Figure, runs: list[LabelledRun], scale: str = "paper") -> list[dict[str, Any]]:
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
    for labelled in runs:
        words = [leaves(parse(word).value(), key_of(word)) for word in labelled.overrides]
        by_figure = {key for keys in words for key in keys}
        own = [part for part, cls in labelled.experiment.classes.items() if not is_suites(cls)]
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
                default = ("assumed", f"the {'class' if key.partition('.')[0] in own else 'suite'}'s default")
                source, where = paper["sources"].get(key, default)
            row = rows.setdefault((key, source, where), {"key": key, "values": [], "source": source, "where": where})
            if value not in row["values"]:
                row["values"].append(value)
    return list(rows.values())
