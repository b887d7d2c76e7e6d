"""Pictures of the two tables of `bench.report.readings`."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from bench.report import style
from bench.report.figure import Figure
from bench.report.labels import canonical, said
from bench.report.plot import INTERVAL, LINE_BETWEEN, Axis, Look, Mark, Panel, Plot, one, wrapped
from bench.report.reading import READING

_CELLS = {
    "holds": (style.GREEN, "white"),
    "fails": (style.VERMILION, "white"),
    "tie": (style.SKY, "black"),
    "open": ("#F3D58C", "black"),
    "says_nothing": ("#DDDDDD", "black"),
}
_COLOURS = (style.BLUE, style.VERMILION, style.GREEN, style.PURPLE, style.ORANGE, style.INDIGO, style.SKY, style.WINE,
            style.BROWN, style.TEAL, style.OLIVE)  # fmt: skip
_MARKERS = ("o", "s", "^", "D", "v", "P", "<", "X", ">", "h")
_DIAMOND = Look("#333333", "-", "", width=1.4, order=4)
_PUBLISHED, _FURTHER = "published", "95 % interval of a further set of the paper's size"
# Inches
_ROW, _COLUMN, _NAME = 0.27, 1.05, 3.3
_NAME_LETTERS, _HEAD_LETTERS = 48, 15
# More numbers of a kind than this have a panel for each of the figure's
_MANY = 12


def matrix(figure: Figure, table: pd.DataFrame, note: str = "") -> Plot:
    """Return the verdicts as cells, a row for each case of a claim, a column for each reading."""
    names = [reading.name for reading in figure.readings]
    cases = list(dict.fromkeys(zip(table["claim"].astype(str), table["case"].fillna("").astype(str), strict=True)))
    heads = [wrapped(name, _HEAD_LETTERS) for name in names]
    header = 0.16 * max(head.count("\n") + 1 for head in heads) + 0.15
    panel = Panel(is_table=True, names_on_top=True)
    plot = Plot(f"{figure.heading}: claims under each reading", note, [panel])
    plot.panel_size = (_NAME + _COLUMN * len(names), header + _ROW * max(len(cases), 1))
    rows = [_shortened(f"{claim}: {case}" if case not in ("", "all") else claim) for claim, case in cases]
    panel.x = Axis(low=0, high=len(names), ticks=[place + 0.5 for place in range(len(names))], names=heads)
    panel.y = Axis(low=len(cases), high=0, ticks=[place + 0.5 for place in range(len(cases))], names=rows)
    for row in table.to_dict("records"):
        y = cases.index((str(row["claim"]), "" if pd.isna(row["case"]) else str(row["case"])))
        colour, ink = _CELLS[row["verdict"]]
        panel.marks.append(
            Mark(
                part="cell", name=row[READING], case=rows[y], x=one(names.index(row[READING])), y=one(y), shape="cell",
                look=Look(colour, edge="white"), values=one(row["estimate"]), n=[row["n"]], low=one(row["ci_low"]),
                high=one(row["ci_high"]), what=row["verdict"].replace("_", " "),
                text=row["verdict"].replace("_", " "), ink=ink,
            )
        )  # fmt: skip
    plot.caption = [f"{reading.name}: {reading.text.rstrip('.')}." for reading in figure.readings]
    return plot


def specification(figure: Figure, table: pd.DataFrame, note: str = "") -> Plot:
    """Return our intervals under every reading beside the published numbers: a panel for each kind of number."""
    names = [reading.name for reading in figure.readings]
    axes = list(table.columns[: list(table.columns).index("what")])
    looks = {
        name: Look(_COLOURS[i % len(_COLOURS)], "none", _MARKERS[i % len(_MARKERS)], size=5.0, width=2.2, order=5)
        for i, name in enumerate(names)
    }
    plot = Plot(f"{figure.heading}: published numbers under each reading", note)
    by_panel = "panel" in axes and table.drop_duplicates([*axes, "what"])["what"].value_counts().max() > _MANY
    for labels, rows in table.groupby(["what", *(["panel"] if by_panel else [])], sort=False):
        named = [axis for axis in axes if not (by_panel and axis == "panel")]
        named = [axis for axis in named if rows[axis].nunique() > 1] or named[:1]
        plot.panels.append(_numbers_panel(figure, labels, rows, named, looks))
    for name, look in looks.items():
        plot.explain(name, look)
    plot.explain(_PUBLISHED, Look(_DIAMOND.color, "none", "|", size=11, edge_width=1.4))
    plot.explain(INTERVAL, Look(style.GREY, width=2.2))
    plot.explain(_FURTHER, Look(style.GREY, width=0.8))
    tallest = max((len(panel.y.names or ()) for panel in plot.panels), default=1)
    plot.panel_size = (3.9, 0.9 + tallest * max(0.36, 0.13 * len(names) + 0.1))
    plot.caption = [f"{reading.name}: {reading.text.rstrip('.')}." for reading in figure.readings]
    return plot


def _numbers_panel(
    figure: Figure, labels: Sequence[Any], rows: pd.DataFrame, axes: Sequence[str], looks: Mapping[str, Look]
) -> Panel:
    """Return a row for each published number of one kind, and in it our intervals under each reading."""
    what, *title = labels
    names = list(looks)
    cases = list(dict.fromkeys(_case(row, axes) for row in rows.to_dict("records")))
    shown = [wrapped(case, 22) for case in cases]
    panel = Panel(", ".join([*map(str, title), str(what).replace("_", " ")]), rows=True)
    panel.y = Axis(ticks=range(len(cases)), names=shown, low=len(cases) - 0.5, high=-0.5)
    panel.lines = dict.fromkeys((row - 0.5 for row in range(1, len(cases))), LINE_BETWEEN)
    for row in rows.to_dict("records"):
        place = cases.index(_case(row, axes))
        height = place + (names.index(row[READING]) + 0.5) / len(names) * 0.8 - 0.4
        _points(panel, row, cases[place], height, looks[row[READING]])
        if row[READING] == names[0]:
            published = Mark(
                part="published", name=_PUBLISHED, case=cases[place], x=one(row["published"]), y=one(place),
                shape="tick", half=0.45, look=_DIAMOND, number="x", what=f"published {what}",
            )  # fmt: skip
            panel.marks.append(published)
    drawn = panel.drawn
    room = 0.06 * float(np.ptp(drawn)) or 1.0
    label = (
        str(getattr(figure, "axis", "") or "best value").replace("_", " ") if what == "best" else figure.number_label
    )
    panel.x = Axis(label, low=float(drawn.min()) - room, high=float(drawn.max()) + room, few=True)
    return panel


def _points(panel: Panel, row: Mapping[Any, Any], case: str, y: float, look: Look) -> None:
    """Add our number under a reading, with its interval and that of a further set."""
    if not math.isfinite(row["estimate"]):
        return
    how: dict[str, Any] = {"name": row[READING], "case": case, "y": one(y), "number": "x", "n": [row["n"]]}
    more: dict[str, Any] = {}
    if math.isfinite(row["ci_low"]):
        more = {"low": one(row["ci_low"]), "high": one(row["ci_high"]), "interval": "segment"}
    panel.marks.append(Mark(part="line", x=one(row["estimate"]), look=look, what=row["what"], **how, **more))
    if math.isfinite(row["further_low"]) and row["what"] != "best":
        ends = np.array([row["further_low"], row["further_high"]])
        thin = Look(look.color, "-", "", width=0.8, order=3)
        how |= {"y": np.full(2, y), "n": []}
        panel.marks.append(Mark(part="further", x=ends, look=thin, what=_FURTHER, **how))


def _case(row: Mapping[Any, Any], axes: Sequence[str]) -> str:
    labels = {axis: canonical(row[axis]) for axis in axes}
    return ", ".join(said(axis, label) for axis, label in labels.items() if label)


def _shortened(name: str) -> str:
    return name if len(name) <= _NAME_LETTERS else name[: _NAME_LETTERS - 1] + "…"
