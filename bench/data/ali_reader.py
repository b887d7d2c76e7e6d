from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.data.ali_log import AD_FEATURES, USER_FEATURES, AdLog
from bench.data.files import unreadable
from bench.errors import DataError

FILES = ("raw_sample.csv", "ad_feature.csv", "user_profile.csv")
PRICE_BINS = 5

_LOG_COLUMNS = ("user", "time_stamp", "adgroup_id", "clk")
_MISSING = ("", "NULL")
_LARGEST = 2**31 - 1
_BLOCK = 1 << 24
_BEIJING = 8 * 3600
_DAY, _HOUR = 24 * 3600, 3600


@dataclass(frozen=True, eq=False)
class _Table:
    """Users or ads by id, ascending, with their features and whether none of these is missing."""

    ids: np.ndarray
    features: np.ndarray
    whole: np.ndarray

    def rows(self, ids: np.ndarray) -> np.ndarray:
        """Return the row of each id, -1 for an unknown one."""
        rows = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1).astype(np.int32)
        rows[self.ids[rows] != ids] = -1
        return rows


def read_log(folder: Path, identity: str = "", say: Callable[[str], None] | None = None) -> AdLog:
    """Read ``raw_sample.csv``, ``ad_feature.csv`` and ``user_profile.csv``; ``say`` receives lines of progress.

    Rows of the log are dropped and counted if a value is missing (empty, or the word NULL), or if the user or ad is
    missing from its table or has a missing value there. Prices become five bins with equal numbers of ads. The hour of
    a row is that of Beijing, where the log was recorded; a user's main hour is the earliest on a tie.

    Raises DataError if a file is missing or empty, lacks a column, has a field that is not a whole number of at most 31
    bits, an id occurs twice in a table, or no row is left. The message names file, and line or column.
    """
    folder = Path(folder)
    say = say or (lambda text: None)
    ads = _read_table(folder / "ad_feature.csv", "adgroup_id", AD_FEATURES)
    say(f"ad_feature.csv: {len(ads.ids):,} ads")
    users = _read_table(folder / "user_profile.csv", "userid", USER_FEATURES)
    say(f"user_profile.csv: {len(users.ids):,} users")
    path = folder / "raw_sample.csv"
    user, ad, hour, click, counts = _read_rows(path, users, ads, say)
    if not len(user):
        raise DataError(
            f"{path}: found no row whose user and ad are known and have all their features, expected at least one"
        )
    user_rows, user = _used(user, len(users.ids))
    ad_rows, ad = _used(ad, len(ads.ids))
    user_hour = _main_hours(user, hour, len(user_rows))
    starts, shown, clicked = _pairs(user, ad, click, len(user_rows), len(ad_rows))
    features = ads.features[ad_rows]
    features[:, -1] = _bins(ads.features[ads.whole, -1], features[:, -1])
    log = AdLog(
        user_ids=users.ids[user_rows].astype(np.int32),
        user_features=users.features[user_rows].astype(np.int32),
        user_hour=user_hour,
        ad_ids=ads.ids[ad_rows].astype(np.int32),
        ad_features=features.astype(np.int32),
        starts=starts,
        shown=shown,
        clicked=clicked,
        identity=identity,
    )
    log.counts.update(
        {
            "users in user_profile.csv": len(users.ids),
            "users there with a missing value": int(np.count_nonzero(~users.whole)),
            "ads in ad_feature.csv": len(ads.ids),
            "ads there with a missing value": int(np.count_nonzero(~ads.whole)),
            **counts,
            "users kept": len(user_rows),
            "users kept without a click": int(np.count_nonzero(log.clicks() == 0)),
            "ads kept": len(ad_rows),
            "pairs of user and ad": len(shown),
            "clicked pairs": int(np.count_nonzero(clicked)),
        }
    )
    return log


def _read_table(path: Path, key: str, features: tuple[str, ...]) -> _Table:
    columns: list[list[np.ndarray]] = [[] for _ in range(1 + len(features))]
    whole = []
    for batch in _batches(path, (key, *features), required=(key,)):
        for kept, (values, _) in zip(columns, batch, strict=True):
            kept.append(values)
        whole.append(np.logical_and.reduce([valid for _, valid in batch]))
    if not whole:
        raise DataError(f"{path}: found no rows below the header, expected at least one")
    ids, values = np.concatenate(columns[0]), np.stack([np.concatenate(kept) for kept in columns[1:]], axis=1)
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    repeated = np.flatnonzero(ids[1:] == ids[:-1])
    if len(repeated):
        place = min(repeated, key=lambda at: int(order[at + 1]))
        raise DataError(
            f"{path}, line {order[place + 1] + 2}: found the {key} {ids[place]} again, expected it once (first in line "
            f"{order[place] + 2})"
        )
    return _Table(ids, values[order], np.concatenate(whole)[order])


def _read_rows(
    path: Path, users: _Table, ads: _Table, say: Callable[[str], None]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, int]]:
    """Return rows of user and ad, hour and click of the rows of the log that are kept, and counts."""
    kept: list[tuple[np.ndarray, ...]] = []
    reasons = (
        "a missing value",
        "user not in user_profile.csv",
        "user with a missing value",
        "ad not in ad_feature.csv",
        "ad with a missing value",
    )
    dropped, total = dict.fromkeys(reasons, 0), 0
    for batch in _batches(path, _LOG_COLUMNS):
        valid = np.logical_and.reduce([valid for _, valid in batch])
        user_id, stamp, ad_id, click = (values for values, _ in batch)
        user, ad = users.rows(user_id), ads.rows(ad_id)
        good = np.ones(len(user), dtype=bool)
        for reason, passes in zip(reasons, (valid, user >= 0, users.whole[user], ad >= 0, ads.whole[ad]), strict=True):
            dropped[reason] += int(np.count_nonzero(good & ~passes))
            good &= passes
        hour = ((stamp[good] + _BEIJING) % _DAY // _HOUR).astype(np.uint8)
        kept.append((user[good], ad[good], hour, click[good] == 1))
        before, total = total, total + len(user)
        if total // 5_000_000 > before // 5_000_000:
            say(f"raw_sample.csv: {total:,} rows so far")
    if not kept:
        raise DataError(f"{path}: found no rows below the header, expected at least one")
    user, ad, hour, click = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    counts = {"rows of the log": total, "rows kept": len(user)}
    counts |= {f"rows dropped: {reason}": count for reason, count in dropped.items()}
    return user, ad, hour, click, counts


def _used(rows: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which of ``n`` rows occur, ascending, and ``rows`` as positions among these."""
    occurs = np.zeros(n, dtype=bool)
    occurs[rows] = True
    numbers = (np.cumsum(occurs) - 1).astype(np.int32)
    return np.flatnonzero(occurs), numbers[rows]


def _main_hours(user: np.ndarray, hour: np.ndarray, n_users: int) -> np.ndarray:
    counts = np.bincount(user.astype(np.int64) * 24 + hour, minlength=24 * n_users).reshape(n_users, 24)
    return counts.argmax(axis=1).astype(np.uint8)


def _pairs(
    user: np.ndarray, ad: np.ndarray, click: np.ndarray, n_users: int, n_ads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the places of each user, and the ad and click of every distinct pair, clicked if any row is."""
    keys = user.astype(np.int64)
    keys *= n_ads
    keys += ad
    keys *= 2
    keys += click
    keys.sort()
    last = np.append(keys[1:] // 2 != keys[:-1] // 2, True)  # a click sorts after the displays of its pair
    keys = keys[last]
    clicked = keys % 2 == 1
    keys //= 2
    starts = np.searchsorted(keys, np.arange(n_users + 1, dtype=np.int64) * n_ads)
    return starts.astype(np.int64), (keys % n_ads).astype(np.int32), clicked


def _bins(prices: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the bins of ``values``, whose edges are quantiles of ``prices``; equal values share a bin."""
    edges = np.quantile(prices, np.arange(1, PRICE_BINS) / PRICE_BINS)
    return np.searchsorted(edges, values, side="left")


Column = tuple[np.ndarray, np.ndarray]
"""Values, with 0 for missing ones, and a mask of those that are present."""


def _batches(path: Path, names: tuple[str, ...], required: tuple[str, ...] = ()) -> Iterator[list[Column]]:
    import pyarrow as pa
    from pyarrow import csv

    header = _header(path, names)
    types = {name: pa.float64() if name == "price" else pa.int64() for name in names}
    try:
        with csv.open_csv(
            path,
            read_options=csv.ReadOptions(block_size=_BLOCK, column_names=header, skip_rows=1),
            parse_options=csv.ParseOptions(quote_char=False, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(column_types=types, include_columns=list(names), null_values=_MISSING),
        ) as reader:
            for block in reader:
                columns = [_column(block.column(name)) for name in names]
                for name, (values, valid) in zip(names, columns, strict=True):
                    high = 1 if name == "clk" else _LARGEST
                    good = bool(((values >= 0) & (values <= high)).all()) and (name not in required or valid.all())
                    if not good:
                        raise _first_bad_line(path, header, names, required)
                yield columns
    except (pa.ArrowInvalid, OSError) as error:
        if isinstance(error, OSError) and not isinstance(error, pa.ArrowException):
            raise unreadable(path, error, path.name) from None
        raise _first_bad_line(path, header, names, required, str(error)) from None


def _column(column: Any) -> Column:
    valid = np.ones(len(column), dtype=bool)
    if column.null_count:
        valid = column.is_valid().to_numpy(zero_copy_only=False)
        column = column.fill_null(0)
    return column.to_numpy(zero_copy_only=False), valid


def _header(path: Path, names: tuple[str, ...]) -> list[str]:
    """Return the file's columns; names may be surrounded by blanks, as one is in the original."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            line = file.readline(10_000)
    except OSError as error:
        raise unreadable(path, error, path.name) from None
    header = [name.strip() for name in line.split(",")]
    if not line.strip():
        raise DataError(f"{path}: found an empty file, expected a header with the columns {', '.join(names)}")
    for name in names:
        if header.count(name) != 1:
            found = "no" if name not in header else "more than one"
            raise DataError(f"{path}, line 1: found {found} column '{name}', expected one")
    return header


def _first_bad_line(
    path: Path, header: list[str], names: tuple[str, ...], required: tuple[str, ...], reason: str = ""
) -> DataError:
    places = [(header.index(name), name) for name in names]
    with path.open("rb") as file:
        next(file)
        for number, raw in enumerate(file, start=2):
            where = f"{path}, line {number}"
            try:
                fields = raw.decode().rstrip("\r\n").split(",")
            except UnicodeDecodeError as error:
                return DataError(f"{where}: found the byte 0x{raw[error.start]:02x}, expected text")
            if fields == [""] and not required:
                continue
            if len(fields) != len(header):
                return DataError(f"{where}: found {len(fields)} column(s), expected {len(header)}")
            for place, name in places:
                found = fields[place]
                if found in _MISSING:
                    if name in required:
                        return DataError(f"{where}: found no {name}, expected one")
                elif name == "price":
                    if not _is_price(found):
                        return DataError(f"{where}: found the price {found[:20]!r}, expected a number, at least 0")
                elif name == "clk":
                    if found not in ("0", "1"):
                        return DataError(f"{where}: found the clk {found[:20]!r}, expected 0 or 1")
                elif not (found.isascii() and found.isdigit() and len(found) < 11 and int(found) <= _LARGEST):
                    return DataError(
                        f"{where}: found the {name} {found[:20]!r}, expected a whole number from 0 to {_LARGEST}"
                    )
    return DataError(f"{path}: found what cannot be read as a table ({reason.partition(chr(10))[0]}), expected numbers")


def _is_price(text: str) -> bool:
    try:
        return text.isascii() and "_" not in text and 0.0 <= float(text) <= _LARGEST  # only Python accepts 1_0
    except ValueError:
        return False
