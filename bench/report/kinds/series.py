"""The lines of a panel: which experiments they are and what they are called."""

from collections.abc import Sequence

from bench.report.experiments import Experiments, Key
from bench.report.labels import is_number


def series_name(data: Experiments, key: Key, without: Sequence[str]) -> str:
    """Return an experiment's name within a panel: its labels on all other axes than those in ``without``."""
    parts = [
        f"{axis.replace('_', ' ')} {label}" if is_number(label) else label
        for axis, label in data.as_dict(key).items()
        if label and axis not in without
    ]
    return ", ".join(parts)


def panel_title(labels: dict[str, tuple[str, ...]]) -> str:
    """Return the title of a panel: its labels."""
    return ", ".join(
        f"{axis.replace('_', ' ')} = {only[0]}" if is_number(only[0]) else only[0] for axis, only in labels.items()
    )
