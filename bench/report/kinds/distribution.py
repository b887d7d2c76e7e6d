"""How a final value is distributed over repetitions, a row per method, a panel per case."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from bench.report.plot import Look, Panel, Plot, Sample, Text, look_of, one
from bench.report.results import Results
from bench.report.rows import Rows, in_row, repetitions
from bench.report.tables import by_experiment, summary
from bench.stats import Array

_ROW, _WIDTH = 0.62, 4.3
_UPPER = 0.95
_DARK = "#333333"
# Beside the rows stand mean and quantile as numbers, this many points right of the panel.
_COLUMNS = ((33.0, "mean"), (66.0, "95 %"))
# With many values their dots fade, so that a crowd of them shows where it is densest.
_FAINTEST, _MANY = 0.12, 12.5
_SMALL: dict[str, Any] = {"dash": "none", "marker": "o", "size": 3.4, "edge_width": 0.0}


class Distribution(Rows):
    """Every repetition's final value, with quartiles, mean and 95 % quantile, the last two as numbers too.

    The values themselves are drawn, not a density: its bandwidth would decide how heavy a tail of 25 values looks.
    """

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        """Return the table of final values."""
        return {"table": summary(self, results)}

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        """Return the values with their quantiles."""
        plot = Plot(self.heading, "", [])
        mark: dict[str, Any] = {"dash": "none", "marker": "o"}
        plot.explain("one repetition", Look(_DARK, **{**_SMALL, "alpha": 0.6}))
        plot.explain("quartiles and median", Sample(Look("#CCCCCC", edge=_DARK), is_box=True))
        plot.explain("mean", Look(_DARK, **mark, size=7.5))
        plot.explain("95 % quantile", Look(_DARK, "none", "|", size=11, edge_width=2.2))
        data, counts = results.data, set[int]()
        means = by_experiment(tables["table"], data)
        for panel, _, keys in self.panels_of_rows(results):
            plot.panels.append(panel)
            found = {name: (row, results.column(key, self.column)) for name, (row, key) in keys.items()}
            rows = {name: (row, values) for name, (row, values) in found.items() if len(values)}
            for name, (row, values) in rows.items():
                _add_row(panel, row, name or self.column, values, means[keys[name][1]])
                counts.add(len(values))
            if rows:
                _write_numbers(panel, dict(rows.values()))
                self.scale(plot, panel)
        if counts:
            each = " or ".join(f"{count:,}" for count in sorted(counts))
            plot.caption = [
                f"{each} final values per row, one per repetition; their height within the row says nothing."
            ]
        plot.panel_size = self.panel_size(plot, _WIDTH, _ROW)
        return plot


def _add_row(panel: Panel, row: int, name: str, values: Array, found: Mapping[Any, Any]) -> None:
    look, n = look_of(name), [len(values)]
    low, middle, high, upper = np.quantile(values, (0.25, 0.5, 0.75, _UPPER))
    box: dict[str, Any] = {"low": one(low), "high": one(high), "what": "median", "ends": "quartiles", "n": n}
    faint = min(0.5, max(_FAINTEST, _MANY / len(values)))
    dot = replace(look, dash="none", marker=look.marker or "o", size=7.5, edge="white", edge_width=0.8, order=5)
    ends: dict[str, Any] = {"low": one(found["ci_low"]), "high": one(found["ci_high"])}
    tail = Look(_DARK, width=2.2, order=4)
    panel.marks += [
        in_row(panel, row, name, [middle], replace(look, alpha=0.2, order=2), part="box", shape="box", half=0.3, **box),
        repetitions(panel, row, name, values, replace(look, **_SMALL, alpha=faint, order=3)),
        in_row(panel, row, name, [upper], tail, part="quantile", shape="tick", half=0.36, what="95 % quantile", n=n),
        in_row(panel, row, name, [found["mean"]], dot, what="mean", n=n, **ends),
    ]


def _write_numbers(panel: Panel, rows: Mapping[int, Array]) -> None:
    """Write mean and 95 % quantile right of the panel, all with the same decimals: three digits of the largest."""
    pairs = {row: (float(values.mean()), float(np.quantile(values, _UPPER))) for row, values in rows.items()}
    largest = max(abs(number) for pair in pairs.values() for number in pair)
    decimals = min(max(2 - math.floor(math.log10(largest)), 0), 6) if largest > 0 else 0
    how: dict[str, Any] = {"ha": "right", "fontsize": 7.5, "color": _DARK}
    for column, (points, head) in enumerate(_COLUMNS):
        panel.texts.append(Text(1, -0.55, head, "x", points, {**how, "va": "bottom"}))
        for row, pair in pairs.items():
            words = f"{pair[column]:,.{decimals}f}"
            panel.texts.append(Text(1, row, words, "x", points, {**how, "va": "center"}))
