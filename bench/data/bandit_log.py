"""Users' logs: context, action, reward and propensity of each decision, from named columns of files."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from bench.data.encode import encode, match
from bench.data.files import Stamp, stamp_of
from bench.data.log import Log
from bench.data.read import Files, column_names, files_of, read_files
from bench.errors import ConfigError, DataError

UNIFORM = "uniform"
MAX_FEATURES = 1000
"""Of an arm in a context: more would make matrices that are slow to use."""

_TOLERANCE, _STANDARD_ERRORS = 0.05, 5.0


@dataclass(frozen=True, eq=False)
class BanditLog(Log):
    """``contexts``, shape (n, d), of norm 1; ``actions``, from 0; ``rewards``; ``propensities``, above 0; ``order``.

    ``order`` lists the rows by time, as they stand in the files without times. ``arms``, shape (actions, d_a), has the
    features of the actions, of norm 1, shape (actions, 0) without a table of them. ``names`` are those of the actions.
    """

    contexts: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    propensities: np.ndarray
    order: np.ndarray
    arms: np.ndarray
    names: tuple[str, ...]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def n_actions(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Columns:
    """Which columns hold what; ``propensity`` may be ``uniform``; empty: there is none."""

    context: tuple[str, ...]
    action: str
    reward: str
    propensity: str
    time: str = ""


def load_bandit_log(path: str | list[str], columns: Columns, arms: str = "") -> BanditLog:
    """Return a log; that of the latest call is kept in memory.

    Raises ConfigError if a column is not named, DataError if a file is damaged or the log cannot be replayed without
    bias: without propensities, or where actions lack support.
    """
    for name in ("action", "reward"):
        if not getattr(columns, name):
            raise ConfigError(f"env.{name}: found none, expected the name of a column")
    if not columns.propensity:
        raise ConfigError(
            "env.propensity: found none, expected the column with the probability of each logged action, or uniform if "
            "all actions were equally likely: without it a replay is biased towards what the logging policy preferred"
        )
    files = tuple(map(stamp_of, files_of(path, "env.path")))
    of_arms = tuple(map(stamp_of, files_of(arms, "env.arms"))) if arms else ()
    return _load(files, columns, of_arms)


@lru_cache(maxsize=1)
def _load(stamps: tuple[Stamp, ...], columns: Columns, of_arms: tuple[Stamp, ...]) -> BanditLog:
    files = [path for path, _, _ in stamps]
    names = column_names(files)
    uniform = columns.propensity == UNIFORM and UNIFORM not in names
    own = [columns.action, columns.reward, *[columns.propensity] * (not uniform), *[columns.time] * bool(columns.time)]
    for key, name in zip(("action", "reward"), own, strict=False):
        match(name, names, f"env.{key}")
    if not uniform:
        match(columns.propensity, names, "env.propensity")
    context = match(columns.context, names, "env.context", own)
    table = read_files(files, list(dict.fromkeys([*own, *context])))

    rewards = table.numbers(columns.reward)
    if (rewards == rewards[0]).all():
        raise DataError(f"{files[0]}, {columns.reward}: found the reward {rewards[0]:g} in all rows, expected several")
    labels, actions = _actions(table, columns.action)
    features = np.empty((len(labels), 0))
    notes: tuple[str, ...] = ()
    if of_arms:
        labels, actions, features, notes = _with_features(table, columns.action, labels, actions, of_arms)
    if len(labels) < 2:
        raise DataError(f"{files[0]}, {columns.action}: found the one action '{labels[0]}', expected at least two")
    if uniform:
        propensities = np.full(len(actions), 1.0 / len(labels))
    else:
        propensities = table.numbers(columns.propensity, "a probability above 0, at most 1")
        wrong = (propensities <= 0) | (propensities > 1)
        table.refuse(columns.propensity, wrong, "a probability above 0, at most 1")
    _check_support(labels, actions, propensities, uniform)
    encoded = encode(table, context)
    if encoded.values.shape[1] * max(features.shape[1], 1) > MAX_FEATURES:
        product = f"{encoded.values.shape[1]:,} of the context times {max(features.shape[1], 1):,} of an arm"
        raise DataError(f"{files[0]}: found {product} features, expected a product of at most {MAX_FEATURES:,}")
    return BanditLog(
        encoded.values, actions, rewards, propensities, _order(table, columns.time), features,
        tuple(map(str, labels)), (*encoded.notes, *notes),
    )  # fmt: skip


def _actions(table: Files, column: str) -> tuple[list[Any], np.ndarray]:
    """Return the actions in order, numbers by size, and that of each row as its place there."""
    import pandas as pd

    values = table.frame[column]
    table.refuse(column, values.isna(), "an action in each row")
    codes, found = pd.factorize(values, sort=False)
    labels = found.tolist()
    if len(labels) > 10_000:
        raise DataError(f"{table.parts[0][0]}, {column}: found {len(labels):,} actions, expected at most 10,000")
    try:
        order = sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:  # numbers and words
        order = sorted(range(len(labels)), key=lambda i: str(labels[i]))
    place = np.empty(len(labels), dtype=np.int32)
    place[order] = np.arange(len(labels), dtype=np.int32)
    return [labels[i] for i in order], place[codes]


def _with_features(
    table: Files, column: str, logged: list[Any], actions: np.ndarray, of_arms: tuple[Stamp, ...]
) -> tuple[list[Any], np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return all actions of the table of arms, those of the rows as places there, and the arms' features."""
    arms = read_files([path for path, _, _ in of_arms])
    names = [str(name) for name in arms.frame]
    match(column, names, "env.arms: the column of the action")
    labels = arms.frame[column].tolist()
    arms.refuse(column, arms.frame[column].duplicated(), "each arm once")
    place = {label: i for i, label in enumerate(labels)}
    unknown = next((label for label in logged if label not in place), None)
    if unknown is not None:
        raise DataError(f"{arms.parts[0][0]}, {column}: found no row of the action '{unknown}', expected one")
    features = encode(arms, [name for name in names if name != column])
    places = np.array([place[label] for label in logged], dtype=np.int32)
    return labels, places[actions], features.values, features.notes


def _check_support(labels: list[Any], actions: np.ndarray, propensities: np.ndarray, uniform: bool) -> None:
    """Refuse a log in which some action was not possible in some contexts, or whose propensities are wrong.

    The sum of 1 / propensity over the rows of an action estimates in how many rows it was possible: all, if it is as
    it should be.
    """
    n = len(actions)
    inverse = 1.0 / propensities
    shares = np.bincount(actions, inverse, len(labels)) / n
    squares = np.bincount(actions, inverse**2, len(labels)) / n
    errors = np.sqrt(np.maximum(squares - shares**2, 0.0) / n)
    off = np.abs(shares - 1.0) > np.maximum(_TOLERANCE, _STANDARD_ERRORS * errors)
    if not off.any():
        return
    worst = int(np.argmax(np.where(off, np.abs(shares - 1.0), -1.0)))
    others = f" and {off.sum() - 1} more" if off.sum() > 1 else ""
    if uniform:
        count = int((actions == worst).sum())
        raise DataError(
            f"env.propensity: found uniform, but {count:,} of {n:,} rows have the action '{labels[worst]}'{others}, "
            f"expected about {n // len(labels):,}: name the column with the probabilities"
        )
    if shares[worst] > 1:
        raise DataError(
            f"env.propensity: found that 1 / propensity adds up to {shares[worst]:.0%} of the rows for the action "
            f"'{labels[worst]}'{others}, expected about 100 %: these are not the probabilities of the logged actions"
        )
    raise DataError(
        f"env.propensity: found propensities that give the action '{labels[worst]}'{others} a chance in only about "
        f"{shares[worst]:.0%} of the rows, expected 100 %: the log cannot tell what it would have earned in the others"
    )


def _order(table: Files, column: str) -> np.ndarray:
    if not column:
        return np.arange(len(table.frame))
    values = table.frame[column]
    table.refuse(column, values.isna(), "a time in each row")
    return np.asarray(np.argsort(values.to_numpy(), kind="stable"))


def paths_of(path: str | list[str], arms: str) -> list[Path]:
    """Return all files that make a log."""
    return [*files_of(path, "env.path"), *(files_of(arms, "env.arms") if arms else ())]
