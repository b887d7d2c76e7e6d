"""Final values of methods as dots with their intervals, a row per method, a panel per case."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bench.report.experiments import Experiments, Key
from bench.report.grid_axis import panel_axes
from bench.report.kinds.page import Page, is_surrogate
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
from bench.report.labels import matches, selection
from bench.report.parts import part_id
from bench.report.published import published
from bench.report.style import RANDOM_ARMS, line_style
from bench.report.tables import final_column, random_arms, shows_random_arms
from bench.stats import MEAN_INTERVAL, Array, mean_interval

_ROW, _WIDTH = 0.36, 3.9
# With more repetitions than this, single ones are not drawn: the row would be a smear.
_FEW = 25
_DARK = "#333333"
_ONE, _PUBLISHED, _LIMITS = "one repetition", "published", "limits"


def dots(figure: Mapping[str, Any], frame: pd.DataFrame, finals: pd.DataFrame, note: str) -> Figure:
    """Draw final means with intervals, single repetitions where there are at most 25, and published means.

    Keys of the figure used here: `title`, `column`, `x_label`, `x_scale` (`linear`, default, or `log`), `panels` (axes
    that make the panels, default `panel`), `reference_line` (a number) with `reference_label`, `published` (`mean`;
    not shown beside surrogate data), `limits` (`low` and `high`, columns whose means are drawn as a thin whisker,
    `label`, and `only`, a selection of the experiments that have them). For columns of regret, uniformly random arms
    are a dashed grey line.
    """
    data = Experiments(figure, finals)
    column, line, limits = str(figure["column"]), reference(figure), figure.get("limits")
    axes_of_panels = panel_axes(figure, data)
    panels = data.groups(axes_of_panels, [{}])
    names = names_of_rows(data, panels, axes_of_panels)
    printed = {} if is_surrogate(note) else _published_means(figure, data)
    with_random = shows_random_arms(figure, data)
    height = panel_height(names, [panel_title(panel) for panel in panels], _ROW)
    page = Page(str(figure.get("title", data.name)), note, len(panels), (_WIDTH, height))
    shown: set[str] = set()
    for number, (panel, axes) in enumerate(zip(panels, page.axes, strict=False)):
        title = panel_title(panel)
        name_the_rows(axes, names, page.is_left(number))
        if page.is_bottom(number):
            axes.set_xlabel(str(figure.get("x_label", column)))
        rows = keys_of_rows(data, panel, axes_of_panels)
        drawn: list[float] = []
        for name, key in rows.items():
            row, own = names.index(name), (title, name or column)
            values = final_column(data, key, column)
            if len(values):
                drawn += _draw(axes, row, values, own)
                shown |= {_ONE} if 1 < len(values) <= _FEW else set()
                shown |= {MEAN_INTERVAL} if len(values) > 1 else set()
            if limits and matches(data.as_dict(key), selection(limits.get("only", {}))):
                ends = [final_column(data, key, str(limits[end])) for end in ("low", "high")]
                if all(map(len, ends)):
                    drawn += _draw_limits(axes, row, [float(values.mean()) for values in ends], own)
                    shown.add(_LIMITS)
            if key in printed:
                _mark_published(axes, row, printed[key], own)
                drawn.append(printed[key])
                shown.add(_PUBLISHED)
        if line and drawn:
            draw_reference(axes, line, title)
            drawn.append(line[0])
        beyond = ""
        if with_random and drawn and math.isfinite(random := random_arms(data, list(rows.values()))):
            if random <= 3 * max(drawn):
                style, part = line_style(RANDOM_ARMS), part_id("line", title, RANDOM_ARMS)
                axes.axvline(random, linewidth=1.2, zorder=1.5, color=style.color, linestyle=style.linestyle, gid=part)
                drawn.append(random)
                shown.add(RANDOM_ARMS)
            else:
                beyond = f"random arms: {random:,.0f}, right of this axis"
                shown.add(beyond)
        axes.set_title("\n".join(filter(None, (title_of_panel(title), beyond))), loc="left")
        if drawn:
            scale(axes, figure, drawn)
        else:
            say_no_results_in_rows(axes)
    said = str(limits.get("label", "limits")) if limits else ""
    return page.finish(_handles(shown, line[1] if line else "", said), _caption(shown))


def _draw(axes: Axes, row: int, values: Array, named: tuple[str, str]) -> list[float]:
    """Draw one row; return the numbers drawn."""
    style, interval = line_style(named[1]), mean_interval(values)
    drawn = [interval.estimate]
    if math.isfinite(interval.low):
        drawn += [interval.low, interval.high]
        ends, bars = [interval.low, interval.high], part_id("bars", *named)
        axes.plot(ends, [row, row], color=style.color, linewidth=2.2, solid_capstyle="butt", zorder=3, gid=bars)
    if 1 < len(values) <= _FEW:
        heights, ones = row + scattered(len(values), 0.5), part_id("repetitions", *named)
        mark: dict[str, Any] = {"marker": "o", "markersize": 3.2, "markeredgewidth": 0, "linestyle": "none"}
        axes.plot(values, heights, color=style.color, alpha=0.32, zorder=2, gid=ones, **mark)
        drawn += values.tolist()
    line = part_id("line", *named)
    how: dict[str, Any] = {"markersize": 6.5, "markeredgecolor": "white", "markeredgewidth": 0.6}
    axes.plot([interval.estimate], [row], marker=style.marker or "o", color=style.color, zorder=5, gid=line, **how)
    return drawn


def _draw_limits(axes: Axes, row: int, ends: list[float], named: tuple[str, str]) -> list[float]:
    style, own = line_style(named[1]), part_id("limits", *named)
    axes.plot(ends, [row, row], color=style.color, linewidth=1.0, marker="|", markersize=9, zorder=2.5, gid=own)
    return ends


def _mark_published(axes: Axes, row: int, value: float, named: tuple[str, str]) -> None:
    # Larger than the measured mean, so that it can be seen around it.
    mark: dict[str, Any] = {"marker": "D", "markersize": 8.5, "markerfacecolor": "none", "markeredgewidth": 1.2}
    own = part_id("published", *named)
    axes.plot([value], [row], linestyle="none", markeredgecolor=_DARK, zorder=4, gid=own, **mark)


def _published_means(figure: Mapping[str, Any], data: Experiments) -> dict[Key, float]:
    """Return the published mean of every experiment that has one."""
    means: dict[Key, float] = {}
    for labels, what, value, _ in published(figure, data):
        if what == "mean":
            means |= {key: value for key in data.keys if labels.items() <= data.as_dict(key).items()}
    return means


def _handles(shown: set[str], line: str, limits: str) -> dict[str, Artist]:
    handles: dict[str, Artist] = {"mean": Line2D([], [], marker="o", markersize=6.5, color=_DARK, linestyle="none")}
    if MEAN_INTERVAL in shown:
        handles[MEAN_INTERVAL] = Line2D([], [], color=_DARK, linewidth=2.2)
    if _LIMITS in shown:
        handles[limits] = Line2D([], [], color=_DARK, linewidth=1.0, marker="|", markersize=9)
    if _ONE in shown:
        mark: dict[str, Any] = {"marker": "o", "markersize": 3.2, "markeredgewidth": 0, "linestyle": "none"}
        handles[_ONE] = Line2D([], [], color=_DARK, alpha=0.4, **mark)
    if _PUBLISHED in shown:
        mark = {"marker": "D", "markersize": 7.5, "markerfacecolor": "none", "linestyle": "none"}
        handles[_PUBLISHED] = Line2D([], [], color=_DARK, **mark)
    if line:
        handles[line] = reference_handle()
    if RANDOM_ARMS in shown:
        handles[RANDOM_ARMS] = Line2D([], [], **line_style(RANDOM_ARMS)._asdict())
    return handles


def _caption(shown: set[str]) -> list[str]:
    caption = ["Marks: mean over repetitions of the final value."]
    if MEAN_INTERVAL not in shown:
        caption.append("No intervals: they need two repetitions.")
    if any(word.lower().startswith(RANDOM_ARMS.lower()) for word in shown):
        caption.append("Random arms: expected regret of uniformly random arms, computed from the means.")
    return caption
