"""Ali-Display-Ad: the log of shown and clicked ads, as the environment uses it."""

import hashlib
import json
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pooch

import bench.data.ali_log
import bench.data.ali_reader
import bench.data.ali_surrogate
import bench.data.log
import bench.seeding
from bench.data.ali_log import AdLog
from bench.data.ali_reader import FILES, read_log
from bench.data.ali_surrogate import write_surrogate
from bench.data.cache import Cache
from bench.data.catalogue import ALI_DISPLAY_AD
from bench.data.files import SURROGATE, Stamp, locate, stamp_of, unreadable
from bench.errors import DataError


def fingerprint() -> str:
    """Return which data is in use: a hash of the three files' sha256, or ``surrogate`` if there are none.

    Raises DataError if only some of the files exist, or one cannot be read.
    """
    stamps = _files_in_use()
    return _checksum(stamps) if stamps else SURROGATE


def load_log(n_users: int, n_ads: int, days: int) -> AdLog:
    """Return the log of the three files if they exist, else a generated one of that size, written and read alike.

    It is cached under a hash of the files' checksums and of the code. Warnings say what was dropped. Raises DataError
    if a file is missing or damaged; the generated log does not replace it then.
    """
    stamps = _files_in_use()
    return _real(stamps) if stamps else _surrogate(n_users, n_ads, days)


def load_files(say: Callable[[str], None]) -> AdLog:
    """Return the log of the files; ``say`` receives progress. Raises DataError if one is missing or damaged."""
    stamps = _files_in_use()
    if not stamps:
        raise DataError(
            f"found no {ALI_DISPLAY_AD.folder}/{FILES[0]} below BENCH_DATA_DIR or the cache, expected the three files; "
            f"get them: {ALI_DISPLAY_AD.how_to_get}"
        )
    say(f"{stamps[0][0].parent}: {', '.join(FILES)}")
    return _real(stamps, say)


def describe(log: AdLog) -> str:
    """Return what was read and what was dropped, one line each."""
    return "\n".join(f"{kind}: {count:,}" for kind, count in log.counts.items())


def _files_in_use() -> tuple[Stamp, ...]:
    known = (locate(replace(ALI_DISPLAY_AD, file=name)) for name in FILES)
    found = next((path for path in known if path is not None), None)
    if found is None:
        return ()
    stamps = []
    for name in FILES:
        path = found.with_name(name)
        if not path.exists():
            raise DataError(f"{path}: found no such file beside {found.name}, expected {', '.join(FILES)}")
        stamps.append(stamp_of(path, name))
    return tuple(stamps)


@lru_cache(maxsize=4)
def _checksum(stamps: tuple[Stamp, ...]) -> str:
    digest = hashlib.sha256()
    for path, _, _ in stamps:
        try:
            digest.update(f"{path.name} {pooch.file_hash(str(path), alg='sha256')} ".encode())
        except OSError as error:
            raise unreadable(path, error, path.name) from None
    return digest.hexdigest()


_READING = (bench.data.ali_reader, bench.data.ali_log, bench.data.log)
_read: Cache[AdLog] = Cache("logs", "ali_display_ad-", *_READING)
_generated: Cache[AdLog] = Cache("logs", "ali_display_ad-", *_READING, bench.data.ali_surrogate, bench.seeding)


def _real(stamps: tuple[Stamp, ...], say: Callable[[str], None] | None = None) -> AdLog:
    folder = stamps[0][0].parent

    def read() -> AdLog:
        if say is not None:
            return read_log(folder, say=say)
        warnings.warn(f"{folder}: three files are read, once; this takes up to a few minutes", stacklevel=7)
        log = read_log(folder)
        dropped = [f"{kind}: {count:,}" for kind, count in log.counts.items() if count and "dropped" in kind]
        if dropped:
            what = f"{', '.join(dropped)} (of {log.counts['rows of the log']:,})"
            warnings.warn(f"{folder}: {what}", stacklevel=7)
        return log

    return _cached(_read, [_checksum(stamps)], read)


def _surrogate(n_users: int, n_ads: int, days: int) -> AdLog:
    def generate() -> AdLog:
        with tempfile.TemporaryDirectory(prefix="bandit-tuning-bench-") as folder:
            write_surrogate(Path(folder), n_users, n_ads, days)
            return read_log(Path(folder))

    return _cached(_generated, [SURROGATE, n_users, n_ads, days], generate)


def _cached(cache: Cache[AdLog], parts: list[Any], make: Callable[[], AdLog]) -> AdLog:
    def compute() -> dict[str, Any]:
        log = make()
        return {"counts": json.dumps(log.counts), **log.arrays()}

    def build(arrays: dict[str, np.ndarray]) -> AdLog:
        counts = json.loads(arrays.pop("counts").item())
        return AdLog(**arrays, counts=counts, identity=cache.key(*parts))

    return cache.get(*parts, compute=compute, build=build)
