"""Yahoo! R6A: the click log of the Front Page Today Module, as the bandit environment uses it."""

import hashlib
import io
import json
import os
import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import bench.data.yahoo_log
import bench.data.yahoo_parser
from bench.data.catalogue import YAHOO_R6A
from bench.data.files import SURROGATE, cache_folder, read_arrays, write_whole
from bench.data.yahoo_log import ClickLog
from bench.data.yahoo_parser import YahooParser
from bench.data.yahoo_surrogate import DAYS, surrogate_log
from bench.errors import DataError

_NAME = re.compile(r"ydata-fp-td-clicks-v1_0\.(200905(?:0[1-9]|10))(?:\.gz)?")

Stamp = tuple[Path, int, int]


def daily_files() -> list[Path]:
    """Return the daily files, plain or gzip, in order; those below ``BENCH_DATA_DIR``, else those in the cache.

    Some of the ten days may be missing; without any, the list is empty.

    Raises
    ------
    DataError
        If a day is there twice, plain and as gzip.
    """
    given = os.environ.get("BENCH_DATA_DIR")
    roots = [Path(given).expanduser()] if given else []
    for root in (*roots, cache_folder() / "data"):
        days: dict[str, Path] = {}
        for path in sorted((root / YAHOO_R6A.folder).glob(YAHOO_R6A.file)):
            match = _NAME.fullmatch(path.name)
            if match is None or not path.is_file():
                continue
            if match[1] in days:
                raise DataError(f"{path}: found this day as {days[match[1]].name} too, expected one file for each day")
            days[match[1]] = path
        if days:
            return list(days.values())
    return []


def fingerprint() -> str:
    """Return which data is in use: the sha256 of what the files say, or ``surrogate`` where there are none.

    It is the same for plain and for gzip files, wherever they lie. The first call parses them.
    """
    stamps = _files_in_use()
    return _load(stamps)[1] if stamps else SURROGATE


def load_log(say: Callable[[str], None] | None = None) -> ClickLog:
    """Return the aggregated log of the daily files if there are any, else the surrogate's.

    What parsing the files gave is kept in the cache folder, under a hash of their names, sizes and times of change and
    of the parser's source, and in memory.

    Parameters
    ----------
    say
        Told how far the parsing is, file after file. Without it, there is a warning that parsing takes a while, and
        one with what was skipped, if anything was.

    Raises
    ------
    DataError
        If a file is damaged or not R6A; the surrogate never hides that.
    """
    stamps = _files_in_use()
    return _load(stamps, say)[0] if stamps else _surrogate()


def describe(log: ClickLog) -> str:
    """Return what a log holds and what was skipped when it was read, one line each."""
    held = {"rounds (distinct time stamps)": len(log), "articles": len(np.unique(log.ids))}
    return "\n".join(f"{kind}: {count:,}" for kind, count in (log.counts | held).items())


def _files_in_use() -> tuple[Stamp, ...]:
    stamps = []
    for path in daily_files():
        try:
            status = path.stat()
        except OSError as error:
            raise DataError(
                f"{path}: found no way to read it ({error.strerror}), expected a daily file of R6A"
            ) from None
        stamps.append((path, status.st_size, status.st_mtime_ns))
    return tuple(stamps)


@lru_cache(maxsize=1)
def _surrogate() -> ClickLog:
    return surrogate_log()


_loaded: dict[tuple[Stamp, ...], tuple[ClickLog, str]] = {}


def _load(stamps: tuple[Stamp, ...], say: Callable[[str], None] | None = None) -> tuple[ClickLog, str]:
    """Return log and fingerprint, from memory, the cache folder or the files."""
    if stamps not in _loaded:
        kept = log_path(stamps)
        log = _read(kept)
        if log is None:
            log = _parse([path for path, _, _ in stamps], say)
            _keep(kept, log)
        _loaded.clear()
        _loaded[stamps] = log, log.fingerprint()
    return _loaded[stamps]


def _parse(paths: list[Path], say: Callable[[str], None] | None) -> ClickLog:
    if say is None:
        warnings.warn(
            f"{paths[0].parent}: {len(paths)} of {DAYS} daily files are parsed, once, which takes up to ten minutes",
            stacklevel=4,
        )
    parser = YahooParser()
    for path in paths:
        parser.read(path)
        if say is not None:
            counts = parser.counts()
            say(f"{path.name}: read ({counts['lines']:,} lines so far, {counts['lines skipped']:,} of them skipped)")
    log = parser.log()
    skipped = {kind: count for kind, count in log.counts.items() if "skipped:" in kind}
    if say is None and skipped:
        what = ", ".join(f"{kind}: {count:,}" for kind, count in skipped.items())
        warnings.warn(f"{paths[0].parent}: {what} (of {log.counts['lines']:,} lines)", stacklevel=4)
    return log


def log_path(stamps: tuple[Stamp, ...]) -> Path:
    """Return where the log of these files is kept: a name that changes with them and with the parser."""
    parts: list[object] = [[path.name, size, mtime_ns] for path, size, mtime_ns in stamps]
    for module in (bench.data.yahoo_parser, bench.data.yahoo_log):
        parts.append(hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest())
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return cache_folder() / "logs" / f"yahoo_r6a-{key[:32]}.npz"


def _keep(path: Path, log: ClickLog) -> None:
    content = io.BytesIO()
    entries: dict[str, Any] = {"counts": json.dumps(log.counts), "fingerprint": log.fingerprint(), **log.arrays()}
    np.savez_compressed(content, **entries)
    try:
        write_whole(path, content.getvalue())
    except OSError as error:
        warnings.warn(f"{path}: could not be written ({error.strerror}); next time it is made anew", stacklevel=5)


def _read(path: Path) -> ClickLog | None:
    """Return a kept log, or None where there is none or the file is not what was written."""
    if not path.is_file():
        return None
    try:
        content = read_arrays(path)
        counts, identity = json.loads(content.pop("counts").item()), content.pop("fingerprint").item()
        log = ClickLog(**content, counts=counts)
        whole = log.fingerprint() == identity
    except Exception:  # whatever a damaged file leads to, the answer is the same: make it anew
        whole = False
    if not whole:
        warnings.warn(f"{path}: found a damaged cache file, which is made anew", stacklevel=5)
        return None
    return log
