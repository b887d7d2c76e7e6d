"""What all kinds of claims share: their common keys, their cases and the reading of final values."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from bench.errors import ConfigError
from bench.report.claims.finding import OPEN, Finding, Unmeasured
from bench.report.experiments import Experiments, Key
from bench.report.labels import Selection, describe, selection


def _read_selection(raw: Any) -> Selection:
    if not isinstance(raw, Mapping):
        raise ValueError("expected axes with their labels, such as {method: TL}")
    return selection(raw)


Chosen = Annotated[Selection, BeforeValidator(_read_selection)]
"""A selection of experiments as written in YAML: axis -> label, list of labels, "*" (any) or null (none)."""


class Claim(BaseModel):
    """A claim of a paper and how it is checked; each kind is a subclass.

    Parameters
    ----------
    id
        Name of the claim, unique in its figure.
    text
        The claim in words.
    kind
        How it is checked.
    expect
        What the claim says of the estimate.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    id: str
    text: str
    kind: str
    expect: str = ""

    @abstractmethod
    def unit(self) -> str:
        """Return what the estimate is, in words."""


class CaseClaim(Claim):
    """A claim that is measured case by case.

    Parameters
    ----------
    column
        The final value that is compared; default: the figure's column.
    per
        Axes whose labels make the cases; without any there is one case.
    only
        Labels on the axes in `per` that the claim is about; default: all.
    """

    column: str
    per: tuple[str, ...] = ()
    only: Chosen = Field(default_factory=dict)

    @abstractmethod
    def selections(self) -> dict[str, Selection]:
        """Return the selections that must all have an experiment in a case, by the key that holds them."""

    @abstractmethod
    def measure(self, data: Experiments, curves: pd.DataFrame, case: Selection) -> Finding:
        """Return the finding for one case.

        Raises
        ------
        Unmeasured
            If results are missing.
        """

    def validate_axes(self, data: Experiments, where: str) -> None:
        """Check axes and labels against the figure's.

        Raises
        ------
        ConfigError
            Naming ``where`` (figure and claim), the key, and the valid axes or labels.
        """
        for axis in self.per:
            data.check_axis(axis, f"{where}, key 'per'")
        data.check(self.only, f"{where}, key 'only'")
        for axis in self.only:
            if axis not in self.per:
                raise ConfigError(
                    f"{where}, key 'only': axis '{axis}' is not in 'per', which is: {', '.join(self.per)}"
                )
        for key, chosen in self.selections().items():
            data.check(chosen, f"{where}, key '{key}'")
            twice = sorted(set(chosen) & set(self.per))
            if twice:
                raise ConfigError(f"{where}, key '{key}': axis '{twice[0]}' is also in 'per', use it in one of the two")
        if data.is_declared and not self.cases(data):
            raise ConfigError(f"{where}: no case has runs for all of {', '.join(self.selections())}; check 'per'")

    def cases(self, data: Experiments) -> list[Selection]:
        """Return the cases as selections that fix the axes in `per`."""
        every = data.groups(self.per, self.selections().values())
        return [case for case in every if all(case[axis][0] in labels for axis, labels in self.only.items())]

    def findings(self, data: Experiments, curves: pd.DataFrame) -> list[Finding]:
        """Return one finding per case; missing results make a case open."""
        found = []
        for case in self.cases(data):
            try:
                found.append(self.measure(data, curves, case))
            except Unmeasured as reason:
                found.append(self._unmeasured(case_text(case), str(reason)))
        return found or [self._unmeasured("all", "there are no results yet")]

    def _unmeasured(self, case: str, reason: str) -> Finding:
        return Finding(case, math.nan, math.nan, math.nan, 0, self.unit(), OPEN, note=reason)


def case_text(case: Selection) -> str:
    """Return a case in words."""
    return describe(case) if case else "all"


def final_values(data: Experiments, column: str, *sides: Sequence[Key]) -> tuple[list[npt.NDArray[np.float64]], str]:
    """Return final values, repetitions matched across all experiments.

    Parameters
    ----------
    data
        The experiments.
    column
        Which final value.
    sides
        Lists of experiments.

    Returns
    -------
    arrays
        One array (n, number of experiments) per side, the same n repetitions in all of them in the same order.
    note
        Empty, or how many repetitions were left out because not all experiments have them.

    Raises
    ------
    Unmeasured
        If a side is empty, an experiment has no results, or no repetition is complete.
    """
    series = {}
    for side in sides:
        if not side:
            raise Unmeasured("no such runs")
        for key in side:
            rows = data.rows(key)
            if rows.empty:
                raise Unmeasured(f"no results of {data.text(key)}")
            if column not in rows.columns:
                raise Unmeasured(f"the results have no column '{column}'")
            finals = rows.set_index("repetition")[column].astype(float)
            series[key] = finals[np.isfinite(finals)]
            if series[key].empty:
                raise Unmeasured(f"column '{column}' of {data.text(key)} is empty")
    table = pd.concat(list(series.values()), axis=1, keys=range(len(series)))
    complete = table.dropna().sort_index()
    if complete.empty:
        raise Unmeasured("the runs have no repetition in common")
    note = "" if len(complete) == len(table) else f"{len(complete)} of {len(table)} repetitions are in all runs"
    position = {key: i for i, key in enumerate(series)}
    values = complete.to_numpy(dtype=np.float64)
    return [values[:, [position[key] for key in side]] for side in sides], note
