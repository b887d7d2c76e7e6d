import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import PositiveInt

from bench.component import component
from bench.data.bandit_log import MAX_ACTIONS, check_support
from bench.data.encode import counted
from bench.data.files import Stamp, stamp_of
from bench.data.labels import labels_in
from bench.data.read import column_names, digest, files_of, read_files
from bench.data.times import times
from bench.envs.direct import DirectEnvironment
from bench.errors import DataError
from bench.seeding import Seeds
from bench.space import Configuration, Space

_OF_SERVICE = ("asked", "told")
"""Columns of a service's log that are not hyper-parameters."""
_FAR = 4.0
"""Margin above the mean number of accepted rounds, seldom exceeded, in standard deviations."""


@dataclass(frozen=True, eq=False)
class _Asks:
    """The asks of a log, with arrays of shape (n,).

    ``codes`` are the indices of the configurations in ``space.product()``.
    """

    space: Space
    codes: np.ndarray
    rewards: np.ndarray
    propensities: np.ndarray
    order: np.ndarray


@component
class ServiceLog(DirectEnvironment):
    """A replay, for other tuners, of the log of a service whose tuner draws with known probabilities.

    An ask whose configuration is the proposed one is accepted as a round with probability c / propensity. c is the
    smallest propensity of the log, so every ask is accepted with probability c for any proposal. The tuner may have
    learnt during the log, but rewards must not depend on earlier configurations. The search space has the
    configurations of the log. The trace columns are ``mean_reward`` of the rounds so far, ``accepted``, the number of
    these rounds, and ``share_accepted``, their share of all asks. Source: Dudik et al. 2012 (rejection by propensity).

    Parameters
    ----------
    path
        Parquet (.parquet) or CSV (.csv, .csv.gz) files, or a pattern of their names.
    hyper_parameters
        The columns of the configuration. With none, all columns except ``asked``, ``told`` and the columns named by the
        other settings.
    reward, propensity, time
        The columns with the reward, the probability of the configuration, and, for ``order: time``, the time.
    order
        The order of the asks: ``shuffled`` anew in each repetition, or by ``time``.
    n_parts
        Number of disjoint random parts of the log, one for each repetition.
    """

    sums: ClassVar[tuple[str, ...]] = ("reward",)
    rejects: ClassVar[bool] = True
    compared: ClassVar[str] = "mean_reward"

    path: str | list[str] = ""
    hyper_parameters: list[str] = field(default_factory=list)
    reward: str = "reward"
    propensity: str = "propensity"
    time: str = "told"
    order: Literal["shuffled", "time"] = "shuffled"
    n_parts: PositiveInt = 5

    @property
    def most_repetitions(self) -> int:
        return self.n_parts

    @property
    def fingerprint(self) -> str:
        return digest(files_of(self.path, "env.path"))

    @property
    def space(self) -> Space:
        return self._load().space

    @property
    def rounds_there(self) -> int:
        asks = self._load()
        smallest, rows = float(asks.propensities.min()), len(asks.codes) // self.n_parts
        if rows * smallest < 2:
            raise DataError(
                f"env.propensity: found a smallest propensity of {smallest:.3g} in {rows:,} asks per repetition, so "
                f"that about {rows * smallest:.2g} rounds would be accepted, expected at least 2: take a log of more "
                "asks, or of a tuner that draws all configurations often, such as exp3 with form=weight and gamma=0.3"
            )
        return int(rows * smallest)

    def notes(self) -> tuple[str, ...]:
        asks, there = self._load(), self.rounds_there
        return (
            f"log: {len(asks.codes):,} asks of {counted(len(asks.space.product()), 'configuration')}, mean reward "
            f"{asks.rewards.mean():.4g}, smallest propensity {asks.propensities.min():.4g}",
            f"a repetition replays one of {self.n_parts} disjoint parts of the log: about {there:,} accepted rounds, "
            "the horizon that tuners are told; in longer runs tuners may rank differently",
        )

    def start(self, rounds: int, seeds: Seeds) -> None:
        self._asks = asks = self._load()
        self.expected_rounds = expected = self.rounds_there
        self.traced_rounds = expected + math.ceil(_FAR * math.sqrt(expected))
        self.sub_gaussian = float(np.ptp(asks.rewards)) / 2
        parts = Seeds(seeds.base_seed, 0, seeds.path).generator("parts").permutation(len(asks.codes))
        rows = np.sort(parts[seeds.repetition % self.n_parts :: self.n_parts])
        rows = asks.order[rows] if self.order == "time" else seeds.generator("order").permutation(rows)
        coins = seeds.generator("acceptance").random(len(rows)) < asks.propensities.min() / asks.propensities[rows]
        self._codes, self._paid = asks.codes[rows[coins]], asks.rewards[rows[coins]]
        self._passed = np.flatnonzero(coins) + 1
        self._code = {tuple(one.values()): code for code, one in enumerate(asks.space.product())}
        self._at = self._accepted = 0
        self._earned = 0.0

    def play(self, configuration: Configuration) -> float | None:
        code = self._code.get(tuple(configuration.values()))
        found = np.flatnonzero(self._codes[self._at :] == code)
        if not len(found):
            return None
        place = self._at + int(found[0])
        self._at = place + 1
        reward = float(self._paid[place])
        self._accepted += 1
        self._earned += reward
        self._seen = int(self._passed[place])
        return reward

    def values(self) -> dict[str, Any]:
        return {
            "mean_reward": self._earned / self._accepted,
            "accepted": self._accepted,
            "share_accepted": self._accepted / self._seen,
        }

    def _load(self) -> _Asks:
        stamps = tuple(map(stamp_of, files_of(self.path, "env.path")))
        columns = (self.reward, self.propensity, *[self.time] * (self.order == "time"))
        return _load(stamps, tuple(self.hyper_parameters), columns)


@lru_cache(maxsize=1)
def _load(stamps: tuple[Stamp, ...], names: tuple[str, ...], columns: tuple[str, ...]) -> _Asks:
    files = [path for path, _, _ in stamps]
    names = names or tuple(name for name in column_names(files) if name not in (*columns, *_OF_SERVICE))
    if not names:
        raise DataError(f"{files[0]}: found no column of a hyper-parameter beside {', '.join(columns)}, expected some")
    reward, propensity, *time = columns
    table = read_files(files, [*names, *columns], names)
    rewards = table.numbers(reward)
    expected = (
        "the probability with which it was asked: a tuner that does not draw by probabilities gives none, and such a "
        "log can be learnt (task.history), not replayed"
    )
    propensities = table.numbers(propensity, expected)
    table.refuse(propensity, (propensities <= 0) | (propensities > 1), expected)
    columns_of = [labels_in(table, name, "a value", "values", MAX_ACTIONS) for name in names]
    values = [[_value(text) for text in labels.names] for labels in columns_of]
    space = Space.of(**dict(zip(names, values, strict=True)))
    rows = list(
        zip(
            *([own[code] for code in labels.codes] for own, labels in zip(values, columns_of, strict=True)), strict=True
        )
    )
    asked = set(rows)
    for configuration in space.product():
        if tuple(configuration.values()) not in asked:
            space = space.without(**configuration)
    code_of = {tuple(one.values()): code for code, one in enumerate(space.product())}
    codes = np.array([code_of[row] for row in rows])
    shown = [", ".join(f"{name}={value}" for name, value in one.items()) for one in space.product()]
    if len(shown) < 2:
        raise DataError(f"{files[0]}: found only the configuration {shown[0]}, expected at least two")
    check_support(shown, codes, propensities, uniform=False)
    order = np.arange(len(codes)) if not time else np.asarray(times(table, time[0]).argsort(kind="stable"))
    return _Asks(space, codes, rewards, propensities, order)


def _value(text: str) -> int | float | str:
    """Return a value in the service's notation."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
