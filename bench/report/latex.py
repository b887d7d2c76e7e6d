"""Tables as LaTeX for papers, which need the packages booktabs and adjustbox."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import starmap

import numpy as np
import pandas as pd

from bench.columns import column_of
from bench.critical import rule
from bench.report.claims.judgement import ERROR, FIRST_LOOK, MIN_REPETITIONS
from bench.report.claims.quantities import Mean
from bench.report.figure_keys import FigureKeys
from bench.report.formats import Size, print_size
from bench.report.labels import panel_title
from bench.report.provenance import number_of_repetitions
from bench.report.results import Results
from bench.report.tables import by_experiment
from bench.report.typeset import readable, spelled, typeset

Say = Callable[[str], str]
_ACROSS: dict[Size, int] = {"": 2, "column": 2, "text": 3}
"""The largest number of panels in a row of a column or of the text; further panels follow below."""
_MEANS = {"n", "mean", "ci_low", "ci_high"}
_NARROW, _LONG = 3, 40
"""Largest number of a table's columns that fit a column of text, and length from which a cell is broken into lines."""
_ESCAPES = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", "–": "--", "−": "$-$", "±": r"$\pm$", "·": r"$\cdot$",
    "…": r"\ldots{}", **{letter: "\\" + letter for letter in "{}#$%&_"},
}  # fmt: skip
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPES)))


def latex_tables(results: Results, tables: Mapping[str, pd.DataFrame], *, size: Size = "") -> dict[str, str]:
    """Return tables of the figure's kind as LaTeX by file name, for a width in a paper.

    A table of means has a row for each method and a column for each panel. The best mean of a panel is bold, and so are
    means whose paired differences from the best mean are not distinguishable from 0 (see
    `indistinguishable_from_best`). Other tables are the same as on pages. Raises ConfigError for an unknown size.
    """
    size, figure, texts = print_size(size), results.figure, dict[str, str]()
    say = partial(_words, spelling=figure.looks.words)
    for name, table in tables.items():
        if name == "table" and set(table.columns) >= _MEANS:
            blocks, says = _means(table, results, _ACROSS[size], say)
        else:
            blocks, says = [_as_on_pages(table, say)], []
        paper = figure.paper if figure.paper != "none" else ""
        label = "-".join(filter(None, (paper, figure.name, name if name != "table" else "")))
        resting_on, *more = results.notes()
        caption = [figure.heading, *says, resting_on[:1].upper() + resting_on[1:], *more]
        texts[name] = floats(blocks, say(". ".join(line.rstrip(".") for line in caption) + "."), label)
    return texts


def escape(text: str) -> str:
    """Return text with LaTeX's special characters escaped."""
    return _SPECIAL.sub(lambda match: _ESCAPES[match[0]], text)


def indistinguishable_from_best(
    values: Mapping[str, "pd.Series[float]"], *, lowest: bool, most: int | None = None
) -> set[str]:
    """Return the name with the best mean, and the names with no clear difference from the best mean.

    A difference is not clear if its 95 % interval contains 0. ``values`` are final values by name, indexed by
    repetition, and differences are taken within repetitions. If repetitions were added until the claims were decided,
    the interval is sequential (see `bench.critical`). With fewer than two names, or too few repetitions for a verdict,
    the result is empty.
    """
    least = MIN_REPETITIONS if most is None else FIRST_LOOK
    if len(values) < 2 or any(len(series) < least for series in values.values()):
        return set()
    means = {name: series.mean() for name, series in values.items()}
    best = min(means, key=means.__getitem__) if lowest else max(means, key=means.__getitem__)
    kept = {best}
    for name in values.keys() - kept:
        difference = np.asarray((values[name] - values[best]).dropna(), dtype=np.float64)
        if len(difference) < least:
            return set()
        low, high = Mean(difference).ends(ERROR / 2.0, rule(most), len(difference))
        if low <= 0.0 <= high:
            kept.add(name)
    return kept


def _means(table: pd.DataFrame, results: Results, at_once: int, say: Say) -> tuple[list[pd.DataFrame], list[str]]:
    """Return the blocks of a table of means and the sentences of its caption.

    A block has a column for each of up to ``at_once`` panels.
    """
    figure, most = results.figure, results.provenance.until_decided
    lowest = _lowest_is_best(figure)
    across = [*results.panel_axes(), *([figure.unfold.axis] if figure.unfold else [])]
    rows, measure = by_experiment(table, results), figure.y_label or figure.column
    columns: dict[str, dict[str, str]] = {}
    has_bold = False
    for panel in results.groups(across, [{}]):
        names = {results.series_name(key, across): key for key in results.select(panel) if key in rows}
        series = {name: results.series(key, figure.column) for name, key in names.items()}
        measured = {name: values for name, values in series.items() if len(values)}
        bold = set() if lowest is None else indistinguishable_from_best(measured, lowest=lowest, most=most)
        has_bold |= bool(bold)
        columns[panel_title(panel) or measure] = _cells({name: rows[key] for name, key in names.items()}, bold)
    if len(columns) > 1 and all(len(cells) == 1 for cells in columns.values()):  # one row only: panels are its rows
        columns = {measure: {title: cell for title, cells in columns.items() for cell in cells.values()}}
    titles, blocks = list(columns), []
    for start in range(0, len(titles), at_once):
        block = {title: columns[title] for title in titles[start : start + at_once]}
        methods = dict.fromkeys(name for cells in block.values() for name in cells)
        filled = {say(title): [cells.get(name, "") for name in methods] for title, cells in block.items()}
        blocks.append(pd.DataFrame({"": list(map(say, methods)), **filled}))
    counts = [int(n) for n in table["n"] if n > 0]
    is_mean = measure.lower().startswith(("mean ", "average "))
    what = f"{measure[0].upper()}{measure[1:]}, averaged over repetitions," if is_mean else f"Mean {measure}"
    says = [f"{what} ± half-width of its 95 % interval (Student's t)"]
    if sorted(set(counts)) != sorted(results.provenance.repetitions):
        says.append(f"Results of {number_of_repetitions(counts or [0], sequential=most is not None)}")
    if has_bold:
        interval = "Student's t" if most is None else "valid under repeated looks"
        says.append(
            f"Bold: the {'lowest' if lowest else 'highest'} mean in a column and every mean not distinguishable from "
            f"it (the 95 % interval of the paired difference, {interval}, not corrected for multiple comparisons, "
            "contains 0)"
        )
    return blocks, says


def _lowest_is_best(figure: FigureKeys) -> bool | None:
    """Return whether low values of the figure's column are good, or None if neither low nor high values are."""
    chosen, column = getattr(figure, "best", ""), figure.column
    if chosen:
        return {"lowest": True, "highest": False}.get(chosen)
    return {"less": True, "more": False}.get(column_of(column).better)


def _cells(rows: Mapping[str, Mapping[str, float]], bold: set[str]) -> dict[str, str]:
    """Return the cells of a column by name.

    The half-width of an interval has about two digits, and the mean has the same number of decimals.
    """
    halves = {name: (row["ci_high"] - row["ci_low"]) / 2.0 for name, row in rows.items()}
    typical = [half for half in halves.values() if half > 0] or [abs(row["mean"]) / 100 for row in rows.values()]
    size = float(np.nanmedian(typical)) if np.isfinite(typical).any() else 1.0
    decimals = min(max(1 - int(np.floor(np.log10(size))), 0), 6) if size > 0 else 0
    ends = {name: f"{half:,.{decimals}f}" for name, half in halves.items() if np.isfinite(half)}
    longest = max(map(len, ends.values()), default=0)
    cells = {}
    for name, row in rows.items():
        if not row["n"] > 0:
            cells[name] = "--"
            continue
        mean = escape(f"{row['mean']:,.{decimals}f}")
        mean = mean.replace("-", "$-$", 1) if mean.startswith("-") else mean
        cells[name] = rf"\textbf{{{mean}}}" if name in bold else mean
        if name in ends:  # as long as the longest, so that the numbers of a column are aligned
            room = r"\phantom{0}" * (longest - len(ends[name]))
            cells[name] += rf" $\pm$ {room}{ends[name]}"
    return cells


def _as_on_pages(table: pd.DataFrame, say: Say) -> pd.DataFrame:
    """Return any table without ratios to published numbers."""
    content = readable(table[[name for name in table if not str(name).startswith("ratio_")]])
    return pd.DataFrame(
        [list(map(say, row)) for row in content["rows"]], columns=[say(head) for head, _ in content["heads"]]
    )


def floats(blocks: Sequence[pd.DataFrame], caption: str, label: str) -> str:
    """Return a float with a table for each block, shrunk to fit; it spans both columns if a block has many columns."""
    star = "*" * (max(block.shape[1] for block in blocks) > _NARROW)
    tables = [
        block.style.hide(axis="index").to_latex(hrules=True, column_format="".join(starmap(_format, block.items())))
        for block in blocks
    ]
    titles = f"\\caption{{{caption}}}\n\\label{{tab:{re.sub('[^A-Za-z0-9-]+', '-', label)}}}"
    begin = f"\\begin{{table{star}}}\n\\centering\\footnotesize\\setlength{{\\tabcolsep}}{{4pt}}\n"
    fit = "\\par\\medskip\n\\begin{adjustbox}{max width=\\linewidth}\n", "\\end{adjustbox}\n"
    inside = "".join(f"{fit[0]}{table.rstrip()}\n{fit[1]}" for table in tables)
    return f"% \\usepackage{{booktabs,adjustbox}}\n{begin}{titles}\n{inside}\\end{{table{star}}}\n"


def _format(name: str, cells: "pd.Series[str]") -> str:
    """Return the LaTeX format of a column: numbers on the right, long texts broken into lines."""
    if name and cells.str.fullmatch(r"[^A-Za-z]*|.*\\pm.*|.*\\textbf.*").all():
        return "r"
    return "p{130pt}" if cells.str.len().max() > _LONG else "l"


def _words(text: str, spelling: Mapping[str, str]) -> str:
    return typeset(spelled(text, spelling), escape)
