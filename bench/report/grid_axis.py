"""Which axis of a figure is its numeric grid, and which runs are the reference beside it."""

from collections.abc import Mapping
from typing import Any

from bench.errors import ConfigError
from bench.report.experiments import Experiments, Key
from bench.report.labels import is_number

THEORY = "Theory"


def grid_axis(figure: Mapping[str, Any], data: Experiments) -> str:
    """Return the numeric axis of a figure of kind `grid`: its key `axis`, or the one axis given by `values`.

    Raises
    ------
    ConfigError
        If there is none, or several without the key `axis` to choose.
    """
    if "axis" in figure:
        axis = str(figure["axis"])
        data.check_axis(axis, f"figure '{data.name}', key 'axis'")
        return axis
    found = [axis for axis in data.axes if (labels := data.labels(axis)) and all(is_number(label) for label in labels)]
    if len(found) != 1:
        raise ConfigError(
            f"figure '{data.name}': a grid needs one axis with numbers, found {', '.join(found) or 'none'}; "
            "name it with the key 'axis'"
        )
    return found[0]


def panel_axes(figure: Mapping[str, Any], data: Experiments) -> list[str]:
    """Return the axes whose labels make the panels: the key `panels`, default `panel` where the figure has it.

    Raises
    ------
    ConfigError
        If an axis is unknown.
    """
    axes = [str(axis) for axis in figure["panels"]] if "panels" in figure else ["panel"]
    if "panels" in figure:
        for axis in axes:
            data.check_axis(axis, f"figure '{data.name}', key 'panels'")
    return [axis for axis in axes if axis in data.axes]


def theory_key(data: Experiments, axis: str, panel: Mapping[str, str]) -> Key | None:
    """Return the theoretical setting of a panel: the experiment without a grid value that bears the label `Theory`."""
    for key in data.keys:
        labels = data.as_dict(key)
        is_here = all(labels.get(name) == label for name, label in panel.items())
        if is_here and not labels.get(axis) and THEORY in key:
            return key
    return None
