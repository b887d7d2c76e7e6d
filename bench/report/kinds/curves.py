"""Mean curves over rounds, a panel per environment or algorithm, a line per method."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bench.errors import ConfigError
from bench.report.experiments import Experiments, Key
from bench.report.grid_axis import panel_axes
from bench.report.kinds.page import (
    Page,
    limit_to_methods,
    readable_logarithm,
    readable_numbers,
    say_no_results,
    start_at_zero,
    wrapped,
)
from bench.report.kinds.rows import reference
from bench.report.kinds.series import panel_title, series_name
from bench.report.labels import Selection, canonical, selection
from bench.report.parts import part_id
from bench.report.regret_bounds import regret_bound
from bench.report.style import GREY, RANDOM_ARMS, line_style
from bench.report.tables import RANDOM_REGRET
from bench.stats import MEAN_INTERVAL

_MARKS_PER_LINE = 6
_BOUND = "Bound, in the colour of its method"
_BOUND_STYLE: dict[str, Any] = {"linestyle": (0, (2, 2)), "linewidth": 1.1, "zorder": 2.5}


def curves(figure: Mapping[str, Any], frame: pd.DataFrame, finals: pd.DataFrame, note: str) -> Figure:
    """Draw mean curves with their band.

    Keys of the figure used here: `title`, `column`, `x_label` (default: round), `y_label`, `y_scale` (`linear`,
    default, or `log`), `panels` (axes that make the panels, default `panel`), `bounds` (a list of `measured`, which
    selects experiments, and `formula`, a bound of `bench.report.regret_bounds` on them), `reference_line` (a number)
    with `reference_label`. For columns of regret, uniformly random arms are a dashed grey line.

    Raises
    ------
    ConfigError
        If a bound has other keys, or names an unknown formula, axis or label.
    """
    data = Experiments(figure, finals)
    column = str(figure["column"])
    frame = _with_labels(frame, data)
    axes_of_panels = panel_axes(figure, data)
    panels = data.groups(axes_of_panels, [{}])
    page = Page(str(figure.get("title", data.name)), note, len(panels))
    bounds = _bounds(figure, data)
    line = reference(figure)
    handles: dict[str, Artist] = {}
    has_bands = mentions_beyond = False
    for number, (panel, axes) in enumerate(zip(panels, page.axes, strict=False)):
        lines = {key: rows for key in data.select(panel) if len(rows := _curve(frame, data, key, column))}
        axes.set_title(wrapped(panel_title(panel), 48), loc="left")
        if page.is_bottom(number):
            axes.set_xlabel(str(figure.get("x_label", "round")))
        if page.is_left(number):
            axes.set_ylabel(str(figure.get("y_label", column)))
        if not lines:
            say_no_results(axes)
            continue
        is_log = figure.get("y_scale") == "log"
        if is_log:
            axes.set_yscale("log")
        drawn = []
        for place, (key, rows) in enumerate(lines.items()):
            name = series_name(data, key, axes_of_panels) or column
            drawn.append(_draw(axes, rows, panel_title(panel), name, place))
            handles.setdefault(name, _handle(name))
            has_bands |= bool(rows["ci_low"].notna().any())
            if key in bounds:
                drawn.append(_draw_bound(axes, rows, panel_title(panel), name, bounds[key]))
                handles[_BOUND] = Line2D([], [], color=GREY, **_BOUND_STYLE)
        random = _random_curve(frame, data, panel) if "regret" in column else None
        if random is not None:
            at_end = float(random.iloc[-1])
            if limit_to_methods(axes, max(high for _, high in drawn), at_end, is_log):
                mentions_beyond = True
            else:
                axes.plot(
                    random.index,
                    random.to_numpy(),
                    linewidth=1.2,
                    zorder=1.5,
                    gid=part_id("line", panel_title(panel), RANDOM_ARMS),
                    **line_style(RANDOM_ARMS)._asdict(),
                )
                handles[RANDOM_ARMS] = handles.pop(RANDOM_ARMS, _handle(RANDOM_ARMS))
        axes.set_xlim(0, 1.02 * max(rows["round"].max() for rows in lines.values()))
        if is_log:
            _leave_out_the_start(axes, lines.values())
            readable_logarithm(axes, "y")
        else:
            start_at_zero(axes, min(low for low, _ in drawn), max(high for _, high in drawn))
            readable_numbers(axes, "y")
        readable_numbers(axes, "x")
        if line:
            own = part_id("reference", panel_title(panel), line[1])
            axes.axhline(line[0], color=GREY, linewidth=0.9, zorder=1.2, gid=own)
            handles[line[1]] = Line2D([], [], color=GREY, linewidth=0.9)
    for last in (RANDOM_ARMS, _BOUND):
        if last in handles:
            handles[last] = handles.pop(last)
    return page.finish(handles, _caption(has_bands, RANDOM_ARMS in handles or mentions_beyond))


def _caption(has_bands: bool, speaks_of_random: bool) -> list[str]:
    bands = f"Bands: pointwise {MEAN_INTERVAL}." if has_bands else "No bands: they need two repetitions."
    caption = [f"Lines: mean over repetitions. {bands}"]
    if speaks_of_random:
        caption.append("Random arms: expected regret of uniformly random arms, computed from the means.")
    return caption


def _with_labels(frame: pd.DataFrame, data: Experiments) -> pd.DataFrame:
    frame = frame.copy()
    for axis in data.axes:
        values = frame[axis] if axis in frame.columns else [""] * len(frame)
        frame[axis] = pd.Series([canonical(value) for value in values], index=frame.index, dtype=object)
    return frame


def _curve(frame: pd.DataFrame, data: Experiments, key: Key, column: str) -> pd.DataFrame:
    if "column" not in frame.columns:
        return frame.iloc[:0]
    is_own = frame["column"] == column
    for axis, label in data.as_dict(key).items():
        is_own &= frame[axis] == label
    return frame[is_own].sort_values("round")


def _draw(axes: Axes, rows: pd.DataFrame, panel: str, name: str, place: int) -> tuple[float, float]:
    """Draw a line and its band; return the smallest and the largest number drawn."""
    x, mean, low, high = (rows[column].to_numpy(dtype=float) for column in ("round", "mean", "ci_low", "ci_high"))
    style = line_style(name)
    # Markers of different lines stand at different rounds, or curves that coincide would hide each other's.
    step = max(1, len(x) // _MARKS_PER_LINE)
    start = ((place + 1) * max(1, step // 6)) % step
    axes.plot(x, mean, markevery=(start, step), zorder=3, gid=part_id("line", panel, name), **style._asdict())
    if np.isfinite(low).any():
        band = part_id("band", panel, name)
        axes.fill_between(x, low, high, color=style.color, alpha=0.15, linewidth=0, zorder=2, gid=band)
    drawn = np.concatenate([mean, low, high])
    return float(np.nanmin(drawn)), float(np.nanmax(drawn))


def _bounds(figure: Mapping[str, Any], data: Experiments) -> dict[Key, Mapping[str, Any]]:
    """Return the formula of every experiment that has a bound."""
    found: dict[Key, Mapping[str, Any]] = {}
    for number, entry in enumerate(figure.get("bounds") or (), start=1):
        where = f"figure '{data.name}', bound {number}"
        if not isinstance(entry, Mapping) or set(entry) != {"measured", "formula"}:
            raise ConfigError(f"{where}: found {entry!r}, expected the keys measured and formula")
        chosen = selection(entry["measured"])
        data.check(chosen, where)
        try:
            regret_bound(entry["formula"], [1])
        except ConfigError as error:
            raise ConfigError(f"{where}, {error}") from None
        for key in data.select(chosen):
            found[key] = entry["formula"]
    return found


def _draw_bound(
    axes: Axes, rows: pd.DataFrame, panel: str, name: str, formula: Mapping[str, Any]
) -> tuple[float, float]:
    """Draw the bound of a line; return the smallest and the largest number drawn."""
    rounds = rows["round"].to_numpy(dtype=float)
    values = regret_bound(formula, rounds)
    axes.plot(rounds, values, color=line_style(name).color, gid=part_id("bound", panel, name), **_BOUND_STYLE)
    return float(values.min()), float(values.max())


def _leave_out_the_start(axes: Axes, lines: Iterable[pd.DataFrame]) -> None:
    """Let a logarithmic axis start where the lines are after 1 % of the rounds: sums grow from near 0."""
    starts = [rows.loc[(rows["round"] >= 0.01 * rows["round"].max()) & (rows["mean"] > 0), "mean"] for rows in lines]
    lowest = min((float(start.min()) for start in starts if len(start)), default=math.nan)
    if math.isfinite(lowest):
        axes.set_ylim(bottom=lowest / 1.5)


def _random_curve(frame: pd.DataFrame, data: Experiments, panel: Selection) -> "pd.Series[float] | None":
    """Return the mean regret of random arms by round, over all experiments of a panel."""
    rows = [_curve(frame, data, key, RANDOM_REGRET) for key in data.select(panel)]
    rows = [one for one in rows if len(one)]
    if not rows:
        return None
    return pd.concat(rows).groupby("round")["mean"].mean().sort_index()


def _handle(name: str) -> Line2D:
    return Line2D([], [], **line_style(name)._asdict())
