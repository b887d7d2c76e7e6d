"""Panels of rows, one per method: what the kinds `dots` and `distribution` share."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator

from bench.errors import ConfigError
from bench.report.experiments import Experiments, Key
from bench.report.kinds.page import readable_logarithm, readable_numbers, wrapped
from bench.report.kinds.series import series_name
from bench.report.labels import Selection
from bench.report.parts import part_id
from bench.report.style import GREY
from bench.stats import Array

_LABEL_LETTERS, _TITLE_LETTERS = 22, 44
_TITLE_LINE, _AXIS_HEIGHT = 0.17, 0.62
_JITTER = 0.5 * (5**0.5 - 1)
# A logarithmic axis that spans less than this has its numbers at steps of a linear one: 1, 2, 5 would leave it bare.
_NARROW = 5.0
_TICKS: dict[str, Any] = {"nbins": 5, "steps": [1, 2, 2.5, 5, 10]}
_REFERENCE: dict[str, Any] = {"color": GREY, "linewidth": 1.0, "zorder": 1}


def names_of_rows(data: Experiments, panels: Sequence[Selection], axes_of_panels: Sequence[str]) -> list[str]:
    """Return the names of all rows, those of the first panel first."""
    names = [series_name(data, key, axes_of_panels) for panel in panels for key in data.select(panel)]
    return list(dict.fromkeys(names))


def keys_of_rows(data: Experiments, panel: Selection, axes_of_panels: Sequence[str]) -> dict[str, Key]:
    """Return the experiments of a panel by the names of their rows."""
    return {series_name(data, key, axes_of_panels): key for key in data.select(panel)}


def panel_height(names: Sequence[str], titles: Sequence[str], row: float) -> float:
    """Return the height in inches of a panel with rows of at least ``row`` inches, made higher by long names."""
    lines = max((wrapped(name, _LABEL_LETTERS).count("\n") + 1 for name in names), default=1)
    title = max((wrapped(title, _TITLE_LETTERS).count("\n") + 1 for title in titles if title), default=0)
    return max(1.4, _AXIS_HEIGHT + _TITLE_LINE * title + max(row, 0.15 * lines + 0.06) * len(names))


def title_of_panel(title: str) -> str:
    """Return a panel's title, broken into lines."""
    return wrapped(title, _TITLE_LETTERS)


def name_the_rows(axes: Axes, names: Sequence[str], is_left: bool) -> None:
    """Write the names beside the rows, first row on top; only in panels at the left."""
    axes.set_yticks(range(len(names)), [wrapped(name, _LABEL_LETTERS) for name in names])
    axes.tick_params(axis="y", length=0, labelleft=is_left)
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.grid(False, axis="y")
    for row in range(1, len(names)):
        axes.axhline(row - 0.5, color="#E4E4E4", linewidth=0.8, zorder=0.5)


def say_no_results_in_rows(axes: Axes) -> None:
    """Mark a panel that has nothing to show yet, and leave the names of its rows."""
    place: dict[str, Any] = {"ha": "center", "va": "center", "bbox": {"facecolor": "white", "edgecolor": "none"}}
    axes.text(0.5, 0.5, "no results yet", transform=axes.transAxes, color="#777777", **place)
    axes.set_xticks([])


def scattered(count: int, height: float) -> Array:
    """Return distances from the middle of a row, spread evenly over ``height``, neighbours far from each other."""
    places = np.arange(1, count + 1, dtype=np.float64) * _JITTER % 1.0
    return np.asarray(height * (places - 0.5))


def scale(axes: Axes, figure: Mapping[str, Any], numbers: Sequence[float]) -> None:
    """Scale the horizontal axis: the figure's `x_scale`, `linear` by default; `log` needs positive numbers."""
    low, high = min(numbers), max(numbers)
    if figure.get("x_scale") == "log" and low > 0:
        axes.set_xscale("log")
        room = (high / low) ** 0.06 if high > low else 1.1
        axes.set_xlim(low / room, high * room)
        if high > _NARROW * low:
            readable_logarithm(axes, "x")
            return
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_locator(MaxNLocator(**_TICKS))
    else:
        room = 0.06 * (high - low) or 0.06 * abs(high) or 1.0
        axes.set_xlim(low - room, high + room)
        axes.xaxis.set_major_locator(MaxNLocator(**_TICKS))
    readable_numbers(axes, "x")


def reference(figure: Mapping[str, Any]) -> tuple[float, str] | None:
    """Return the figure's vertical line, `reference_line`, and its name, `reference_label`; None if it has none.

    Raises
    ------
    ConfigError
        If it is not a number.
    """
    value = figure.get("reference_line")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(
            f"figure '{figure.get('name', '?')}', key 'reference_line': found {value!r}, expected a number"
        )
    return float(value), str(figure.get("reference_label", f"{value:g}"))


def draw_reference(axes: Axes, line: tuple[float, str], panel: str) -> None:
    """Draw the figure's vertical line in a panel, given by its title."""
    axes.axvline(line[0], gid=part_id("reference", panel, line[1]), **_REFERENCE)


def reference_handle() -> Artist:
    """Return what stands for the vertical line in the legend."""
    return Line2D([], [], color=_REFERENCE["color"], linewidth=_REFERENCE["linewidth"])
