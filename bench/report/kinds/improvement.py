"""By how many per cent one method ends above others, a row for each of the others."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from bench.errors import ConfigError
from bench.report.experiments import Experiments, Key
from bench.report.kinds.dots import Dots
from bench.report.labels import describe, selection
from bench.report.plot import Plot
from bench.report.results import Results


class Improvement(Dots):
    """The mean of one method divided by that of another, less 1, in per cent, with its interval.

    Repetitions are paired. A repetition's number is the ratio's linearisation: 100 (r - 1 + (a - r b) / mean(b)) with
    r = mean(a) / mean(b). Their mean is 100 (r - 1), and their standard error that of the ratio (delta method).

    Parameters
    ----------
    better
        Selects the method whose improvement it is, such as ``{method: CIR-HPO}``.
    in_column
        The trace column that is compared.
    """

    column: str = "improvement"
    better: dict[str, Any]
    in_column: str

    @property
    def number_label(self) -> str:
        """The label of the axis: the column's name says no unit."""
        return self.x_label

    def check(self, data: Experiments) -> None:
        """Check also that `better` selects one experiment."""
        super().check(data)
        self._reference(data)

    def tables(self, results: Results) -> dict[str, pd.DataFrame]:
        """Return the table of improvements."""
        return super().tables(self._improvements(results))

    def plot(self, results: Results, tables: Mapping[str, pd.DataFrame]) -> Plot:
        """Return the improvements as dots."""
        plot = super().plot(self._improvements(results), tables)
        plot.caption[:1] = [
            f"Marks: how many per cent the mean of {describe(selection(self.better))} is above the row's."
        ]
        return plot

    def _reference(self, data: Experiments) -> Key:
        keys = data.select(selection(self.better))
        if data.is_declared and len(keys) != 1:
            raise ConfigError(f"{self.where}, key 'better': fits {len(keys)} experiments, expected one")
        return keys[0]

    def _improvements(self, results: Results) -> Results:
        """Return results of all experiments but the reference, whose final values have the column of improvements."""
        data = results.data
        reference = self._reference(data)
        own = data.rows(reference).set_index("repetition")
        finals = data.finals.assign(**{self.column: np.nan})
        for key in data.keys:
            rows = data.rows(key)
            if key == reference or rows.empty or own.empty:
                continue
            b = rows[self.in_column].to_numpy(dtype=np.float64)
            a = own[self.in_column].reindex(rows["repetition"]).to_numpy(dtype=np.float64)
            known = np.isfinite(a) & np.isfinite(b)
            if b[known].sum() > 0:
                ratio = a[known].mean() / b[known].mean()
                values = 100 * (ratio - 1 + (a - ratio * b) / b[known].mean())
                finals.loc[rows.index, self.column] = np.where(known, values, np.nan)
        improved = Results(self, results.curves, finals, results.provenance)
        improved.data.keys.remove(reference)
        return improved
