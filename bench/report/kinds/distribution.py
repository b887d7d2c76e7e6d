"""How a final value is distributed over repetitions, a row per method, a panel per case."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from bench.report.experiments import Experiments
from bench.report.grid_axis import panel_axes
from bench.report.kinds.page import Page
from bench.report.kinds.rows import (
    draw_reference,
    keys_of_rows,
    name_the_rows,
    names_of_rows,
    panel_height,
    reference,
    reference_handle,
    say_no_results_in_rows,
    scale,
    scattered,
    title_of_panel,
)
from bench.report.kinds.series import panel_title
from bench.report.parts import part_id
from bench.report.style import line_style
from bench.report.tables import final_column
from bench.stats import Array

_ROW, _WIDTH = 0.62, 4.3
_UPPER = 0.95
_DARK = "#333333"
# Beside the rows stand mean and quantile as numbers, this many points right of the panel.
_COLUMNS = ((33.0, "mean"), (66.0, "95 %"))
# With many values their dots fade, so that a crowd of them shows where it is densest.
_FAINTEST, _MANY = 0.12, 12.5


def distribution(figure: Mapping[str, Any], frame: pd.DataFrame, finals: pd.DataFrame, note: str) -> Figure:
    """Draw every repetition's final value, with quartiles, mean and 95 % quantile, the last two as numbers too.

    The values themselves are drawn, not a density: its bandwidth would decide how heavy a tail of 25 values looks.

    Keys of the figure used here: `title`, `column`, `x_label`, `x_scale` (`linear`, default, or `log`), `panels` (axes
    that make the panels, default `panel`), `reference_line` (a number) with `reference_label`.
    """
    data = Experiments(figure, finals)
    column, line = str(figure["column"]), reference(figure)
    axes_of_panels = panel_axes(figure, data)
    panels = data.groups(axes_of_panels, [{}])
    names = names_of_rows(data, panels, axes_of_panels)
    height = panel_height(names, [*(panel_title(panel) for panel in panels), "numbers"], _ROW)
    page = Page(str(figure.get("title", data.name)), note, len(panels), (_WIDTH, height))
    counts: set[int] = set()
    for number, (panel, axes) in enumerate(zip(panels, page.axes, strict=False)):
        title = panel_title(panel)
        axes.set_title(title_of_panel(title), loc="left")
        name_the_rows(axes, names, page.is_left(number))
        if page.is_bottom(number):
            axes.set_xlabel(str(figure.get("x_label", column)))
        rows = {
            name: final_column(data, key, column) for name, key in keys_of_rows(data, panel, axes_of_panels).items()
        }
        rows = {name: values for name, values in rows.items() if len(values)}
        if not rows:
            say_no_results_in_rows(axes)
            continue
        for name, values in rows.items():
            _draw(axes, names.index(name), values, (title, name or column))
        _write_numbers(axes, {names.index(name): values for name, values in rows.items()})
        counts |= {len(values) for values in rows.values()}
        drawn = [float(end) for values in rows.values() for end in (values.min(), values.max())]
        if line:
            draw_reference(axes, line, title)
            drawn.append(line[0])
        scale(axes, figure, drawn)
    return page.finish(_handles(line[1] if line else ""), _caption(counts))


def _draw(axes: Axes, row: int, values: Array, named: tuple[str, str]) -> None:
    style = line_style(named[1])
    low, middle, high, upper = np.quantile(values, (0.25, 0.5, 0.75, _UPPER))
    mean = float(values.mean())
    box = Rectangle((low, row - 0.3), high - low, 0.6, facecolor=style.color, edgecolor=style.color, zorder=2)
    box.set(alpha=0.2, linewidth=1.0, gid=part_id("box", *named))
    axes.add_patch(box)
    axes.vlines(middle, row - 0.3, row + 0.3, color=style.color, linewidth=1.0, zorder=2.5)
    mark: dict[str, Any] = {"marker": "o", "markersize": 3.4, "markeredgewidth": 0, "linestyle": "none"}
    ones = part_id("repetitions", *named)
    heights, alpha = row + scattered(len(values), 0.5), min(0.5, max(_FAINTEST, _MANY / len(values)))
    axes.plot(values, heights, color=style.color, alpha=alpha, zorder=3, gid=ones, **mark)
    tail = part_id("quantile", *named)
    axes.vlines(upper, row - 0.36, row + 0.36, color=_DARK, linewidth=2.2, zorder=4, gid=tail)
    line = part_id("line", *named)
    how: dict[str, Any] = {"markersize": 7.5, "markeredgecolor": "white", "markeredgewidth": 0.8}
    axes.plot([mean], [row], marker=style.marker or "o", color=style.color, zorder=5, gid=line, **how)


def _write_numbers(axes: Axes, rows: Mapping[int, Array]) -> None:
    """Write mean and 95 % quantile right of the panel, all with the same decimals: three digits of the largest."""
    pairs = {row: (float(values.mean()), float(np.quantile(values, _UPPER))) for row, values in rows.items()}
    largest = max(abs(number) for pair in pairs.values() for number in pair)
    decimals = min(max(2 - math.floor(math.log10(largest)), 0), 6) if largest > 0 else 0
    for column, (points, head) in enumerate(_COLUMNS):
        _beside(axes, points, -0.55, head, va="bottom")
        for row, pair in pairs.items():
            _beside(axes, points, row, f"{pair[column]:,.{decimals}f}", va="center")


def _beside(axes: Axes, points: float, row: float, text: str, **how: Any) -> None:
    """Write right of the panel, at the height of a row."""
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    place |= {"annotation_clip": False, "ha": "right", "fontsize": 7.5, "color": _DARK}
    axes.annotate(text, (1, row), xytext=(points, 0), **place, **how)


def _handles(line: str) -> dict[str, Artist]:
    mark: dict[str, Any] = {"marker": "o", "color": _DARK, "linestyle": "none"}
    handles: dict[str, Artist] = {
        "one repetition": Line2D([], [], markersize=3.4, markeredgewidth=0, alpha=0.6, **mark),
        "quartiles and median": Rectangle((0, 0), 1, 1, facecolor="#CCCCCC", edgecolor=_DARK),
        "mean": Line2D([], [], markersize=7.5, **mark),
        "95 % quantile": Line2D([], [], marker="|", markersize=11, markeredgewidth=2.2, color=_DARK, linestyle="none"),
    }
    if line:
        handles[line] = reference_handle()
    return handles


def _caption(counts: set[int]) -> list[str]:
    if not counts:
        return []
    how_many = " or ".join(f"{count:,}" for count in sorted(counts))
    return [f"{how_many} final values per row, one per repetition; their height within the row says nothing."]
