"""The logs of the Open Bandit Dataset, and their files."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.data.files import reading, refuse
from bench.data.log import Log
from bench.errors import DataError

N_POSITIONS = 3
"""Places of an item on the page, side by side."""


@dataclass(frozen=True, eq=False)
class OpenBanditLog(Log):
    """The displays of one logging policy and their clicks, with one row for each item shown, sorted by time.

    Parameters
    ----------
    timestamps
        Microseconds since 1970, non-decreasing, int64, shape (n,).
    items, positions
        Item shown, from 0, and the item's position, 0 to 2, int64, shape (n,).
    clicks
        0 or 1, float64, shape (n,).
    propensities
        The policy's probability of showing that item at that position, float64 in (0, 1], shape (n,).
    users
        The user's four categorical features as codes, int64, shape (n, 4).
    affinity_rows, affinity_items, affinities
        The non-zero user-item affinities, sorted by row and item: int64, int64, float64.
    names
        The texts of the codes of the four features: four arrays of str.
    """

    timestamps: np.ndarray
    items: np.ndarray
    positions: np.ndarray
    clicks: np.ndarray
    propensities: np.ndarray
    users: np.ndarray
    affinity_rows: np.ndarray
    affinity_items: np.ndarray
    affinities: np.ndarray
    names: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        return len(self.items)

    def arrays(self) -> dict[str, np.ndarray]:
        return super().arrays() | {f"names_{number}": names for number, names in enumerate(self.names)}

    @classmethod
    def of(cls, arrays: dict[str, np.ndarray]) -> "OpenBanditLog":
        names = tuple(array for name, array in sorted(arrays.items()) if name.startswith("names_"))
        return cls(**{name: array for name, array in arrays.items() if not name.startswith("names_")}, names=names)


BLOCK = 1 << 24
"""Bytes parsed at a time, which bounds the memory."""

N_USER_FEATURES = 4
N_ITEM_CATEGORIES = 3

_FORM = "a table of the Open Bandit Dataset"
_TOO_LARGE = 1e6  # features are standardised scores and numbers of clicks


def read_items(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the items' numerical feature, shape (n_items,), and three categorical features, shape (n_items, 3).

    The categorical features are int64 codes by first appearance, because the names are hashed differently in the
    folders of the two policies. Raises DataError if the file has another format, or unless the ids are 0, 1, ..., each
    once.
    """
    import pyarrow as pa

    categories = [f"item_feature_{number}" for number in range(1, N_ITEM_CATEGORIES + 1)]
    types = {"item_id": pa.int64(), "item_feature_0": pa.float64()} | {name: pa.string() for name in categories}
    table = pa.concat_tables([block for _, block in _read_blocks(path, types)])
    item, scores = table["item_id"].to_numpy(), table["item_feature_0"].to_numpy()
    wrong = (item < 0) | (item >= len(item))
    wrong[np.setdiff1d(np.arange(len(item)), np.unique(item, return_index=True)[1])] = True  # for a repeated id
    refuse(path, "item_id", item, wrong, f"every id from 0 to {len(item) - 1} once")
    refuse(path, "item_feature_0", scores, ~(abs(scores) < _TOO_LARGE), f"a number below {_TOO_LARGE:g}")
    order = np.argsort(item)
    codes = [_by_first_appearance(np.array(table[name].to_pylist(), dtype=np.str_)[order]) for name in categories]
    return scores[order], np.column_stack(codes).astype(np.int64)


def _by_first_appearance(texts: np.ndarray) -> np.ndarray:
    _, first, inverse = np.unique(texts, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def read_logs(bts: Path, random: Path, n_items: int) -> list[OpenBanditLog]:
    """Read the logs of both policies with common codes.

    Each log has user features that do not occur in the other log. Raises DataError with the file and line if a file has
    another format, an item is unknown, a click is neither 0 nor 1, or a propensity is outside (0, 1] or, in the
    ``random`` log, is not 1 / n_items.
    """
    logs = _read(bts, n_items, uniform=False), _read(random, n_items, uniform=True)
    coded = [_coded([*first, *second]) for first, second in zip(*(texts for _, texts in logs), strict=True)]
    names = tuple(names for names, _ in coded)
    users = np.column_stack([codes for _, codes in coded]).astype(np.int64)
    return [
        _in_order(columns, part, names)
        for (columns, _), part in zip(logs, np.split(users, [len(logs[0][0][0])]), strict=True)
    ]


def _read(path: Path, n_items: int, *, uniform: bool) -> tuple[list[np.ndarray], list[list[Any]]]:
    """Return the columns of a log, with the users' features as blocks of Arrow's dictionaries."""
    import pyarrow as pa

    users = [f"user_feature_{number}" for number in range(N_USER_FEATURES)]
    affinities = [f"user-item_affinity_{item}" for item in range(n_items)]
    types: dict[str, Any] = {
        "timestamp": pa.timestamp("us", tz="UTC"),
        "item_id": pa.int64(),
        "position": pa.int64(),
        "click": pa.int64(),
        "propensity_score": pa.float64(),
    }
    types |= {name: pa.string() for name in users} | {name: pa.float64() for name in affinities}
    texts: list[list[Any]] = [[] for _ in users]
    parts: list[tuple[np.ndarray, ...]] = []
    for line, block in _read_blocks(path, types):
        timestamp = block["timestamp"].cast(pa.int64()).to_numpy()
        item, position, click, propensity = (block[name].to_numpy() for name in list(types)[1:5])
        affinity = np.column_stack([block[name].to_numpy() for name in affinities])
        valid_propensity = np.isclose(propensity, 1 / n_items, rtol=1e-6, atol=0) if uniform else propensity > 0
        expected = f"1/{n_items}, as the policy is uniform" if uniform else "a probability above 0"
        for name, values, valid, what in (
            ("item_id", item, (item >= 0) & (item < n_items), f"an item from 0 to {n_items - 1}"),
            ("position", position, (position > 0) & (position <= N_POSITIONS), f"one from 1 to {N_POSITIONS}"),
            ("click", click, (click == 0) | (click == 1), "0 or 1"),
            ("propensity_score", propensity, valid_propensity & (propensity <= 1), expected),
        ):
            refuse(path, name, values, ~valid, what, line)
        valid = (affinity >= 0) & (affinity < _TOO_LARGE)
        for at in np.flatnonzero(~valid.all(axis=0)):
            refuse(path, affinities[at], affinity[:, at], ~valid[:, at], f"a number from 0 to {_TOO_LARGE:g}", line)
        for column, name in zip(texts, users, strict=True):
            column += block[name].dictionary_encode().chunks
        row, of_item = np.nonzero(affinity)
        parts.append(
            (timestamp, item, position - 1, click, propensity, row + (line - 2), of_item, affinity[row, of_item])
        )
    return [np.concatenate(column) for column in zip(*parts, strict=True)], texts


def _coded(parts: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct texts in alphabetical order, and the code of each row."""
    import pyarrow as pa

    column = pa.chunked_array(parts).unify_dictionaries().combine_chunks()
    names, codes = np.unique(np.array(column.dictionary.to_pylist(), dtype=np.str_), return_inverse=True)
    return names, codes[column.indices.to_numpy()]


def _in_order(columns: list[np.ndarray], users: np.ndarray, names: tuple[np.ndarray, ...]) -> OpenBanditLog:
    """Return the rows sorted by time."""
    timestamp, item, position, click, propensity, row, of_item, affinity = columns
    order = np.argsort(timestamp, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    by_row = np.lexsort((of_item, rank[row]))
    return OpenBanditLog(
        timestamps=timestamp[order],
        items=item[order],
        positions=position[order],
        clicks=click[order].astype(np.float64),
        propensities=propensity[order],
        users=users[order],
        affinity_rows=rank[row][by_row],
        affinity_items=of_item[by_row].astype(np.int64),
        affinities=affinity[by_row],
        names=names,
    )


def _read_blocks(path: Path, types: dict[str, Any]) -> Iterator[tuple[int, Any]]:
    """Yield the number of the first line and the columns, with the given Arrow types, of each block of a CSV file.

    Raises DataError if the file cannot be read, is empty or lacks a column, or a field does not have its column's type.
    """
    import pyarrow as pa
    from pyarrow import csv

    with reading(path, _FORM), path.open(encoding="utf-8-sig") as file:
        header = [name.strip().strip('"') for name in file.readline().split(",")]
    for name in types:
        if header.count(name) != 1:
            raise DataError(f"{path}, line 1: found {header.count(name)} columns '{name}', expected one")
    line = 2
    with reading(path, _FORM):
        # With one thread, Arrow reports the line of an error
        reader = csv.open_csv(
            path,
            csv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=header, skip_rows=1),
            csv.ParseOptions(ignore_empty_lines=False),
            csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[]),
        )
        for batch in reader:
            yield line, pa.Table.from_batches([batch]).combine_chunks()
            line += len(batch)
    if line == 2:
        raise DataError(f"{path}: found no rows below the header, expected at least one")
