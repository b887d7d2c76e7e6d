"""Numbers printed in a paper, to stand beside measured ones."""

from collections.abc import Mapping
from typing import Any

from bench.errors import ConfigError
from bench.report.experiments import Experiments
from bench.report.labels import canonical

WHATS = ("mean", "std", "best", "theory_mean", "theory_std")
"""What a published number can be: mean and standard deviation of the figure's column, and for the kind `grid` also the
best value of the grid, and mean and standard deviation of the theoretical setting."""

_KEYS = ("what", "value", "note")


def published(figure: Mapping[str, Any], data: Experiments) -> list[tuple[dict[str, str], str, float, str]]:
    """Return a figure's published numbers: labels by axis, what it is, the number, and a note (or "").

    Raises
    ------
    ConfigError
        If an entry lacks `what` or `value`, or names an unknown `what`, axis or label.
    """
    whats = WHATS if figure.get("kind") == "grid" else WHATS[:2]
    entries = []
    for number, entry in enumerate(figure.get("published") or (), start=1):
        where = f"figure '{data.name}', published entry {number}"
        if not isinstance(entry, Mapping):
            raise ConfigError(f"{where}: expected a mapping, found {entry!r}")
        for key in ("what", "value"):
            if key not in entry:
                raise ConfigError(f"{where}: key '{key}' is missing")
        if entry["what"] not in whats:
            raise ConfigError(f"{where}, key 'what': unknown {entry['what']!r}, choose from {', '.join(whats)}")
        if isinstance(entry["value"], bool) or not isinstance(entry["value"], int | float):
            raise ConfigError(f"{where}, key 'value': expected a number, found {entry['value']!r}")
        labels = {str(axis): canonical(label) for axis, label in entry.items() if axis not in _KEYS}
        data.check({axis: (label,) for axis, label in labels.items()}, where)
        entries.append((labels, str(entry["what"]), float(entry["value"]), str(entry.get("note", ""))))
    return entries
