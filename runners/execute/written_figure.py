"""What came of a figure that was made."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from bench.report.claims.tallies import Tally, tallies
from runners.results.checksums import note
from runners.results.store import results_folder

if TYPE_CHECKING:
    from runners.execute.figure_run import AskedFigure


@dataclass(frozen=True)
class WrittenFigure:
    """A figure that is written, or with the ``error`` for which it could not be.

    ``claims``: the verdicts, as `bench.report.claims.check` returns them. ``failures``: a sentence for each repetition
    that failed. ``notes``: one for each of a user's classes that is not determined by its seeds.
    """

    asked: "AskedFigure"
    folder: Path
    claims: pd.DataFrame = field(default_factory=lambda: pd.DataFrame({"verdict": [], "holm": []}))
    line: str = ""
    failures: Sequence[str] = ()
    error: str = ""
    notes: Sequence[str] = ()

    @property
    def name(self) -> str:
        return self.asked.name

    @property
    def complete(self) -> bool:
        """Whether it is written, and no repetition failed."""
        return not self.error and not self.failures

    @property
    def tallies(self) -> dict[str, Tally]:
        """The cases by origin and verdict, each counted once."""
        return tallies(self.asked.figure, self.claims.to_dict("records"))

    def tell(self) -> "WrittenFigure":
        """Print its line and the errors of its repetitions; note the digests of its files, if git keeps them."""
        if not self.error:
            note(results_folder(), [self.folder])
        for sentence in self.failures:
            print(f"error: {sentence}", file=sys.stderr)
        for sentence in self.notes:
            print(f"warning: {sentence}", file=sys.stderr)
        if self.line:
            print(self.line, flush=True)
        return self
