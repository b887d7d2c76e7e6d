"""A table that was computed, not run."""

from typing import ClassVar, Literal

import pandas as pd

from bench.errors import ConfigError
from bench.papers.habo.worked_examples import COMPUTATIONS
from bench.report.figure import Figure
from bench.report.results import Results


class Computed(Figure):
    """A table of text and numbers, made by ``compute`` in `bench.papers.habo.worked_examples`; it has no picture.

    On its page verdicts (column `verdict`: right, inherited, slip) have a sign; ``caption`` is a line below it.
    """

    source: ClassVar[Literal["runs", "timing", "formula"]] = "formula"

    column: str = ""
    compute: str
    caption: str = ""

    def calculate(self) -> pd.DataFrame:
        """Return the table; `ConfigError` if there is no such function."""
        if self.compute not in COMPUTATIONS:
            names = ", ".join(COMPUTATIONS)
            raise ConfigError(f"{self.where}, key 'compute': found {self.compute!r}, expected one of: {names}")
        return COMPUTATIONS[self.compute]()

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        return {self.compute: self.calculate()}

    def table_titles(self) -> dict[str, str]:
        return {self.compute: "Table"}
