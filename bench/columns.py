"""The unit, the better direction and the axis label of each column of the results."""

from fnmatch import fnmatchcase
from typing import Literal, NamedTuple


class Column(NamedTuple):
    """Unit, label and direction of a column; ``better`` is "" if no direction is known to be better."""

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
"""By name or pattern; the first that fits applies. A task's docstring defines its columns."""


class FileColumn(NamedTuple):
    """The meaning and type of a column of a result file.

    ``in_readings`` is true if ``readings.csv`` repeats the column from ``claims.csv``.
    """

    says: str
    type: Literal["word", "number", "count"] = "number"
    in_readings: bool = True


FILES: dict[str, dict[str, FileColumn]] = {
    "claims": {
        "claim": FileColumn("its id", "word"),
        "text": FileColumn("the claim in words", "word"),
        "kind": FileColumn("the kind of check", "word", in_readings=False),
        "case": FileColumn("labels of the case, or `all`", "word"),
        "estimate": FileColumn("in the column's unit, or a share"),
        "ci_low": FileColumn("lower end of the 95 % interval"),
        "ci_high": FileColumn("upper end"),
        "n": FileColumn("repetitions; for a count, cases", "count"),
        "unit": FileColumn("the quantity that is estimated", "word"),
        "relative": FileColumn("the comparison as a share of the right side", in_readings=False),
        "relative_low": FileColumn("lower end of its 95 % interval", in_readings=False),
        "relative_high": FileColumn("upper end", in_readings=False),
        "expect": FileColumn("the side of the threshold that the claim expects", "word", in_readings=False),
        "verdict": FileColumn("`holds`, `fails`, `tie`, `open` or `no evidence`", "word"),
        "p": FileColumn("the smallest error rate that gives the same verdict", in_readings=False),
        "holm": FileColumn("`yes` or `no`: whether the verdict survives correction over all cases", "word"),
        "repetitions_needed": FileColumn("number that would probably decide an open case", in_readings=False),
        "note": FileColumn("the reason for open or no evidence, and missing results", "word"),
    },
    "table": {
        "n": FileColumn("repetitions", "count"),
        "rounds": FileColumn("mean number of rounds played"),
        "mean": FileColumn("mean of the figure's column"),
        "std": FileColumn("sample standard deviation"),
        "ci_low": FileColumn("lower end of the 95 % interval of the mean"),
        "ci_high": FileColumn("upper end"),
        "random_arms": FileColumn("mean regret of uniformly random arms"),
    },
    "curves": {
        "column": FileColumn("of the trace", "word"),
        "round": FileColumn("at most 60 of a run", "count"),
        "mean": FileColumn("over repetitions"),
        "std": FileColumn("sample standard deviation"),
        "ci_low": FileColumn("lower end of the pointwise 95 % interval"),
        "ci_high": FileColumn("upper end"),
        "n": FileColumn("repetitions", "count"),
    },
    "finals": {"repetition": FileColumn("from 0", "count"), "rounds": FileColumn("number played", "count")},
    "numbers": {
        "what": FileColumn("the statistic, such as `mean`", "word"),
        "cell": FileColumn("its name in every figure that shows it", "word"),
        "published": FileColumn("as printed"),
        "reading": FileColumn("of the paper, under which ours were run", "word"),
        "estimate": FileColumn("our number"),
        "std": FileColumn("our sample standard deviation"),
        "n": FileColumn("our repetitions", "count"),
        "ci_low": FileColumn("lower end of our 95 % interval"),
        "ci_high": FileColumn("upper end"),
        "further_low": FileColumn("lower end of the 95 % prediction interval"),
        "further_high": FileColumn("upper end"),
        "first": FileColumn(
            "ours from as many repetitions as in the paper, for a reading with the authors' random draws"
        ),
        "inside": FileColumn("whether our interval contains the published number", "word"),
        "predicted": FileColumn("whether the prediction interval does", "word"),
        "verdict": FileColumn("`exact`, `inside`, `possible` or `outside`", "word"),
    },
}
"""The columns, in order and after the axes, of the files whose columns are the same for all figures."""
TABLE_COLUMNS = frozenset(name for file in ("table", "curves", "finals") for name in FILES[file])
"""Names that no axis can have."""
NUMBERS = frozenset(name for file in FILES.values() for name, told in file.items() if told.type != "word")


def names_of(file: str, *types: str) -> tuple[str, ...]:
    """Return the names of a file's columns in order; if ``types`` are given, only the columns of these types."""
    return tuple(name for name, told in FILES[file].items() if not types or told.type in types)


def readings_columns() -> tuple[str, ...]:
    """Return the columns of ``readings.csv``.

    These are the repeated columns of ``claims.csv``, with the verdicts before the numbers.
    """
    kept = [name for name, told in FILES["claims"].items() if told.in_readings]
    first = ["claim", "text", "case", "verdict", "holm"]
    return ("reading", *first, *(name for name in kept if name not in first))


def column_of(name: str) -> Column:
    """Return the entry of a column; a column without a label is labelled with its name."""
    found = next((known for pattern, known in COLUMNS.items() if fnmatchcase(name, pattern)), Column("", "", ""))
    return found._replace(label=found.label or name.replace("_", " "))


def is_regret(name: str) -> bool:
    """Return whether a column holds regret, so that the regret of random arms can be drawn with it."""
    return fnmatchcase(name, "*regret*")


def is_measured(name: str) -> bool:
    """Return whether a column holds measured seconds, which differ from run to run."""
    return column_of(name).unit == "s"
