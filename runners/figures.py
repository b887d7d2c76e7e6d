"""Figures as data: which there are, and which experiments they ask for."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import OmegaConf

from bench.errors import ConfigError
from bench.report.labels import canonical
from runners.compose import Run, from_overrides
from runners.config_tree import CONF

if TYPE_CHECKING:  # slow to import
    import pandas as pd

FIGURES = Path(CONF) / "figure"


@dataclass(frozen=True)
class LabelledRun:
    """One experiment of a figure.

    Parameters
    ----------
    labels
        Its label on each axis.
    overrides
        What to add to ``python -m runners.run`` to run just this.
    run
        The resolved experiment.
    """

    labels: dict[str, str]
    overrides: list[str]
    run: Run


def figure_names(paper: str | None = None) -> list[str]:
    """Return the names ``paper/figure`` of all figures, or of those of one paper."""
    names = sorted(f"{path.parent.name}/{path.stem}" for path in FIGURES.glob("*/*.yaml"))
    return [name for name in names if paper is None or name.startswith(f"{paper}/")]


def load_figure(name: str) -> dict[str, Any]:
    """Read a figure's configuration.

    Where it unfolds trace columns into an axis, its ``runs`` have that axis.

    Raises
    ------
    ConfigError
        When there is no such figure.
    """
    path = FIGURES / f"{name}.yaml"
    if not path.is_file():
        raise ConfigError(f"figure: found '{name}', expected one of: {', '.join(figure_names())}")
    figure: dict[str, Any] = OmegaConf.to_container(OmegaConf.load(path), resolve=True)  # type: ignore[assignment]
    for block in figure.get("runs", []) if "unfold" in figure else []:
        block[figure["unfold"]["axis"]] = {label: [] for label in figure["unfold"]["labels"]}
    return figure


def load_paper(name: str) -> dict[str, Any]:
    """Read a paper's configuration."""
    paper: dict[str, Any] = OmegaConf.to_container(OmegaConf.load(Path(CONF) / "paper" / f"{name}.yaml"))  # type: ignore[assignment]
    return paper


def expand(figure: dict[str, Any], scale: str, extra: list[str]) -> list[LabelledRun]:
    """Return every experiment of ``figure`` at ``scale``; ``extra`` overrides are applied to all of them.

    What the scale leaves out is not run; it counts as a result that is still missing.
    """
    limits: dict[str, int] = {key: figure[key] for key in ("horizon", "repetitions") if key in figure}
    at_scale = figure.get("scales", {}).get(scale, {})
    limits |= {key: value for key, value in at_scale.items() if key.startswith("max_")}
    smaller = at_scale.get("overrides", [])
    left_out = {axis: [canonical(label) for label in labels] for axis, labels in at_scale.get("leave_out", {}).items()}
    drawn = []
    for labels, own in _product(figure):
        if any(labels.get(axis) in out for axis, out in left_out.items()):
            continue
        overrides = [f"paper={figure['paper']}", *own, *smaller]
        run = from_overrides([f"scale={scale}", *overrides, *extra], limits)
        drawn.append(LabelledRun(labels, overrides, run))
    return drawn


def _product(figure: dict[str, Any]) -> Iterator[tuple[dict[str, str], list[str]]]:
    common = list(figure.get("common", []))
    unfolded = figure.get("unfold", {}).get("axis")
    for block in figure.get("runs", []):
        axes = [
            [(axis, label, overrides) for label, overrides in _labels(entry)]
            for axis, entry in block.items()
            if axis != unfolded
        ]
        for point in itertools.product(*axes):
            labels = {axis: label for axis, label, _ in point}
            groups_first = sorted((o for _, _, os in point for o in os), key=lambda o: "." in o.split("=")[0])
            n_groups = sum("." not in o.split("=")[0] for o in groups_first)
            yield labels, groups_first[:n_groups] + common + groups_first[n_groups:]


def _labels(entry: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return label and overrides of every value of an axis, written out or as numbers with a template."""
    if set(entry) == {"values", "override"}:
        return [(canonical(value), [entry["override"].format(value)]) for value in entry["values"]]
    return [(canonical(label), [str(override) for override in overrides]) for label, overrides in entry.items()]


def unfold(figure: dict[str, Any], table: "pd.DataFrame") -> "pd.DataFrame":
    """Give a table of results the axis that a figure's ``unfold`` makes of trace columns: a row for each of them.

    Parameters
    ----------
    figure
        The figure; ``unfold`` has ``axis``, ``column`` (the name of the values there) and ``labels``: label -> column.
    table
        Final values, with the columns; or curves, with their names in ``column``.
    """
    if "unfold" not in figure or not len(table):
        return table
    import pandas as pd

    axis, name, labels = (figure["unfold"][key] for key in ("axis", "column", "labels"))
    if "column" in table:
        parts = [
            table[table["column"] == column].assign(**{axis: label, "column": name}) for label, column in labels.items()
        ]
    else:
        parts = [
            table.assign(**{axis: label, name: table[column]}) for label, column in labels.items() if column in table
        ]
    found = pd.concat(parts, ignore_index=True)
    return found[[axis, *(column for column in found if column != axis)]]
