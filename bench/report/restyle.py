"""A reader's changes to a plot: names, and the selection and order of lines."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from bench.errors import ConfigError
from bench.report.plot import Plot


def keep(plot: Plot, order: Iterable[str]) -> None:
    """Draw only some labels, in this order. Raises ConfigError for an unknown one."""
    names = list(order)
    check_names(plot, names, "order")
    place = {name: i for i, name in enumerate(names)}
    plot.legend = {name: plot.legend[name] for name in names}
    for panel in plot.panels:
        kept = [mark for mark in panel.marks if mark.name in place]
        panel.marks = sorted(kept, key=lambda mark: place[mark.name])


def rename(plot: Plot, labels: Mapping[str, str]) -> None:
    """Rename labels and panels. Raises ConfigError for an unknown one."""
    titles = [panel.title for panel in plot.panels]
    check_names(plot, [name for name in labels if name not in titles], "labels")
    plot.legend = {labels.get(name, name): sample for name, sample in plot.legend.items()}
    for panel in plot.panels:
        panel.title = labels.get(panel.title, panel.title)
        panel.marks = [replace(mark, name=labels.get(mark.name, mark.name)) for mark in panel.marks]


def check_names(plot: Plot, names: Iterable[str], key: str) -> None:
    """Raise ConfigError for a name that is not in the legend."""
    for name in names:
        if name not in plot.legend:
            raise ConfigError(f"{key}: found '{name}', expected some of: {', '.join(plot.legend)}")
