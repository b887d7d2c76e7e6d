"""Users' logs, with the context, action, reward and propensity of each decision from named columns of files."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from bench.data.encode import counted, encode, left_out, listed, match
from bench.data.files import Stamp, stamp_of
from bench.data.labels import Labels, labels_in
from bench.data.log import Log
from bench.data.read import Files, column_names, files_of, index_columns, read_files
from bench.data.times import times
from bench.errors import ConfigError, DataError

UNIFORM = "uniform"
MAX_ACTIONS = 10_000
MAX_FEATURES = 1000
"""Largest number of features of an arm in a context; more would make the matrices slow."""

_TOLERANCE, _STANDARD_ERRORS = 0.05, 5.0


@dataclass(frozen=True, eq=False)
class BanditLog(Log):
    """A user's log with ``contexts`` of norm 1, ``actions`` from 0, ``rewards`` and ``propensities`` above 0.

    ``contexts`` has shape (n, d). ``order`` lists the rows by time, or in file order without times. ``arms``, shape
    (actions, d_a), has the features of the actions, of norm 1; the shape is (actions, 0) without a table of actions.
    ``names`` are the names of the actions.
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
    """Names of the columns; ``propensity`` may be ``uniform``; an empty name means no column."""

    context: tuple[str, ...]
    action: str
    reward: str
    propensity: str
    time: str = ""


def load_bandit_log(path: str | list[str], columns: Columns, arms: str = "") -> BanditLog:
    """Return the log in the given files; the log of the latest call is kept in memory.

    Raises ConfigError if a column is not named. Raises DataError if a file is damaged, or if the log cannot be replayed
    without bias, because propensities are missing or actions lack support.
    """
    for name in ("action", "reward"):
        if not getattr(columns, name):
            raise ConfigError(f"env.{name}: found none, expected the name of a column")
    if not columns.propensity:
        raise ConfigError(
            "env.propensity: found none, expected the column with the probability of each logged action, or uniform if "
            "all actions were equally likely: without it a replay is biased towards actions that the policy preferred"
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
    index = index_columns(files)
    context = match(columns.context, names, "env.context", own, index)
    table = read_files(files, list(dict.fromkeys([*own, *context])), [columns.action])

    rewards = table.numbers(columns.reward)
    if (rewards == rewards[0]).all():
        raise DataError(f"{files[0]}, {columns.reward}: found the reward {rewards[0]:g} in all rows, expected several")
    logged = labels_in(table, columns.action, "an action", "actions", MAX_ACTIONS)
    labels, actions, features = logged.names, logged.codes, np.empty((len(logged.names), 0))
    notes: tuple[str, ...] = ()
    if of_arms:
        labels, actions, features, notes = _with_features(columns.action, logged, of_arms)
    if len(labels) < 2:
        raise DataError(f"{files[0]}, {columns.action}: found only the action '{labels[0]}', expected at least two")
    if uniform:
        propensities = np.full(len(actions), 1.0 / len(labels))
    else:
        propensities = table.numbers(columns.propensity, "a probability above 0, at most 1")
        wrong = (propensities <= 0) | (propensities > 1)
        table.refuse(columns.propensity, wrong, "a probability above 0, at most 1")
    check_support(labels, actions, propensities, uniform)
    encoded = encode(table, context)
    if encoded.values.shape[1] * max(features.shape[1], 1) > MAX_FEATURES:
        product = f"{encoded.values.shape[1]:,} of the context times {max(features.shape[1], 1):,} of an arm"
        raise DataError(f"{files[0]}: found {product} features, expected a product of at most {MAX_FEATURES:,}")
    order = _order(table, columns.time)
    taken = [
        f"{columns.action}: the action, {counted(len(labels), 'label')}, {listed(labels)}",
        f"{columns.reward}: the reward, numbers from {rewards.min():.6g} to {rewards.max():.6g}",
    ]
    if not uniform:
        taken.append(f"{columns.propensity}: the propensity, {propensities.min():.4g} to {propensities.max():.4g}")
    if columns.time:
        ends = [table.frame[columns.time].iloc[order[place]] for place in (0, -1)]
        taken.append(f"{columns.time}: the time, from {ends[0]} to {ends[1]}")
    taken += left_out(columns.context, index, [*own, *context], "env.context")
    return BanditLog(
        encoded.values, actions, rewards, propensities, order, features, tuple(labels),
        (*taken, *encoded.notes, *notes),
    )  # fmt: skip


def _with_features(
    column: str, logged: Labels, of_arms: tuple[Stamp, ...]
) -> tuple[list[str], np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return the actions in the table of arms, the index of each row's action in this table, and the arms' features."""
    files = [path for path, _, _ in of_arms]
    names = column_names(files)
    match(column, names, "env.arms: the column of the action")
    arms = read_files(files, names, [column])
    labels = labels_in(arms, column, "an action", "actions", MAX_ACTIONS)
    arms.refuse(column, arms.frame[column].duplicated(), "each arm once")
    by_value = logged.are_numbers and labels.are_numbers
    row_of = {(labels.values if by_value else labels.names)[code]: row for row, code in enumerate(labels.codes)}
    places = []
    for value, name in zip(logged.values if by_value else logged.names, logged.names, strict=True):
        if value not in row_of:
            raise DataError(f"{files[0]}, {column}: found no row of the action '{name}', expected one")
        places.append(row_of[value])
    index = index_columns(files)
    used = [name for name in names if name != column and name not in index]
    features = encode(arms, used)
    spelled = [labels.names[code] for code in labels.codes]
    notes = (*left_out("*", index, [column], "env.arms"), *(f"arms: {note}" for note in features.notes))
    return spelled, np.array(places, dtype=np.int32)[logged.codes], features.values, notes


def check_support(labels: list[str], actions: np.ndarray, propensities: np.ndarray, uniform: bool) -> None:
    """Raise DataError if propensities are wrong, or if an action was impossible in some contexts.

    The sum of 1 / propensity over the rows of an action estimates the number of rows in which the action was possible,
    which should be all rows.
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
        f"{shares[worst]:.0%} of the rows, expected 100 %: either the propensities are wrong, or the log has "
        "no information on this action in the other rows"
    )


def _order(table: Files, column: str) -> np.ndarray:
    if not column:
        return np.arange(len(table.frame))
    return np.asarray(times(table, column).argsort(kind="stable"))


def paths_of(path: str | list[str], arms: str) -> list[Path]:
    """Return all files that make a log."""
    return [*files_of(path, "env.path"), *(files_of(arms, "env.arms") if arms else ())]
