"""Measured regret beside its bound, a row per case."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bench.errors import ConfigError
from bench.report.claims.base import case_text
from bench.report.claims.bound import Bound, Measured
from bench.report.claims.check import read
from bench.report.claims.finding import Unmeasured
from bench.report.experiments import Experiments
from bench.report.kinds.page import Page, readable_logarithm, readable_numbers, say_no_results, wrapped
from bench.report.labels import Selection, describe
from bench.report.parts import part_id
from bench.report.style import BLACK, GREY, RANDOM_ARMS, line_style
from bench.report.tables import random_arms, shows_random_arms
from bench.stats import MEAN_INTERVAL, Interval

_MEASURED, _BEST, _BOUND = "measured mean", "best candidate", "bound"
_ROW_HEIGHT, _WIDTH = 0.46, 8.4
# Beyond this ratio of the largest to the smallest number the axis is logarithmic.
_MANY_TIMES = 20


def bound(figure: Mapping[str, Any], frame: pd.DataFrame, finals: pd.DataFrame, note: str) -> Figure:
    """Draw, for every case of every claim of kind `bound`, the measured mean, its bound and the best candidate.

    Keys of the figure used here: `title`, `column`, `y_label` (what is measured), `claims`, `x_scale` (`linear` or
    `log`; default: log if the numbers differ by more than a factor of 20).

    Raises
    ------
    ConfigError
        If the figure has no claim of kind `bound`.
    """
    data = Experiments(figure, finals)
    claims = [claim for claim in read(figure, data) if isinstance(claim, Bound)]
    if not claims:
        raise ConfigError(f"figure '{data.name}': kind 'bound' draws the claims of kind 'bound', there are none")
    cases = [(claim, case) for claim in claims for case in claim.cases(data)]
    size = (_WIDTH, max(1.6, 0.7 + _ROW_HEIGHT * len(cases)))
    page = Page(str(figure.get("title", data.name)), note, 1, size)
    axes = page.axes[0]
    numbers: list[float] = []
    names = []
    for row, (claim, case) in enumerate(cases):
        names.append(
            wrapped(f"{describe(claim.measured)}: {case_text(case)}" if case else describe(claim.measured), 34)
        )
        try:
            sides = claim.sides(data, case)
        except Unmeasured as reason:
            place: dict[str, Any] = {
                "xycoords": ("axes fraction", "data"),
                "va": "center",
                "fontsize": 8.0,
                "color": GREY,
            }
            axes.annotate(f"open: {reason}", (0.01, row), **place)
            continue
        numbers += _draw(axes, row, sides)
        random = _random(figure, data, claim, case)
        if math.isfinite(random):
            own = part_id("line", experiment_text(sides.experiment), RANDOM_ARMS)
            axes.plot([random], [row], marker="x", color=GREY, linestyle="none", zorder=3, gid=own)
            numbers.append(random)
    axes.set_yticks(range(len(cases)), names)
    axes.set_ylim(len(cases) - 0.4, -0.6)
    axes.grid(False, axis="y")
    axes.set_xlabel(str(figure.get("y_label", claims[0].column)))
    if not numbers:
        axes.set_xticks([])
        if not cases:
            say_no_results(axes)
        return page.finish({}, [])
    _scale(axes, figure, numbers)
    has_random = shows_random_arms(figure, data)
    has_candidates = any(claim.candidates for claim in claims)
    return page.finish(_handles(has_random, has_candidates), _caption(has_random, has_candidates))


def experiment_text(labels: Mapping[str, str]) -> str:
    """Return an experiment in words."""
    return describe({axis: (label,) for axis, label in labels.items() if label})


def _draw(axes: Axes, row: int, sides: Measured) -> list[float]:
    """Draw one case; return the numbers drawn."""
    name = sides.experiment.get("method", next(filter(None, sides.experiment.values()), ""))
    style = line_style(name)
    own, limit = sides.measured, sides.bound
    text = experiment_text(sides.experiment)
    parts = {part: part_id(part, text, name) for part in ("gap", "bound bars", "bound", "best", "bars", "line")}
    axes.plot([own.estimate, limit.estimate], [row, row], color="#D0D0D0", linewidth=1, zorder=1, gid=parts["gap"])
    _whiskers(axes, row, limit, BLACK, parts["bound bars"])
    mark: dict[str, Any] = {"marker": "|", "markersize": 16, "markeredgewidth": 2, "color": BLACK}
    axes.plot([limit.estimate], [row], zorder=3, gid=parts["bound"], **mark)
    if sides.best is not None:
        mark = {"marker": "o", "markersize": 8, "markerfacecolor": "none", "markeredgecolor": GREY}
        axes.plot([sides.best.estimate], [row], zorder=3, gid=parts["best"], **mark)
    _whiskers(axes, row, own, style.color, parts["bars"])
    axes.plot([own.estimate], [row], marker="o", markersize=5, color=style.color, zorder=4, gid=parts["line"])
    drawn = [own.estimate, own.low, own.high, limit.estimate, limit.high]
    drawn += [] if sides.best is None else [sides.best.estimate]
    return [number for number in drawn if math.isfinite(number)]


def _whiskers(axes: Axes, row: int, interval: Interval, colour: str, own: str) -> None:
    if math.isfinite(interval.low):
        ends = [interval.low, interval.high]
        axes.plot(ends, [row, row], color=colour, linewidth=2.2, solid_capstyle="butt", zorder=2, gid=own)


def _random(figure: Mapping[str, Any], data: Experiments, claim: Bound, case: Selection) -> float:
    if not shows_random_arms(figure, data):
        return math.nan
    return random_arms(data, data.select({**case, **claim.measured}))


def _scale(axes: Axes, figure: Mapping[str, Any], numbers: list[float]) -> None:
    low, high = min(numbers), max(numbers)
    is_wide = low > 0 and high > _MANY_TIMES * low
    if str(figure.get("x_scale", "log" if is_wide else "linear")) == "log" and low > 0:
        axes.set_xscale("log")
        axes.set_xlim(low / 1.3, high * 1.3)
        readable_logarithm(axes, "x")
    else:
        axes.set_xlim(min(0.0, low), 1.05 * high)
        readable_numbers(axes, "x")


def _handles(has_random: bool, has_candidates: bool) -> dict[str, Artist]:
    handles: dict[str, Artist] = {_MEASURED: Line2D([], [], marker="o", color="#333333", linewidth=2.2)}
    bound = Line2D([], [], marker="|", markersize=12, markeredgewidth=2, color=BLACK, linestyle="none")
    if has_candidates:
        handles[_BEST] = Line2D([], [], marker="o", markersize=8, markerfacecolor="none", color=GREY, linestyle="none")
    handles[f"{_BOUND}: best candidate + price of tuning" if has_candidates else _BOUND] = bound
    if has_random:
        handles[RANDOM_ARMS] = Line2D([], [], marker="x", color=GREY, linestyle="none")
    return handles


def _caption(has_random: bool, has_candidates: bool) -> list[str]:
    caption = [f"Thick lines: {MEAN_INTERVAL}."]
    if has_candidates:
        caption = [
            f"Thick lines: {MEAN_INTERVAL}, and of the bound, the best candidate taken anew in each resample.",
            "Price of tuning: sum over hyper-parameters of 2 sqrt((e-1) n T ln n), n candidates, T rounds.",
        ]
    if has_random:
        caption.append("Random arms: expected regret of uniformly random arms; a bound above it says nothing.")
    return caption
