"""From results to all contents of a figure, without a run; equal results give equal bytes."""

from collections.abc import Mapping
from functools import cached_property

import pandas as pd

from bench.report.claims.check import verdicts_on
from bench.report.figure import Figure
from bench.report.plot import Plot
from bench.report.results import Results


class Contents:
    """The contents of a figure: tables by file name, the verdicts of `bench.report.claims.check`, and marks.

    Raises BenchError if results do not fit. Surrogate results are shown without published numbers. The plot is made at
    first use.
    """

    def __init__(self, results: Results[Figure]) -> None:
        self.results = results
        self.tables = results.figure.tables(results)
        if results.provenance.other_than_published:
            self.tables = {
                name: table.loc[:, ~table.columns.str.startswith("ratio_")] for name, table in self.tables.items()
            }
        self.claims = verdicts_on(results)

    @cached_property
    def plot(self) -> Plot | None:
        return plot_of(self.results, self.tables)


def plot_of(results: Results[Figure], tables: Mapping[str, pd.DataFrame]) -> Plot | None:
    """Return the plot of the results' figure, with the note on its provenance."""
    plot = results.figure.plot(results, tables)
    if plot:
        plot.mark = results.provenance.mark
        plot.note = ". ".join(notes(results))
    return plot


def notes(results: Results) -> list[str]:
    """Return the notes below a title: the provenance, and the figure's own note."""
    note = results.figure.note
    return [results.provenance.words(), *([note] if note and not results.is_surrogate else [])]
