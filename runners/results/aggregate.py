"""From raw runs to the two tables that a figure is drawn from."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from bench.errors import StoreError
from bench.report.figure import evenly
from bench.stats import mean_band
from runners.config.figures import Labelled, LabelledRun
from runners.results.store import Store

Keep = Callable[[npt.NDArray[np.int64]], npt.NDArray[np.intp]]
"""Of the rounds there are, the positions of those to keep, the last among them."""


@dataclass(frozen=True)
class Kept:
    """What a figure keeps of a repetition.

    Parameters
    ----------
    rounds
        Rounds of the curves, the last one played among them.
    curves
        Values at these rounds, by column.
    finals
        The last value of every column: a number, NaN where there is none, or a word.
    seconds
        Measured seconds, by column.
    """

    rounds: npt.NDArray[np.int64]
    curves: dict[str, npt.NDArray[np.float64]]
    finals: dict[str, float | str]
    seconds: dict[str, float]


class Committed(Protocol):
    """Repetitions that need not be in the store."""

    def get(self, run_id: str, repetition: int) -> Kept | None:
        """Return a repetition, None if it is not among them."""


def is_measured(column: str) -> bool:
    """Whether a column of final values holds measured seconds, which differ whenever a run is made."""
    return column in ("seconds", "cpu_seconds") or column.startswith("seconds_")


def kept(
    drawn: Sequence[LabelledRun],
    done: Sequence[Sequence[int]],
    store: Store,
    *,
    columns: Sequence[str] = (),
    keep: Keep = evenly,
    committed: Committed | None = None,
) -> list[list[Kept]]:
    """Read the repetitions ``done`` of each experiment and return what is kept of each.

    Parameters
    ----------
    drawn, done
        Experiments, and for each the repetitions to read.
    store
        Where they are.
    columns
        Trace columns to keep curves of, or patterns such as ``probe_*``.
    keep
        Which rounds of them; chosen from those of an experiment's first repetition.
    committed
        Repetitions that are taken from here, if they are here.

    Raises
    ------
    StoreError
        When results are damaged. All are read, so that a rerun finds no other one damaged.
    """
    found, errors = [], []
    for one, repetitions in zip(drawn, done, strict=True):
        own: list[Kept] = []
        for repetition in repetitions:
            run_id = one.run.experiment.run_id
            known = committed.get(run_id, repetition) if committed else None
            if known is None:
                try:
                    trace = store.read(run_id, repetition)
                except StoreError as error:
                    errors.append(error)
                    continue
                side = store.read_side(run_id, repetition)
                known = thin(trace, side, columns, keep, own[0].rounds if own else None)
            own.append(known)
        found.append(own)
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise StoreError(f"{errors[0]}{more}")
    return found


def thin(
    trace: pd.DataFrame,
    side: dict[str, Any],
    columns: Sequence[str],
    keep: Keep | None,
    wanted: npt.NDArray[np.int64] | None,
) -> Kept:
    """Return what is kept of a trace, at the rounds ``wanted`` as far as it has them, else at those of ``keep``."""
    rounds = trace["round"].to_numpy()
    last = len(rounds) - 1
    places = np.array([last])
    if columns and wanted is not None:
        places = np.union1d(np.flatnonzero(np.isin(rounds, wanted)), places)
    elif columns and keep is not None:
        places = np.union1d(keep(rounds), places)
    names = dict.fromkeys(str(name) for p in columns for name in trace.columns if fnmatchcase(str(name), p))
    curves = {name: trace[name].to_numpy(dtype=float)[places] for name in names}
    finals: dict[str, float | str] = {}
    for name in trace.columns:
        if name != "round":
            value = trace[name].iloc[last]
            finals[str(name)] = value if isinstance(value, str) else float(value)
            if value == "None":  # a setting without a value, among words
                finals[str(name)] = math.nan
    seconds = {f"seconds_{name}": float(value) for name, value in side.get("costs", {}).items()}
    if side.get("seconds") is not None:
        seconds["seconds_total"] = float(side["seconds"])
    return Kept(rounds[places], curves, finals, seconds)


def aggregate(
    drawn: Sequence[LabelledRun],
    done: Sequence[Sequence[int]],
    store: Store,
    *,
    columns: Sequence[str] = (),
    keep: Keep = evenly,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the repetitions ``done`` of each experiment and return the tables ``curves`` and ``finals``.

    Parameters are those of `kept`, the tables those of `curve_table` and `final_table`.
    """
    own = kept(drawn, done, store, columns=columns, keep=keep)
    return curve_table(drawn, own), final_table(drawn, done, own)


def curve_table(drawn: Sequence[Labelled], own: Sequence[Sequence[Kept]]) -> pd.DataFrame:
    """Return mean curves, over the rounds that all repetitions of an experiment have.

    Returns
    -------
    DataFrame
        Axis columns, ``column``, ``round``, ``mean``, ``std``, ``ci_low``, ``ci_high``, ``n``; empty without curves.
        A column that is not set in some round, such as a hyper-parameter before the tuner is asked, has no curve.
    """
    axes = _axes(drawn)
    parts = []
    for one, repetitions in zip(drawn, own, strict=True):
        labels = {axis: one.labels.get(axis, "") for axis in axes}
        if not repetitions or not repetitions[0].curves:
            continue
        rounds = repetitions[0].rounds
        for other in repetitions[1:]:
            if not np.array_equal(rounds, other.rounds):  # which `isin` takes ten times as long to find
                rounds = rounds[np.isin(rounds, other.rounds)]
        for column in repetitions[0].curves:
            if not all(column in other.curves for other in repetitions):
                continue
            values = np.array([_at(other, column, rounds) for other in repetitions])
            if not np.isfinite(values).all():
                continue
            mean, low, high = mean_band(values)
            std = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(len(rounds), np.nan)
            table = {"round": rounds, "mean": mean, "std": std, "ci_low": low, "ci_high": high}
            parts.append(pd.DataFrame({**labels, "column": column, **table, "n": len(values)}))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _at(one: Kept, column: str, rounds: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return a curve at some of its rounds."""
    return one.curves[column] if len(rounds) == len(one.rounds) else one.curves[column][np.isin(one.rounds, rounds)]


def final_table(
    drawn: Sequence[Labelled], done: Sequence[Sequence[int]], own: Sequence[Sequence[Kept]]
) -> pd.DataFrame:
    """Return a row for each repetition.

    Returns
    -------
    DataFrame
        Axis columns, ``repetition``, ``rounds``, the last value of every trace column, and measured seconds as
        ``seconds_<name>``. Words stand as they are, what is missing as NaN.
    """
    axes = _axes(drawn)
    rows = []
    for one, numbers, repetitions in zip(drawn, done, own, strict=True):
        labels = {axis: one.labels.get(axis, "") for axis in axes}
        for number, repetition in zip(numbers, repetitions, strict=True):
            values = {name: value for name, value in repetition.finals.items() if name not in axes}
            played = {"repetition": number, "rounds": int(repetition.rounds[-1])}
            rows.append({**labels, **played, **values, **repetition.seconds})
    return pd.DataFrame(rows, columns=_columns(rows, axes))


def _axes(drawn: Sequence[Labelled]) -> list[str]:
    return list(dict.fromkeys(axis for one in drawn for axis in one.labels))


def _columns(rows: list[dict[str, Any]], axes: list[str]) -> list[str]:
    names = [*axes, "repetition", "rounds", "reward", "regret", "random_regret"]
    found = dict.fromkeys(name for row in rows for name in row)
    return [name for name in names if name in found] + [name for name in found if name not in names]
