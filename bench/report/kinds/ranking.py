"""A heat map of methods against families of tasks, with the best mean rank on top."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import matplotlib as mpl
import numpy as np
import pandas as pd
from pydantic import Field

from bench.errors import ConfigError
from bench.report.figure import Figure
from bench.report.labels import selection
from bench.report.plot import Axis, Look, Panel, Plot, wrapped
from bench.report.results import Results
from bench.report.tasks import BEST_FIXED, FAMILY, FIXED, METHOD, TASK, Tasks

_ROW, _COLUMN, _NAMES, _TITLE_LETTERS = 0.235, 0.62, 2.1, 10
# Largest number of columns of a panel that can be read on a phone, and columns for the text of a mean rank.
_MOST_COLUMNS, _RANKS = 4, 2.2
# Candidates for the ends of the colours, as multiples of the reference's value; the first that no cell exceeds is used.
# Purple and orange are distinguishable with colour-blindness, and every cell has its number.
_ENDS = (1.5, 2.0, 4.0, 16.0)
_COLOURS = "PuOr_r"
_DARK = 0.72


class Ranking(Figure):
    """Every method's final value relative to the reference's, and its mean rank, with the family as unit.

    The runs have the axes `task` and `method`, and may have `family`; by default each task is a family of its own. A
    value is divided by the reference's mean on the same task. Values and ranks are averaged over the tasks of a family,
    and then over families. Methods are compared over the families that all methods are run on. Runs with an axis
    `fixed` and no method play one configuration throughout; the configuration with the lowest mean on a task is shown
    below the methods as a limit, without a rank.

    The ``reference`` is ``{method: ...}``. Variants of one method, a list in ``duplicates``, share one place in the
    ranks of the other methods. The tasks named in ``apart`` have results separate from the results of all other tasks.
    Without ranks, methods stay in the file's order, and the last column is the mean ratio.
    """

    draws_finals: ClassVar[bool] = False

    reference: dict[str, Any]
    duplicates: tuple[tuple[str, ...], ...] = ()
    apart: dict[str, list[str]] = Field(default_factory=dict)
    has_ranks: bool = True

    def restrict(self, given: dict[str, Any], labels: Collection[str]) -> dict[str, Any]:
        several = [[name for name in names if name in labels] for names in self.duplicates]
        apart = {name: [task for task in tasks if task in labels] for name, tasks in self.apart.items()}
        kept = {
            "duplicates": [names for names in several if len(names) > 1],
            "apart": {name: tasks for name, tasks in apart.items() if tasks},
        }
        return given | {key: value for key, value in kept.items() if key in given}

    def check(self, results: Results) -> None:
        super().check(results)
        self._reference(results)
        if FIXED in results.axes and BEST_FIXED in results.labels(METHOD):
            text = f"{self.where}: a method is called '{BEST_FIXED}', like the best of axis '{FIXED}': rename it"
            raise ConfigError(text)
        for number, names in enumerate(self.duplicates, start=1):
            results.check({METHOD: names}, f"{self.where}, key 'duplicates', list {number}")
        for name, tasks in self.apart.items():
            results.check({TASK: tuple(tasks)}, f"{self.where}, key 'apart', '{name}'")

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        tasks = self.on_tasks(results)
        tables = {"table": tasks.by_family(), "ranks": tasks.mean_ranks(), "tasks": tasks.by_task()}
        return tables | ({"apart": tasks.shown_apart(self.apart)} if self.apart else {})

    def table_titles(self) -> dict[str, str]:
        titles = {"ranks": "All families" if self.has_ranks else "Mean over families", "table": "By family"}
        return titles | {"tasks": "By task"} | ({"apart": "Apart"} if self.apart else {})

    def on_tasks(self, results: Results) -> Tasks:
        """Return the results by task."""
        reference = self._reference(results)
        return Tasks(results, self.column, reference, self.duplicates, has_ranks=self.has_ranks)

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        values, ranks = tables["table"], tables["ranks"]
        known = set(values[FAMILY][np.isfinite(values["relative"])])  # a small scale may leave families out
        families = [family for family in self.on_tasks(results).families if family in known or not known]
        methods = ranks[METHOD].tolist()
        titles = {family: wrapped(family, _TITLE_LETTERS) for family in families}
        header = 0.16 * max((title.count("\n") + 1 for title in titles.values()), default=1) + 0.1
        width, step = _columns(len(families))
        parts = [families[start : start + step] for start in range(0, len(families), step)]
        size = _COLUMN * width + _NAMES / len(parts), header + _ROW * len(methods)  # names are at the left only
        panels = [Panel(is_table=True) for _ in parts]
        plot = replace(self.blank(results, methods), panels=panels, panel_size=size)
        most = _end_of_colours(values["relative"].to_numpy(dtype=float))
        plot.caption = self._caption(results, tables, most, families)
        if not np.isfinite(values["relative"]).any():
            return plot
        for panel, part in zip(plot.panels, parts, strict=True):
            ticks, names = [place + 0.5 for place in range(len(part))], [titles[family] for family in part]
            for row in values.to_dict("records"):
                if row[FAMILY] in part and math.isfinite(row["relative"]) and row[METHOD] in methods:
                    _put_cell(panel, part.index(row[FAMILY]), methods.index(row[METHOD]), row, most)
            if part is parts[-1]:
                ticks, names = [*ticks, len(part) + 0.5 * _RANKS], [*names, self._last]
                self._put_means(panel, len(part) + 0.12, ranks)
            panel.x = Axis(low=0, high=width, ticks=ticks, names=names)
            panel.y = Axis(low=len(methods), high=0, ticks=[y + 0.5 for y in range(len(methods))], names=methods)
        return plot

    @property
    def _last(self) -> str:
        return "mean rank" if self.has_ranks else "mean"

    def _put_means(self, panel: Panel, x: float, ranks: pd.DataFrame) -> None:
        """Add the mean rank or the mean ratio of every method as text."""
        keys = ("mean_rank", "ci_low", "ci_high") if self.has_ranks else ("relative", "relative_low", "relative_high")
        digits = 1 if self.has_ranks else 2
        for y, row in enumerate(ranks.to_dict("records")):
            value, low, high = (float(row[key]) for key in keys)
            if math.isfinite(value):
                ends = f"  ({low:.{digits}f} to {high:.{digits}f})" if math.isfinite(low) else ""
                what: dict[str, Any] = {"part": "rank", "shape": "text", "text": f"{value:.{digits}f}{ends}"}
                panel.add(row[METHOD], Look("black"), case=self._last, x=x, y=y + 0.5, **what)

    def _caption(
        self, results: Results, tables: Mapping[str, pd.DataFrame], most: float, shown: Sequence[str]
    ) -> list[str]:
        [reference] = self.reference.values()
        ranks = tables["ranks"]
        caption = [
            f"Cells: mean final {self.column} divided by that of '{reference}', averaged over the tasks of a family; "
            f"purple: less, orange: more, in logarithm, up to {most:g} times."
        ]
        if BEST_FIXED in set(ranks[METHOD]):
            caption.append(f"{BEST_FIXED}: the candidate with the lowest mean on each task, known only afterwards.")
        n = int(ranks["n"].max()) if len(ranks) else 0
        counted = int(ranks["families"].max()) if len(ranks) else 0
        over = f" and then {counted} families" if counted > 1 else ""
        what = "Ranks" if self.has_ranks else "Means"
        if n:
            interval = "in brackets the 95 % interval over repetitions; the choice of tasks is not in it"
            each, interval = (f"each of {n} repetitions", f"; {interval}") if n > 1 else ("one repetition", "")
            caption.append(f"{what}: in {each}, averaged over tasks{over}{interval}.")
        if self.has_ranks and self.duplicates:
            caption.append("Variants of a method count once among the others.")
        tasks = self.on_tasks(results)
        if 0 < counted < len(shown):
            missing = ", ".join(family for family in shown if not tasks.is_for_all(family))
            caption.append(f"Not every method can play {missing}: not in the {what.lower()}.")
        return caption

    def _reference(self, results: Results) -> str:
        for axis in (TASK, METHOD):
            if axis not in results.axes:
                found = ", ".join(results.axes)
                raise ConfigError(f"{self.where}: found the axes {found}, expected '{axis}' among them")
        reference = selection(self.reference).get(METHOD, ())
        if len(reference) != 1:
            raise ConfigError(f"{self.where}, key 'reference': found {self.reference}, expected one method")
        results.check({METHOD: reference}, f"{self.where}, key 'reference'")
        return reference[0]


def _put_cell(panel: Panel, x: float, y: float, row: Mapping[Any, Any], most: float) -> None:
    relative = float(row["relative"])
    share = min(max(0.5 + 0.5 * math.log(max(relative, 1e-9)) / math.log(most), 0.0), 1.0)
    colour = mpl.colors.to_hex(mpl.colormaps[_COLOURS](0.08 + 0.84 * share))
    panel.add(
        row[METHOD], Look(colour, edge="white"), case=row[FAMILY], x=x, y=y, part="cell", shape="cell",
        text=f"{relative:.2f}" if relative < 10 else f"{relative:.0f}",
        ink="white" if abs(share - 0.5) * 2 > _DARK else "black",
    )  # fmt: skip


def _columns(families: int) -> tuple[float, int]:
    """Return the width of a panel in columns, and the number of families in each panel.

    The last panel also has the ranks.
    """
    panels = math.ceil(families / _MOST_COLUMNS)
    steps = range(math.ceil(families / panels), families + 1)
    return min((max(step, families - step * (panels - 1) + _RANKS), step) for step in steps)


def _end_of_colours(relative: np.ndarray) -> float:
    """Return the multiple or fraction of the reference that has the strongest colour."""
    numbers = relative[np.isfinite(relative) & (relative > 0)]
    largest = float(np.exp(np.abs(np.log(numbers)).max())) if len(numbers) else 1.0
    return next((end for end in _ENDS if largest <= end), _ENDS[-1])
