"""From raw runs to the two tables from which a figure is drawn."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from bench.report.figure import evenly
from bench.report.tables import DIGITS
from bench.stats import mean_band, spread
from runners.results.store import Store

if TYPE_CHECKING:  # slow to import
    import pyarrow as pa

Keep = Callable[[npt.NDArray[np.int64]], npt.NDArray[np.intp]]
"""A function that maps the numbers of rounds to the positions of the rounds to keep, including the last round."""


@dataclass(frozen=True)
class Kept:
    """The part of a repetition that a figure keeps.

    ``rounds`` are the rounds of the curves, including the last round played; ``curves``, ``finals`` and measured
    ``seconds`` are mappings by column. A last value is a number (NaN if missing) or a word.
    """

    rounds: npt.NDArray[np.int64]
    curves: dict[str, npt.NDArray[np.float64]]
    finals: dict[str, float | str]
    seconds: dict[str, float]


class Repetitions(NamedTuple):
    """An experiment of a figure, with its label on each axis and the kept data of its repetitions by number."""

    labels: Mapping[str, str]
    kept: Mapping[int, Kept]


def as_written(seconds: float) -> float:
    """Return seconds with as many digits as in ``seconds.csv``, so that tables can be derived from that file again."""
    return float(f"{seconds:.{DIGITS}g}")


def read_run(
    labels: Mapping[str, str],
    run_id: str,
    numbers: Iterable[int],
    store: Store,
    *,
    columns: Sequence[str] = (),
    keep: Keep = evenly,
    known: Mapping[int, Kept] = MappingProxyType({}),
) -> Repetitions:
    """Return the kept data of the repetitions ``numbers`` of an experiment.

    Curves are kept for the trace columns that match ``columns``, which may be patterns such as ``probe_*``. ``keep``
    selects the rounds of the curves in the first repetition; the same rounds are kept in all other repetitions.
    Repetitions in ``known`` are not read. Raises StoreError if a result is damaged.
    """
    kept: dict[int, Kept] = {}
    for number in numbers:
        repetition = known.get(number)
        if repetition is None:
            rounds = next(iter(kept.values())).rounds if kept else None
            repetition = thin(store.table(run_id, number), store.read_side(run_id, number), columns, keep, rounds)
        kept[number] = repetition
    return Repetitions(labels, kept)


def thin(
    trace: "pa.Table",
    side: dict[str, Any],
    columns: Sequence[str],
    keep: Keep | None,
    wanted: npt.NDArray[np.int64] | None,
) -> Kept:
    """Return the kept data of a trace at the rounds ``wanted``, or, if None, at the rounds that ``keep`` selects."""
    rounds = trace.column("round").to_numpy()
    places = np.array([len(rounds) - 1])
    if columns and wanted is not None:
        places = np.union1d(np.flatnonzero(np.isin(rounds, wanted)), places)
    elif columns and keep is not None:
        places = np.union1d(keep(rounds), places)
    names = dict.fromkeys(name for p in columns for name in trace.column_names if fnmatchcase(name, p))
    curves = {name: trace.column(name).to_numpy().astype(float)[places] for name in names}
    last = trace.slice(len(rounds) - 1).to_pylist()[0]
    finals: dict[str, float | str] = {}
    for name in [name for name in trace.column_names if name != "round"]:
        value = last[name]
        is_word = isinstance(value, str) and value != "None"  # an unset setting in a column of text
        finals[name] = value if is_word else math.nan if value in (None, "None") else float(value)
    seconds = {f"seconds_{name}": as_written(value) for name, value in side.get("costs", {}).items()}
    if side.get("seconds") is not None:
        seconds["seconds_total"] = as_written(side["seconds"])
    return Kept(rounds[places], curves, finals, seconds)


def curve_table(runs: Sequence[Repetitions], each: Sequence[str] = ()) -> pd.DataFrame:
    """Return mean curves over the rounds of all repetitions, and, for the columns ``each``, a curve per repetition.

    The columns are the axes, ``column``, ``round``, ``mean``, ``std``, ``ci_low``, ``ci_high`` and ``n``; the table is
    empty if no curves are kept. The curve of a single repetition has the column ``regret@3``, and n = 1. A column that
    is missing in some round, such as a hyper-parameter before the tuner's first ask, has no curve.
    """
    axes = _axes(runs)
    parts: list[dict[str, npt.NDArray[Any]]] = []
    for run in runs:
        repetitions = list(run.kept.values())
        if not repetitions or not repetitions[0].curves:
            continue
        rounds = repetitions[0].rounds
        for other in repetitions[1:]:
            if not np.array_equal(rounds, other.rounds):  # `isin` takes ten times as long to find them
                rounds = rounds[np.isin(rounds, other.rounds)]
        for column in repetitions[0].curves:
            if not all(column in other.curves for other in repetitions):
                continue
            values = np.array([_at(other, column, rounds) for other in repetitions])
            if not np.isfinite(values).all():
                continue
            mean, low, high = mean_band(values)
            std = spread(values, axis=0) if len(values) > 1 else np.full(len(rounds), np.nan)
            same = {axis: run.labels.get(axis, "") for axis in axes} | {"column": column}
            table = {name: np.full(len(rounds), value, dtype=object) for name, value in same.items()}
            table |= {"round": rounds, "mean": mean, "std": std, "ci_low": low, "ci_high": high}
            parts.append({**table, "n": np.full(len(rounds), len(values))})
            for number, own in zip(run.kept, values, strict=True) if column in each else ():
                alone = {"column": np.full(len(rounds), f"{column}@{number}", dtype=object), "mean": own}
                blank = dict.fromkeys(("std", "ci_low", "ci_high"), np.full(len(rounds), np.nan))
                parts.append({**table, **alone, **blank, "n": np.full(len(rounds), 1)})
    names = parts[0] if parts else ()
    return pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in names})


def _at(kept: Kept, column: str, rounds: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    curve = kept.curves[column]
    return curve if len(rounds) == len(kept.rounds) else curve[np.isin(kept.rounds, rounds)]


def final_table(runs: Sequence[Repetitions]) -> pd.DataFrame:
    """Return one row per repetition.

    The columns are the axes, ``repetition``, ``rounds``, the last value of every trace column, and measured seconds as
    ``seconds_<name>``. Words are unchanged, missing values are NaN.
    """
    axes = _axes(runs)
    rows: list[dict[str, Any]] = []
    for run in runs:
        labels = {axis: run.labels.get(axis, "") for axis in axes}
        for number, repetition in run.kept.items():
            values = {name: value for name, value in repetition.finals.items() if name not in axes}
            played = {"repetition": number, "rounds": int(repetition.rounds[-1])}
            rows.append({**labels, **played, **values, **repetition.seconds})
    first = [*axes, "repetition", "rounds", "reward", "regret", "random_regret"]
    names = dict.fromkeys(name for row in rows for name in row)
    in_order = [name for name in first if name in names] + [name for name in names if name not in first]
    return pd.DataFrame(rows, columns=in_order)


def _axes(runs: Sequence[Repetitions]) -> list[str]:
    return list(dict.fromkeys(axis for run in runs for axis in run.labels))
