"""Methods against tasks as a heat map, best mean rank on top."""

import math
from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd

from bench.errors import ConfigError
from bench.report.experiments import Experiments, Key
from bench.report.figure import Figure
from bench.report.labels import selection
from bench.report.plot import INTERVAL, Axis, Look, Mark, Panel, Plot, one
from bench.report.results import Results
from bench.report.words import wrapped
from bench.stats import mean_interval

TASK, METHOD = "task", "method"
_ROW, _COLUMN, _NAMES, _RANKS = 0.235, 0.78, 1.7, 1.5
_TITLE_LETTERS = 12
# The colours' ends: this many times the reference's value, or that part of it. Purple and orange are told apart by
# readers with colour-blindness, and every cell says its number.
_MOST = 4.0
_COLOURS = "PuOr_r"
_DARK = 0.72


class Ranking(Figure):
    """Every method's mean final value on every task relative to the reference's, and its mean rank.

    The runs have the axes `task` and `method`. A method that is not run on a task has an empty cell there, and that
    task does not count for the ranks.

    Parameters
    ----------
    reference
        The method that the others are divided by, ``{method: ...}``.
    """

    reference: dict[str, Any]

    def check(self, data: Experiments) -> None:
        """Check also the axes and the reference."""
        super().check(data)
        self._reference(data)

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        """Return the values by task, and the ranks."""
        return {"table": self.relative_values(results), "ranks": self.mean_ranks(results)}

    def table_titles(self) -> dict[str, str]:
        """Return the titles of the two tables."""
        return {"ranks": "Ranks", "table": "By task"}

    def relative_values(self, results: Results) -> pd.DataFrame:
        """Return every method's mean final value on every task, and its ratio to that of the reference.

        Returns
        -------
        DataFrame
            ``task``, ``method``, ``n``, ``mean``, ``relative``; NaN where there are no results; no row for a method
            that is not run on a task.
        """
        reference, rows = self._reference(results.data), []
        for task in results.data.labels(TASK):
            values = {method: self._values(results, key).dropna() for method, key in _methods(results, task).items()}
            base = float(values[reference].mean()) if len(values.get(reference, ())) else np.nan
            for method, own in values.items():
                mean = float(own.mean()) if len(own) else np.nan
                rows.append({TASK: task, METHOD: method, "n": len(own), "mean": mean, "relative": mean / base})
        return pd.DataFrame(rows, columns=[TASK, METHOD, "n", "mean", "relative"])

    def mean_ranks(self, results: Results) -> pd.DataFrame:
        """Return the mean rank of every method over the tasks that all of them are run on; rank 1 has the lowest value.

        Tasks without any results do not count. Methods are ranked anew in every repetition, whose data they share;
        equal values share their mean rank. A rank is averaged over the tasks, then over the repetitions that all
        methods have on all of these tasks.

        Returns
        -------
        DataFrame
            ``method``, ``tasks`` (their number), ``n`` (repetitions), ``mean_rank`` and its 95 % interval
            over repetitions, ``ci_low`` and ``ci_high``; best first, methods without results last. The choice of the
            tasks is not in the interval.
        """
        data, methods = results.data, results.data.labels(METHOD)
        tables = []
        for task in data.labels(TASK):
            keys = _methods(results, task)
            if len(keys) == len(methods) and any(len(data.rows(key)) for key in keys.values()):
                values = pd.DataFrame({method: self._values(results, keys[method]) for method in methods})
                tables.append(values.dropna().rank(axis="columns"))
        shared = sorted(set.intersection(*(set(table.index) for table in tables))) if tables else []
        rows = []
        for method in methods:
            own = np.mean([table.loc[shared, method].to_numpy() for table in tables], axis=0) if shared else np.empty(0)
            rank = mean_interval(own)
            rows.append((method, len(tables), rank.n, rank.estimate, rank.low, rank.high))
        table = pd.DataFrame(rows, columns=[METHOD, "tasks", "n", "mean_rank", "ci_low", "ci_high"])
        return table.sort_values("mean_rank", kind="stable", ignore_index=True)

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        """Return the heat map."""
        values, ranks = tables["table"], tables["ranks"]
        methods, tasks = ranks[METHOD].tolist(), list(dict.fromkeys(values[TASK]))
        titles = [wrapped(task, _TITLE_LETTERS) for task in tasks]
        header = 0.16 * max((title.count("\n") + 1 for title in titles), default=1) + 0.1
        width = _NAMES + _COLUMN * len(tasks) + _RANKS
        panel = Panel(is_table=True, names_on_top=True)
        plot = Plot(self.heading, "", [panel], panel_size=(width, header + _ROW * len(methods)))
        if not np.isfinite(values["relative"]).any():
            return plot
        last = len(tasks) + 0.5 * _RANKS / _COLUMN
        ticks = [*(place + 0.5 for place in range(len(tasks))), last]
        panel.x = Axis(low=0, high=len(tasks) + _RANKS / _COLUMN, ticks=ticks, names=[*titles, "mean rank"])
        rows = [place + 0.5 for place in range(len(methods))]
        panel.y = Axis(low=len(methods), high=0, ticks=rows, names=methods)
        [reference] = self.reference.values()
        for row in values.to_dict("records"):
            if math.isfinite(row["relative"]):
                place = tasks.index(row[TASK]), methods.index(row[METHOD])
                panel.marks.append(_cell(place, row, str(reference)))
        for y, row in enumerate(ranks.to_dict("records")):
            if math.isfinite(row["mean_rank"]):
                panel.marks.append(_rank(len(tasks) + 0.12, y + 0.5, row))
        plot.caption = self._caption(values, ranks)
        return plot

    def _caption(self, values: pd.DataFrame, ranks: pd.DataFrame) -> list[str]:
        [reference] = self.reference.values()
        caption = [
            f"Cells: mean final {self.column} divided by that of '{reference}'; purple: less, orange: more, in "
            f"logarithm, up to {_MOST:g} times."
        ]
        if n := int(ranks["n"].max()) if len(ranks) else 0:
            caption.append(
                f"Ranks: lowest {self.column} first in each of {n} repetitions, averaged over {ranks['tasks'].max()} "
                "tasks; in brackets the 95 % interval over repetitions; the choice of tasks is not in it."
            )
        counts = values.groupby(TASK)[METHOD].size()
        if partial := [str(task) for task, count in counts.items() if count < len(ranks)]:
            caption.append(f"Not every method can play {', '.join(partial)}: not in the ranks.")
        return caption

    def _reference(self, data: Experiments) -> str:
        for axis in (TASK, METHOD):
            if axis not in data.axes:
                raise ConfigError(f"{self.where}: found the axes {', '.join(data.axes)}, expected '{axis}' among them")
        reference = selection(self.reference).get(METHOD, ())
        if len(reference) != 1:
            raise ConfigError(f"{self.where}, key 'reference': found {self.reference}, expected one method")
        data.check({METHOD: reference}, f"{self.where}, key 'reference'")
        return reference[0]

    def _values(self, results: Results, key: Key) -> "pd.Series[float]":
        rows = results.data.rows(key)
        if self.column not in rows:
            return pd.Series(dtype=np.float64)
        return rows.set_index("repetition")[self.column].astype(np.float64)


def _methods(results: Results, task: str) -> dict[str, Key]:
    """Return the experiments of a task by their methods."""
    return {results.data.as_dict(key)[METHOD]: key for key in results.data.select({TASK: (task,)})}


def _cell(place: tuple[int, int], row: Mapping[Any, Any], reference: str) -> Mark:
    relative, mean = float(row["relative"]), float(row["mean"])
    share = min(max(0.5 + 0.5 * math.log(max(relative, 1e-9)) / math.log(_MOST), 0.0), 1.0)
    colour = mpl.colors.to_hex(mpl.colormaps[_COLOURS](0.08 + 0.84 * share))
    return Mark(
        part="cell", name=row[METHOD], case=row[TASK], x=one(place[0]), y=one(place[1]), shape="cell",
        look=Look(colour, edge="white"), values=one(relative), n=[row["n"]],
        what=f"relative to {reference}; mean {mean:,.4g}",
        text=f"{relative:.2f}" if relative < 10 else f"{relative:.0f}",
        ink="white" if abs(share - 0.5) * 2 > _DARK else "black",
    )  # fmt: skip


def _rank(x: float, y: float, row: Mapping[Any, Any]) -> Mark:
    rank, low, high = (float(row[key]) for key in ("mean_rank", "ci_low", "ci_high"))
    text = f"{rank:.1f}" + (f"  ({low:.1f} to {high:.1f})" if math.isfinite(low) else "")
    return Mark(
        part="rank", name=row[METHOD], case="mean rank", x=one(x), y=one(y), look=Look("black"), shape="text",
        values=one(rank), low=one(low), high=one(high), n=[row["n"]], what="mean rank", ends=INTERVAL, text=text,
    )  # fmt: skip
