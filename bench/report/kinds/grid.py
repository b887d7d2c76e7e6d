"""Final values against a numeric hyper-parameter, beside its theoretical setting."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bench.report.experiments import Experiments, Key
from bench.report.grid_axis import THEORY, grid_axis, panel_axes, theory_key
from bench.report.kinds.page import (
    Page,
    is_surrogate,
    limit_to_methods,
    readable_logarithm,
    readable_numbers,
    say_no_results,
    start_at_zero,
    wrapped,
)
from bench.report.kinds.series import panel_title, series_name
from bench.report.labels import Selection
from bench.report.parts import part_id
from bench.report.published import published
from bench.report.regret_bounds import regret_bound
from bench.report.style import BLUE, GREY, RANDOM_ARMS, VERMILION, LineStyle, line_style
from bench.report.tables import final_column, random_arms, shows_random_arms
from bench.stats import MEAN_INTERVAL, mean_interval

_GRID_STYLE = LineStyle(BLUE, "-", "o")
_BOUND_STYLE: dict[str, Any] = {"color": GREY, "linestyle": (0, (2, 2)), "linewidth": 1.3, "zorder": 1.8}
_FEW = 8
_MEASURED, _BEST, _PUBLISHED = "mean on the grid", "best on the grid", "published best"


def grid(figure: Mapping[str, Any], frame: pd.DataFrame, finals: pd.DataFrame, note: str) -> Figure:
    """Draw final means with intervals along a numeric axis.

    Keys of the figure used here: `title`, `column`, `y_label`, `x_label`, `axis` (the numeric axis, default the only
    one), `panels` (default `panel`), `best` (`lowest`, default, `highest`, or `none`: no value is marked), `y_scale`
    and `x_scale`, `bounds` (a list of `label` and `formula`, a bound of `bench.report.regret_bounds` in the numbers
    along the axis), `published` (`best` and `mean` of a panel; not shown beside surrogate data).
    """
    data = Experiments(figure, finals)
    column, axis = str(figure["column"]), grid_axis(figure, data)
    axes_of_panels = panel_axes(figure, data)
    panels = data.groups(axes_of_panels, [{}])
    page = Page(str(figure.get("title", data.name)), note, len(panels))
    marks_best = figure.get("best") != "none"
    handles: dict[str, Artist] = {}
    for number, (panel, axes) in enumerate(zip(panels, page.axes, strict=False)):
        axes.set_title(wrapped(panel_title(panel), 48), loc="left")
        if page.is_bottom(number):
            axes.set_xlabel(str(figure.get("x_label", axis.replace("_", " "))))
        if page.is_left(number):
            axes.set_ylabel(str(figure.get("y_label", column)))
        if figure.get("x_scale") == "log":
            axes.set_xscale("log")
        is_log = figure.get("y_scale") == "log"
        if is_log:
            axes.set_yscale("log")
        lines = _lines(data, panel, axis, axes_of_panels, column)
        if not lines:
            say_no_results(axes)
            continue
        bottom, top = math.inf, 0.0
        for name, table in lines.items():
            style = line_style(name) if name else _GRID_STYLE
            named = panel_title(panel), name or _MEASURED
            low, high = _draw(axes, table, style, named)
            bottom, top = min(bottom, low), max(top, high)
            if marks_best:
                _mark_best(axes, table, str(figure.get("best", "lowest")), named)
            handles.setdefault(name or _MEASURED, Line2D([], [], **style._asdict()))
        if marks_best:
            handles.setdefault(_BEST, _star())
        for bound in figure.get("bounds") or ():
            top = max(top, _draw_bound(axes, bound, panel_title(panel), lines.values()))
            handles.setdefault(str(bound["label"]), Line2D([], [], **_BOUND_STYLE))
        labels = {name: only[0] for name, only in panel.items()}
        theory = theory_key(data, axis, labels)
        if theory is not None and len(values := final_column(data, theory, column)):
            top = max(top, _draw_theory(axes, values, panel_title(panel)))
            handles.setdefault(THEORY, _theory_handle())
        if not is_surrogate(note) and (numbers := _published_numbers(figure, data, labels)):
            _mark_published(axes, numbers, panel_title(panel))
            top = max(top, numbers.get("mean", 0.0))
            handles.setdefault(_PUBLISHED, _published_handle())
        if shows_random_arms(figure, data) and axis == "horizon":
            _draw_random_arms(axes, data, panel)
            handles.setdefault(RANDOM_ARMS, Line2D([], [], **line_style(RANDOM_ARMS)._asdict()))
        elif shows_random_arms(figure, data):
            random = random_arms(data, data.select(panel))
            if not limit_to_methods(axes, top, random, is_log) and np.isfinite(random):
                style, own = line_style(RANDOM_ARMS), part_id("line", panel_title(panel), RANDOM_ARMS)
                axes.axhline(random, linewidth=1.2, zorder=1.5, color=GREY, linestyle=style.linestyle, gid=own)
                handles.setdefault(RANDOM_ARMS, Line2D([], [], **line_style(RANDOM_ARMS)._asdict()))
        _number_the_grid(axes, lines.values())
        if is_log:
            readable_logarithm(axes, "y")
        else:
            start_at_zero(axes, bottom, top)
            readable_numbers(axes, "y")
    theory_band = f" and the band of {THEORY}" if THEORY in handles else ""
    caption = [f"Points: mean over repetitions of the final value, bars{theory_band}: {MEAN_INTERVAL}."]
    if shows_random_arms(figure, data):
        caption.append("Random arms: expected regret of uniformly random arms, computed from the means.")
    order = [name for name in handles if name not in (_BEST, THEORY, _PUBLISHED, RANDOM_ARMS)]
    order += [name for name in (_BEST, THEORY, _PUBLISHED, RANDOM_ARMS) if name in handles]
    return page.finish({name: handles[name] for name in order}, caption)


def _lines(
    data: Experiments, panel: Selection, axis: str, axes_of_panels: Sequence[str], column: str
) -> dict[str, pd.DataFrame]:
    """Return, by name, the lines of a panel: columns x, mean, low, high."""
    by_name: dict[str, list[Key]] = {}
    for key in data.select(panel):
        if data.as_dict(key)[axis]:
            by_name.setdefault(series_name(data, key, [*axes_of_panels, axis]), []).append(key)
    lines = {}
    for name, keys in by_name.items():
        points = []
        for key in sorted(keys, key=lambda key: float(data.as_dict(key)[axis])):
            values = final_column(data, key, column)
            if len(values):
                interval = mean_interval(values)
                points.append((float(data.as_dict(key)[axis]), interval.estimate, interval.low, interval.high))
        if points:
            lines[name] = pd.DataFrame(points, columns=["x", "mean", "low", "high"])
    return lines


def _draw(axes: Axes, table: pd.DataFrame, style: LineStyle, named: tuple[str, str]) -> tuple[float, float]:
    """Draw a line with interval bars; return the smallest and the largest number drawn."""
    below = np.nan_to_num((table["mean"] - table["low"]).to_numpy(dtype=float))
    above = np.nan_to_num((table["high"] - table["mean"]).to_numpy(dtype=float))
    drawn = axes.errorbar(
        table["x"],
        table["mean"],
        yerr=[below, above],
        capsize=2,
        elinewidth=1,
        markersize=4,
        zorder=3,
        **style._asdict(),
    )
    for part, artist in zip(("line", "low", "high", "bars"), drawn.get_children(), strict=False):
        artist.set_gid(part_id(part, *named))
    return float((table["mean"] - below).min()), float((table["mean"] + above).max())


def _number_the_grid(axes: Axes, lines: Iterable[pd.DataFrame]) -> None:
    """Write the grid values below the axis, if there are few of them on a linear axis."""
    values = sorted({float(x) for table in lines for x in table["x"]})
    if axes.get_xscale() == "log":
        readable_logarithm(axes, "x")
        return
    if len(values) <= _FEW:
        axes.set_xticks(values)
    readable_numbers(axes, "x")


def _draw_bound(axes: Axes, bound: Mapping[str, Any], panel: str, lines: Iterable[pd.DataFrame]) -> float:
    """Draw a bound at each number along the axis, which is a horizon; return its largest value."""
    xs = sorted({float(x) for table in lines for x in table["x"]})
    values = [float(regret_bound(bound["formula"], [x])[0]) for x in xs]
    axes.plot(xs, values, gid=part_id("bound", panel, str(bound["label"])), **_BOUND_STYLE)
    return max(values)


def _draw_random_arms(axes: Axes, data: Experiments, panel: Selection) -> None:
    """Draw the regret of random arms where it differs along the axis, as it does in runs of different length."""
    points = []
    for label in data.labels("horizon"):
        random = random_arms(data, data.select({**panel, "horizon": (label,)}))
        if math.isfinite(random):
            points.append((float(label), random))
    style, own = line_style(RANDOM_ARMS)._asdict(), part_id("line", panel_title(panel), RANDOM_ARMS)
    axes.plot(*zip(*points, strict=True), linewidth=1.2, zorder=1.5, gid=own, **style)


def _mark_best(axes: Axes, table: pd.DataFrame, best: str, named: tuple[str, str]) -> None:
    mean = table["mean"].to_numpy(dtype=float)
    place = int(mean.argmin() if best == "lowest" else mean.argmax())
    star = _star()
    axes.plot(
        [float(table["x"].iloc[place])],
        [mean[place]],
        marker=star.get_marker(),
        markersize=star.get_markersize(),
        color=VERMILION,
        markeredgecolor="white",
        markeredgewidth=0.6,
        linestyle="none",
        zorder=5,
        clip_on=False,
        gid=part_id("best", *named),
    )


def _draw_theory(axes: Axes, values: np.ndarray, panel: str) -> float:
    interval = mean_interval(values)
    style = line_style(THEORY)
    line, band = part_id("line", panel, THEORY), part_id("band", panel, THEORY)
    axes.axhline(interval.estimate, color=style.color, linestyle=style.linestyle, linewidth=1.2, zorder=2.5, gid=line)
    if np.isfinite(interval.low):
        axes.axhspan(interval.low, interval.high, color=style.color, alpha=0.1, linewidth=0, zorder=1, gid=band)
    return float(np.nanmax([interval.estimate, interval.high]))


def _published_numbers(figure: Mapping[str, Any], data: Experiments, panel: dict[str, str]) -> dict[str, float]:
    """Return a panel's published numbers, empty if the best grid value is not among them."""
    entries = published(figure, data)
    numbers = {what: value for labels, what, value, _ in entries if panel.items() <= labels.items()}
    return numbers if "best" in numbers else {}


def _mark_published(axes: Axes, numbers: Mapping[str, float], panel: str) -> None:
    line, mark = part_id("published line", panel, _PUBLISHED), part_id("published", panel, _PUBLISHED)
    axes.axvline(numbers["best"], color=VERMILION, linestyle=":", linewidth=1.3, zorder=1.8, gid=line)
    if "mean" in numbers:
        axes.plot(
            [numbers["best"]],
            [numbers["mean"]],
            marker="D",
            markersize=6,
            markerfacecolor="white",
            markeredgecolor=VERMILION,
            linestyle="none",
            zorder=4,
            gid=mark,
        )


def _star() -> Line2D:
    return Line2D([], [], marker="*", markersize=12, color=VERMILION, markeredgecolor="white", linestyle="none")


def _theory_handle() -> Artist:
    style = line_style(THEORY)
    return Line2D([], [], color=style.color, linestyle=style.linestyle)


def _published_handle() -> Artist:
    return Line2D([], [], color=VERMILION, linestyle=":", marker="D", markerfacecolor="white")
