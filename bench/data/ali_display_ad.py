"""Ali-Display-Ad: the log of shown and clicked ads, as the environment uses it."""

import hashlib
import io
import json
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pooch

import bench.data.ali_log
import bench.data.ali_reader
import bench.data.ali_surrogate
import bench.seeding
from bench.data.ali_log import AdLog
from bench.data.ali_reader import FILES, read_log
from bench.data.ali_surrogate import write_surrogate
from bench.data.catalogue import ALI_DISPLAY_AD
from bench.data.files import SURROGATE, cache_folder, locate, read_arrays, write_whole
from bench.errors import DataError

Stamp = tuple[Path, int, int]


def fingerprint() -> str:
    """Return which data is in use: a sha256 over those of the three files, or ``surrogate`` where there are none.

    Raises
    ------
    DataError
        If only some of the files are there, or one cannot be read.
    """
    stamps = _files_in_use()
    return _checksum(stamps) if stamps else SURROGATE


def load_log(n_users: int, n_ads: int, days: int) -> AdLog:
    """Return the log of the three files if they are at hand, else a generated one, written and read like them.

    What reading gave is kept in the cache folder, under a hash of the files' checksums and the code, and in memory.
    There is a warning that reading takes a while, and one with what was dropped.

    Parameters
    ----------
    n_users, n_ads, days
        Size of the generated log.

    Raises
    ------
    DataError
        If a file is missing or damaged; the generated log never hides that.
    """
    stamps = _files_in_use()
    return _real(stamps) if stamps else _surrogate(n_users, n_ads, days)


def load_files(say: Callable[[str], None]) -> AdLog:
    """Return the log of the three files; ``say`` is told how far the reading is.

    Raises
    ------
    DataError
        If a file is missing or damaged.
    """
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
        try:
            status = path.stat()
        except FileNotFoundError:
            raise DataError(f"{path}: found no such file beside {found.name}, expected {', '.join(FILES)}") from None
        except OSError as error:
            raise DataError(f"{path}: found no way to read it ({error.strerror}), expected {name}") from None
        stamps.append((path, status.st_size, status.st_mtime_ns))
    return tuple(stamps)


@lru_cache(maxsize=4)
def _checksum(stamps: tuple[Stamp, ...]) -> str:
    digest = hashlib.sha256()
    for path, _, _ in stamps:
        try:
            digest.update(f"{path.name} {pooch.file_hash(str(path), alg='sha256')} ".encode())
        except OSError as error:
            raise DataError(f"{path}: found no way to read it ({error.strerror}), expected {path.name}") from None
    return digest.hexdigest()


_loaded: dict[str, AdLog] = {}


def _real(stamps: tuple[Stamp, ...], say: Callable[[str], None] | None = None) -> AdLog:
    folder = stamps[0][0].parent

    def read(identity: str) -> AdLog:
        if say is not None:
            return read_log(folder, identity, say)
        warnings.warn(f"{folder}: three files are read, once, which takes up to a few minutes", stacklevel=5)
        log = read_log(folder, identity)
        dropped = [f"{kind}: {count:,}" for kind, count in log.counts.items() if count and "dropped" in kind]
        if dropped:
            what = f"{', '.join(dropped)} (of {log.counts['rows of the log']:,})"
            warnings.warn(f"{folder}: {what}", stacklevel=5)
        return log

    return _cached([_checksum(stamps)], read, bench.data.ali_reader, bench.data.ali_log)


def _surrogate(n_users: int, n_ads: int, days: int) -> AdLog:
    def generate(identity: str) -> AdLog:
        with tempfile.TemporaryDirectory(prefix="bandit-tuning-bench-") as folder:
            write_surrogate(Path(folder), n_users, n_ads, days)
            return read_log(Path(folder), identity)

    modules = (bench.data.ali_reader, bench.data.ali_log, bench.data.ali_surrogate, bench.seeding)
    return _cached([SURROGATE, n_users, n_ads, days], generate, *modules)


def _cached(parts: Sequence[object], make: Callable[[str], AdLog], *modules: ModuleType) -> AdLog:
    """Return a log from memory, from the cache folder, or made; its identity goes with ``parts`` and the code."""
    sources = [hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest() for module in modules]
    key = hashlib.sha256(json.dumps([*parts, np.__version__, *sources]).encode()).hexdigest()
    if key not in _loaded:
        path = log_path(key)
        log = _read(path, key)
        if log is None:
            log = make(key)
            _keep(path, log)
        _loaded.clear()
        _loaded[key] = log
    return _loaded[key]


def log_path(identity: str) -> Path:
    """Return where the log with this identity is kept."""
    return cache_folder() / "logs" / f"ali_display_ad-{identity[:32]}.npz"


def _keep(path: Path, log: AdLog) -> None:
    content = io.BytesIO()
    entries: dict[str, Any] = {"counts": json.dumps(log.counts), **log.arrays()}
    np.savez(content, **entries)
    try:
        write_whole(path, content.getvalue())
    except OSError as error:
        warnings.warn(f"{path}: could not be written ({error.strerror}); next time it is made anew", stacklevel=5)


def _read(path: Path, identity: str) -> AdLog | None:
    """Return a kept log, or None where there is none or the file is not what was written."""
    if not path.is_file():
        return None
    try:
        content = read_arrays(path)
        return AdLog(counts=json.loads(content.pop("counts").item()), identity=identity, **content)
    except Exception:  # whatever a damaged file leads to, the answer is the same: make it anew
        warnings.warn(f"{path}: found a damaged cache file, which is made anew", stacklevel=5)
        return None
