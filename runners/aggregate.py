"""From raw runs to the two tables that a figure is drawn from."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bench.report.figure import evenly
from bench.stats import mean_band
from runners.figures import LabelledRun
from runners.store import Store

Keep = Callable[[npt.NDArray[np.int64]], npt.NDArray[np.intp]]
"""Of the rounds there are, the positions of those to keep."""


def aggregate(
    drawn: Sequence[LabelledRun],
    done: Sequence[Sequence[int]],
    store: Store,
    *,
    columns: Sequence[str] = (),
    keep: Keep = evenly,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the repetitions ``done`` of each experiment and return the tables ``curves`` and ``finals``.

    Parameters
    ----------
    drawn, done
        Experiments, and for each the repetitions to read.
    store
        Where they are.
    columns
        Trace columns to keep curves of, or patterns such as ``probe_*``; without, the first table is empty.
    keep
        Which rounds of them.

    Returns
    -------
    tuple of DataFrame
        ``curves``: axis columns, ``column``, ``round``, ``mean``, ``std``, ``ci_low``, ``ci_high``, ``n``;
        ``finals``: axis columns, ``repetition``, ``rounds``, the last value of every numeric trace column, and what
        stands beside the trace of measured seconds, as ``seconds_<name>``.
    """
    axes = list(dict.fromkeys(axis for one in drawn for axis in one.labels))
    curve_parts, final_rows = [], []
    for one, repetitions in zip(drawn, done, strict=True):
        labels = {axis: one.labels.get(axis, "") for axis in axes}
        curves = _Curves(columns, keep)
        for repetition in repetitions:
            trace = store.read(one.run.experiment.run_id, repetition)
            curves.add(trace)
            last = trace.iloc[-1]
            values = {name: last[name] for name in _numeric(trace) if name not in ("round", *axes)}
            costs = store.read_side(one.run.experiment.run_id, repetition).get("costs", {})
            values |= {f"seconds_{name}": seconds for name, seconds in costs.items()}
            final_rows.append({**labels, "repetition": repetition, "rounds": int(last["round"]), **values})
        curve_parts += curves.tables(labels)
    finals = pd.DataFrame(final_rows, columns=_columns(final_rows, axes))
    return (pd.concat(curve_parts, ignore_index=True) if curve_parts else pd.DataFrame()), finals


class _Curves:
    """What is kept of the traces of one experiment: of some columns some rounds, however many traces there are.

    Parameters
    ----------
    patterns
        Names or patterns of the columns.
    keep
        Which of the rounds; chosen from those of the first trace. A round that another trace lacks is left out.
    """

    def __init__(self, patterns: Sequence[str], keep: Keep) -> None:
        self._patterns = patterns
        self._keep = keep
        self._rounds: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._values: dict[str, list[npt.NDArray[np.float64]]] = {}
        self._n = 0

    def add(self, trace: pd.DataFrame) -> None:
        """Take what is needed from one more trace."""
        rounds = trace["round"].to_numpy()
        if not self._n:
            names = [str(name) for p in self._patterns for name in trace.columns if fnmatchcase(str(name), p)]
            self._values = {name: [] for name in names}
            self._rounds = rounds[self._keep(rounds)]
        self._n += 1
        places = np.flatnonzero(np.isin(rounds, self._rounds))
        if len(places) < len(self._rounds):
            shared = np.isin(self._rounds, rounds)
            self._rounds = self._rounds[shared]
            self._values = {name: [row[shared] for row in rows] for name, rows in self._values.items()}
        for name in [name for name in self._values if name not in trace]:
            del self._values[name]
        for name, rows in self._values.items():
            rows.append(trace[name].to_numpy(dtype=float)[places])

    def tables(self, labels: dict[str, str]) -> list[pd.DataFrame]:
        """Return mean and band of each column."""
        parts = []
        for column, rows in self._values.items():
            values = np.array(rows)
            if not np.isfinite(values).all():  # a hyper-parameter is not set in the warm-up: no curve of it
                continue
            mean, low, high = mean_band(values)
            std = values.std(axis=0, ddof=1) if len(values) > 1 else np.full(len(self._rounds), np.nan)
            table = {"round": self._rounds, "mean": mean, "std": std, "ci_low": low, "ci_high": high}
            parts.append(pd.DataFrame({**labels, "column": column, **table, "n": len(values)}))
        return parts


def _numeric(trace: pd.DataFrame) -> list[str]:
    return [str(name) for name in trace.columns if pd.api.types.is_numeric_dtype(trace[name])]


def _columns(rows: list[dict[str, Any]], axes: list[str]) -> list[str]:
    names = [*axes, "repetition", "rounds", "reward", "regret", "random_regret"]
    found = dict.fromkeys(name for row in rows for name in row)
    return [name for name in names if name in found] + [name for name in found if name not in names]
