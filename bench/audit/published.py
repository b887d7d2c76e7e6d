"""Every number printed in the papers with our number, and the overall agreement of each reading."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bench.audit.agreement import DRAWS, FACTORS, level, order, placebo, rounding
from bench.audit.readings import EXACT, INSIDE, NUMBERS, OUTSIDE, POSSIBLE, is_exact, of_paper, verdict
from bench.columns import is_measured
from bench.data_kind import DataKind
from bench.errors import DataError
from bench.report.figure import Figure
from bench.report.folder import Manifest, ResultFiles
from bench.report.reading import READING
from bench.report.tables import to_markdown
from bench.stats import Interval

ASSUMING, NO_DATA, NOT_RUN = "inside, under assumptions", "no real data", "not run"
NUMBER_VERDICTS = (EXACT, INSIDE, ASSUMING, POSSIBLE, OUTSIDE, NO_DATA, NOT_RUN)
ANY = "any reading"
_OURS = ["estimate", "std", "n", "ci_low", "ci_high", "further_low", "further_high"]
_SHOWN = ["paper", "cell", "published", READING, "figure", "panel", "method"]
_OF_NUMBER = [*_SHOWN, *_OURS, "first", "inside", "predicted", "is_of_paper", "is_assuming"]
_LEAST_PANELS = 3
_COLUMNS = ("paper", "cell", "published", "ours", "low", "high", READING, "verdict", "possible", "tried", "figure",
            "panel", "method")  # fmt: skip


class PublishedOverview(NamedTuple):
    """The published numbers of all papers and their agreement with ours.

    ``rows`` are the tables of `bench.audit.readings.numbers_table` of all figures, with the row of the most repetitions
    for each number and reading. ``numbers`` has one row per number. `ours` with `low` and `high`, the 95 % prediction
    interval of a further set of the paper's size, is taken under the paper's reading, or under a reading that gives the
    exact number. `possible` counts the `tried` readings under which the number is possible. ``placebo`` has one row per
    reading of a paper, and one row for all readings together. A row has the count of `exact` numbers, the count
    `within` the prediction intervals, and the counts of false numbers, `swapped` (mean, central 95 % of the draws) and
    multiplied. ``levels``, by paper and group of panels, has one row per reading, with ours / printed of each method
    and the share of decided pairs in the printed order.
    """

    rows: pd.DataFrame
    numbers: pd.DataFrame
    placebo: pd.DataFrame
    levels: dict[tuple[str, str], pd.DataFrame]


def published_overview(
    figures: Mapping[str, Figure], folder: Path, compared: Mapping[str, Mapping[str, Any]] | None = None
) -> PublishedOverview:
    """Return the comparison of all printed numbers except times.

    Figures are given by name ``paper/figure``; only reference results in ``folder`` are used. ``compared`` holds by
    paper the ``methods`` whose levels and order are compared, and the ``panels`` of each group. The default is all
    methods and panels.
    """
    shown = {
        name: figure
        for name, figure in figures.items()
        if figure.published and figure.source != "timing" and not is_measured(figure.column)
    }
    found = {name: next(iter(ResultFiles.of(folder, name)), None) for name in shown}
    parts = [rows for name, figure in shown.items() if len(rows := _rows_of(name, figure, found[name]))]
    rows = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*NUMBERS, "paper", "is_of_paper"])
    # If several figures show a number under one reading, the row with most repetitions is used.
    rows = rows.sort_values("n", ascending=False, kind="stable").drop_duplicates(["paper", "cell", READING])
    rows = rows.sort_index().sort_values("is_of_paper", ascending=False, kind="stable")
    narrow = rows.reindex(columns=_OF_NUMBER)  # axes differ between figures
    numbers = [_number(cells) for _, cells in narrow.groupby(["paper", "cell"], sort=False)]
    numbers += [row for name, figure in shown.items() for row in _without(name, figure, found[name])]
    table = pd.DataFrame(numbers, columns=list(_COLUMNS)).drop_duplicates(["paper", "cell"])
    table = table.sort_values("paper", kind="stable", ignore_index=True)
    papers = [(str(paper), of_paper) for paper, of_paper in rows.groupby("paper")]
    placebos = [row for paper, of_paper in papers for row in _placebos(paper, of_paper)]
    levels = {
        (paper, group): lines
        for paper, of_paper in papers
        for group, lines in _levels(of_paper, (compared or {}).get(paper, {}))
    }
    return PublishedOverview(rows, table, pd.DataFrame(placebos), levels)


def is_assuming(figure: Figure, manifest: Manifest) -> bool:
    """Return whether the first reading rests on a setting that neither the paper nor its authors' code states."""
    sources = [setting.source for setting in manifest.settings]
    return "assumed" in [*sources, *(reading.source[0] for reading in figure.readings[:1])]


def _rows_of(name: str, figure: Figure, result: ResultFiles | None) -> pd.DataFrame:
    """Return a figure's published numbers and our reference results under each reading."""
    if result is None or not result.has("numbers.csv"):
        return pd.DataFrame(columns=list(NUMBERS))
    rows = result.csv("numbers.csv", READING).fillna({"inside": "", "predicted": ""})
    axes = ["panel"] if figure.panels is None else figure.panels
    labels = rows[[axis for axis in axes if axis in rows]].astype(str).to_numpy()
    panels = [": ".join(row) for row in labels]
    return rows.assign(
        paper=name.partition("/")[0],
        figure=figure.name,
        table=rows["cell"].str.partition(": ")[0],
        panel=panels,
        method=list(map(_method, rows["cell"], panels, rows["what"])),
        is_of_paper=rows[READING] == of_paper(figure),
        is_assuming=is_assuming(figure, _manifest(result)),
    )


def _method(cell: str, panel: str, what: str) -> str:
    """Return the labels of a published number within its panel."""
    labels = [label for label in cell.split(": ")[1:-1] if label not in panel.split(": ")]
    return ": ".join(labels) or ("Theory" if what.startswith("theory") else "best on the grid")


def _number(rows: pd.DataFrame) -> dict[str, Any]:
    """Return a published number with its verdict and our number, given its rows of readings."""
    made = rows.dropna(subset=["estimate"])
    tried = made[made["is_of_paper"] | ~made.duplicated(_OURS)]  # other readings do not count as further attempts
    word = verdict(rows, rows["is_of_paper"])
    showing = rows[is_exact(rows) if word == EXACT else rows["is_of_paper"]]
    shown = (showing if len(showing) else rows).iloc[0]
    if word == INSIDE and shown["is_assuming"]:
        word = ASSUMING
    ours = shown["first"] if word == EXACT else shown["estimate"]
    kept = {name: shown[name] for name in _SHOWN}
    counts = {"possible": int((tried["predicted"] == "yes").sum()), "tried": len(tried)}
    return kept | counts | {"verdict": word, "ours": ours, "low": shown["further_low"], "high": shown["further_high"]}


def _without(name: str, figure: Figure, result: ResultFiles | None) -> Iterator[dict[str, Any]]:
    """Yield the published numbers of a figure that has no result."""
    word = NOT_RUN
    if result:
        data = _manifest(result).provenance
        word = NO_DATA if DataKind.SURROGATE in result.path.name or data.surrogate or data.packaged else NOT_RUN
    for entry in figure.published:
        row = {"paper": name.partition("/")[0], "cell": entry.get("cell", ""), "published": entry["value"]}
        yield row | {READING: "", "verdict": word, "possible": 0, "tried": 0, "figure": figure.name}


def _placebos(paper: str, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the counts of printed and of false numbers within the intervals, for each reading and for all together."""
    rows = rows.dropna(subset=["further_low"])
    readings = list(dict.fromkeys(rows[READING]))
    for name in [*readings, *([ANY] if len(readings) > 1 else [])]:
        some = rows if name == ANY else rows[rows[READING] == name]
        cells = some.drop_duplicates("cell").set_index("cell")
        low, high = (some.pivot(index="cell", columns=READING, values=end).loc[cells.index] for end in
                     ("further_low", "further_high"))  # fmt: skip
        printed = cells["published"].to_numpy(float)
        kinds = cells["what"].str.removeprefix("theory_")
        panels = (cells["table"] + "\n" + cells["panel"] + "\n" + kinds).to_numpy(str)
        agreement = placebo(printed, np.array([*map(rounding, printed)]), low.to_numpy(), high.to_numpy(), panels)
        exact = int(is_exact(some).groupby(some["cell"]).any().sum())
        ends = np.quantile(agreement.swapped, (0.025, 0.975), method="inverted_cdf")
        yield {
            "paper": paper, READING: name, "numbers": len(cells), "exact": exact, "within": agreement.within,
            "swapped": f"{agreement.swapped.mean():.1f} [{ends[0]}, {ends[1]}]",
            **{f"times {scale:g}": int(count) for scale, count in zip(FACTORS, agreement.scaled, strict=True)},
            "reaches": "–" if name == ANY else "yes" if agreement.reaches else EXACT if exact else "no",
        }  # fmt: skip


def _levels(rows: pd.DataFrame, compared: Mapping[str, Any]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield, for each group of panels, the ratios of our numbers to the printed numbers by reading."""
    means = rows[rows["what"].isin(("mean", "theory_mean")) & (rows["published"] > 0)].dropna(subset=["further_low"])
    methods = compared.get("methods") or list(dict.fromkeys(means["method"]))
    for group, panels in (compared.get("panels") or {"": list(means["panel"])}).items():
        some = means[means["panel"].isin(panels) & means["method"].isin(methods)]
        needed = {method: set(some.loc[some["method"] == method, "cell"]) for method in methods}
        needed = {method: cells for method, cells in needed.items() if len(cells) >= _LEAST_PANELS}
        lines: dict[Any, dict[str, Any]] = {}
        for reading, under in some.groupby(READING, sort=False):
            line = {method: _level(under[under["method"] == method], cells) for method, cells in needed.items()}
            line |= _order(under)
            is_other = line != next(iter(lines.values()), None)  # some readings change other panels only
            if is_other and {line[method] for method in needed} - {"–"}:
                lines[reading] = line
        if lines:
            yield group, pd.DataFrame.from_dict(lines, orient="index").rename_axis(READING).reset_index()


def _level(rows: pd.DataFrame, cells: set[str]) -> str:
    """Return the ratio of our numbers to the printed numbers as text, or a dash if numbers of a panel are missing."""
    if set(rows["cell"]) != cells or not (rows["estimate"] > 0).all():
        return "–"
    return _words(
        level(*(rows[name].to_numpy(float) for name in ("published", "estimate", "further_low", "further_high")))
    )


def _order(rows: pd.DataFrame) -> dict[str, Any]:
    printed, ours, std, n = (rows[name].to_numpy(float) for name in ("published", "estimate", "std", "n"))
    pairs = order(printed, ours, std, n, (rows["table"] + "\n" + rows["panel"]).to_numpy(str))
    share = _words(pairs.share) if pairs.decided else "–"
    return {"pairs decided": pairs.decided, "in printed order": pairs.agree, "share": share}


def _words(value: Interval) -> str:
    return "{:.2f} [{:.2f}, {:.2f}]".format(*value[:3])


def _manifest(result: ResultFiles) -> Manifest:
    """Return a result's manifest, which is empty if the file is damaged; the result's own page reports the damage."""
    try:
        return result.about
    except (DataError, FileNotFoundError):
        return Manifest()


NOTES = [
    "Within any reading: numbers that the 95 % prediction interval of any reading contains; if swapped: as many of the "
    "same numbers exchanged among the methods of a panel, see below",
    "Numbers that papers printed, other than times, each once however many figures show it. Of the same reading in "
    "several figures the runs with most repetitions count",
    "Exact: our own first repetitions, as many as in the paper, give the number to its last digit under a reading that "
    "draws what the authors drew. Inside: our 95 % interval under the paper's reading (the first, unless it is of the "
    "authors' code) contains it; under assumptions, if neither the paper nor its authors' code states every setting. "
    "Possible: the 95 % prediction interval of a further set of the paper's size contains it under some reading "
    "tried; it also contains many false numbers, so possible numbers are not counted as reached",
]
PLACEBO = [
    f"Within: numbers within the prediction intervals of a reading. Swapped: the same count, mean and central 95 % of "
    f"{DRAWS} draws, with the numbers of each panel exchanged among its methods; times: with all numbers multiplied",
    "A reading reaches the numbers if its count lies above 95 % of the swaps and above every multiplied one. An exact "
    "number is reached by itself; with few methods in a panel, swaps leave many numbers where they are",
]
LEVELS = [
    "Geometric mean over panels of ours / printed, with the 95 % interval that the repetitions of both leave; a dash "
    "where a reading has no numbers of all panels. Above 1 our regret is higher than the printed one",
    "Order: of the pairs of these methods in a panel that our runs tell apart (Welch's test at 5 %), those that "
    "stand as printed; interval of the share by Clopper and Pearson, each panel one draw",
]


def published_text(published: PublishedOverview) -> str:
    """Return the page with counts by paper, the placebo test of each reading, levels and order, and all numbers."""
    numbers = published.numbers
    counts = [
        {"paper": paper, "numbers": len(of_paper)}
        | {word: int((of_paper["verdict"] == word).sum()) for word in NUMBER_VERDICTS}
        | dict(zip(("within any reading", "if swapped"), within_any(published, str(paper)), strict=True))
        for paper, of_paper in [*numbers.groupby("paper", sort=False), ("all", numbers)]
    ]
    says = {
        str(paper): "; ".join(reached(published, str(paper))) or "none"
        for paper in sorted(set(published.rows["paper"]))
    }
    notes = [f"Reached. {'. '.join(f'`{paper}`: {words}' for paper, words in says.items())}", *NOTES]
    parts = [to_markdown(pd.DataFrame(counts), "Published numbers of all papers", notes).removeprefix("#")]
    if len(published.placebo):
        parts.append(to_markdown(published.placebo, "Does a reading reach more than false numbers?", PLACEBO))
    for place, ((paper, group), table) in enumerate(published.levels.items()):
        title = f"{paper}{f', {group}' if group else ''}: ours / printed"
        parts.append(to_markdown(table, title, LEVELS if not place else []))
    spelled = numbers.assign(
        published=numbers["published"].map("{:g}".format),
        **{name: numbers[name].map("{:.5g}".format, na_action="ignore") for name in ("ours", "low", "high")},
    )
    titles = {"possible": "readings that contain it", "tried": "readings tried"}
    parts += [
        to_markdown(of_paper.drop(columns=["paper", "panel", "method"]).rename(columns=titles), str(paper))
        for paper, of_paper in spelled.groupby("paper", sort=False)
    ]
    return "\n".join(parts)


def within_any(published: PublishedOverview, paper: str) -> tuple[str, str]:
    """Return the counts of printed and of false numbers within the intervals of any reading, or "–" if unknown."""
    rows = _placebo(published, paper)
    last = rows[rows["reading"] == ANY] if len(rows) > 1 else rows
    return (str(last["within"].iloc[0]), str(last["swapped"].iloc[0])) if len(last) else ("–", "–")


def counted(published: PublishedOverview, paper: str) -> dict[str, int]:
    """Return the counts of a paper's published numbers by verdict as text; empty if there are no such numbers."""
    if paper not in set(published.rows["paper"]):
        return {}
    verdicts = list(published.numbers.loc[published.numbers["paper"] == paper, "verdict"])
    words = {word: word for word in NUMBER_VERDICTS}
    words[POSSIBLE] = "possible ({} lie within the intervals of any reading, {} if swapped)".format(
        *within_any(published, paper)
    )
    return {words[word]: verdicts.count(word) for word in NUMBER_VERDICTS if word in verdicts}


def reached(published: PublishedOverview, paper: str) -> list[str]:
    """Return the readings that reach a paper's numbers, with the counts of each reading."""
    rows = _placebo(published, paper)
    exact = [f"{row['exact']} {EXACT} ({row['reading']})" for row in rows.to_dict("records")
             if row["exact"] and row["reading"] != ANY]  # fmt: skip
    by_count = [f"{row['within']} of {row['numbers']} within the intervals of '{row['reading']}'"
                for row in rows.to_dict("records") if row["reaches"] == "yes"]  # fmt: skip
    return exact + by_count


def _placebo(published: PublishedOverview, paper: str) -> pd.DataFrame:
    return published.placebo[published.placebo["paper"] == paper] if len(published.placebo) else published.placebo
