"""Ranks of methods and ratios to a reference, averaged over tasks and then over families of tasks."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from bench.report.results import Labels, Results
from bench.stats import Array, mean_interval

FAMILY, TASK, METHOD, FIXED = "family", "task", "method", "fixed"
BEST_FIXED = "Best fixed configuration"

Place = tuple[str, str]
"""A task: its family and its name, which another family's task may have, too."""


class Tasks:
    """Final values of methods on tasks.

    Values are divided by the means of the method ``reference``. Each group of ``duplicates`` counts as one method in
    the ranks of the other methods. ``families`` are the tasks of every family, and ``methods`` are the experiments of
    every task by method.
    """

    def __init__(
        self, results: Results, column: str, reference: str, duplicates: Sequence[Sequence[str]], *, has_ranks: bool
    ) -> None:
        self._results, self._column, self._reference = results, column, reference
        self._duplicates, self._has_ranks = duplicates, has_ranks
        self.all_methods = results.labels(METHOD)
        self.families: dict[str, list[Place]] = {}
        self.methods: dict[Place, dict[str, Labels]] = {}
        self._fixed: dict[Place, list[Labels]] = {}
        self._relative: dict[Place, pd.DataFrame] = {}
        for key in results.experiments:
            labels = results.as_dict(key)
            family, method = labels.get(FAMILY) or labels[TASK], labels[METHOD]
            task = (family, labels[TASK])
            of_family = self.families.setdefault(family, [])
            of_family += [task] * (task not in of_family)
            of_task = self.methods.setdefault(task, {})
            if method:
                of_task[method] = key
            elif FIXED in results.axes:
                self._fixed.setdefault(task, []).append(key)

    def is_for_all(self, family: str) -> bool:
        """Return whether all methods are run on all tasks of a family."""
        return all(set(self.methods[task]) == set(self.all_methods) for task in self.families[family])

    def run_by_all(self, family: str) -> list[Place]:
        """Return the tasks of a family that have results.

        The list is empty unless all methods are run on these tasks.
        """
        rows = self._results.rows
        run = [task for task in self.families[family] if any(len(rows(key)) for key in self.methods[task].values())]
        return run if all(set(self.methods[task]) == set(self.all_methods) for task in run) else []

    def base(self, task: Place) -> float:
        key = self.methods[task].get(self._reference)
        return float(self._results.series(key, self._column).mean()) if key else math.nan

    def relative(self, task: Place) -> pd.DataFrame:
        """Return final values divided by the reference's mean on a task.

        The table has a row per repetition and a column per method.

        The fixed configuration with the lowest mean is included, if there are any.
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
        """Return numbers whose means are the ratios to the reference, with the spread of the ratios (delta method).

        A repetition in which all methods, also the reference, have more regret does not change the ratios.
        """
        if self._reference not in values:
            return values
        ratios = values / values[self._reference].mean()
        means = ratios.mean()
        return ratios - np.outer(ratios[self._reference], means) + means.to_numpy()

    def by_task(self) -> pd.DataFrame:
        """Return the mean of every method on each of its tasks, the ratio to the reference's mean, and the rank.

        The 95 % interval is for the ratio, over repetitions.
        """
        rows = []
        for family, names in self.families.items():
            for task in names:
                values, base = self.relative(task), self.base(task)
                ranks = dict(self._ranks(values.drop(columns=BEST_FIXED, errors="ignore")).mean())
                paired = self.paired(values).to_numpy(dtype=np.float64)
                for place, method in enumerate(values):
                    known = paired[:, place][~np.isnan(paired[:, place])]
                    interval = mean_interval(known)
                    rank, mean = float(ranks.get(method, np.nan)), interval.estimate * base
                    rows.append((family, task[1], method, len(known), mean, *interval[:3], rank))
        columns = [FAMILY, TASK, METHOD, "n", "mean", "relative", "ci_low", "ci_high", "mean_rank"]
        return pd.DataFrame(rows, columns=columns)

    def by_family(self) -> pd.DataFrame:
        """Return the columns of `mean_ranks` for each ``family``, for the methods run on all of its tasks."""
        return self._each(FAMILY, {name: {name: of} for name, of in self.families.items()}).drop(columns="families")

    def mean_ranks(self) -> pd.DataFrame:
        """Return the mean rank and mean ratio of every method over the families on which all methods are run.

        Methods are ranked within repetitions, because they share the data of a repetition. The rank is 1 plus, for each
        other group of duplicates, the share of its members with a lower value; equal values count half. Tasks without
        results are ignored, and only repetitions that all methods have on all other tasks are used. The 95 % intervals
        are over the repetitions, not over the choice of the tasks. The best method comes first, and the best fixed
        configuration last.
        """
        table = self._over({family: run for family in self.families if (run := self.run_by_all(family))})
        missing = [method for method in self.all_methods if method not in set(table[METHOD])]
        rest = pd.DataFrame({METHOD: missing, "families": 0, "tasks": 0, "n": 0}, index=range(len(missing)))
        return pd.concat([table, rest], ignore_index=True) if missing else table

    def over_tasks_of(self, method: str) -> pd.DataFrame:
        """Return the columns of `mean_ranks` over the tasks of ``method``, for all methods run on all these tasks."""
        families = {name: [task for task in of if method in self.methods[task]] for name, of in self.families.items()}
        return self._over(families)

    def shown_apart(self, apart: Mapping[str, Sequence[str]]) -> pd.DataFrame:
        """Return the columns of `mean_ranks` for the tasks that are shown separately, and for all other tasks.

        Each part includes the methods that are run on all of its tasks.
        """
        parts = {name: set(names) for name, names in apart.items()}
        known = {name for of in self.families.values() for _, name in of}
        parts["other tasks"] = known.difference(*parts.values())
        of_parts = {
            part: {family: [task for task in of if task[1] in chosen] for family, of in self.families.items()}
            for part, chosen in parts.items()
        }
        return self._each("part", of_parts)

    def _each(self, column: str, parts: Mapping[str, Mapping[str, Sequence[Place]]]) -> pd.DataFrame:
        """Return the columns of `mean_ranks` for each part, whose name is the first column."""
        tables = {part: self._over(families) for part, families in parts.items()}
        return pd.concat(tables, names=[column]).reset_index(level=0).reset_index(drop=True)

    def _over(self, families: Mapping[str, Sequence[Place]]) -> pd.DataFrame:
        """Return the ranks and ratios of the methods run on all tasks, averaged over tasks and then over families."""
        values = {task: self.relative(task) for of in families.values() for task in of}
        values = {task: table for task, table in values.items() if table.notna().any(axis=None)}
        kept = [run for of in families.values() if (run := [task for task in of if task in values])]
        rows: list[tuple[Any, ...]] = [(method, 0, 0, 0, *[np.nan] * 6) for method in self.all_methods]
        if values:
            methods = [
                method
                for method in (*self.all_methods, BEST_FIXED)
                if all(method in table and table[method].notna().any() for table in values.values())
            ]
            complete = [set(table[methods].dropna().index) for table in values.values()]
            shared = sorted(set.intersection(*complete))
            ranked = [method for method in methods if method != BEST_FIXED]
            ranks = {task: self._ranks(table.loc[shared, ranked]) for task, table in values.items()}
            paired = {task: self.paired(table.loc[shared]) for task, table in values.items()}
            rows = []
            for method in methods:
                intervals = [mean_interval(_averaged(tables, kept, method))[:3] for tables in (ranks, paired)]
                rows.append((method, len(kept), len(values), len(shared), *intervals[0], *intervals[1]))
        columns = [METHOD, "families", "tasks", "n", "mean_rank", "ci_low", "ci_high"]
        table = pd.DataFrame(rows, columns=[*columns, "relative", "relative_low", "relative_high"])
        if self._has_ranks:
            table = table.sort_values(["mean_rank", "relative"], kind="stable", ignore_index=True)
        last = table[METHOD] == BEST_FIXED
        return pd.concat([table[~last], table[last]], ignore_index=True)

    def _ranks(self, values: pd.DataFrame) -> pd.DataFrame:
        """Return the rank of every column in every row; duplicates share a place."""
        known = values.to_numpy(dtype=np.float64)
        group_of = {name: number for number, names in enumerate(self._duplicates) for name in names}
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


def _averaged(tables: Mapping[Place, pd.DataFrame], families: Sequence[Sequence[Place]], method: str) -> Array:
    """Return a method's mean over tasks and then families in every repetition.

    The array is empty if the method is not in the tables.
    """
    if any(method not in tables[task] for tasks in families for task in tasks):
        return np.empty(0)
    means = [np.mean([tables[task][method].to_numpy() for task in tasks], axis=0) for tasks in families]
    return np.asarray(np.mean(means, axis=0))
