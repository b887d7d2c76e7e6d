"""Ali-Display-Ad: the log of shown and clicked ads, as used by the environment."""

import hashlib
import tempfile
import warnings
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

import bench.data.ali_log
import bench.data.ali_surrogate
import bench.data.log
import bench.seeding
from bench.data.ali_log import FILES, AdLog, read_log
from bench.data.ali_surrogate import write_surrogate
from bench.data.cache import Cache
from bench.data.catalogue import ALI_DISPLAY_AD
from bench.data.files import Stamp, locate, reading, stamp_of
from bench.data_kind import DataKind
from bench.errors import DataError


def fingerprint() -> str:
    """Return the fingerprint of the data in use, a hash of the three files' sha256, or ``surrogate`` without files.

    Raises DataError if only some of the files exist, or a file cannot be read.
    """
    stamps = _files_in_use()
    return _checksum(stamps) if stamps else DataKind.SURROGATE.value


def load_log(n_users: int, n_ads: int, days: int) -> AdLog:
    """Return the log of the three files if they exist, or else a generated log of the given size.

    The log is cached under a hash of the files' checksums and of the code. Warnings report dropped rows. Raises
    DataError if a file is missing or damaged; a generated log does not replace damaged files.
    """
    stamps = _files_in_use()
    parts = (_checksum(stamps),) if stamps else (DataKind.SURROGATE.value, n_users, n_ads, days)

    def compute() -> dict[str, np.ndarray]:
        if stamps:
            return _read(stamps[0][0].parent).arrays()
        with tempfile.TemporaryDirectory(prefix="bandit-tuning-bench-") as folder:
            write_surrogate(Path(folder), n_users, n_ads, days)
            return read_log(Path(folder)).arrays()

    return _cache.get(*parts, compute=compute, build=lambda arrays: AdLog(**arrays, identity=_cache.key(*parts)))


_cache: Cache[AdLog] = Cache(
    "logs",
    "ali_display_ad-",
    bench.data.ali_log,
    bench.data.log,
    bench.data.ali_surrogate,
    bench.seeding,
)


def _read(folder: Path) -> AdLog:
    warnings.warn(f"{folder}: three files are read, once; this takes up to a few minutes", stacklevel=6)
    log = read_log(folder)
    dropped = [f"{kind}: {count:,}" for kind, count in log.counts.items() if count and "dropped" in kind]
    if dropped:
        what = f"{', '.join(dropped)} (of {log.counts['rows of the log']:,})"
        warnings.warn(f"{folder}: {what}", stacklevel=6)
    return log


def _files_in_use() -> tuple[Stamp, ...]:
    paths = [path for name in FILES if (path := locate(replace(ALI_DISPLAY_AD, file=name)))]
    if not paths:
        return ()
    for name in FILES:
        if not paths[0].with_name(name).exists():
            raise DataError(
                f"{paths[0].with_name(name)}: found no such file beside {paths[0].name}, expected {', '.join(FILES)}"
            )
    return tuple(stamp_of(paths[0].with_name(name)) for name in FILES)


@lru_cache(maxsize=4)
def _checksum(stamps: tuple[Stamp, ...]) -> str:
    digest = hashlib.sha256()
    for path, _, _ in stamps:
        with reading(path, path.name), path.open("rb") as file:
            digest.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()} ".encode())
    return digest.hexdigest()
