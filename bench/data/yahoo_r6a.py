"""Yahoo! R6A: the click log of the Front Page Today Module, as the bandit environment uses it."""

import json
import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import bench.data.log
import bench.data.yahoo_log
import bench.data.yahoo_parser
from bench.data.cache import Cache
from bench.data.catalogue import YAHOO_R6A
from bench.data.files import SURROGATE, Stamp, data_roots, stamp_of
from bench.data.yahoo_log import ClickLog
from bench.data.yahoo_parser import YahooParser
from bench.data.yahoo_surrogate import DAYS, surrogate_log
from bench.errors import DataError

_NAME = re.compile(r"ydata-fp-td-clicks-v1_0\.(200905(?:0[1-9]|10))(?:\.gz)?")


def daily_files() -> list[Path]:
    """Return the daily files, plain or gzip, in order: those below ``BENCH_DATA_DIR``, else those in the cache.

    Days may be missing. Raises DataError if one is present twice, plain and as gzip.
    """
    for root in data_roots():
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
    """Return the sha256 of the parsed log, or ``surrogate`` if there are no files; the first call parses them.

    It is the same for plain and gzip files, wherever they are.
    """
    stamps = _files_in_use()
    return _load(stamps)[1] if stamps else SURROGATE


def load_log(say: Callable[[str], None] | None = None) -> ClickLog:
    """Return the aggregated log of the daily files if there are any, else the surrogate's.

    The parsed log is cached under a hash of the files' names, sizes and modification times and of the parser's source.
    ``say`` receives a line of progress for each file; without it, warnings say that parsing takes a while and what was
    skipped. Raises DataError if a file is damaged or not R6A; the surrogate does not replace it then.
    """
    stamps = _files_in_use()
    return _load(stamps, say)[0] if stamps else _surrogate()


def describe(log: ClickLog) -> str:
    """Return what a log contains and what was skipped when it was read, one line each."""
    held = {"rounds (distinct time stamps)": len(log), "articles": len(np.unique(log.ids))}
    return "\n".join(f"{kind}: {count:,}" for kind, count in (log.counts | held).items())


def _files_in_use() -> tuple[Stamp, ...]:
    return tuple(stamp_of(path, "a daily file of R6A") for path in daily_files())


@lru_cache(maxsize=1)
def _surrogate() -> ClickLog:
    return surrogate_log()


_cache: Cache[tuple[ClickLog, str]] = Cache(
    "logs", "yahoo_r6a-", bench.data.yahoo_parser, bench.data.yahoo_log, bench.data.log
)


def _load(stamps: tuple[Stamp, ...], say: Callable[[str], None] | None = None) -> tuple[ClickLog, str]:

    def compute() -> dict[str, Any]:
        log = _parse([path for path, _, _ in stamps], say)
        return {"counts": json.dumps(log.counts), "fingerprint": log.fingerprint(), **log.arrays()}

    def build(arrays: dict[str, np.ndarray]) -> tuple[ClickLog, str]:
        counts, fingerprint = json.loads(arrays.pop("counts").item()), arrays.pop("fingerprint").item()
        log = ClickLog(**arrays, counts=counts)
        if log.fingerprint() != fingerprint:
            raise ValueError("another log")
        return log, fingerprint

    return _cache.get(*_key_parts(stamps), compute=compute, build=build)


def _key_parts(stamps: tuple[Stamp, ...]) -> list[tuple[str, int, int]]:
    return [(path.name, size, mtime_ns) for path, size, mtime_ns in stamps]


def _parse(paths: list[Path], say: Callable[[str], None] | None) -> ClickLog:
    if say is None:
        warnings.warn(
            f"{paths[0].parent}: {len(paths)} of {DAYS} daily files are parsed, once; this takes up to ten minutes",
            stacklevel=6,
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
        warnings.warn(f"{paths[0].parent}: {what} (of {log.counts['lines']:,} lines)", stacklevel=6)
    return log
