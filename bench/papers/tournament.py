"""Performance profiles, which show the share of the tasks on which a method is within a factor of the best method."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from bench.report.kinds.ranking import Ranking
from bench.report.plot import Axis, Look, Panel, Plot
from bench.report.results import Results
from bench.report.style import GREY
from bench.report.tasks import BEST_FIXED, FAMILY, METHOD, TASK

_FIXED = Look(GREY, dash=(0, (2, 2)), width=1.4, order=2.0)
_REFERENCE = Look(GREY, width=1.4, order=2.0)
_MARKS = 5
_FACTORS = (1.05, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)


class Profile(Ranking):
    """For every method, as a function of f, the share of the tasks on which its mean is at most f times the lowest.

    The tasks belong to the families that all methods are run on. All families have the same weight, and so have all
    tasks of a family. The lowest mean is over methods. The best fixed configuration, which is drawn as a limit, may
    have a lower mean; its factor then counts as 1. Methods other than those ``shown``, by default all, are in the
    table. Source: Dolan and More 2002.
    """

    shown: tuple[str, ...] = ()

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        factors = self.factors(results)
        return {"table": self.shares(factors), "factors": factors}

    def table_titles(self) -> dict[str, str]:
        return {"table": "Share of tasks within a factor of the best", "factors": "Factors"}

    def factors(self, results: Results) -> pd.DataFrame:
        """Return ``family``, ``task``, ``weight``, ``method`` and ``factor``.

        The factor is the mean divided by the lowest mean, but at least 1.

        Tasks whose lowest mean is not above 0 have no factors and are left out.
        """
        values, methods = self.on_tasks(results).by_task(), results.labels(METHOD)
        task, is_method = [values[FAMILY], values[TASK]], values[METHOD].isin(methods)
        lowest = values["mean"].where(is_method).groupby(task).transform("min")
        kept = values[(is_method.groupby(task).transform("sum") == len(methods)) & (lowest > 0)]
        of_family = kept.groupby(FAMILY)[TASK]
        weight = 1.0 / of_family.transform("nunique") / max(of_family.ngroups, 1)
        table = kept.assign(weight=weight, factor=(kept["mean"] / lowest[kept.index]).clip(lower=1.0))
        return table[[FAMILY, TASK, "weight", METHOD, "factor"]].reset_index(drop=True)

    def shares(self, factors: pd.DataFrame) -> pd.DataFrame:
        """Return for each method the share of the tasks within each of `_FACTORS`, with the largest shares on top."""
        rows = [
            (method, of[TASK].nunique(), *(float(of["weight"][of["factor"] <= factor].sum()) for factor in _FACTORS))
            for method, of in factors.groupby(METHOD, sort=False)
        ]
        table = pd.DataFrame(rows, columns=[METHOD, "tasks", *(f"within {factor:g}" for factor in _FACTORS)])
        return table.sort_values("within 2", ascending=False, kind="stable", ignore_index=True)

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        factors, methods, reference = tables["factors"], results.labels(METHOD), self._reference(results)
        panel = Panel(
            x=Axis(self.x_label or "factor of the lowest mean", log=True, low=1.0, high=_FACTORS[-1]),
            y=Axis(self.y_label or "share of tasks", low=0.0, high=1.02),
        )
        plot = replace(self.blank(results, methods), panels=[panel], panel_size=(6.2, 4.2))
        names = [name for name in (*(self.shown or methods), BEST_FIXED) if name in set(factors[METHOD])]
        looks = {BEST_FIXED: _FIXED, reference: _REFERENCE}
        for place, name in enumerate(names):
            places, shares = _steps(factors[factors[METHOD] == name], _FACTORS[-1])
            look, step = looks.get(name) or plot.look(name), max(len(places) // _MARKS, 1)
            every = (((place + 1) * 2) % step, step)
            plot.put(panel, name, look, x=places, y=shares, every=every)
        plot.put_last(reference, BEST_FIXED)
        plot.caption = [
            f"Share of {factors[TASK].nunique()} tasks, families weighted alike, on which mean final {self.column} is "
            "at most that factor times the lowest of all methods."
        ]
        if len(methods) > len(self.shown) > 0:
            plot.caption.append("The other methods are in the table.")
        return plot


def _steps(factors: pd.DataFrame, largest: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a method's step curve, with each factor twice for the share of tasks before and at it."""
    at = factors[factors["factor"] <= largest].groupby("factor")["weight"].sum().sort_index()
    shares = np.concatenate([[0.0, 0.0], np.repeat(at.cumsum().to_numpy(), 2)])
    places = np.concatenate([[1.0], np.repeat(at.index.to_numpy(dtype=float), 2), [largest]])
    start = int((places <= 1.0).sum()) - 1  # the share at factor 1
    return places[start:], shares[start:]
