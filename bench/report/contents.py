"""From results to the tables and the plot of a figure, without a run; equal results give equal bytes."""

from collections.abc import Mapping

import pandas as pd

from bench.report.figure import Figure
from bench.report.plot import Plot
from bench.report.results import Results

MOST_PANELS = 100
"""Number of panels that are drawn: more would take minutes, and gigabytes."""


def tables_of(results: Results[Figure]) -> dict[str, pd.DataFrame]:
    """Return the tables of the results' figure by file name, without ratios to numbers published for other runs.

    Raises BenchError if results do not fit.
    """
    tables = results.figure.tables(results)
    if not results.provenance.other_than_published:
        return tables
    return {name: table.loc[:, ~table.columns.str.startswith("ratio_")] for name, table in tables.items()}


def plot_of(results: Results[Figure], tables: Mapping[str, pd.DataFrame]) -> Plot | None:
    """Return the plot of the results' figure, with the note on its provenance, and at most `MOST_PANELS` panels."""
    panels, cut = results.groups(results.panel_axes(), [{}]), []
    if len(panels) > MOST_PANELS:
        cut = [f"The first {MOST_PANELS} of {len(panels):,} panels; the tables have all"]
        drawn = [key for chosen in panels[:MOST_PANELS] for key in results.select(chosen)]
        results = Results(results.figure, results.given_curves, results.given_finals, results.provenance)
        results.experiments = drawn
    plot = results.figure.plot(results, tables)
    if plot:
        plot.mark = results.provenance.mark
        plot.note = ". ".join([*cut, *notes(results)])
    return plot


def notes(results: Results) -> list[str]:
    """Return the notes below a title: the provenance, and the figure's own note."""
    note = results.figure.note
    return [results.provenance.words(), *([note] if note and not results.is_surrogate else [])]
