"""Methods over several tasks: regret relative to a reference method, and mean ranks."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from bench.errors import ConfigError
from bench.report.experiments import Experiments, Key
from bench.report.labels import matches, selection
from bench.stats import mean_interval

TASK, METHOD = "task", "method"


def relative_values(figure: Mapping[str, Any], finals: pd.DataFrame) -> pd.DataFrame:
    """Return every method's mean final value on every task, and its ratio to that of the figure's ``reference``.

    Returns
    -------
    DataFrame
        ``task``, ``method``, ``n``, ``mean``, ``relative``; NaN where there are no results; no row for a method that is
        not run on a task.

    Raises
    ------
    ConfigError
        If the figure lacks one of the axes ``task`` and ``method``, or its ``reference`` is not one method.
    """
    data, column, reference = _read(figure, finals)
    rows = []
    for task in data.labels(TASK):
        values = {method: _by_repetition(data, key, column).dropna() for method, key in _methods(data, task).items()}
        base = float(values[reference].mean()) if len(values.get(reference, ())) else np.nan
        for method, own in values.items():
            mean = float(own.mean()) if len(own) else np.nan
            rows.append({TASK: task, METHOD: method, "n": len(own), "mean": mean, "relative": mean / base})
    return pd.DataFrame(rows, columns=[TASK, METHOD, "n", "mean", "relative"])


def mean_ranks(figure: Mapping[str, Any], finals: pd.DataFrame) -> pd.DataFrame:
    """Return the mean rank of every method over the tasks that all of them are run on; rank 1 has the lowest value.

    Tasks without any results do not count. Methods are ranked anew in every repetition, whose data they share; equal
    values share their mean rank. A rank is averaged over the tasks, then over the repetitions that all methods have on
    all of these tasks.

    Returns
    -------
    DataFrame
        ``method``, ``tasks`` (their number), ``n`` (repetitions), ``mean_rank`` and its 95 % bootstrap interval over
        repetitions, ``ci_low`` and ``ci_high``; best first, methods without results last. The choice of the tasks is
        not in the interval.
    """
    data, column, _ = _read(figure, finals)
    methods = data.labels(METHOD)
    tasks = [
        task
        for task in data.labels(TASK)
        if len(_methods(data, task)) == len(methods)
        and any(len(data.rows(key)) for key in _methods(data, task).values())
    ]
    ranks = [_ranks(data, task, methods, column) for task in tasks]
    shared = sorted(set.intersection(*(set(table.index) for table in ranks))) if ranks else []
    rows = []
    for method in methods:
        own = np.mean([table.loc[shared, method].to_numpy() for table in ranks], axis=0) if shared else np.empty(0)
        interval = mean_interval(own)
        rows.append(
            {
                METHOD: method,
                "tasks": len(tasks),
                "n": interval.n,
                "mean_rank": interval.estimate,
                "ci_low": interval.low,
                "ci_high": interval.high,
            }
        )
    table = pd.DataFrame(rows, columns=[METHOD, "tasks", "n", "mean_rank", "ci_low", "ci_high"])
    return table.sort_values("mean_rank", kind="stable", ignore_index=True)


def _read(figure: Mapping[str, Any], finals: pd.DataFrame) -> tuple[Experiments, str, str]:
    data = Experiments(figure, finals)
    where = f"figure '{data.name}'"
    for axis in (TASK, METHOD):
        if axis not in data.axes:
            raise ConfigError(f"{where}: found the axes {', '.join(data.axes)}, expected '{axis}' among them")
    reference = selection(figure.get("reference", {})).get(METHOD, ())
    if len(reference) != 1:
        raise ConfigError(f"{where}, key 'reference': found {figure.get('reference')}, expected one method")
    data.check({METHOD: reference}, f"{where}, key 'reference'")
    return data, str(figure["column"]), reference[0]


def _methods(data: Experiments, task: str) -> dict[str, Key]:
    """Return the experiments of a task by their methods."""
    keys = [key for key in data.keys if matches(data.as_dict(key), {TASK: (task,)})]
    return {data.as_dict(key)[METHOD]: key for key in keys}


def _ranks(data: Experiments, task: str, methods: list[str], column: str) -> pd.DataFrame:
    """Return ranks, a row per repetition that all methods have, a column per method."""
    keys = _methods(data, task)
    values = pd.DataFrame({method: _by_repetition(data, keys[method], column) for method in methods})
    return values.dropna().rank(axis="columns")


def _by_repetition(data: Experiments, key: Key, column: str) -> pd.Series:
    rows = data.rows(key)
    if column not in rows:
        return pd.Series(dtype=np.float64)
    return rows.set_index("repetition")[column].astype(np.float64)
