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


class Declared(NamedTuple):
    """A column of a file of results: what it says, and its type; whether ``readings.csv`` repeats it of claims."""

    says: str
    type: Literal["word", "number", "count"] = "number"
    in_readings: bool = True


FILES: dict[str, dict[str, Declared]] = {
    "claims": {
        "claim": Declared("its id", "word"),
        "text": Declared("the claim in words", "word"),
        "kind": Declared("how it is checked", "word", in_readings=False),
        "case": Declared("labels of the case, or `all`", "word"),
        "estimate": Declared("in the column's unit, or a share"),
        "ci_low": Declared("lower end of the 95 % interval"),
        "ci_high": Declared("upper end"),
        "n": Declared("repetitions, of counts cases", "count"),
        "unit": Declared("what the estimate is", "word"),
        "relative": Declared("the comparison as a share of the right side", in_readings=False),
        "relative_low": Declared("lower end of its 95 % interval", in_readings=False),
        "relative_high": Declared("upper end", in_readings=False),
        "expect": Declared("what the claim says of the estimate", "word", in_readings=False),
        "verdict": Declared("`holds`, `fails`, `tie`, `open` or `no evidence`", "word"),
        "p": Declared("the smallest error at which the verdict would be the same", in_readings=False),
        "holm": Declared("`yes` or `no`: whether it remains after correction for all cases of the figure", "word"),
        "repetitions_needed": Declared("how many would probably decide an open case", in_readings=False),
        "note": Declared("why it is open or no evidence, what is missing", "word"),
    },
    "table": {
        "n": Declared("repetitions", "count"),
        "rounds": Declared("mean number of rounds played"),
        "mean": Declared("mean of the figure's column"),
        "std": Declared("sample standard deviation"),
        "ci_low": Declared("lower end of the 95 % interval of the mean"),
        "ci_high": Declared("upper end"),
        "random_arms": Declared("mean regret of uniformly random arms"),
    },
    "curves": {
        "column": Declared("of the trace", "word"),
        "round": Declared("at most 60 of a run", "count"),
        "mean": Declared("over repetitions"),
        "std": Declared("sample standard deviation"),
        "ci_low": Declared("lower end of the pointwise 95 % interval"),
        "ci_high": Declared("upper end"),
        "n": Declared("repetitions", "count"),
    },
    "finals": {"repetition": Declared("from 0", "count"), "rounds": Declared("how many were played", "count")},
    "numbers": {
        "what": Declared("what the number is, such as `mean`", "word"),
        "cell": Declared("its name in every figure that shows it", "word"),
        "published": Declared("as printed"),
        "reading": Declared("of the paper, under which ours were run", "word"),
        "estimate": Declared("our number"),
        "std": Declared("our sample standard deviation"),
        "n": Declared("our repetitions", "count"),
        "ci_low": Declared("lower end of our 95 % interval"),
        "ci_high": Declared("upper end"),
        "further_low": Declared("lower end of the 95 % prediction interval"),
        "further_high": Declared("upper end"),
        "first": Declared("ours of as many repetitions as the paper has, where a reading draws what the authors drew"),
        "inside": Declared("whether our interval contains the published number", "word"),
        "predicted": Declared("whether the prediction interval does", "word"),
        "verdict": Declared("`exact`, `inside`, `possible` or `outside`", "word"),
    },
}
"""The columns of files that have the same ones for all figures, in their order; axes come before."""
TABLE_COLUMNS = frozenset(name for file in ("table", "curves", "finals") for name in FILES[file])
"""Names that no axis can have."""
NUMBERS = frozenset(name for file in FILES.values() for name, told in file.items() if told.type != "word")


def names_of(file: str, *types: str) -> tuple[str, ...]:
    """Return the columns of a file, in order, those of some types."""
    return tuple(name for name, told in FILES[file].items() if not types or told.type in types)


def readings_columns() -> tuple[str, ...]:
    """Return the columns of ``readings.csv``: those of claims that are repeated there, verdicts before numbers."""
    kept = [name for name, told in FILES["claims"].items() if told.in_readings]
    first = ["claim", "text", "case", "verdict", "holm"]
    return ("reading", *first, *(name for name in kept if name not in first))


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
