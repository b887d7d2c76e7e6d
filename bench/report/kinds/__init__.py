"""Kinds of figures: one function each, drawn from aggregated results alone."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from bench.errors import ConfigError
from bench.report.kinds.bound import bound
from bench.report.kinds.computed import computed
from bench.report.kinds.curves import curves
from bench.report.kinds.distribution import distribution
from bench.report.kinds.dots import dots
from bench.report.kinds.grid import grid
from bench.report.kinds.lipschitz import lipschitz
from bench.report.kinds.ranking import ranking
from bench.report.kinds.saving import save
from bench.report.kinds.timing import timing
from bench.report.style import applied

__all__ = ["KINDS", "draw", "save"]

KINDS: dict[str, Callable[[Mapping[str, Any], pd.DataFrame, pd.DataFrame, str], Figure]] = {
    "curves": curves,
    "grid": grid,
    "bound": bound,
    "timing": timing,
    "lipschitz": lipschitz,
    "dots": dots,
    "distribution": distribution,
    "computed": computed,
    "ranking": ranking,
}


def draw(figure: Mapping[str, Any], curves: pd.DataFrame, finals: pd.DataFrame, *, note: str) -> Figure:
    """Draw a figure from its aggregated results.

    Parameters
    ----------
    figure
        The figure as a plain dict; `kind` chooses the function.
    curves
        Mean curves: axis columns, `column`, `round`, `mean`, `std`, `ci_low`, `ci_high`, `n`.
    finals
        Final values: axis columns, `repetition`, `rounds`, one column per trace column. For the kind `computed` the
        table that was computed.
    note
        Scale, repetitions and data, shown below the title. If it contains the word "surrogate", the figure is marked
        and shows no published numbers.

    Raises
    ------
    ConfigError
        If the kind is unknown, or the figure lacks what its kind needs.
    """
    kind = figure.get("kind")
    if kind not in KINDS:
        raise ConfigError(f"figure '{figure.get('name', '?')}': unknown kind {kind!r}, choose from {', '.join(KINDS)}")
    if kind != "computed" and "column" not in figure:
        raise ConfigError(f"figure '{figure.get('name', '?')}': key 'column' is missing")
    with applied():
        return KINDS[kind](figure, curves, finals, note)
