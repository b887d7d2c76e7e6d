"""Seconds of runs: medians, their range, and how many times those of a reference they are."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from bench.errors import ConfigError
from bench.report.experiments import Experiments, Key
from bench.report.grid_axis import panel_axes
from bench.report.labels import Selection, matches, selection
from bench.report.published import published


def timings(figure: Mapping[str, Any], finals: pd.DataFrame, *, surrogate: bool = False) -> pd.DataFrame:
    """Return one row per experiment of a figure of kind `timing`, those without measurements included (n = 0).

    Parameters
    ----------
    figure
        The figure as a plain dict; `reference` selects the experiment of each panel that the others are compared
        with, such as ``{method: TL}``; `column` holds the seconds.
    finals
        One row per experiment and measurement.
    surrogate
        Whether the results are of surrogate data: these never stand beside published numbers.

    Returns
    -------
    DataFrame
        The axes, then `n`, `rounds`, `seconds` (the median), `fastest`, `slowest`, `relative` (the median divided by
        the reference's); and `published_seconds`, `published_relative` and `published_note` where there are any.

    Raises
    ------
    ConfigError
        If `reference` or `published` is not as expected.
    """
    data = Experiments(figure, finals)
    column = str(figure["column"])
    beside = {} if surrogate else _published(figure, data)
    references = _references(figure, data)
    rows = []
    for key in data.keys:
        own = data.rows(key)
        values = own[column].to_numpy(dtype=np.float64) if len(own) else np.empty(0)
        known = len(values) > 0
        row: dict[str, Any] = dict(data.as_dict(key))
        row |= {"n": len(values), "rounds": float(own["rounds"].mean()) if known else math.nan}
        row |= {"seconds": _median(values)}
        row |= {"fastest": values.min() if known else math.nan, "slowest": values.max() if known else math.nan}
        reference = references.get(key)
        by = data.rows(reference) if reference is not None else own.iloc[:0]
        row["relative"] = row["seconds"] / _median(by[column].to_numpy(dtype=np.float64)) if len(by) else math.nan
        if beside:
            value, note = beside.get(key, (math.nan, ""))
            per = beside.get(reference, (math.nan, ""))[0] if reference is not None else math.nan
            row |= {"published_seconds": value, "published_relative": value / per, "published_note": note}
        rows.append(row)
    table = pd.DataFrame(rows)
    if "published_note" in table and not table["published_note"].any():
        del table["published_note"]
    return table


def _median(values: Any) -> float:
    return float(np.median(values)) if len(values) else math.nan


def _published(figure: Mapping[str, Any], data: Experiments) -> dict[Key, tuple[float, str]]:
    found = {}
    for labels, what, value, note in published(figure, data):
        keys = data.select({axis: (label,) for axis, label in labels.items()})
        if what != "mean" or len(keys) != 1:
            raise ConfigError(
                f"figure '{data.name}', published {what} {value:g}: fits {len(keys)} experiments, expected the mean "
                "seconds of one"
            )
        found[keys[0]] = (value, note)
    return found


def _references(figure: Mapping[str, Any], data: Experiments) -> dict[Key, Key]:
    """Return the reference of every experiment: the one of the same panel that the key `reference` selects."""
    where = f"figure '{data.name}', key 'reference'"
    if not isinstance(figure.get("reference"), Mapping):
        raise ConfigError(f"{where}: found {figure.get('reference')!r}, expected a selection such as {{method: TL}}")
    chosen: Selection = selection(figure["reference"])
    data.check(chosen, where)
    axes = panel_axes(figure, data)
    references: dict[Key, Key] = {}
    for panel in data.groups(axes, [{}]):
        keys = data.select(panel)
        fitting = [key for key in keys if matches(data.as_dict(key), chosen)]
        if len(fitting) > 1:
            raise ConfigError(f"{where}: fits {len(fitting)} experiments of a panel, expected one")
        references |= {key: fitting[0] for key in keys if fitting}
    return references
