"""Methods against tasks as a heat map, best mean rank on top."""

import math
from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bench.report.kinds.page import Page, say_no_results, wrapped
from bench.report.parts import part_id
from bench.report.ranking import METHOD, TASK, mean_ranks, relative_values

_ROW, _COLUMN, _NAMES, _RANKS = 0.235, 0.78, 1.7, 1.5
_TITLE_LETTERS = 12
# The colours' ends: this many times the reference's value, or that part of it. Purple and orange are told apart by
# readers with colour-blindness, and every cell says its number.
_MOST = 4.0
_COLOURS = "PuOr_r"
_DARK = 0.72


def ranking(figure: Mapping[str, Any], frame: pd.DataFrame, finals: pd.DataFrame, note: str) -> Figure:
    """Draw every method's mean final value on every task relative to the reference's, and its mean rank.

    Keys of the figure used here: `title`, `column`, `reference` (`{method: ...}`); its runs have the axes `task` and
    `method`. A method that is not run on a task has an empty cell there, and that task does not count for the ranks.
    """
    values, ranks = relative_values(figure, finals), mean_ranks(figure, finals)
    methods = ranks[METHOD].tolist()
    tasks = list(dict.fromkeys(values[TASK]))
    titles = [wrapped(task, _TITLE_LETTERS) for task in tasks]
    header = 0.16 * max((title.count("\n") + 1 for title in titles), default=1) + 0.1
    width = _NAMES + _COLUMN * len(tasks) + _RANKS
    page = Page(str(figure["title"]), note, 1, (width, header + _ROW * len(methods)))
    axes = page.axes[0]
    if not np.isfinite(values["relative"]).any():
        say_no_results(axes)
        return page.finish({}, [])
    axes.set_xlim(0, len(tasks) + _RANKS / _COLUMN)
    axes.set_ylim(len(methods), 0)
    axes.set_yticks(np.arange(len(methods)) + 0.5, methods)
    axes.set_xticks([*(np.arange(len(tasks)) + 0.5), len(tasks) + 0.5 * _RANKS / _COLUMN], [*titles, "mean rank"])
    axes.tick_params(length=0, labelbottom=False, labeltop=True)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for task, method, relative in zip(values[TASK], values[METHOD], values["relative"].tolist(), strict=True):
        if math.isfinite(relative):
            place = tasks.index(task), methods.index(method)
            _cell(axes, place, relative, (task, method))
    intervals = ranks[["mean_rank", "ci_low", "ci_high"]].to_numpy().tolist()
    for y, (method, (rank, low, high)) in enumerate(zip(methods, intervals, strict=True)):
        if math.isfinite(rank):
            text = f"{rank:.1f}" + (f"  ({low:.1f} to {high:.1f})" if math.isfinite(low) else "")
            own = part_id("rank", "mean rank", method)
            axes.text(len(tasks) + 0.12, y + 0.5, text, va="center", fontsize=8.0, gid=own)
    return page.finish({}, _caption(figure, values, ranks))


def _cell(axes: Axes, place: tuple[int, int], relative: float, named: tuple[str, str]) -> None:
    share = 0.5 + 0.5 * math.log(max(relative, 1e-9)) / math.log(_MOST)
    share = min(max(share, 0.0), 1.0)
    colour = mpl.colormaps[_COLOURS](0.08 + 0.84 * share)
    axes.add_patch(
        Rectangle(place, 1, 1, facecolor=colour, edgecolor="white", linewidth=1.0, gid=part_id("cell", *named))
    )
    text = f"{relative:.2f}" if relative < 10 else f"{relative:.0f}"
    ink = "white" if abs(share - 0.5) * 2 > _DARK else "black"
    how: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8.0, "color": ink}
    axes.text(place[0] + 0.5, place[1] + 0.5, text, gid=part_id("number", *named), **how)


def _caption(figure: Mapping[str, Any], values: pd.DataFrame, ranks: pd.DataFrame) -> list[str]:
    [reference] = figure["reference"].values()
    caption = [
        f"Cells: mean final {figure['column']} divided by that of '{reference}'; purple: less, orange: more, in "
        f"logarithm, up to {_MOST:g} times."
    ]
    counts = values.groupby(TASK)[METHOD].size()
    partial = [str(task) for task, count in counts.items() if count < len(ranks)]
    n = int(ranks["n"].max()) if len(ranks) else 0
    if n:
        caption.append(
            f"Ranks: lowest {figure['column']} first in each of {n} repetitions, averaged over {ranks['tasks'].max()} "
            "tasks; in brackets the 95 % bootstrap interval over repetitions; the choice of tasks is not in it."
        )
    if partial:
        caption.append(f"Not every method can play {', '.join(partial)}: not in the ranks.")
    return caption
