"""From aggregated results to all that a figure says: nothing is run, and equal results give equal bytes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from bench.report.claims.check import check
from bench.report.figure import Figure, read_figure
from bench.report.plot import Plot
from bench.report.provenance import Provenance
from bench.report.restyle import recolour
from bench.report.results import Results


class Rendering(NamedTuple):
    """What a figure says: its tables by file name, the verdicts of `bench.report.claims.check`, and its marks."""

    tables: dict[str, pd.DataFrame]
    claims: pd.DataFrame
    plot: Plot | None


def render(
    figure: Mapping[str, Any] | Figure,
    curves: pd.DataFrame,
    finals: pd.DataFrame,
    provenance: Provenance = Provenance(),  # noqa: B008, it is frozen
) -> Rendering:
    """Return a figure's tables, verdicts and plot; `BenchError` if results don't fit it.

    ``curves`` have the axes' columns, `column`, `round`, `mean`, `std`, `ci_low`, `ci_high`, `n`; ``finals`` the axes',
    `repetition`, `rounds`, one per trace column; both may be empty. Surrogate results stand beside no published number.
    """
    figure = read_figure(figure)
    results = Results(figure, curves, finals, provenance)
    tables = figure.tables(results)
    if provenance.other_than_published:
        tables = {name: table.loc[:, ~table.columns.str.startswith("ratio_")] for name, table in tables.items()}
    return Rendering(tables, check(figure, results), plot_of(figure, results, tables))


def plot_of(figure: Figure, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot | None:
    """Return what a figure shows, with the note on what it rests on."""
    plot = figure.plot(results, tables)
    if plot:
        plot.tell_apart()
        recolour(plot, {name: color for name, color in figure.colors.items() if name in plot.legend})
        plot.mark = results.provenance.mark
        plot.note = ". ".join(notes(figure, results.provenance))
    return plot


def notes(figure: Figure, provenance: Provenance) -> list[str]:
    """Return what stands below a title: what the numbers rest on, and the figure's own note."""
    return [provenance.words(), *([figure.note] if figure.note and not provenance.surrogate else [])]
