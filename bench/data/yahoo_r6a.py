"""The click log Yahoo! R6A of the Front Page Today Module, or a generated stand-in."""

import gzip
import re
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

import bench.data.log
from bench.data.cache import Cache
from bench.data.catalogue import YAHOO_R6A
from bench.data.files import data_roots, reading, stamp_of
from bench.data.log import Log
from bench.data_kind import DataKind
from bench.errors import DataError
from bench.seeding import Seeds

DIM = 6
"""Features of an article; their ids in the files are 1 to 6, and feature 1 is the constant."""

STAMPS_PER_DAY = 288
SECONDS = 300
"""Seconds between time stamps."""
DAYS = 10
FIRST_STAMP = 1241160900

_NAME = re.compile(r"ydata-fp-td-clicks-v1_0\.(200905(?:0[1-9]|10))(?:\.gz)?")
_FORM = "a daily file of R6A with lines 'timestamp article click |user 2:... |article 2:... |article ...'"
_SLOTS = 21
_LIFE = 200
_MILLION = 1_000_000

Article = tuple[int, tuple[float, ...]]
"""An article's id and features."""


@dataclass(frozen=True, eq=False)
class ClickLog(Log):
    """A click log aggregated by time stamp into chronological rounds with their shown articles, ordered by id.

    The articles of round r are at the places ``starts[r]`` to ``starts[r + 1] - 1`` of ``article``, ``shows`` and
    ``clicks``.

    Parameters
    ----------
    stamps
        Seconds since 1970, ascending, int64, shape (rounds,).
    starts
        First place of each round, and the number of places, int64, shape (rounds + 1,).
    article
        Row of the article in ``ids`` and ``features``, int64, shape (places,).
    shows, clicks
        Numbers of displays and clicks in that round, shows > 0, int64, shape (places,).
    ids
        Ids of the articles, int64, shape (rows,); an article has several rows if its features changed.
    features
        Features 1 to 6 of the articles, float64, shape (rows, 6).
    """

    stamps: np.ndarray
    starts: np.ndarray
    article: np.ndarray
    shows: np.ndarray
    clicks: np.ndarray
    ids: np.ndarray
    features: np.ndarray

    def __len__(self) -> int:
        return len(self.stamps)


def daily_files() -> list[Path]:
    """Return the daily files, plain or gzip, in order, from ``BENCH_DATA_DIR`` or else from the cache.

    Days may be missing. Raises DataError if a day is present twice, plain and as gzip.
    """
    for root in data_roots():
        days: dict[str, Path] = {}
        for path in sorted((root / YAHOO_R6A.folder).glob(YAHOO_R6A.file)):
            match = _NAME.fullmatch(path.name)
            if match is None or not path.is_file():
                continue
            if match[1] in days:
                raise DataError(f"{path}: found the same day in {days[match[1]].name}, expected one file for each day")
            days[match[1]] = path
        if days:
            return list(days.values())
    return []


def fingerprint() -> str:
    """Return the sha256 of the parsed log, or ``surrogate`` without files; the first call parses the files.

    The result is the same for plain and gzip files in any folder.
    """
    return load_log().fingerprint() if daily_files() else DataKind.SURROGATE.value


def load_log() -> ClickLog:
    """Return the aggregated log of the daily files if there are any, or else the generated log.

    The parsed log is cached under a hash of the files' names, sizes and modification times and of this module's source.
    Warnings announce the slow parsing and report skipped lines. Raises DataError if a file is damaged or not R6A; the
    generated log does not replace such a file.
    """
    paths = daily_files()
    if not paths:
        return surrogate_log()

    def compute() -> dict[str, np.ndarray]:
        what = f"{len(paths)} of {DAYS} daily files are parsed, once; this takes up to ten minutes"
        warnings.warn(f"{paths[0].parent}: {what}", stacklevel=5)
        log = parse(paths)
        skipped = [f"{kind}: {count:,}" for kind, count in log.counts.items() if count and "skipped" in kind]
        if skipped:
            what = f"{', '.join(skipped)} (of {log.counts['lines']:,} lines)"
            warnings.warn(f"{paths[0].parent}: {what}", stacklevel=5)
        return log.arrays()

    stamps = [(path.name, *stamp_of(path)[1:]) for path in paths]
    return _cache.get(*stamps, compute=compute, build=lambda arrays: ClickLog(**arrays))


_cache: Cache[ClickLog] = Cache("logs", "yahoo_r6a-", sys.modules[__name__], bench.data.log)


def parse(paths: list[Path]) -> ClickLog:
    """Count shows and clicks per time stamp and article in daily files, plain or ``.gz``.

    A line is ``timestamp article click |user 2:0.1 ... 1:1 |109498 2:0.3 ... 1:1 |109509 ...``: the article shown,
    whether it was clicked, and every article of the pool with its features, identified by their ids. Malformed parts
    are skipped and counted. A part is a line, or a single article block, whose article is then not in the pool. The
    features of the user are ignored. An article of the pool that is never shown in a stamp has no click-through rate in
    that stamp and is not among the stamp's articles (assumed). If features change within a stamp, the first are used
    (assumed).

    Raises DataError if a file cannot be read, or more than half of its lines are malformed.
    """
    rows: dict[Article, int] = {}
    sums: list[tuple[int, int, int, int]] = []
    counts = {"lines": 0, "lines skipped": 0, "article blocks skipped": 0}
    for path in paths:
        lines, skipped = _count_day(path, rows, sums, counts)
        if 2 * skipped > lines or not lines:
            raise DataError(f"{path}: found {skipped:,} of {lines:,} lines malformed, expected {_FORM}")
        counts["lines"] += lines
        counts["lines skipped"] += skipped
    return _aggregated(rows, sums, counts)


def _count_day(
    path: Path, rows: dict[Article, int], sums: list[tuple[int, int, int, int]], counts: dict[str, int]
) -> tuple[int, int]:
    """Add a day's stamps, rows, shows and clicks to ``sums``, and return the numbers of lines read and skipped.

    A pool is constant for thousands of lines. Lines are therefore counted by the text of the pool and of the part
    before the user, and only distinct texts are parsed.
    """
    pools: dict[bytes, Counter[bytes]] = {}
    heads, last = Counter[bytes](), b""
    lines = skipped = 0
    with reading(path, _FORM), gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for line in file:
            lines += 1
            head, _, tail = line.partition(b" |user")
            pool = tail.partition(b" |")[2]
            if not pool:
                skipped += 1
                continue
            if pool != last:
                heads, last = pools.setdefault(pool, Counter()), pool
            heads[head] += 1
    for pool, heads in pools.items():
        articles: dict[int, int] = {}
        for article in map(_article, pool.split(b" |")):
            row = -1 if article is None else rows.setdefault(article, len(rows))
            if article is None or article[0] in articles:
                counts["article blocks skipped"] += heads.total()
            else:
                articles[article[0]] = row
        for head, count in heads.items():
            fields = head.split(b" ")
            if len(fields) == 3 and fields[2] in (b"0", b"1") and all(map(_is_id, fields)):
                stamp, shown, click = map(int, fields)
                if shown in articles:
                    sums.append((stamp, articles[shown], count, count * click))
                    continue
            skipped += count
    return lines, skipped


@lru_cache(maxsize=100_000)
def _article(block: bytes) -> Article | None:
    """Return an article's id and its features in the order of their ids, or None if the block is malformed."""
    name, *pairs = block.split() or [b""]
    try:
        features = {int(key): float(value) for key, value in (pair.split(b":") for pair in pairs)}
    except ValueError:
        return None
    values = tuple(features.get(key, -1.0) for key in range(1, DIM + 1))
    if not _is_id(name) or len(pairs) != DIM or not all(0.0 <= value <= 1.0 for value in values):
        return None
    return int(name), values


def _is_id(text: bytes) -> bool:
    return text.isdigit() and len(text) <= 18  # digits; more do not fit into 64 bits


def _aggregated(rows: dict[Article, int], sums: list[tuple[int, int, int, int]], counts: dict[str, int]) -> ClickLog:
    stamp, row, shows, clicks = np.array(sums, dtype=np.int64).T
    ids = np.array([article for article, _ in rows], dtype=np.int64)
    features = np.array([values for _, values in rows])
    order = np.lexsort((row, ids[row], stamp))
    stamp, row = stamp[order], row[order]
    places = np.flatnonzero(np.append(True, (np.diff(stamp) != 0) | (np.diff(ids[row]) != 0)))
    stamps, starts = np.unique(stamp[places], return_index=True)
    used, article = np.unique(row[places], return_inverse=True)
    log = ClickLog(
        stamps=stamps,
        starts=np.append(starts, len(places)).astype(np.int64),
        article=article.astype(np.int64),
        shows=np.add.reduceat(shows[order], places),
        clicks=np.add.reduceat(clicks[order], places),
        ids=ids[used],
        features=features[used],
    )
    log.counts.update(counts)
    return log


@lru_cache(maxsize=1)
def surrogate_log(n_stamps: int = DAYS * STAMPS_PER_DAY, lines_per_stamp: int = 15_900) -> ClickLog:
    """Return a generated log, which is always the same for the same sizes.

    About 20 articles are in the pool, each for some hours. The features of an article are a constant and five
    memberships that sum to one, in millionths. Each line shows a random article. The probability of a click is logistic
    in the article's features, bias and age and in the time of day, and is about 4 % on average.
    """
    rng = Seeds(0, 0, ("data", "yahoo_r6a")).generator("surrogate")
    born, gone = _lives(n_stamps, rng)
    n_articles = len(born)
    ids = 109_000 + np.sort(rng.choice(4 * n_articles, n_articles, replace=False))
    features = _memberships(n_articles, 0.4, rng) / _MILLION
    theta = np.array([-3.15, 0.5, -0.7, 0.2, 0.7, -0.4])
    inclination = features @ theta + rng.normal(0.0, 0.25, n_articles)

    now = np.arange(n_stamps)
    stamp, article = np.nonzero((born <= now[:, None]) & (now[:, None] < gone))
    age = (stamp - born[article]) / _LIFE
    value = inclination[article] - 0.3 * age + 0.15 * np.sin(2 * np.pi * stamp / STAMPS_PER_DAY)
    sizes = np.bincount(stamp, minlength=n_stamps)
    shows = np.concatenate([rng.multinomial(lines_per_stamp, np.full(size, 1.0 / size)) for size in sizes])
    clicks = rng.binomial(shows, 1.0 / (1.0 + np.exp(-value)))

    shown = shows > 0
    starts = np.append(0, np.cumsum(np.bincount(stamp[shown], minlength=n_stamps)))
    used, row = np.unique(article[shown], return_inverse=True)
    return ClickLog(
        stamps=FIRST_STAMP + SECONDS * now,
        starts=starts,
        article=row,
        shows=shows[shown],
        clicks=clicks[shown],
        ids=ids[used],
        features=features[used],
    )


def _lives(n_stamps: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the first round of each article and the round after its last; nearly all slots are always in use."""
    lives: list[tuple[int, int]] = []
    for slot in range(_SLOTS):
        time = -int(rng.integers(_LIFE))
        while time < n_stamps:
            end = time + int(rng.integers(_LIFE // 2, _LIFE * 3 // 2))
            if end > 0:
                lives.append((time, end))
            time = end + int(rng.integers(20)) * (slot >= _SLOTS // 2)  # half of the slots are never empty
    born, gone = np.array(sorted(lives)).T
    return born, gone


def _memberships(n: int, concentration: float, rng: np.random.Generator) -> np.ndarray:
    """Return features in millionths, shape (n, 6): a constant, and then five features that sum to a million."""
    shares = np.floor(rng.dirichlet(np.full(DIM - 1, concentration), n) * _MILLION).astype(np.int64)
    shares[:, -1] += _MILLION - shares.sum(axis=1)
    return np.column_stack((np.full(n, _MILLION), shares))
