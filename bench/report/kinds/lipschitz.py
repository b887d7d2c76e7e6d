"""Is the reward smooth in a hyper-parameter? What each of its values would have earned, within blocks of rounds."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bench.report.blocks import block_table
from bench.report.experiments import Experiments
from bench.report.grid_axis import panel_axes
from bench.report.kinds.page import Page, readable_numbers, say_no_results, wrapped
from bench.report.kinds.series import panel_title, series_name
from bench.report.labels import matches
from bench.report.parts import part_id
from bench.report.style import GREY, line_style


def lipschitz(figure: Mapping[str, Any], frame: pd.DataFrame, finals: pd.DataFrame, note: str) -> Figure:
    """Draw the centred reward of every probed value, its mean and standard deviation over blocks of rounds.

    Keys of the figure used here: `title`, `x_label`, `y_label`, `panels` (axes that make the panels, default `panel`);
    see `bench.report.blocks` for `drop` and `blocks`.
    """
    data = Experiments(figure, finals)
    table = block_table(figure, frame, finals)
    axes_of_panels = panel_axes(figure, data)
    panels = data.groups(axes_of_panels, [{}])
    page = Page(str(figure.get("title", data.name)), note, len(panels))
    handles: dict[str, Artist] = {}
    for number, (panel, axes) in enumerate(zip(panels, page.axes, strict=False)):
        axes.set_title(wrapped(panel_title(panel), 48), loc="left")
        if page.is_bottom(number):
            axes.set_xlabel(str(figure.get("x_label", "value")))
        if page.is_left(number):
            axes.set_ylabel(str(figure.get("y_label", "centred reward")))
        groups = table.groupby(list(data.axes), sort=False) if len(table) else ()
        own = {_key(labels): rows for labels, rows in groups if matches(_labels(data, labels), panel)}
        if not own:
            say_no_results(axes)
            continue
        axes.axhline(0.0, color=GREY, linewidth=0.8, zorder=1)
        for key, rows in own.items():
            name = series_name(data, key, axes_of_panels) or "mean over blocks"
            style = line_style(name)
            drawn = axes.errorbar(
                rows["probed"],
                rows["mean"],
                yerr=rows["std"].fillna(0.0),
                capsize=2,
                elinewidth=1,
                markersize=4,
                zorder=3,
                **style._asdict(),
            )
            for part, artist in zip(("line", "low", "high", "bars"), drawn.get_children(), strict=False):
                artist.set_gid(part_id(part, panel_title(panel), name))
            handles.setdefault(name, Line2D([], [], **style._asdict()))
        readable_numbers(axes, "x")
        readable_numbers(axes, "y")
    return page.finish(handles, _caption(frame, table))


def _key(labels: Any) -> tuple[str, ...]:
    return tuple(labels) if isinstance(labels, tuple) else (labels,)


def _labels(data: Experiments, labels: Any) -> dict[str, str]:
    return data.as_dict(_key(labels))


def _caption(frame: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    if table.empty:
        return []
    first, last, blocks = int(frame["round"].min()), int(frame["round"].max()), int(table["blocks"].max())
    return [
        f"Points: mean over {blocks} blocks of about {(last - first) / blocks:,.0f} rounds, after round {first:,} and "
        f"up to round {last:,}, of the expected reward that each value would have got, all else being equal, less the "
        "block's mean over the values. Bars: one standard deviation over blocks."
    ]
