"""Every number that the papers printed, once, with the best that any figure says of it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from bench.report.figure import Figure
from bench.report.provenance import SURROGATE
from bench.report.readings import CAUSE, EXPLAINED, INSIDE, UNEXPLAINED
from bench.report.tables import to_markdown

NO_DATA, NOT_RUN = "no real data", "not run"
_COLUMNS = ("paper", "cell", "published", "verdict", "by", "by_source", "figure")
# The order in which one is better than the next, with what the table calls it
_KINDS = {
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
        All figures by their names ``paper/figure``.
    folder
        The folder of results; reference results alone count.

    Returns
    -------
    DataFrame
        `paper`, `cell` (the number's name), `published` (its value), `verdict` (inside, explained, unexplained, no real
        data, or not run), `by` and `by_source` (see `bench.report.readings.numbers_table`), `figure`.
    """
    best: dict[tuple[str, str], dict[str, Any]] = {}
    order = list(_KINDS)
    for name, figure in figures.items():
        if figure.source == "timing" or "seconds" in figure.column:
            continue
        paper = name.partition("/")[0]
        for row in _of_figure(figure, folder / name):
            key = paper, row["cell"]
            row |= {"paper": paper, "figure": figure.name}
            if key not in best or order.index(_kind(row)) < order.index(_kind(best[key])):
                best[key] = row
    return pd.DataFrame(list(best.values()), columns=list(_COLUMNS)).sort_values("paper", kind="stable")


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
        "Inside: our 95 % interval under the paper's own settings contains the number. Explained: the 95 % prediction "
        "interval of a further set of the paper's size contains it under some reading, which is stated in the paper, "
        "taken from its authors' code, or assumed where both are silent; or a computed example shows why it differs. "
        "The best verdict of all figures that show a number counts",
        "Of several readings tried, some contain a number by accident: an explanation by a reading says that the "
        "number is possible under it, not that it was made so",
    ]
    parts = [to_markdown(pd.DataFrame(counts), "Published numbers of all papers", notes).removeprefix("#")]
    table = table.assign(published=table["published"].map("{:g}".format))
    parts += [
        to_markdown(own.drop(columns=["paper"]).rename(columns={"by_source": "source"}), str(paper))
        for paper, own in table.groupby("paper", sort=False)
    ]
    return "\n".join(parts)


def _of_figure(figure: Figure, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what a figure's reference result says of its published numbers."""
    scales = sorted(path for path in folder.glob("*") if _is_reference(path.name)) if folder.is_dir() else []
    scale = min(scales, key=lambda path: (not path.name.startswith("paper"), SURROGATE in path.name), default=None)
    found: dict[str, dict[str, Any]] = {}
    if scale is not None and (scale / "numbers.csv").is_file():
        numbers = pd.read_csv(scale / "numbers.csv", dtype={"by": str, "by_source": str}).fillna(
            {"by": "", "by_source": ""}
        )
        for row in numbers.to_dict("records"):
            found.setdefault(
                row["cell"], {str(name): row[name] for name in ("cell", "published", "verdict", "by", "by_source")}
            )
    without = NO_DATA if scale is not None and SURROGATE in scale.name else NOT_RUN
    for entry in figure.published:
        cell = entry.get("cell", "")
        yield found.get(cell) or {
            "cell": cell,
            "published": entry["value"],
            "verdict": without,
            "by": "",
            "by_source": "",
        }


def _is_reference(scale: str) -> bool:
    return scale.startswith("paper") or scale.endswith("-reference")


def _kind(row: Mapping[Any, Any]) -> tuple[str, str]:
    return row["verdict"], row["by_source"] if row["verdict"] == EXPLAINED else ""
