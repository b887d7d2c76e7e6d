"""Tables as LaTeX, for papers; they need the package booktabs and nothing else."""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from bench.critical import rule
from bench.report.claims.judgement import ERROR, FIRST_LOOK, MIN_REPETITIONS
from bench.report.claims.quantities import Mean
from bench.report.figure import Figure
from bench.report.labels import panel_title
from bench.report.provenance import number_of_repetitions
from bench.report.results import Results
from bench.report.tables import by_experiment, cells_of

_ACROSS = 4
"""The largest number of panels beside each other; further ones follow below."""
_WIDE = 8
"""Tables with more columns are set in a small font."""
_MEANS = {"n", "mean", "ci_low", "ci_high"}
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "–": "--",
    "−": "$-$",
    "±": r"$\pm$",
    "·": r"$\cdot$",
    "…": r"\ldots{}",
    **{letter: "\\" + letter for letter in "{}#$%&_"},
}
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPES)))


def latex_tables(figure: Figure, tables: Mapping[str, pd.DataFrame], results: Results) -> dict[str, str]:
    """Return a figure's tables as LaTeX, by file name.

    A table of means has a row for each method and a column for each panel; the best mean of a panel is bold, as are
    those that paired differences do not tell from it (see `not_told_from_best`). Other tables are unchanged.

    Parameters
    ----------
    figure, tables, results
        The figure, what its kind made of the results, and the results.
    """
    made = {}
    for name, table in tables.items():
        of_means = name == "table" and set(table.columns) >= _MEANS
        rows, columns, says = _means(figure, table, results) if of_means else _as_it_stands(table)
        label = "-".join(
            filter(None, (figure.paper if figure.paper != "none" else "", figure.name, name if name != "table" else ""))
        )
        resting_on = results.provenance.words()
        caption = [figure.heading, *says, resting_on[:1].upper() + resting_on[1:]]
        if figure.note and not results.is_surrogate:
            caption.append(figure.note)
        made[name] = _float(rows, columns, ". ".join(line.rstrip(".") for line in caption) + ".", label)
    return made


def escape(text: str) -> str:
    """Return text with the characters that mean something else to LaTeX written so that they are printed."""
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], text)


def not_told_from_best(
    values: Mapping[str, "pd.Series[float]"], *, lowest: bool, is_sequential: bool = False
) -> set[str]:
    """Return the name with the best mean, and all whose difference to it has a 95 % interval that contains 0.

    Parameters
    ----------
    values
        Final values by name, each indexed by repetition; differences are taken within repetitions.
    lowest
        Whether the lowest mean is the best, or else the highest.
    is_sequential
        Whether repetitions were added until the claims were decided: then the interval is the one for that, see
        `bench.critical`.

    Returns
    -------
    set
        Empty with fewer than two names, or with too few repetitions for a verdict.
    """
    least = FIRST_LOOK if is_sequential else MIN_REPETITIONS
    if len(values) < 2 or any(len(own) < least for own in values.values()):
        return set()
    means = {name: own.mean() for name, own in values.items()}
    best = min(means, key=means.__getitem__) if lowest else max(means, key=means.__getitem__)
    kept = {best}
    for name in values.keys() - kept:
        difference = np.asarray((values[name] - values[best]).dropna(), dtype=np.float64)
        if len(difference) < least:
            return set()
        low, high = Mean(difference).ends(ERROR / 2.0, rule(is_sequential=is_sequential), len(difference))
        if low <= 0.0 <= high:
            kept.add(name)
    return kept


def _means(figure: Figure, table: pd.DataFrame, results: Results) -> tuple[list[str], str, list[str]]:
    """Return the lines of a table of means, its columns, and what its caption has to say."""
    data = results.data
    across = [*figure.panel_axes(data), *([figure.unfold.axis] if figure.unfold else [])]
    rows = by_experiment(table, data)
    panels = [(panel_title(chosen), data.select(chosen)) for chosen in data.groups(across, [{}])]
    names = list(dict.fromkeys(data.series_name(key, across) for _, keys in panels for key in keys))
    lowest = _lowest_is_best(figure)
    sequential = results.provenance.sequential
    lines, has_bold = [], False
    width = min(len(panels), _ACROSS)
    for start in range(0, len(panels), _ACROSS):
        block = panels[start : start + _ACROSS]
        lines += [r"\midrule"] if start else []
        heads = [escape(title or figure.y_label or figure.column) for title, _ in block]
        lines += [_row(["", *heads, *[""] * (width - len(block))]), r"\midrule"]
        columns = []
        for _, keys in block:
            own = {data.series_name(key, across): key for key in keys if key in rows}
            bold: set[str] = set()
            if lowest is not None:
                values = {name: results.series(key, figure.column).dropna() for name, key in own.items()}
                known = {name: series for name, series in values.items() if len(series)}
                bold = not_told_from_best(known, lowest=lowest, is_sequential=sequential)
            has_bold |= bool(bold)
            columns.append(_cells({name: rows[key] for name, key in own.items()}, bold))
        for name in names:
            cells = [column.get(name, "") for column in columns]
            if any(cells):
                lines.append(_row([escape(name), *cells, *[""] * (width - len(block))]))
    counts = [int(n) for n in table["n"] if n > 0]
    says = [f"Mean {figure.y_label or figure.column} ± half-width of its 95 % interval (Student's t)"]
    if sorted(set(counts)) != sorted(results.provenance.repetitions):
        says.append(f"Results of {number_of_repetitions(counts or [0], sequential=sequential)}")
    if has_bold:
        interval = "valid under repeated looks" if sequential else "Student's t"
        says.append(
            f"Bold: the {'lowest' if lowest else 'highest'} mean in a column and every mean not distinguishable from "
            f"it (the 95 % interval of the paired difference, {interval}, not corrected for multiple comparisons, "
            "contains 0)"
        )
    return lines, "l" + "r" * width, says


def _lowest_is_best(figure: Figure) -> bool | None:
    """Return whether low values of the figure's column are good; None where neither low nor high ones are."""
    chosen, column = getattr(figure, "best", ""), figure.column
    if chosen:
        return {"lowest": True, "highest": False}.get(chosen)
    if "regret" in column or column.startswith("seconds"):
        return True
    return False if column.endswith(("reward", "value", "score")) else None


def _cells(rows: Mapping[str, Mapping[str, float]], bold: set[str]) -> dict[str, str]:
    """Return the cells of a column by name; halves of intervals have about two digits, means as many decimals."""
    halves = {name: (row["ci_high"] - row["ci_low"]) / 2.0 for name, row in rows.items()}
    typical = [half for half in halves.values() if half > 0] or [abs(row["mean"]) / 100 for row in rows.values()]
    size = float(np.nanmedian(typical)) if np.isfinite(typical).any() else 1.0
    decimals = min(max(1 - int(np.floor(np.log10(size))), 0), 6) if size > 0 else 0
    cells = {}
    for name, row in rows.items():
        if not row["n"] > 0:
            cells[name] = "--"
            continue
        mean = _number(f"{row['mean']:,.{decimals}f}")
        cells[name] = rf"\textbf{{{mean}}}" if name in bold else mean
        if np.isfinite(halves[name]):
            cells[name] += rf" $\pm$ {halves[name]:,.{decimals}f}"
    return cells


def _as_it_stands(table: pd.DataFrame) -> tuple[list[str], str, list[str]]:
    """Return the lines of any table, without ratios to published numbers, its columns, and nothing for the caption."""
    shown = [str(name) for name in table.columns if not str(name).startswith("ratio_")]
    columns = {name: cells_of(name, table[name]) for name in shown}
    lines = [_row([escape(name.replace("_", " ")) for name in columns]), r"\midrule"]
    for row in zip(*(cells for cells, _ in columns.values()), strict=True):
        numeric = [is_numeric for _, is_numeric in columns.values()]
        lines.append(_row([_number(c) if n else escape(c) for c, n in zip(row, numeric, strict=True)]))
    return lines, "".join("r" if is_numeric else "l" for _, is_numeric in columns.values()), []


def _number(text: str) -> str:
    return escape(text).replace("-", "$-$", 1) if text.startswith("-") else escape(text)


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _float(rows: Sequence[str], columns: str, caption: str, label: str) -> str:
    def lines() -> Iterator[str]:
        yield r"% \usepackage{booktabs}"
        yield r"\begin{table}"
        yield r"\centering"
        if len(columns) > _WIDE:
            yield r"\footnotesize"
        yield rf"\caption{{{escape(caption)}}}"
        yield rf"\label{{tab:{re.sub('[^A-Za-z0-9-]+', '-', label)}}}"
        yield rf"\begin{{tabular}}{{{columns}}}"
        yield r"\toprule"
        yield from rows
        yield r"\bottomrule"
        yield r"\end{tabular}"
        yield r"\end{table}"

    return "\n".join(lines()) + "\n"
