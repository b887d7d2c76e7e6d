"""The overview of published numbers as Markdown."""

import pandas as pd

from bench.report.agreement import DRAWS
from bench.report.published import ANY, VERDICTS, Published
from bench.report.readings import EXACT
from bench.report.tables import to_markdown

NOTES = [
    "Within any reading: numbers that the 95 % prediction interval of any reading contains; if swapped: as many of the "
    "same numbers exchanged among the methods of a panel, see below",
    "Numbers that papers printed, other than times, each once however many figures show it. Of the same reading in "
    "several figures the runs with most repetitions count",
    "Exact: our own first repetitions, as many as in print, give the number to its last digit under a reading that "
    "draws what the authors drew. Inside: our 95 % interval under the paper's reading (the first, unless it is of the "
    "authors' code) contains it; under assumptions, if neither the paper nor its authors' code states every setting. "
    "Possible: the 95 % prediction interval of a further set of the paper's size contains it under some reading "
    "tried; it contains many false numbers, too, so that possible numbers are not counted as reached",
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


def published_text(published: Published) -> str:
    """Return the counts of each paper, what the placebo says of each reading, levels and order, then all numbers."""
    numbers = published.numbers
    counts = [
        {"paper": paper, "numbers": len(own)}
        | {word: int((own["verdict"] == word).sum()) for word in VERDICTS}
        | dict(zip(("within any reading", "if swapped"), within_any(published, str(paper)), strict=True))
        for paper, own in [*numbers.groupby("paper", sort=False), ("all", numbers)]
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
        to_markdown(own.drop(columns=["paper", "panel", "method"]).rename(columns=titles), str(paper))
        for paper, own in spelled.groupby("paper", sort=False)
    ]
    return "\n".join(parts)


def within_any(published: Published, paper: str) -> tuple[str, str]:
    """Return how many numbers lie within the intervals of any reading, and how many false ones; "–" if unknown."""
    rows = _placebo(published, paper)
    last = rows[rows["reading"] == ANY] if len(rows) > 1 else rows
    return (str(last["within"].iloc[0]), str(last["swapped"].iloc[0])) if len(last) else ("–", "–")


def reached(published: Published, paper: str) -> list[str]:
    """Return which readings reach a paper's numbers, each with what it reaches."""
    rows = _placebo(published, paper)
    exact = [f"{row['exact']} {EXACT} ({row['reading']})" for row in rows.to_dict("records")
             if row["exact"] and row["reading"] != ANY]  # fmt: skip
    by_count = [f"{row['within']} of {row['numbers']} within the intervals of '{row['reading']}'"
                for row in rows.to_dict("records") if row["reaches"] == "yes"]  # fmt: skip
    return exact + by_count


def _placebo(published: Published, paper: str) -> pd.DataFrame:
    return published.placebo[published.placebo["paper"] == paper] if len(published.placebo) else published.placebo
