"""What is written of a comparison with other libraries: a table to read, and a picture."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from bench.report.plot import REFERENCE, Axis, Look, Panel, Plot, mark
from bench.report.style import BLUE, GREY, SKY, VERMILION
from bench.report.tables import to_markdown

_TITLE = "Beside other libraries"
_ROW = 0.32
_NOT_THE_SAME = (
    "Where the problem is not the same, the library is by far the faster on its own: the suite has no model with "
    "coefficients for each of 120 arms, and as one of 3,000 features it takes half a minute for its first decision."
)
_LEAST = 6
"""With fewer repetitions there is no 95 % interval of a median without assumptions."""
_RIM: dict[str, Any] = {"edge": "white", "edge_width": 0.6, "order": 5}
_LIBRARY, _SUITE, _ALIKE = "library faster", "suite faster", "suite faster, at the same arithmetic on another problem"
_UNDECIDED = f"not told apart, or fewer than {_LEAST} repetitions"
_LOOKS = {
    _LIBRARY: Look(VERMILION, "none", "D", size=6.0, **_RIM),
    _SUITE: Look(BLUE, "none", "o", size=6.5, **_RIM),
    _ALIKE: Look(SKY, "none", "^", size=6.5, **_RIM),
    _UNDECIDED: Look(GREY, "none", "s", size=6.0, **_RIM),
}


def markdown(every: pd.DataFrame, machine: Mapping[str, Any]) -> str:
    """Return the comparison as a page: the table, what is faster, what could not be measured."""
    table, failed = every[every["reason"] == ""], every[every["reason"] != ""]
    shown = pd.DataFrame(
        {
            "library": table["peer"] + " " + table["version"],
            "what": table["does"] + " (" + table["setting"] + ")",
            "decisions": table["decisions"],
            "unit": table["unit"],
            "ours per second": [_short(value) for value in table["ours_per_second"]],
            "theirs per second": [_short(value) for value in table["theirs_per_second"]],
            "ratio": [_ratio(row) for row in table.to_dict("records")],
            "our result": [_short(value) for value in table["our_result"]],
            "their result": [_short(value) for value in table["their_result"]],
            "random": [_short(value) for value in table["random_result"]],
            "note": table["note"],
        }
    )
    notes = [
        "Ratio: speed of the suite divided by that of the library, median over repetitions, in brackets its 95 % "
        f"interval (order statistics; with fewer than {_LEAST} repetitions the smallest and the largest). "
        "Above 1 the suite is faster.",
        "Result: mean cumulative regret; of optimisers the loss at the best point asked for after the 1,000 trials; of "
        "estimators the mean estimate. Random: the regret of uniformly random choices.",
        f"Seconds of the processor, one process and one thread at a time, by turns; {_counts(table)} of each case, "
        "each with another problem, the same for both sides unless noted.",
        *([_NOT_THE_SAME] if not table["same_problem"].all() else []),
        f"{machine.get('cpu')}, {machine.get('platform')}, Python {machine.get('python')}.",
    ]
    parts = [to_markdown(shown, title=_TITLE, notes=notes).removeprefix("#"), _verdicts(table)]
    if len(failed):
        lines = [f"- {row['peer']} {row['does']}: {row['reason']}" for row in failed.to_dict("records")]
        parts.append("\n".join(["Not measured:", "", *lines]) + "\n")
    return "\n".join(parts)


def picture(table: pd.DataFrame) -> Plot:
    """Return the ratios with their intervals, a row for each case that was measured."""
    table = table[table["reason"] == ""]
    panel = Panel(rows=True)
    names = [f"{row['peer']}: {row['does']}" for row in table.to_dict("records")]
    plot = Plot(_TITLE, "", [panel])
    for place, row in enumerate(table.to_dict("records")):
        found = _faster(row)
        name, y = names[place], np.array([float(-place)])
        panel.marks.append(
            mark(
                name, name, _LOOKS[found], x=row["ratio"], y=y, number="x", low=row["ratio_low"],
                high=row["ratio_high"], interval="segment", n=[row["n"]], what="ratio",
            )
        )  # fmt: skip
        plot.explain(found, _LOOKS[found])
    panel.marks.append(mark("equally fast", "", REFERENCE, x=1.0, part="reference"))
    plot.explain("equally fast", REFERENCE)
    lowest, highest = table["ratio_low"].min(), table["ratio_high"].max()
    panel.x = Axis("speed of the suite / speed of the library", log=True, low=min(lowest, 1) / 1.5, high=highest * 1.5)
    panel.y = Axis(low=-len(names) + 0.4, high=0.6, ticks=[float(-i) for i in range(len(names))], names=names)
    plot.note = "Seconds of the processor, one thread; the results of both sides stand in the table"
    plot.caption = [f"Median over repetitions and its interval; {_counts(table)}."]
    plot.panel_size = (7.5, 0.6 + _ROW * len(names))
    return plot


def _faster(row: Mapping[Any, Any]) -> str:
    if row["n"] < _LEAST:
        return _UNDECIDED
    if row["ratio_low"] > 1.0:
        return _SUITE if row["same_problem"] else _ALIKE
    return _LIBRARY if row["ratio_high"] < 1.0 else _UNDECIDED


def _verdicts(table: pd.DataFrame) -> str:
    """Return which side is faster, case by case, in words."""
    found: dict[str, list[str]] = {words: [] for words in _LOOKS}
    for row in table.to_dict("records"):
        found[_faster(row)].append(f"{row['peer']} {row['does']} ({_short(row['ratio'])})")
    lines = [f"- {words.capitalize()}: {'; '.join(cases) or 'none'}." for words, cases in found.items()]
    return "\n".join(lines) + "\n"


def _counts(table: pd.DataFrame) -> str:
    numbers = sorted(set(table["n"]))
    return f"{' or '.join(map(str, numbers))} repetitions"


def _ratio(row: Mapping[Any, Any]) -> str:
    return f"{row['ratio']:.3g} [{row['ratio_low']:.3g}, {row['ratio_high']:.3g}]"


def _short(value: float) -> str:
    """Return a number with four digits, large ones without exponent; "" for none."""
    if not np.isfinite(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
