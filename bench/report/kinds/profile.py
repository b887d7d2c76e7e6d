"""Performance profiles: on which share of the tasks a method is within a factor of the best."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from pydantic import PositiveFloat

from bench.report.kinds.ranking import Ranking
from bench.report.plot import Axis, Look, Mark, Panel, Plot, look_of
from bench.report.results import Results
from bench.report.style import GREY
from bench.report.tasks import BEST_FIXED, FAMILY, METHOD, TASK

_FIXED = Look(GREY, dash=(0, (2, 2)), width=1.4, order=2.0)
_REFERENCE = Look(GREY, width=1.4, order=2.0)
_MARKS = 5


class Profile(Ranking):
    """For every method the share of the tasks on which its mean is at most a factor times the lowest, by the factor.

    Tasks are those of the families that all methods are run on; each family has the same weight, and so has each task
    in it. The lowest is that of the methods: the best fixed configuration, which is drawn as a limit, may lie below it,
    where its factor counts as 1.

    Parameters
    ----------
    shown
        Methods that are drawn; the others are in the table. Default: all.
    largest
        The largest factor.

    Source: Dolan and More 2002.
    """

    shown: tuple[str, ...] = ()
    largest: PositiveFloat = 10.0

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        factors = self.factors(results)
        return {"table": self.shares(factors, (1.05, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)), "factors": factors}

    def table_titles(self) -> dict[str, str]:
        return {"table": "Share of tasks within a factor of the best", "factors": "Factors"}

    def factors(self, results: Results) -> pd.DataFrame:
        """Return ``family``, ``task``, ``weight``, ``method`` and ``factor``: mean over the lowest mean, at least 1.

        Tasks whose lowest mean is not above 0 have no factors and are left out.
        """
        values = self.on_tasks(results).by_task()
        methods = set(results.data.labels(METHOD))
        rows = []
        for family, of_family in values.groupby(FAMILY, sort=False):
            tasks = {
                task: own.set_index(METHOD)["mean"]
                for task, own in of_family.groupby(TASK, sort=False)
                if methods <= set(own[METHOD]) and own.set_index(METHOD)["mean"][sorted(methods)].min() > 0
            }
            for task, means in tasks.items():
                lowest = float(means[sorted(methods)].min())
                for method, mean in means.items():
                    rows.append((family, task, 1.0 / len(tasks), method, max(1.0, mean / lowest)))
        table = pd.DataFrame(rows, columns=[FAMILY, TASK, "weight", METHOD, "factor"])
        return table.assign(weight=table["weight"] / max(table[FAMILY].nunique(), 1))

    def shares(self, factors: pd.DataFrame, limits: tuple[float, ...]) -> pd.DataFrame:
        """Return for each method the share of the tasks within each of some factors, most at 2 on top."""
        rows = []
        for method, own in factors.groupby(METHOD, sort=False):
            shares = [float(own["weight"][own["factor"] <= limit].sum()) for limit in limits]
            rows.append((method, own[TASK].nunique(), *shares))
        names = [f"within {limit:g}" for limit in limits]
        table = pd.DataFrame(rows, columns=[METHOD, "tasks", *names])
        by = "within 2" if "within 2" in table else names[0]
        return table.sort_values(by, ascending=False, kind="stable", ignore_index=True)

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        factors = tables["factors"]
        panel = Panel(
            x=Axis(self.x_label or "factor of the lowest mean", log=True, low=1.0, high=self.largest),
            y=Axis(self.y_label or "share of tasks", low=0.0, high=1.02),
        )
        plot = Plot(self.heading, panels=[panel], panel_size=(6.2, 4.2))
        names = [name for name in (self.shown or results.data.labels(METHOD)) if name in set(factors[METHOD])]
        if BEST_FIXED in set(factors[METHOD]):
            names.append(BEST_FIXED)
        for place, name in enumerate(names):
            limits, shares = _steps(factors[factors[METHOD] == name], self.largest)
            look = {BEST_FIXED: _FIXED, self._reference(results.data): _REFERENCE}.get(name) or look_of(name)
            step = max(len(limits) // _MARKS, 1)
            words: dict[str, Any] = {"what": "share of tasks", "places_are": "factor"}
            every, places = (((place + 1) * 2) % step, step), [float(f"{limit:.3g}") for limit in limits]
            mark = Mark(
                part="line", name=name, case="", x=limits, y=shares, look=look, every=every, places=places, **words
            )
            panel.marks.append(mark)
            plot.explain(name, look)
        plot.put_last(self._reference(results.data), BEST_FIXED)
        count = factors[TASK].nunique()
        plot.caption = [
            f"Share of {count} tasks, families weighted alike, on which mean final {self.column} is at most that "
            "factor times the lowest of all methods."
        ]
        if len(self.shown) and len(results.data.labels(METHOD)) > len(self.shown):
            plot.caption.append("The other methods are in the table.")
        if not math.isfinite(factors["factor"].max() if len(factors) else math.nan):
            panel.marks.clear()
        return plot


def _steps(factors: pd.DataFrame, largest: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a method's share of the tasks: limits, each twice, and the shares before and at them."""
    at = factors[factors["factor"] <= largest].groupby("factor")["weight"].sum().sort_index()
    shares = np.concatenate([[0.0, 0.0], np.repeat(at.cumsum().to_numpy(), 2)])
    limits = np.concatenate([[1.0], np.repeat(at.index.to_numpy(dtype=float), 2), [largest]])
    start = int((limits <= 1.0).sum()) - 1  # what is reached at once
    return limits[start:], shares[start:]
