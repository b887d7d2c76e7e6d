"""Changes that a reader wants of a plot: colours, names, and which lines are drawn in which order."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from matplotlib.colors import is_color_like

from bench.errors import ConfigError
from bench.report.plot import Look, Plot


def recolour(plot: Plot, colors: Mapping[str, str]) -> None:
    """Give labels colours, as matplotlib knows them. Raises ConfigError where there is no such colour or label."""
    _check(plot, colors, "colors")
    for name, color in colors.items():
        if not is_color_like(color):
            raise ConfigError(f"colors: found '{color}' for '{name}', expected a colour such as black or #d55e00")
        before = plot.legend[name].look.color
        plot.change_look(name, partial(_coloured, before=before, color=color))


def keep(plot: Plot, order: Iterable[str]) -> None:
    """Draw only some labels, in this order. Raises ConfigError where one is not there."""
    names = list(order)
    _check(plot, names, "order")
    place = {name: i for i, name in enumerate(names)}
    plot.legend = {name: plot.legend[name] for name in names}
    for panel in plot.panels:
        kept = [mark for mark in panel.marks if mark.name in place]
        panel.marks = sorted(kept, key=lambda mark: place[mark.name])


def rename(plot: Plot, labels: Mapping[str, str]) -> None:
    """Give labels other names. Raises ConfigError where one is not there."""
    _check(plot, labels, "labels")
    plot.legend = {labels.get(name, name): sample for name, sample in plot.legend.items()}
    for panel in plot.panels:
        panel.marks = [replace(mark, name=labels.get(mark.name, mark.name)) for mark in panel.marks]


def _coloured(look: Look, before: str, color: str) -> Look:
    return replace(look, color=color) if look.color == before else look


def _check(plot: Plot, names: Iterable[str], key: str) -> None:
    for name in names:
        if name not in plot.legend:
            raise ConfigError(f"{key}: found '{name}', expected some of: {', '.join(plot.legend)}")
