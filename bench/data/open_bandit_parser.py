import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.data.files import unreadable
from bench.data.open_bandit_log import N_POSITIONS, OpenBanditLog
from bench.errors import DataError

N_USER_FEATURES = 4
N_ITEM_CATEGORIES = 3
BLOCK = 1 << 24
"""Bytes parsed at a time, which bounds the memory."""

_TOO_LARGE = 1e6  # features are standardised scores and numbers of clicks

Check = tuple[str, np.ndarray, np.ndarray, str]
"""Column, its values, a mask of invalid ones, and what is expected."""

_TYPES = {"int64": "a whole number", "double": "a number", "timestamp": "a time stamp with its time zone"}


def read_items(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the items' numerical feature, shape (n_items,), and the three categorical ones, int64, shape (n_items, 3).

    Codes are by first appearance: the names are hashed differently in the folders of the two policies. Raises DataError
    if the file cannot be read, lacks a column, or a line is malformed, or ids are not 0, 1, ..., each once.
    """
    import pyarrow as pa

    categories = [f"item_feature_{number}" for number in range(1, N_ITEM_CATEGORIES + 1)]
    types = {"item_id": pa.int64(), "item_feature_0": pa.float64()} | {name: pa.string() for name in categories}
    ids, scores, codes = [], [], []
    names: list[dict[str, int]] = [{} for _ in categories]
    line = 2
    for block in _blocks(path, types):
        ids.append(block["item_id"].to_numpy())
        scores.append(block["item_feature_0"].to_numpy())
        texts = [_codes(block[name], found) for name, found in zip(categories, names, strict=True)]
        codes.append(np.column_stack(texts))
        empty = [_is_empty(name, text, found) for name, text, found in zip(categories, texts, names, strict=True)]
        not_finite = ("item_feature_0", scores[-1], ~(abs(scores[-1]) < _TOO_LARGE), f"a number below {_TOO_LARGE:g}")
        _refuse([not_finite, *empty], path, line)
        line += len(ids[-1])
    if line == 2:
        raise DataError(f"{path}: found no items, expected a line for each")
    item = np.concatenate(ids)
    again = np.ones(len(item), dtype=bool)
    again[np.unique(item, return_index=True)[1]] = False
    wrong = (item < 0) | (item >= len(item)) | again
    _refuse([("item_id", item, wrong, f"every id from 0 to {len(item) - 1} once")], path, 2)
    order = np.argsort(item)
    return np.concatenate(scores)[order], _by_first_appearance(np.concatenate(codes)[order])


def read_log(path: Path, n_items: int, *, uniform: bool) -> OpenBanditLog:
    """Read the log of one policy; all propensities of the ``uniform`` one are 1 / n_items.

    Raises DataError, naming file and line, if the file cannot be read, is empty, lacks a column, or a line is malformed
    or invalid: an unknown item, a click that is neither 0 nor 1, a propensity outside (0, 1].
    """
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
    names: list[dict[str, int]] = [{} for _ in users]
    parts: list[tuple[np.ndarray, ...]] = []
    line = 2
    for block in _blocks(path, types):
        timestamp = block["timestamp"].cast(pa.int64()).to_numpy()
        item, position, click = (block[name].to_numpy() for name in ("item_id", "position", "click"))
        propensity = block["propensity_score"].to_numpy()
        codes = [_codes(block[name], found) for name, found in zip(users, names, strict=True)]
        affinity = np.column_stack([block[name].to_numpy() for name in affinities])
        checks: list[Check] = [
            ("item_id", item, (item < 0) | (item >= n_items), f"an item from 0 to {n_items - 1}"),
            ("position", position, (position < 1) | (position > N_POSITIONS), f"one from 1 to {N_POSITIONS}"),
            ("click", click, (click != 0) & (click != 1), "0 or 1"),
            ("propensity_score", propensity, ~((propensity > 0) & (propensity <= 1)), "a probability above 0"),
        ]
        if uniform:
            unequal = ~np.isclose(propensity, 1 / n_items, rtol=1e-6, atol=0)
            checks.append(("propensity_score", propensity, unequal, f"1/{n_items}, as the policy is uniform"))
        checks += [_is_empty(name, code, found) for name, code, found in zip(users, codes, names, strict=True)]
        wrong = ~((affinity >= 0) & (affinity < _TOO_LARGE))
        if wrong.any():
            checks += [
                (name, affinity[:, at], wrong[:, at], f"a number from 0 to {_TOO_LARGE:g}")
                for at, name in enumerate(affinities)
            ]
        _refuse(checks, path, line)
        row, of_item = np.nonzero(affinity)
        user = np.column_stack(codes)
        row_of_file = row + (line - 2)
        parts.append(
            (timestamp, item, position - 1, click, propensity, user, row_of_file, of_item, affinity[row, of_item])
        )
        line += len(item)
    if line < 4:
        raise DataError(f"{path}: found {line - 2} line(s) of data, expected at least 2")
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return _in_order(joined, [np.array(list(found), dtype=np.str_) for found in names])


def _in_order(joined: list[np.ndarray], names: list[np.ndarray]) -> OpenBanditLog:
    """Sort by time, and the names of each feature alphabetically, so that codes do not depend on the order of lines."""
    timestamp, item, position, click, propensity, user, row, of_item, affinity = joined
    order = np.argsort(timestamp, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    by_row = np.lexsort((of_item, rank[row]))
    by_name = [np.argsort(found, kind="stable") for found in names]
    ranks = [np.argsort(sorting) for sorting in by_name]
    return OpenBanditLog(
        timestamps=timestamp[order],
        items=item[order],
        positions=position[order],
        clicks=click[order].astype(np.float64),
        propensities=propensity[order],
        users=np.column_stack([codes[user[order, at]] for at, codes in enumerate(ranks)]).astype(np.int64),
        affinity_rows=rank[row][by_row],
        affinity_items=of_item[by_row].astype(np.int64),
        affinities=affinity[by_row],
        names=tuple(found[sorting] for found, sorting in zip(names, by_name, strict=True)),
    )


def _blocks(path: Path, types: dict[str, Any]) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv

    columns = _header(path, types)
    try:
        reader = csv.open_csv(
            path,
            # With one thread, Arrow reports the line of an error
            csv.ReadOptions(use_threads=False, block_size=BLOCK),
            csv.ParseOptions(ignore_empty_lines=False),
            csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[]),
        )
        yield from (pa.Table.from_batches([batch]).combine_chunks() for batch in reader)
    except pa.ArrowException as error:
        raise _explained(path, str(error), columns) from None
    except OSError as error:
        raise unreadable(path, error, "a file of the Open Bandit Dataset") from None


def _header(path: Path, wanted: Iterable[str]) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            first = file.readline()  # as in Arrow, a carriage return alone ends a line
    except OSError as error:
        raise unreadable(path, error, "a file of the Open Bandit Dataset") from None
    if not first.strip():
        raise DataError(f"{path}: found an empty file, expected a header and lines of data")
    columns = [name.strip('"') for name in first.rstrip("\n").split(",")]
    for name in wanted:
        if columns.count(name) != 1:
            found = "no column" if name not in columns else f"{columns.count(name)} columns"
            raise DataError(f"{path}, line 1: found {found} '{name}', expected one")
    return columns


def _explained(path: Path, message: str, columns: list[str]) -> DataError:
    if match := re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", message):
        return DataError(f"{path}, line {match[1]}: found {match[3]} column(s), expected {match[2]}")
    if match := re.search(r"CSV column #(\d+): Row #(\d+): CSV conversion error to (\w+).*?: (.*)", message, re.S):
        value = re.fullmatch(r"invalid value '(.*)'", match[4].strip(), re.S)
        found = repr(value[1][:40]) if value else match[4].strip().splitlines()[0]
        expected = _TYPES.get(match[3], "text")
        return DataError(f"{path}, line {match[2]}, {columns[int(match[1])]}: found {found}, expected {expected}")
    return DataError(f"{path}: found an invalid table ({message.splitlines()[0]}), expected comma-separated values")


def _codes(column: Any, names: dict[str, int]) -> np.ndarray:
    """Return texts as codes, by first appearance; new ones are added to ``names``."""
    encoded = column.combine_chunks().dictionary_encode()
    if hasattr(encoded, "chunks"):
        encoded = encoded.combine_chunks()
    own = np.array([names.setdefault(name, len(names)) for name in encoded.dictionary.to_pylist()], dtype=np.int64)
    return own[encoded.indices.to_numpy()]


def _is_empty(column: str, codes: np.ndarray, names: dict[str, int]) -> Check:
    empty = [code for name, code in names.items() if not name or "\0" in name]  # string arrays drop a trailing NUL
    return column, np.array(list(names)), np.isin(codes, empty), "some text"


def _refuse(checks: list[Check], path: Path, first_line: int) -> None:
    found = [(int(np.argmax(wrong)), number) for number, (_, _, wrong, _) in enumerate(checks) if wrong.any()]
    if found:
        row, number = min(found)
        column, values, _, expected = checks[number]
        value = "nothing" if values.dtype.kind == "U" else values[row].item()
        raise DataError(f"{path}, line {first_line + row}, {column}: found {value}, expected {expected}")


def _by_first_appearance(codes: np.ndarray) -> np.ndarray:
    columns = []
    for column in codes.T:
        _, first, inverse = np.unique(column, return_index=True, return_inverse=True)
        columns.append(np.argsort(np.argsort(first))[inverse])
    return np.column_stack(columns).astype(np.int64)
