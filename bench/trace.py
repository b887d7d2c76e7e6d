import reprlib
from collections.abc import Mapping
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from bench.errors import TaskError
from bench.rewards import check_reward, number, plain, played, short

MAX_ROWS = 500
_NO_VALUES: dict[str, Any] = {}


class Trace:
    """A trace of up to ``max_rows`` >= 2 evenly spaced rounds of a run, among them the first and the last round.

    If ``over`` is given, the recorded rounds are spread over the first ``over`` rounds, for a log that ends after about
    this number of rounds. Columns in ``sums`` are cumulative over all rounds, and other values belong to the recorded
    round. The memory is bounded.
    """

    def __init__(self, rounds: int, sums: tuple[str, ...], max_rows: int = MAX_ROWS, over: int | None = None) -> None:
        self.rounds = rounds
        last = min(rounds, over or rounds)
        self._checkpoints = np.unique(np.linspace(1, last, min(last, max_rows)).round().astype(np.int64)).tolist()
        self._sums = dict.fromkeys(sums, 0.0)
        self._n_sums, self._has_reward = len(self._sums), "reward" in self._sums
        self.round = 0
        self._next = self._checkpoints[0] if self._checkpoints else 0
        self._last: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {})
        """Configuration of the latest round, and its values that are not summed."""
        self._rows: list[dict[str, Any]] = []
        self.costs: dict[str, float] = {}

    def record(self, values: Mapping[str, Any], configuration: Mapping[str, Any]) -> None:
        """Record the values of one round and the configuration played (empty in the warm-up).

        The values are copied, and numbers become float. Raises TaskError if the reward is not a finite number, a value
        is too large, or a summed value is missing, is not a number, or makes the sum infinite.
        """
        self.round += 1
        if type(values) is not dict:
            raise TaskError(f"round {self.round}: found the values {reprlib.repr(values)}, expected a dict")
        sums, more, name = self._sums, _NO_VALUES, ""
        try:
            for name in sums:
                value = values[name]
                if type(value) is not float:
                    value = plain(value)
                sums[name] = total = sums[name] + value
                if not isfinite(total):
                    raise OverflowError
            if len(values) > self._n_sums:
                values = more = values.copy()
                for name, value in more.items():
                    if type(value) is not float:
                        more[name] = plain(value)
            if not self._has_reward:
                check_reward(values.get("reward"), self.round, configuration)
        except (KeyError, TypeError, OverflowError):
            check_reward(values.get("reward"), self.round, configuration)
            raise TaskError(self._fault(name, values, configuration)) from None
        self._last = more, configuration
        if self.round == self._next:
            self._keep(values, configuration)

    def _fault(self, name: str, values: Mapping[str, Any], configuration: Mapping[str, Any]) -> str:
        value = f"'{name}' = {reprlib.repr(values[name])}" if name in values else f"no value '{name}'"
        other = "a smaller number" if isinstance(values.get(name), Real) else "a number, a string or None"
        expected = "a number that keeps its sum finite" if name in self._sums else other
        return f"round {self.round}: found {value} for {played(configuration)}, expected {expected}"

    def spend(self, costs: Mapping[str, float]) -> None:
        """Add seconds to ``costs`` by purpose; costs are not part of the rows.

        Raises TaskError if a cost is not a finite number.
        """
        for name, seconds in costs.items():
            converted = number(seconds)
            if converted is None:
                raise TaskError(
                    f"round {self.round}: found the cost '{name}' = {short(seconds)}, expected a finite number"
                )
            self.costs[name] = self.costs.get(name, 0.0) + converted

    def finish(self) -> None:
        """Close a run and keep its last round, even if it ended before its horizon."""
        if self.round and (not self._rows or self._rows[-1]["round"] != self.round):
            self._keep(*self._last)

    def _keep(self, values: Mapping[str, Any], configuration: Mapping[str, Any]) -> None:
        row = {"round": self.round, **configuration, **values, **self._sums}
        if len(row) < 1 + len(configuration) + len(values):  # the values include the summed ones
            both = {"round", *configuration} & {*values} or {"round"}
            raise TaskError(
                f"round {self.round}: found two values with the name '{min(both)}', expected different names for "
                "hyper-parameters and for the values that a task returns"
            )
        self._rows.append(row)
        kept = len(self._rows)
        self._next = self._checkpoints[kept] if kept < len(self._checkpoints) else 0

    def columns(self) -> dict[str, np.ndarray]:
        """Return the rows as columns.

        ``round`` has type int64, numbers have type float64 with NaN for missing values, and other values are strings.
        """
        names = dict.fromkeys(name for row in self._rows for name in row)
        return {name: _column([row.get(name) for row in self._rows], name) for name in names}


def _column(values: list[Any], name: str) -> np.ndarray:
    if name == "round":
        return np.array(values, dtype=np.int64)
    if all(value is None or isinstance(value, int | float | np.number) for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array([str(value) for value in values], dtype=object)
