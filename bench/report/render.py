"""From results to all that a figure says: nothing is run, and equal results give equal bytes."""

from collections.abc import Mapping
from functools import cached_property

import pandas as pd

from bench.report.claims.check import verdicts_on
from bench.report.figure import Figure
from bench.report.plot import Plot
from bench.report.results import Results


class Rendering:
    """What a figure says of its results: tables by file name, the verdicts of `bench.report.claims.check`, and marks.

    `BenchError` if results don't fit it. Surrogate results stand beside no published number. The plot is made when it
    is first asked for: where only tables are wanted there is none.
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
    """Return what their figure shows, with the note on what it rests on."""
    plot = results.figure.plot(results, tables)
    if plot:
        plot.mark = results.provenance.mark
        plot.note = ". ".join(notes(results))
    return plot


def notes(results: Results) -> list[str]:
    """Return what stands below a title: what the numbers rest on, and the figure's own note."""
    note = results.figure.note
    return [results.provenance.words(), *([note] if note and not results.is_surrogate else [])]
