"""Tables as LaTeX, for papers; they need the package booktabs and nothing else."""

import math
import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from bench.critical import rule
from bench.report.claims.judgement import ERROR, FIRST_LOOK, MIN_REPETITIONS
from bench.report.claims.quantities import Mean
from bench.report.figure import Figure
from bench.report.labels import panel_title
from bench.report.latex_floats import TEXT, floats, width_of
from bench.report.provenance import number_of_repetitions
from bench.report.results import Results
from bench.report.tables import by_experiment, cells_of
from bench.report.typeset import typeset

_ACROSS = 2
"""The largest number of panels beside each other; further ones follow below."""
_NAME = 130.0
"""Points that a column of names may have."""
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
_HEADS = {
    "n": "runs", "std": "deviation", "ci_low": "from", "ci_high": "to", "best_low": "from", "best_high": "to",
    "relative_low": "from", "relative_high": "to", "theory_mean": "Theory", "theory_std": "Theory, deviation",
    "published_best": "printed best", "published_mean": "printed", "published_std": "printed deviation",
    "published_theory_mean": "printed Theory", "published_theory_std": "printed Theory, deviation",
}  # fmt: skip
"""What columns are called, if not as their key with spaces."""
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
        blocks, says = (
            _means(figure, table, results)
            if of_means
            else (_split(_as_it_stands(table)), ["From, to: 95 % interval"] * bool({"ci_low", "best_low"} & {*table}))
        )
        paper = figure.paper if figure.paper != "none" else ""
        label = "-".join(filter(None, (paper, figure.name, name if name != "table" else "")))
        resting_on = results.provenance.words()
        caption = [figure.heading, *says, resting_on[:1].upper() + resting_on[1:]]
        if figure.note and not results.is_surrogate:
            caption.append(figure.note)
        made[name] = floats(blocks, _words(". ".join(line.rstrip(".") for line in caption) + "."), label)
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


def _means(figure: Figure, table: pd.DataFrame, results: Results) -> tuple[list[pd.DataFrame], list[str]]:
    """Return the blocks of a table of means, a column for each panel, and what its caption has to say."""
    data = results.data
    across = [*figure.panel_axes(data), *([figure.unfold.axis] if figure.unfold else [])]
    rows = by_experiment(table, data)
    panels = [(panel_title(chosen), data.select(chosen)) for chosen in data.groups(across, [{}])]
    lowest, sequential = _lowest_is_best(figure), results.provenance.sequential
    blocks, has_bold = [], False
    for start in range(0, len(panels), _ACROSS):
        columns: dict[str, dict[str, str]] = {}
        for title, keys in panels[start : start + _ACROSS]:
            own = {data.series_name(key, across): key for key in keys if key in rows}
            bold: set[str] = set()
            if lowest is not None:
                values = {name: results.series(key, figure.column).dropna() for name, key in own.items()}
                known = {name: series for name, series in values.items() if len(series)}
                bold = not_told_from_best(known, lowest=lowest, is_sequential=sequential)
            has_bold |= bool(bold)
            head = _words(title or figure.y_label or figure.column)
            columns[head] = _cells({name: rows[key] for name, key in own.items()}, bold)
        names = dict.fromkeys(name for column in columns.values() for name in column)
        cells = {head: [column.get(name, "") for name in names] for head, column in columns.items()}
        blocks.append(pd.DataFrame({"": [_words(name) for name in names], **cells}))
    if all(len(block) == 1 for block in blocks):  # one row only: panels are its rows
        cells = {head: block[head].iloc[0] for block in blocks for head in block.columns[1:]}
        blocks = [pd.DataFrame({"": list(cells), _words(figure.y_label or figure.column): list(cells.values())})]
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
    return blocks, says


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
    ends = {name: f"{half:,.{decimals}f}" for name, half in halves.items() if np.isfinite(half)}
    longest = max(map(len, ends.values()), default=0)
    cells = {}
    for name, row in rows.items():
        if not row["n"] > 0:
            cells[name] = "--"
            continue
        mean = _number(f"{row['mean']:,.{decimals}f}")
        cells[name] = rf"\textbf{{{mean}}}" if name in bold else mean
        if name in ends:  # as long as the longest, so that the numbers of a column stand below each other
            room = r"\phantom{0}" * (longest - len(ends[name]))
            cells[name] += rf" $\pm$ {room}{ends[name]}"
    return cells


def _as_it_stands(table: pd.DataFrame) -> pd.DataFrame:
    """Return any table as text, without ratios to published numbers."""
    shown = [str(name) for name in table.columns if not str(name).startswith("ratio_")]
    columns = {name: cells_of(name, table[name]) for name in shown}
    made = pd.DataFrame({
        name: [_number(cell) if is_numeric else _words(cell) for cell in cells]
        for name, (cells, is_numeric) in columns.items()
    })  # fmt: skip
    made.attrs["numeric"] = [is_numeric for _, is_numeric in columns.values()]
    return made.set_axis([_words(_HEADS.get(name, name.replace("_", " "))) for name in shown], axis=1)


def _split(table: pd.DataFrame) -> list[pd.DataFrame]:
    """Return a table in blocks of columns that fit the page; what names the rows stands in each."""
    numeric = table.attrs["numeric"]
    if True not in numeric:
        return [table]
    n_names = numeric.index(True)
    widths = [min(width_of(table.iloc[:, place]), math.inf if own else _NAME) for place, own in enumerate(numeric)]
    room, blocks = TEXT - sum(widths[:n_names]), [[n_names]]
    for place in range(n_names + 1, len(numeric)):
        if sum(widths[i] for i in (*blocks[-1], place)) > room:
            blocks.append([])
        blocks[-1].append(place)
    return [table.iloc[:, [*range(n_names), *block]] for block in blocks]


def _number(text: str) -> str:
    return escape(text).replace("-", "$-$", 1) if text.startswith("-") else escape(text)


def _words(text: str) -> str:
    """Return words as people write them, for LaTeX."""
    return typeset(text, escape)
