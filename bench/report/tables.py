"""Tables of final values, for people (Markdown) and for programs (CSV)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bench.errors import ConfigError, DataError
from bench.report.blocks import block_table
from bench.report.claims.best_on_grid import best_value
from bench.report.experiments import Experiments, Key
from bench.report.grid_axis import grid_axis, panel_axes, theory_key
from bench.report.labels import canonical, describe, is_number, selection
from bench.report.published import WHATS, published
from bench.report.ranking import mean_ranks, relative_values
from bench.report.timings import timings
from bench.stats import mean_interval, standard_deviation

RANDOM_REGRET = "random_regret"
_COUNTS = ("n", "rounds")


def summary(figure: Mapping[str, Any], finals: pd.DataFrame, *, surrogate: bool = False) -> pd.DataFrame:
    """Return one row per experiment of a figure, those without results included (n = 0).

    Parameters
    ----------
    figure
        The figure as a plain dict, with `name`, `column`, `runs` and perhaps `published`.
    finals
        Final values, one row per experiment and repetition.
    surrogate
        Whether the results are of surrogate data: these never stand beside published numbers.

    Returns
    -------
    DataFrame
        The axes, then `n`, `rounds`, `mean`, `std`, `ci_low`, `ci_high` (95 % bootstrap interval of the mean) of the
        figure's column; for regret `random_arms`, the mean regret of uniformly random arms; and `published_mean` with
        `ratio_mean` (measured / published), and so on, where there are any.

    Raises
    ------
    DataError
        If there are results, but none has the figure's column.
    ConfigError
        If `published` is not as expected.
    """
    data = Experiments(figure, finals)
    column = _column(figure, data)
    rows = []
    for key in data.keys:
        row: dict[str, Any] = dict(data.as_dict(key))
        values = final_column(data, key, column)
        interval = mean_interval(values)
        row |= {
            "n": interval.n,
            "rounds": _rounds(data, key),
            "mean": interval.estimate,
            "std": standard_deviation(values),
            "ci_low": interval.low,
            "ci_high": interval.high,
        }
        if shows_random_arms(figure, data):
            row["random_arms"] = random_arms(data, [key])
        rows.append(row)
    # On a grid the published numbers are of the best value, which is in the other table.
    for labels, what, value, note in [] if surrogate or figure.get("kind") == "grid" else published(figure, data):
        same = [i for i, key in enumerate(data.keys) if labels.items() <= data.as_dict(key).items()]
        if len(same) > 1 or (data.is_declared and not same):
            raise ConfigError(
                f"figure '{data.name}', published {what} {value:g} of {describe(selection(labels))}: fits {len(same)} "
                f"experiments, expected one; the axes are: {', '.join(data.axes)}"
            )
        for i in same:
            _put_beside(rows[i], what, value, note)
    return _table(rows, data.axes)


def grid_summary(figure: Mapping[str, Any], finals: pd.DataFrame, *, surrogate: bool = False) -> pd.DataFrame:
    """Return one row per line of a figure of kind `grid`: the best grid value beside the panel's theoretical setting.

    Parameters
    ----------
    figure, finals, surrogate
        As in `summary`. The figure's `best` ("lowest", default, or "highest") says which mean is best.

    Returns
    -------
    DataFrame
        The panel's axes and the line's, then `n`, `best` (the grid value) with `best_low` and `best_high` (95 %
        bootstrap interval of it), its `mean` and `std`, `theory_mean` and `theory_std`, `random_arms`, and published
        numbers with ratios. A line without complete results has n = 0.

    Raises
    ------
    DataError, ConfigError
        As `summary`; also if the figure has no numeric axis.
    """
    data = Experiments(figure, finals)
    column = _column(figure, data)
    axis = grid_axis(figure, data)
    panels = panel_axes(figure, data)
    rows = []
    for panel in data.groups(panels, [{}]):
        labels = {name: only[0] for name, only in panel.items()}
        theory = theory_key(data, axis, labels)
        for line, keys in _grid_lines(data, data.select(panel), axis, panels).items():
            row: dict[str, Any] = labels | dict(line)
            row |= _best(data, keys, axis, column, str(figure.get("best", "lowest")))
            values = final_column(data, theory, column) if theory else np.empty(0)
            row |= {"theory_mean": mean_interval(values).estimate, "theory_std": standard_deviation(values)}
            if shows_random_arms(figure, data):
                row["random_arms"] = random_arms(data, keys)
            for wanted, what, value, note in [] if surrogate else published(figure, data):
                if wanted == labels | dict(line):
                    _put_beside(row, what, value, note)
            rows.append(row)
    return _table(rows, data.axes)


def tables(
    figure: Mapping[str, Any], finals: pd.DataFrame, curves: pd.DataFrame | None = None, *, surrogate: bool = False
) -> dict[str, pd.DataFrame]:
    """Return all tables of a figure by file name: "table", for the kind `grid` also "best", for `ranking` "ranks"."""
    if figure.get("kind") == "timing":
        return {"table": timings(figure, finals, surrogate=surrogate)}
    if figure.get("kind") == "lipschitz":
        return {"table": block_table(figure, pd.DataFrame() if curves is None else curves, finals)}
    if figure.get("kind") == "ranking":
        return {"table": relative_values(figure, finals), "ranks": mean_ranks(figure, finals)}
    found = {"table": summary(figure, finals, surrogate=surrogate)}
    if figure.get("kind") == "grid" and figure.get("best") != "none":
        found["best"] = grid_summary(figure, finals, surrogate=surrogate)
    return found


def to_markdown(table: pd.DataFrame, title: str = "", notes: Sequence[str] = ()) -> str:
    """Return a table as Markdown, numbers rounded for reading.

    Parameters
    ----------
    table
        Any table; text columns are left-aligned, numbers right-aligned, missing values shown as a dash.
    title
        Heading above the table.
    notes
        Lines below it: scale, repetitions, data.
    """
    lines = [f"## {title}", ""] if title else []
    columns = {str(name): _cells(str(name), table[name]) for name in table.columns}
    lines.append("| " + " | ".join(name.replace("_", " ") for name in columns) + " |")
    lines.append("|" + "|".join(" ---: " if numeric else " --- " for _, numeric in columns.values()) + "|")
    for row in zip(*(cells for cells, _ in columns.values()), strict=True):
        lines.append("| " + " | ".join(row) + " |")
    if notes:
        lines += ["", *(f"- {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def to_csv(table: pd.DataFrame, digits: int = 10) -> str:
    """Return a table as CSV with ``digits`` significant digits: the same bytes for the same numbers."""
    return str(table.to_csv(index=False, float_format=f"%.{digits}g", lineterminator="\n"))


def shows_random_arms(figure: Mapping[str, Any], data: Experiments) -> bool:
    """Return whether a figure is about regret and the regret of random arms is known."""
    return "regret" in str(figure.get("column", "")) and RANDOM_REGRET in data.finals.columns


def random_arms(data: Experiments, keys: Sequence[Key]) -> float:
    """Return the mean final regret of uniformly random arms over some experiments, NaN if there is none."""
    values = np.concatenate([final_column(data, key, RANDOM_REGRET) for key in keys] or [np.empty(0)])
    return float(values.mean()) if len(values) else math.nan


def final_column(data: Experiments, key: Key, column: str) -> npt.NDArray[np.float64]:
    """Return the final values of an experiment, one per repetition that has one; empty if there are none."""
    rows = data.rows(key)
    if column not in rows.columns:
        return np.empty(0)
    values = rows.sort_values("repetition")[column].to_numpy(dtype=np.float64)
    return values[np.isfinite(values)]


def _column(figure: Mapping[str, Any], data: Experiments) -> str:
    column = str(figure.get("column", ""))
    if len(data.finals) and column not in data.finals.columns:
        start = list(data.finals.columns).index("repetition") + 1
        found = ", ".join(str(name) for name in data.finals.columns[start:])
        raise DataError(f"figure '{data.name}': the results have no column '{column}', they have: {found}")
    return column


def _grid_lines(
    data: Experiments, keys: list[Key], axis: str, panels: Sequence[str]
) -> dict[tuple[tuple[str, str], ...], list[Key]]:
    """Return the experiments with a grid value by their labels on the other axes, in the grid's order."""
    lines: dict[tuple[tuple[str, str], ...], list[Key]] = {}
    for key in keys:
        labels = data.as_dict(key)
        if labels[axis]:
            others = tuple((name, label) for name, label in labels.items() if label and name not in (axis, *panels))
            lines.setdefault(others, []).append(key)
    return {line: sorted(own, key=lambda key: _x(data, key, axis)) for line, own in lines.items()}


def _best(data: Experiments, keys: list[Key], axis: str, column: str, best: str) -> dict[str, Any]:
    values = [pd.Series(dtype=float)] if not keys else [_by_repetition(data, key, column) for key in keys]
    complete = pd.concat(values, axis=1).dropna()
    names = ("n", "best", "best_low", "best_high", "mean", "std")
    if complete.empty:
        return dict(zip(names, (0, *[math.nan] * 5), strict=True))
    grid = np.array([_x(data, key, axis) for key in keys])
    numbers = complete.to_numpy(dtype=np.float64)
    interval = best_value(grid, numbers, best)
    own = numbers[:, int(np.flatnonzero(grid == interval.estimate)[0])]
    found = (len(own), interval.estimate, interval.low, interval.high, own.mean(), standard_deviation(own))
    return dict(zip(names, found, strict=True))


def _by_repetition(data: Experiments, key: Key, column: str) -> "pd.Series[float]":
    rows = data.rows(key)
    if rows.empty:
        return pd.Series(dtype=float)
    return rows.set_index("repetition")[column].astype(float)


def _x(data: Experiments, key: Key, axis: str) -> float:
    return float(data.as_dict(key)[axis])


def _rounds(data: Experiments, key: Key) -> float:
    rows = data.rows(key)
    return float(rows["rounds"].mean()) if len(rows) and "rounds" in rows.columns else math.nan


def _put_beside(row: dict[str, Any], what: str, value: float, note: str) -> None:
    row[f"published_{what}"] = value
    # The best grid value is a setting, not a size: a ratio says nothing, and it may be 0.
    if what != "best":
        row[f"ratio_{what}"] = row[what] / value if value else math.nan
    if note:
        row["published_note"] = "; ".join(filter(None, [row.get("published_note", ""), note]))


def _table(rows: list[dict[str, Any]], axes: Sequence[str]) -> pd.DataFrame:
    names = list(dict.fromkeys(name for row in rows for name in row))
    whats = sorted(WHATS, key=lambda what: what != "best")
    beside = [f"{kind}_{what}" for what in whats for kind in ("published", "ratio")] + ["published_note"]
    ordered = [name for name in names if name not in beside] + [name for name in beside if name in names]
    table = pd.DataFrame(rows, columns=ordered)
    for axis in set(axes) & set(ordered):
        if len(table) and all(is_number(label) for label in table[axis]):
            table[axis] = table[axis].astype(float)
    if "published_note" in ordered:
        table["published_note"] = table["published_note"].fillna("")
    return table


def _cells(name: str, column: "pd.Series[Any]") -> tuple[list[str], bool]:
    """Return a column's cells as text, and whether it is numeric."""
    if not pd.api.types.is_numeric_dtype(column):
        return [canonical(value).replace("|", "\\|") or "–" for value in column], False
    numbers = column.to_numpy(dtype=np.float64)
    finite = np.abs(numbers[np.isfinite(numbers)])
    if name in _COUNTS or (len(finite) and (finite == np.round(finite)).all()):
        return ["–" if math.isnan(value) else f"{value:,.0f}" for value in numbers], True
    if all(float(f"{value:.4g}") == value for value in finite):
        # Settings, such as grid values, are short and shown as they are.
        return ["–" if math.isnan(value) else f"{value:.4g}" for value in numbers], True
    # Four digits of the largest number decide for the whole column, so that its numbers can be compared by eye.
    largest = finite.max() if len(finite) else 1.0
    decimals = min(max(3 - math.floor(math.log10(largest)), 0), 8) if largest > 0 else 0
    return ["–" if math.isnan(value) else f"{value:,.{decimals}f}" for value in numbers], True
