"""Figures given as plain dicts, turned into tables and pictures for the tests."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure as Picture

from bench.report.drawing import draw as draw_plot
from bench.report.figure import Figure, read_figure
from bench.report.provenance import Provenance
from bench.report.render import plot_of
from bench.report.results import Results


def results_of(figure: Mapping[str, Any], finals: pd.DataFrame, curves: Any = None, surrogate: bool = False) -> Results:
    provenance = Provenance(repetitions=(5,), surrogate=("made_up",) if surrogate else ())
    return Results(read_figure(figure), pd.DataFrame() if curves is None else curves, finals, provenance)


def tables(
    figure: Mapping[str, Any], finals: pd.DataFrame, curves: Any = None, *, surrogate: bool = False
) -> dict[str, pd.DataFrame]:
    return read_figure(figure).tables(results_of(figure, finals, curves, surrogate))


def draw(figure: Mapping[str, Any], curves: pd.DataFrame, finals: pd.DataFrame, *, note: str = "") -> Picture:
    """Draw a figure; of surrogate data if the note says so."""
    known: Figure = read_figure({**figure, "note": note})
    results = results_of(known, finals, curves, "urrogate" in note)
    return draw_plot(plot_of(known, results, known.tables(results)))
