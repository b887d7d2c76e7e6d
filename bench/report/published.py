"""Every number that the papers printed, once, with the best that any figure says of it."""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from bench.report.figure import Figure
from bench.report.provenance import SURROGATE, Provenance
from bench.report.reading import READING
from bench.report.readings import AS_PRINTED, CAUSE, EXACT, EXPLAINED, INSIDE, NUMBERS, UNEXPLAINED, explained
from bench.report.tables import to_markdown

NO_DATA, NOT_RUN = "no real data", "not run"
_COLUMNS = ("paper", "cell", "published", "ours", "reading", "verdict", "by", "by_source", "tried", "figure")
# The order in which one is better than the next, with what the table calls it
_KINDS = {
    (EXACT, ""): "exact",
    (INSIDE, ""): "inside our interval",
    (EXPLAINED, "stated"): "explained, stated",
    (EXPLAINED, "code"): "explained, authors' code",
    (EXPLAINED, "assumed"): "explained, assumed",
    (EXPLAINED, CAUSE): "explained, computed example",
    (UNEXPLAINED, ""): "unexplained",
    (NO_DATA, ""): "no real data",
    (NOT_RUN, ""): "not run",
}


def published_overview(figures: Mapping[str, Figure], folder: Path) -> pd.DataFrame:
    """Return a row for each number that a paper printed and that is no time, whichever figures show it.

    Parameters
    ----------
    figures
        By their names ``paper/figure``.
    folder
        Of results; reference results alone count.

    Returns
    -------
    DataFrame
        `paper`, `cell` (the number's name), `published` (its value), `ours` (our number) and the `reading` it was made
        under, which is the one that gives the verdict or else the nearest, `verdict` (exact, inside, explained,
        unexplained, no real data, or not run), `by` and `by_source` (see `bench.report.readings.numbers_table`),
        `tried` (how many readings were run, in all figures), `figure`.
    """
    best: dict[tuple[str, str], dict[str, Any]] = {}
    tried: dict[tuple[str, str], set[str]] = {}
    shown = {name: own for name, own in figures.items() if own.source != "timing" and "seconds" not in own.column}
    numbers = {name: _numbers(figure, folder / name) for name, figure in shown.items()}
    most: dict[tuple[str, str, str], int] = {}
    for name, table in numbers.items():
        for cell, reading, n in zip(table["cell"], table[READING], table["n"], strict=True):
            key_of_reading = name.partition("/")[0], str(cell), str(reading)
            most[key_of_reading] = max(int(n), most.get(key_of_reading, 0))
    for name, figure in shown.items():
        paper = name.partition("/")[0]
        table = numbers[name]
        has_most = [
            n == most[paper, str(cell), str(reading)]
            for cell, reading, n in zip(table["cell"], table[READING], table["n"], strict=True)
        ]
        for row in _of_figure(figure, folder / name, table.loc[has_most]):
            key = paper, row["cell"]
            row |= {"paper": paper, "figure": figure.name}
            tried.setdefault(key, set()).update(row.pop("readings", ()))
            if key not in best or _rank(row) < _rank(best[key]):
                best[key] = row
    rows = [row | {"tried": len(tried[key])} for key, row in best.items()]
    return pd.DataFrame(rows, columns=list(_COLUMNS)).sort_values("paper", kind="stable")


def published_text(table: pd.DataFrame) -> str:
    """Return the overview as Markdown: the counts of each paper, then its numbers."""
    kinds = [_kind(row) for row in table.to_dict("records")]
    groups = {str(paper): list(own) for paper, own in table.reset_index().groupby("paper", sort=False).indices.items()}
    counts = [
        {"paper": paper, "numbers": len(own)}
        | {words: sum(kinds[place] == kind for place in own) for kind, words in _KINDS.items()}
        for paper, own in {**groups, "all": list(range(len(table)))}.items()
    ]
    notes = [
        "Numbers that papers printed, times left out, each once however many figures show it",
        "Exact: our own first repetitions, as many as in print, give the number to its last digit under a reading that "
        "draws what the authors drew. Inside: our 95 % interval under the paper's own settings contains the number. "
        "Explained: the 95 % prediction interval of a further set of the paper's size contains it under some reading, "
        "which is stated in the paper, taken from its authors' code, or assumed where both are silent; or a computed "
        "example shows why it differs. "
        "The best verdict of all figures that show a number counts; of figures that ran the same reading, only the one "
        "with the most repetitions does",
        "Of several readings tried, some contain a number by accident: an explanation by a reading says that the "
        "number is possible under it, not that it was made so",
        "Ours: under the reading that explains the number; of an unexplained one under the one that comes nearest",
        "Source: of the reading that explains the number, or the figure that computes the example",
    ]
    parts = [to_markdown(pd.DataFrame(counts), "Published numbers of all papers", notes).removeprefix("#")]
    spelled = table.assign(
        published=table["published"].map("{:g}".format),
        ours=table["ours"].map("{:.5g}".format, na_action="ignore"),
        by_source=table["by_source"].where(table["by_source"] != CAUSE, table["by"]),
    )
    reached = spelled[table["verdict"].isin((EXACT, INSIDE, EXPLAINED))]
    keys = ["paper", "verdict", "by", "by_source"]
    by_reading = reached.groupby(keys, sort=False).size().rename("numbers").reset_index()
    by_reading = by_reading.sort_values(["paper", "numbers"], ascending=[True, False], kind="stable")
    if len(by_reading):
        named = by_reading.rename(columns={"by": "reading", "by_source": "source"})
        parts.append(to_markdown(named, "Which readings reach them"))
    titles = {"by_source": "source", "tried": "readings tried"}
    parts += [
        to_markdown(own.drop(columns=["paper", "by"]).rename(columns=titles), str(paper))
        for paper, own in spelled.groupby("paper", sort=False)
    ]
    return "\n".join(parts)


def _reference(folder: Path) -> Path | None:
    """Return a figure's reference result, that of real data before others; None if there is none."""
    return min(sorted(folder.glob("paper*")), key=lambda path: SURROGATE in path.name, default=None)


def _numbers(figure: Figure, folder: Path) -> pd.DataFrame:
    """Return the published numbers beside ours of a figure's reference result; empty if it has none.

    Readings that leave our number as it is under the first are left out: they are no second try.
    """
    scale = _reference(folder)
    if scale is None or not (scale / "numbers.csv").is_file():
        return pd.DataFrame(columns=list(NUMBERS))
    numbers = pd.read_csv(scale / "numbers.csv", dtype={"by": str, "by_source": str, READING: str})
    numbers = numbers.fillna({"by": "", "by_source": "", "inside": "", "predicted": "", READING: ""})
    ours = ["cell", "estimate", "std", "n", "ci_low", "ci_high", "further_low", "further_high"]
    return numbers[(numbers[READING] == _first(figure)) | ~numbers.duplicated(ours)]


def _of_figure(figure: Figure, folder: Path, numbers: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield what a figure says of its published numbers: ``numbers`` without the rows that another knows better."""
    found = {str(cell): _one(figure, rows) for cell, rows in numbers.groupby("cell", sort=False)}
    scale = _reference(folder)
    without = NOT_RUN if scale is None or _is_real(scale) else NO_DATA
    for entry in figure.published:
        cell = entry.get("cell", "")
        row = {"cell": cell, "published": entry["value"], "verdict": without, "by": "", "by_source": ""}
        yield found.get(cell, row)


def _one(figure: Figure, rows: pd.DataFrame) -> dict[str, Any]:
    """Return a published number with our number that it is judged by, given its rows of readings."""
    verdict, by, by_source = explained(figure, rows, _first(figure))
    made = rows.dropna(subset=["estimate"])
    judging = made[made[READING] == by]
    if judging.empty:
        judging = made.loc[(made["estimate"] - made["published"]).abs().sort_values(kind="stable").index]
    column = "first" if verdict == EXACT else "estimate"
    ours = {} if judging.empty else {"ours": judging[column].iloc[0], READING: judging[READING].iloc[0]}
    kept = {"cell": rows["cell"].iloc[0], "published": rows["published"].iloc[0]}
    return kept | {"verdict": verdict, "by": by, "by_source": by_source} | ours | {"readings": set(made[READING])}


def _first(figure: Figure) -> str:
    """Return the name of the first reading."""
    return figure.readings[0].name if figure.readings else AS_PRINTED


def _rank(row: Mapping[str, Any]) -> tuple[int, float]:
    """Return what is least for the row that says most of a number: its kind, then the distance of our number."""
    return list(_KINDS).index(_kind(row)), abs(row.get("ours", math.inf) - row["published"])


def _is_real(scale: Path) -> bool:
    """Return whether no other data stands in for that of the figure; of a damaged manifest its page speaks."""
    try:
        provenance = Provenance.of_manifest(json.loads((scale / "manifest.json").read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return True
    return not (provenance.surrogate or provenance.packaged)


def _kind(row: Mapping[Any, Any]) -> tuple[str, str]:
    return row["verdict"], row["by_source"] if row["verdict"] == EXPLAINED else ""
