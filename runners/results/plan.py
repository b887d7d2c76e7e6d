"""What is asked for when a figure is made, and what is known of it when it is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from bench.report.claims import spell_by_origin, tallies
from bench.report.claims.origin import Tally
from bench.report.figure import Figure
from bench.report.page import Size
from bench.report.reading import READING
from runners.config.figures import LabelledRun
from runners.results.until_decided import STEP, applies_to, with_repetitions


class FigurePlan(NamedTuple):
    """A figure that is asked for.

    Parameters
    ----------
    figure
        Its configuration, as `runners.config.figures.load_figure` returns it.
    where
        The folder, among the results; ``-surrogate`` or ``-altered`` is added where data stands in for the real.
    scale
        How large.
    extra
        Overrides for all its experiments.
    command
        The command that makes the figure, for the manifest.
    is_reference
        Whether the result is one to be committed: its repetitions are written beside it, and taken from there.
    until_decided
        The largest number of repetitions where they are run until the claims are decided; None: as many as the scale
        says, which also holds for timings and for figures without claims.
    formats
        What is written beside the usual files, of `bench.report.saving.EXTRA`.
    readings
        Whether all readings are run, or the first alone.
    size
        The width of a PDF, of `bench.report.page.SIZES`; "": that of the screen.
    """

    figure: Figure
    where: str
    scale: str
    extra: Sequence[str]
    command: str
    is_reference: bool = False
    until_decided: int | None = None
    formats: Sequence[str] = ()
    readings: bool = True
    size: Size = ""

    @property
    def name(self) -> str:
        """The figure, such as ``cdt/figure2``."""
        return "/".join(self.where.split("/")[:2])

    @property
    def most(self) -> int | None:
        """The largest number of repetitions; None where it is not decided on by looking."""
        return self.until_decided if applies_to(self.figure) else None

    @property
    def readings_up_to(self) -> int | None:
        """The largest number of repetitions under further readings; None: as many as under the first."""
        scale = self.figure.scales.get(self.scale)
        return scale.readings_up_to if scale else None

    def is_sequential(self, drawn: Sequence[LabelledRun]) -> bool:
        """Return whether looks decide how many repetitions there are: not of readings that end at the first look."""
        further = any(READING in one.labels for one in drawn)
        return self.most is not None and not (further and (self.readings_up_to or self.most) <= STEP)

    def with_repetitions(self, drawn: Sequence[LabelledRun], numbers: Sequence[int]) -> list[LabelledRun]:
        """Return the experiments with other numbers of repetitions, as far as readings and limits go."""
        most = self.readings_up_to or max(numbers)
        limits = self.figure.limit_runs()

        def at_most(one: LabelledRun, number: int) -> int:
            if limits and one.is_limit:
                return min(number, limits.repetitions)
            return min(number, most) if READING in one.labels else number

        return with_repetitions(drawn, list(map(at_most, drawn, numbers)))


@dataclass(frozen=True)
class Reproduced:
    """What is known of a figure when it is drawn.

    Parameters
    ----------
    complete
        Whether no repetition failed.
    claims
        The verdicts, as `bench.report.claims.check` returns them.
    folder
        Where the files are.
    error
        Why the figure could not be written; "" if it was.
    tallies
        The cases by origin and verdict, each counted once.
    """

    complete: bool
    claims: pd.DataFrame
    folder: Path
    error: str = ""
    tallies: Mapping[str, Tally] = field(default_factory=dict)


def reproduced(figure: Figure, claims: pd.DataFrame, folder: Path, *, complete: bool) -> Reproduced:
    """Return what is known of a figure that was written."""
    return Reproduced(complete, claims, folder, tallies=tallies(figure, claims.to_dict("records")))


def figure_line(plan: FigurePlan, counts: Sequence[str], claims: pd.DataFrame) -> str:
    """Return what is printed of a finished figure."""
    verdicts = spell_by_origin(tallies(plan.figure, claims.to_dict("records"), every=True))
    return f"{plan.name}  {', '.join(counts)}  {verdicts}".rstrip()
