"""What panels, lines and rows are called."""

from collections.abc import Sequence

from bench.report.experiments import Experiments, Key
from bench.report.labels import Selection, is_number


def series_name(data: Experiments, key: Key, without: Sequence[str]) -> str:
    """Return an experiment's name within a panel: its labels on all other axes than those in ``without``."""
    return ", ".join(said(axis, label) for axis, label in data.as_dict(key).items() if label and axis not in without)


def panel_title(labels: Selection) -> str:
    """Return the title of a panel: its labels."""
    return ", ".join(said(axis, only[0], " = ") for axis, only in labels.items())


def said(axis: str, label: str, link: str = " ") -> str:
    """Return a label in words: a number with its axis."""
    return f"{axis.replace('_', ' ')}{link}{label}" if is_number(label) else label
