"""The answers of docs/which_tuner.md, from the tables of the tournament's reference results."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.report.folder import ResultFiles
from bench.report.tasks import FAMILY, METHOD
from runners.config.tree import read

PROBLEMS: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    ("One number whose best value **jumps**: changes abruptly, a few times", "ranks", "table", {FAMILY: "moving peak"}),
    ("One number whose best value **wanders**: by a small step in every round", "forgetting", "table",
     {FAMILY: "wandering peak"}),
    ("One number whose best value **stands still**", "ranks", "table", {FAMILY: "still peak"}),
    ("A rate of a contextual bandit whose contexts or rewards **drift**: change during the run", "contextual_drifting",
     "ranks", {}),
    ("A rate of LinUCB, LinTS or another linear bandit", "ranks", "table", {FAMILY: "contextual linear"}),
    ("A setting of a generalised linear bandit", "ranks", "table", {FAMILY: "contextual GLM"}),
    ("A choice among a few arms that **stand still**", "ranks", "table", {FAMILY: "arms"}),
    ("Each round **trains** a model: 100 rounds", "ranks", "table", {FAMILY: "training tables"}),
    ("Each round is a trial on logged data: 100 rounds", "ranks", "table", {FAMILY: "off-policy"}),
    ("**Few rounds**: 2,000, type of problem unknown", "short", "ranks", {}),
    ("Many rounds: 10,000, type of problem unknown", "ranks", "ranks", {}),
    ("Exploration on **labelled data**: 2,000 rounds", "labelled", "ranks", {}),
    ("Rewards come **100 rounds late**, type unknown: 2,000 rounds", "late", "table", {FAMILY: "delay 100"}),
    ("Rewards come in **batches** of 50", "late", "table", {FAMILY: "batch 50"}),
    ("A configuration is **held** for 20 rounds", "late", "table", {FAMILY: "hold 20"}),
    ("Another setting **becomes better**, the one in use stays as good", "new_best", "table",
     {FAMILY: "new best, midway"}),
    ("**Real data**: MovieLens, Titanic, house prices", "ranks", "apart", {"part": "real data"}),
)  # fmt: skip
"""Kinds of problems, each with its figure, table and rows."""
_FIGURES = ("late", "forgetting", "ranks")
"""Figures whose settings give the arguments of each tuner."""


def answers_part(results: Path) -> str:
    """Return a table with a row per kind of problem: the tuner with the least regret, the next two, and the figure."""
    rows = []
    for problem, figure, best in _answers(results):
        first, *others = (f"{row[METHOD]} {_interval(row)}" for row in best)
        rows.append(f"| {problem} | {first} | {'; '.join(others)} | `{figure}` |")
    return "\n".join(["| your problem | least regret | then | figure |", "| --- | --- | --- | --- |", *rows])


def words_part(results: Path) -> str:
    """Return a table of the arguments that choose each tuner in the answers, in alphabetical order."""
    typed = _typed()
    labels = sorted({str(row[METHOD]) for _, _, best in _answers(results) for row in best})
    return "\n".join(
        ["| tuner | arguments of a command |", "| --- | --- |", *(f"| {x} | `{typed[x]}` |" for x in labels)]
    )


def _typed() -> dict[str, str]:
    """Return the arguments that choose each tuner of the tournament, by label."""
    typed: dict[str, str] = {}
    for name in _FIGURES:
        methods: dict[str, list[str]] = read(f"figure/tournament/{name}")["runs"][0][METHOD]
        typed |= {str(label): " ".join(words) for label, words in methods.items()}
    return typed


def _answers(results: Path) -> Iterator[tuple[str, str, list[dict[Any, Any]]]]:
    """Yield each kind of problem, its figure, and the rows of the three tuners with the least regret.

    The three tuners belong to different classes.
    """
    typed = _typed()
    for problem, name, file, chosen in PROBLEMS:
        found = ResultFiles.of(results, f"tournament/{name}")
        if not found:
            continue
        table = found[0].csv(f"{file}.csv")
        for column, value in chosen.items():
            table = table[table[column] == value]
        table = table[table[METHOD].isin(typed)].sort_values("relative", kind="stable")
        tuners = table[METHOD].map(lambda method: typed[method].partition(" ")[0])
        best = table[~tuners.duplicated()].head(3).to_dict("records")
        if best:
            yield problem, name, best


def _interval(row: dict[Any, Any]) -> str:
    low, high = row["relative_low"], row["relative_high"]
    return f"{row['relative']:.2f}" + (f" ({low:.2f} to {high:.2f})" if math.isfinite(low) else "")
