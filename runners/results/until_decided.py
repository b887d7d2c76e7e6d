"""Repetitions until every claim is decided: the experiments of a figure that continue, and their numbers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from bench.critical import STEP
from bench.report.claims.check import still_open
from bench.report.figure import Figure
from bench.report.results import Results
from runners.config.figures import LabelledRun

OUT_OF_REACH = 2
"""From the second look on, a case is given up if it needs about this many times the largest number of repetitions."""


class NextLook(NamedTuple):
    """The number of open cases, and the number of repetitions of each experiment at the next look."""

    open_cases: int
    next: list[int]


def applies_to(figure: Figure) -> bool:
    """Return whether the figure has claims that repetitions of runs can decide."""
    return figure.source == "runs" and any(claim.get("expect", "differs") for claim in figure.claims)


def with_repetitions(runs: Sequence[LabelledRun], numbers: Sequence[int]) -> list[LabelledRun]:
    return [
        replace(labelled, settings=replace(labelled.settings, repetitions=number))
        for labelled, number in zip(runs, numbers, strict=True)
    ]


def look(runs: Sequence[LabelledRun], done: Sequence[Sequence[int]], results: Results, most: int) -> NextLook:
    """Check the claims, and return the number of open cases and the next number of repetitions of each experiment.

    No experiment gets more than ``most`` repetitions. All experiments of an open case continue together, from the least
    number among them, because repetitions are paired. A case is given up if it is out of reach (`OUT_OF_REACH`), if its
    data is a stand-in and thus no evidence, or if one of its experiments has no result (in ``done``), because the scale
    excludes the experiment or all its repetitions failed.
    """
    numbers = [labelled.settings.repetitions for labelled in runs]
    following, open_cases = list(numbers), 0
    is_silent = [not labelled.experiment.data_kind.is_evidence for labelled in runs]
    figure = results.figure
    if figure.column not in results.finals:
        return NextLook(0, following)
    unfolded = figure.unfold.axis if figure.unfold else None
    for labels, needed in still_open(results).values():
        wanted = [{axis: label for axis, label in of_side.items() if label and axis != unfolded} for of_side in labels]
        places = [place for place, labelled in enumerate(runs) if done[place] and labelled.labels in wanted]
        limit = min([most, *(runs[place].experiment.most_repetitions or most for place in places)])
        least = min((numbers[place] for place in places), default=most)
        if any(is_silent[place] for place in places):
            continue
        if least >= limit or not all(any(runs[place].labels == of_side for place in places) for of_side in wanted):
            continue
        if least > STEP and not needed <= OUT_OF_REACH * limit:  # NaN compares as larger than any number
            continue
        open_cases += 1
        step = min(least + STEP, limit)
        for place in places:
            following[place] = max(following[place], step)
    return NextLook(open_cases, following)
