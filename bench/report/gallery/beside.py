"""A measured mean beside the published one."""

from typing import NamedTuple


class Beside(NamedTuple):
    """Labels; the measured mean with its interval; the published mean."""

    labels: tuple[str, ...]
    mean: float
    low: float
    high: float
    published: float

    @property
    def is_inside(self) -> bool:
        """Whether the published mean lies inside the interval of the measured one."""
        return self.low <= self.published <= self.high


def place(value: float, low: float, high: float) -> float:
    """Return where a value lies between two ends, in percent."""
    return round(100 * (value - low) / ((high - low) or 1), 1)


def groups(rows: list[Beside]) -> list[tuple[str, float, float, list[tuple[str, Beside]]]]:
    """Return rows in groups that share an axis: the group's name, the ends of the axis, the rows with their names.

    The last label names the row, the others its group.
    """
    by_group: dict[str, list[tuple[str, Beside]]] = {}
    for row in rows:
        *group, name = row.labels or ("",)
        by_group.setdefault(", ".join(group), []).append((name, row))
    axes = []
    for title, named in by_group.items():
        values = [float(value) for _, row in named for value in row[1:]]
        room = 0.05 * (max(values) - min(values))
        axes.append((title, min(values) - room, max(values) + room, named))
    return axes
