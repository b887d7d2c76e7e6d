"""Methods against families of tasks as a heat map, best mean rank on top."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import matplotlib as mpl
import numpy as np
import pandas as pd
from pydantic import Field

from bench.errors import ConfigError
from bench.report.experiments import Experiments, Key
from bench.report.figure import Figure
from bench.report.labels import selection
from bench.report.plot import INTERVAL, Axis, Look, Mark, Panel, Plot, one, wrapped
from bench.report.results import Results
from bench.stats import mean_interval

FAMILY, TASK, METHOD, FIXED = "family", "task", "method", "fixed"
BEST_FIXED = "Best fixed configuration"
_ROW, _COLUMN, _NAMES, _TITLE_LETTERS = 0.235, 0.62, 2.1, 11
# Columns of a panel, more could not be read on a phone; and how many the words of a mean rank take.
_MOST_COLUMNS, _RANKS = 4, 2.2
# The colours' ends: this many times the reference's value, or that part of it. Purple and orange are told apart by
# readers with colour-blindness, and every cell says its number.
_MOST = 4.0
_COLOURS = "PuOr_r"
_DARK = 0.72


class Ranking(Figure):
    """Every method's final value relative to the reference's, and its mean rank, with the family as unit.

    The runs have the axes `task` and `method`, and may have `family`; without it each task is a family of its own. A
    value is divided by the reference's mean on the same task, averaged over the tasks of a family, then over families;
    so are ranks. What is compared over several families are those that all methods are run on.

    Runs with an axis `fixed` and no method play one configuration throughout. The one of them with the lowest mean on a
    task stands below the methods as a limit, which has no rank.

    Parameters
    ----------
    reference
        The method that the others are divided by, ``{method: ...}``.
    duplicates
        Lists of methods that are variants of one: they share one place in the ranks of the others.
    apart
        Name -> tasks whose results are shown apart from those of all other tasks.
    has_ranks
        Whether methods are ranked; if not, they stay in the file's order, and the last column is the mean ratio.
    """

    draws_finals: ClassVar[bool] = False

    reference: dict[str, Any]
    duplicates: tuple[tuple[str, ...], ...] = ()
    apart: dict[str, list[str]] = Field(default_factory=dict)
    has_ranks: bool = True

    def check(self, data: Experiments) -> None:
        super().check(data)
        self._reference(data)
        for number, names in enumerate(self.duplicates, start=1):
            data.check({METHOD: names}, f"{self.where}, key 'duplicates', list {number}")
        for name, tasks in self.apart.items():
            data.check({TASK: tuple(tasks)}, f"{self.where}, key 'apart', '{name}'")

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        tasks = self.on_tasks(results)
        tables = {"table": self.by_family(tasks), "ranks": self.mean_ranks(tasks), "tasks": self.by_task(tasks)}
        return tables | ({"apart": self.shown_apart(tasks)} if self.apart else {})

    def table_titles(self) -> dict[str, str]:
        titles = {"ranks": "All families" if self.has_ranks else "Mean over families", "table": "By family"}
        return titles | {"tasks": "By task"} | ({"apart": "Apart"} if self.apart else {})

    def on_tasks(self, results: Results) -> "Tasks":
        """Return the results by task."""
        return Tasks(results, self.column, self._reference(results.data))

    def by_task(self, tasks: "Tasks") -> pd.DataFrame:
        """Return every method's mean final value on every task, its ratio to that of the reference, and its rank.

        Returns
        -------
        DataFrame
            ``family``, ``task``, ``method``, ``n``, ``mean``, ``relative`` with its 95 % interval over repetitions,
            ``ci_low`` and ``ci_high``, and ``mean_rank``; NaN where there are no results; no row for a method that is
            not run on a task.
        """
        rows = []
        for family, names in tasks.families.items():
            for task in names:
                values = tasks.relative(task)
                ranks = dict(self._ranks(values.drop(columns=BEST_FIXED, errors="ignore")).mean())
                paired = tasks.paired(values)
                for method in values:
                    known = paired[method].dropna().to_numpy()
                    interval = mean_interval(known)
                    rank, mean = float(ranks.get(method, np.nan)), interval.estimate * tasks.base(task)
                    rows.append((family, task, method, len(known), mean, *interval[:3], rank))
        columns = [FAMILY, TASK, METHOD, "n", "mean", "relative", "ci_low", "ci_high", "mean_rank"]
        return pd.DataFrame(rows, columns=columns)

    def by_family(self, tasks: "Tasks") -> pd.DataFrame:
        """Return ``family`` and the columns of `mean_ranks`, over the tasks of each family.

        Only methods that are run on all of its tasks.
        """
        tables = [self._over(tasks, {name: of}).assign(**{FAMILY: name}) for name, of in tasks.families.items()]
        table = pd.concat(tables, ignore_index=True) if tables else self._over(tasks, {}).assign(**{FAMILY: ""})
        return table[[FAMILY, *(column for column in table if column not in (FAMILY, "families"))]]

    def mean_ranks(self, tasks: "Tasks") -> pd.DataFrame:
        """Return mean rank and mean ratio of every method over the families on which all methods are run.

        Methods are ranked anew in every repetition, whose data they share: 1 and for each other group of duplicates the
        share of its members that have a lower value; equal values count half. Tasks without any results do not count.
        Repetitions count that all methods have on all of these tasks.

        Returns
        -------
        DataFrame
            ``method``, ``families``, ``tasks``, ``n`` (repetitions), ``mean_rank`` with its 95 % interval over the
            repetitions, ``ci_low`` and ``ci_high``, and ``relative``, with ``relative_low`` and ``relative_high``; best
            first, the best fixed configuration last. The choice of the tasks is not in the intervals.
        """
        table = self._over(tasks, {family: run for family in tasks.families if (run := tasks.run_by_all(family))})
        missing = [method for method in tasks.all_methods if method not in set(table[METHOD])]
        rest = pd.DataFrame({METHOD: missing, "families": 0, "tasks": 0, "n": 0}, index=range(len(missing)))
        return pd.concat([table, rest], ignore_index=True) if missing else table

    def shown_apart(self, tasks: "Tasks") -> pd.DataFrame:
        """Return the columns of `mean_ranks` for the tasks that are shown apart, and for all others.

        In each part those methods count that are run on all of its tasks.
        """
        parts = {name: set(names) for name, names in self.apart.items()}
        parts["other tasks"] = {task for names in tasks.families.values() for task in names}.difference(*parts.values())
        tables = []
        for part, chosen in parts.items():
            families = {family: [task for task in of if task in chosen] for family, of in tasks.families.items()}
            table = self._over(tasks, {family: of for family, of in families.items() if of})
            tables.append(table.assign(part=part))
        table = pd.concat(tables, ignore_index=True)
        return table[["part", *(column for column in table if column != "part")]]

    def _over(self, tasks: "Tasks", families: Mapping[str, Sequence[str]]) -> pd.DataFrame:
        """Return ranks and ratios averaged over tasks and then families, of methods that are run on all of them."""
        values = {task: tasks.relative(task) for of in families.values() for task in of}
        values = {task: table for task, table in values.items() if table.notna().any(axis=None)}
        kept = {family: [task for task in of if task in values] for family, of in families.items()}
        kept = {family: of for family, of in kept.items() if of}
        rows: list[tuple[Any, ...]] = [(method, 0, 0, 0, *[np.nan] * 6) for method in tasks.all_methods]
        if values:
            methods = [
                method
                for method in (*tasks.all_methods, BEST_FIXED)
                if all(method in table and table[method].notna().any() for table in values.values())
            ]
            complete = [set(table[methods].dropna().index) for table in values.values()]
            shared = sorted(set.intersection(*complete))
            ranked = [method for method in methods if method != BEST_FIXED]
            ranks = {task: self._ranks(table.loc[shared, ranked]) for task, table in values.items()}
            paired = {task: tasks.paired(table.loc[shared]) for task, table in values.items()}
            rows = []
            for method in methods:
                intervals = [mean_interval(_averaged(tables, kept, method))[:3] for tables in (ranks, paired)]
                rows.append((method, len(kept), len(values), len(shared), *intervals[0], *intervals[1]))
        columns = [METHOD, "families", "tasks", "n", "mean_rank", "ci_low", "ci_high"]
        table = pd.DataFrame(rows, columns=[*columns, "relative", "relative_low", "relative_high"])
        if self.has_ranks:
            table = table.sort_values(["mean_rank", "relative"], kind="stable", ignore_index=True)
        last = table[METHOD] == BEST_FIXED
        return pd.concat([table[~last], table[last]], ignore_index=True)

    def _ranks(self, values: pd.DataFrame) -> pd.DataFrame:
        """Return the rank of every column in every row; duplicates share a place."""
        known = values.to_numpy(dtype=np.float64)
        group_of = {name: number for number, names in enumerate(self.duplicates) for name in names}
        groups: dict[Any, list[int]] = {}
        for place, name in enumerate(map(str, values)):
            groups.setdefault(group_of.get(name, name), []).append(place)
        ranks = np.ones_like(known)
        for members in groups.values():
            others = [place for place in range(known.shape[1]) if place not in members]
            them = known[:, members, None]
            us = known[:, None, others]
            ranks[:, others] += ((them < us) + 0.5 * (them == us)).mean(axis=1)
        ranks[np.isnan(known)] = np.nan
        return pd.DataFrame(ranks, index=values.index, columns=values.columns)

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        values, ranks, families = tables["table"], tables["ranks"], list(self.on_tasks(results).families)
        methods = ranks[METHOD].tolist()
        titles = [wrapped(family, _TITLE_LETTERS) for family in families]
        header = 0.16 * max((title.count("\n") + 1 for title in titles), default=1) + 0.1
        step = math.ceil(len(families) / math.ceil(len(families) / _MOST_COLUMNS))
        parts = [families[start : start + step] for start in range(0, len(families), step)]
        width = max(step, len(parts[-1]) + _RANKS)
        size = _NAMES + _COLUMN * width, header + _ROW * len(methods)
        plot = Plot(self.heading, panel_size=size)
        last = "mean rank" if self.has_ranks else "mean"
        for number, part in enumerate(parts):
            panel = Panel(is_table=True, names_on_top=True)
            plot.panels.append(panel)
            if not np.isfinite(values["relative"]).any():
                continue
            is_last = number == len(parts) - 1
            ticks = [place + 0.5 for place in range(len(part))] + ([len(part) + 0.5 * _RANKS] if is_last else [])
            names = [titles[families.index(family)] for family in part] + ([last] if is_last else [])
            panel.x = Axis(low=0, high=width, ticks=ticks, names=names)
            panel.y = Axis(low=len(methods), high=0, ticks=[y + 0.5 for y in range(len(methods))], names=methods)
            for row in values.to_dict("records"):
                if row[FAMILY] in part and math.isfinite(row["relative"]) and row[METHOD] in methods:
                    panel.marks.append(self._cell((part.index(row[FAMILY]), methods.index(row[METHOD])), row))
            for y, row in enumerate(ranks.to_dict("records")):
                if is_last and math.isfinite(row["mean_rank" if self.has_ranks else "relative"]):
                    panel.marks.append(self._last(len(part) + 0.12, y + 0.5, row, last))
        plot.caption = self._caption(results, tables)
        return plot

    def _cell(self, place: tuple[int, int], row: Mapping[Any, Any]) -> Mark:
        relative = float(row["relative"])
        share = min(max(0.5 + 0.5 * math.log(max(relative, 1e-9)) / math.log(_MOST), 0.0), 1.0)
        colour = mpl.colors.to_hex(mpl.colormaps[_COLOURS](0.08 + 0.84 * share))
        [reference] = self.reference.values()
        return Mark(
            part="cell", name=row[METHOD], case=row[FAMILY], x=one(place[0]), y=one(place[1]), shape="cell",
            look=Look(colour, edge="white"), values=one(relative), low=one(row["relative_low"]),
            high=one(row["relative_high"]), n=[row["n"]], what=f"relative to {reference}", ends=INTERVAL,
            text=f"{relative:.2f}" if relative < 10 else f"{relative:.0f}",
            ink="white" if abs(share - 0.5) * 2 > _DARK else "black",
        )  # fmt: skip

    def _last(self, x: float, y: float, row: Mapping[Any, Any], what: str) -> Mark:
        keys = ("mean_rank", "ci_low", "ci_high") if self.has_ranks else ("relative", "relative_low", "relative_high")
        value, low, high = (float(row[key]) for key in keys)
        digits = 1 if self.has_ranks else 2
        text = f"{value:.{digits}f}"
        text += f"  ({low:.{digits}f} to {high:.{digits}f})" if math.isfinite(low) else ""
        return Mark(
            part="rank", name=row[METHOD], case=what, x=one(x), y=one(y), look=Look("black"), shape="text",
            values=one(value), low=one(low), high=one(high), n=[row["n"]], what=what, ends=INTERVAL, text=text,
        )  # fmt: skip

    def _caption(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> list[str]:
        [reference] = self.reference.values()
        ranks = tables["ranks"]
        caption = [
            f"Cells: mean final {self.column} divided by that of '{reference}', averaged over the tasks of a family; "
            f"purple: less, orange: more, in logarithm, up to {_MOST:g} times."
        ]
        if BEST_FIXED in set(ranks[METHOD]):
            caption.append(f"{BEST_FIXED}: the candidate with the lowest mean on each task, known only afterwards.")
        n = int(ranks["n"].max()) if len(ranks) else 0
        counted = int(ranks["families"].max()) if len(ranks) else 0
        what = "Ranks" if self.has_ranks else "Means"
        if n:
            caption.append(
                f"{what}: in each of {n} repetitions, averaged over tasks and then {counted} families; in brackets the "
                "95 % interval over repetitions; the choice of tasks is not in it."
            )
        if self.has_ranks and self.duplicates:
            caption.append("Variants of a method count once among the others.")
        tasks = self.on_tasks(results)
        if 0 < counted < len(tasks.families):
            missing = ", ".join(family for family in tasks.families if not tasks.is_for_all(family))
            caption.append(f"Not every method can play {missing}: not in the {what.lower()}.")
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


class Tasks:
    """The results of methods on tasks.

    ``families`` has the tasks of every family, ``methods`` the experiments of every task by their method.
    """

    def __init__(self, results: Results, column: str, reference: str) -> None:
        self._results, self._column, self._reference = results, column, reference
        data = results.data
        self.all_methods = data.labels(METHOD)
        self.families: dict[str, list[str]] = {}
        self.methods: dict[str, dict[str, Key]] = {}
        self._fixed: dict[str, list[Key]] = {}
        self._relative: dict[str, pd.DataFrame] = {}
        for key in data.keys:
            labels = data.as_dict(key)
            task, method = labels[TASK], labels[METHOD]
            of_family = self.families.setdefault(labels.get(FAMILY) or task, [])
            of_family += [task] * (task not in of_family)
            of_task = self.methods.setdefault(task, {})
            if method:
                of_task[method] = key
            elif FIXED in data.axes:
                self._fixed.setdefault(task, []).append(key)

    def is_for_all(self, family: str) -> bool:
        """Return whether all methods are run on all tasks of a family."""
        return all(set(self.methods[task]) == set(self.all_methods) for task in self.families[family])

    def run_by_all(self, family: str) -> list[str]:
        """Return the tasks of a family that have results, if all methods are run on these; else none."""
        rows = self._results.data.rows
        run = [task for task in self.families[family] if any(len(rows(key)) for key in self.methods[task].values())]
        return run if all(set(self.methods[task]) == set(self.all_methods) for task in run) else []

    def base(self, task: str) -> float:
        """Return the reference's mean on a task."""
        key = self.methods[task].get(self._reference)
        return float(self._results.series(key, self._column).mean()) if key else math.nan

    def relative(self, task: str) -> pd.DataFrame:
        """Return final values over the reference's mean on a task: a row per repetition, a column per method.

        With the fixed configuration that has the lowest mean, where there are any.
        """
        if task not in self._relative:
            series = self._results.series
            columns = {method: series(key, self._column) for method, key in self.methods[task].items()}
            fixed = [series(key, self._column) for key in self._fixed.get(task, ())]
            fixed = [values for values in fixed if values.notna().any()]
            if fixed:
                columns[BEST_FIXED] = min(fixed, key=lambda values: float(values.mean()))
            self._relative[task] = pd.DataFrame(columns) / self.base(task)
        return self._relative[task]

    def paired(self, values: pd.DataFrame) -> pd.DataFrame:
        """Return numbers whose means are those of ratios to the reference, and whose spread is theirs (delta method).

        A repetition in which all methods have more regret, the reference too, moves no ratio.
        """
        if self._reference not in values:
            return values
        ratios = values / values[self._reference].mean()
        means = ratios.mean()
        return ratios - np.outer(ratios[self._reference], means) + means.to_numpy()


def _averaged(
    tables: Mapping[str, pd.DataFrame], families: Mapping[str, Sequence[str]], method: str
) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """Return a method's mean over tasks and then families in every repetition; empty where it is not in the tables."""
    if any(method not in tables[task] for tasks in families.values() for task in tasks):
        return np.empty(0)
    means = [np.mean([tables[task][method].to_numpy() for task in tasks], axis=0) for tasks in families.values()]
    return np.asarray(np.mean(means, axis=0))
