"""The columns of results: the unit of each, which way is better, and what it is called on an axis."""

from fnmatch import fnmatchcase
from typing import Literal, NamedTuple


class Column(NamedTuple):
    """What is known of a column; ``better`` is "" where neither less nor more is better, or nobody knows."""

    unit: str
    better: Literal["less", "more", ""]
    label: str


COLUMNS: dict[str, Column] = {
    "regret": Column("reward", "less", "cumulative regret"),
    "*regret*": Column("reward", "less", ""),
    "mean_reward": Column("reward", "more", "mean reward per round"),
    "reward": Column("reward", "more", "cumulative reward"),
    "ips": Column("reward", "more", "mean reward by IPS"),
    "snips": Column("reward", "more", "mean reward by SNIPS"),
    "dr": Column("reward", "more", "mean reward by DR"),
    "ctr": Column("reward", "more", "click-through rate"),
    "seconds": Column("s", "less", "seconds"),
    "cpu_seconds": Column("s", "less", "seconds of the processor"),
    "seconds_*": Column("s", "less", ""),
    "*reward": Column("reward", "more", ""),
    "*value": Column("", "more", ""),
    "*score": Column("", "more", ""),
}
"""By name or pattern, of which the first that fits counts; a task's docstring says what its columns hold."""


def column_of(name: str) -> Column:
    """Return what is known of a column; without a label of its own it is called by its name."""
    found = next((known for pattern, known in COLUMNS.items() if fnmatchcase(name, pattern)), Column("", "", ""))
    return found._replace(label=found.label or name.replace("_", " "))


def is_regret(name: str) -> bool:
    """Whether a column holds regret, beside which that of random arms can be shown."""
    return fnmatchcase(name, "*regret*")


def is_measured(name: str) -> bool:
    """Whether a column holds measured seconds, which differ whenever a run is made."""
    return column_of(name).unit == "s"
