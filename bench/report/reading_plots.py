"""The picture of claims under each reading."""

import pandas as pd

from bench.report import style
from bench.report.claims.judgement import in_words
from bench.report.figure import Figure
from bench.report.plot import Axis, Look, Panel, Plot, mark, wrapped
from bench.report.provenance import Provenance
from bench.report.reading import READING

_CELLS = {
    "holds": (style.GREEN, "white"),
    "fails": (style.VERMILION, "white"),
    "tie": (style.SKY, "black"),
    "open": ("#F3D58C", "black"),
    "says_nothing": ("#DDDDDD", "black"),
}
_DECIDED = ("holds", "fails", "tie")
# Inches
_ROW, _COLUMN, _NAME = 0.27, 1.05, 3.3
_NAME_LETTERS, _HEAD_LETTERS = 48, 15


def matrix(figure: Figure, table: pd.DataFrame, provenance: Provenance) -> Plot | None:
    """Return the verdicts as cells, a row for each case of a claim that readings decide differently; None without."""
    names = [reading.name for reading in figure.readings]
    table = table.assign(claim=table["claim"].astype(str), case=table["case"].fillna("").astype(str))
    decided = table["verdict"].where(table["verdict"].isin(_DECIDED))
    n_verdicts = decided.groupby([table["claim"], table["case"]], sort=False).nunique()
    cases = list(n_verdicts[n_verdicts > 1].index)
    if not cases:
        return None
    alike = len(n_verdicts) - len(cases)
    table = table[table.set_index(["claim", "case"]).index.isin(cases)]
    heads = [wrapped(name, _HEAD_LETTERS) for name in names]
    header = 0.16 * max(head.count("\n") + 1 for head in heads) + 0.15
    panel = Panel(is_table=True, names_on_top=True)
    plot = Plot(f"{figure.heading}: claims on which readings differ", provenance.words(), [panel], mark=provenance.mark)
    plot.panel_size = (_NAME + _COLUMN * len(names), header + _ROW * max(len(cases), 1))
    rows = [_shortened(f"{claim}: {case}" if case not in ("", "all") else claim) for claim, case in cases]
    panel.x = Axis(low=0, high=len(names), ticks=[place + 0.5 for place in range(len(names))], names=heads)
    panel.y = Axis(low=len(cases), high=0, ticks=[place + 0.5 for place in range(len(cases))], names=rows)
    for row in table.to_dict("records"):
        y = cases.index((row["claim"], row["case"]))
        colour, ink = _CELLS[row["verdict"]]
        numbers = {"values": row["estimate"], "low": row["ci_low"], "high": row["ci_high"], "n": [row["n"]]}
        words = {"text": in_words(row["verdict"]), "what": in_words(row["verdict"]), "ink": ink}
        look, cell = Look(colour, edge="white"), {"x": names.index(row[READING]), "y": y, "shape": "cell"}
        panel.marks.append(mark(row[READING], rows[y], look, part="cell", **cell, **numbers, **words))
    if alike:
        plot.caption = [f"{alike} of {len(n_verdicts)} cases have no row: no two readings decide them differently."]
    plot.caption += [f"{reading.name}: {reading.text.rstrip('.')}." for reading in figure.readings]
    return plot


def _shortened(name: str) -> str:
    return name if len(name) <= _NAME_LETTERS else name[: _NAME_LETTERS - 1] + "…"
