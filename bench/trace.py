import math
import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from bench.errors import TaskError

MAX_ROWS = 500


class Trace:
    """The recorded rounds of a run: up to ``max_rows`` >= 2, evenly spaced, always including the first and the last.

    Columns named in ``sums`` are cumulative over all rounds; other values are those of the round. Memory is bounded.
    """

    def __init__(self, rounds: int, sums: tuple[str, ...], max_rows: int = MAX_ROWS) -> None:
        self.rounds = rounds
        self._checkpoints = np.unique(np.linspace(1, rounds, min(rounds, max_rows)).round().astype(np.int64)).tolist()
        self._sums = dict.fromkeys(sums, 0.0)
        self.round = 0
        self._next = self._checkpoints[0] if self._checkpoints else 0
        self._last: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
        self._rows: list[dict[str, Any]] = []
        self.costs: dict[str, float] = {}

    def record(self, values: Mapping[str, Any], configuration: Mapping[str, Any]) -> None:
        """Record the values of one round and the configuration played (empty in the warm-up).

        Raises TaskError if a value that is added up is missing or no number, or makes its sum infinite.
        """
        sums = self._sums
        self.round += 1
        try:
            for name in sums:
                sums[name] += values[name]
                if not math.isfinite(sums[name]):
                    raise OverflowError
        except (KeyError, TypeError, OverflowError):
            raise TaskError(self._fault(name, values, configuration)) from None
        self._last = values, configuration
        if self.round == self._next:
            self._keep()

    def _fault(self, name: str, values: Mapping[str, Any], configuration: Mapping[str, Any]) -> str:
        played = f"the configuration {dict(configuration)}" if configuration else "a random pull"
        value = f"'{name}' = {reprlib.repr(values[name])}" if name in values else f"no value '{name}'"
        return f"round {self.round}: found {value} for {played}, expected a number with which its sum stays finite"

    def spend(self, costs: Mapping[str, float]) -> None:
        """Add seconds to ``costs``, by what they were spent on; they are not part of the rows."""
        for name, seconds in costs.items():
            self.costs[name] = self.costs.get(name, 0.0) + seconds

    def finish(self) -> None:
        """Close a run, even one that ended before its horizon: keep its last round."""
        if self.round and (not self._rows or self._rows[-1]["round"] != self.round):
            self._keep()

    def _keep(self) -> None:
        values, configuration = self._last
        self._rows.append({"round": self.round, **configuration, **values, **self._sums})
        kept = len(self._rows)
        self._next = self._checkpoints[kept] if kept < len(self._checkpoints) else 0

    def columns(self) -> dict[str, np.ndarray]:
        """Return the rows as columns: ``round`` as int64, numbers as float64 (NaN if missing), else strings."""
        names = dict.fromkeys(name for row in self._rows for name in row)
        return {name: _column([row.get(name) for row in self._rows], name) for name in names}


def _column(values: list[Any], name: str) -> np.ndarray:
    if name == "round":
        return np.array(values, dtype=np.int64)
    if all(value is None or isinstance(value, int | float | np.number) for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array([str(value) for value in values], dtype=object)
