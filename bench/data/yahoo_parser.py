import gzip
import math
import re
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from bench.data.files import unreadable
from bench.data.yahoo_log import DIM, ClickLog
from bench.errors import DataError

CHUNK = 1 << 22
"""Bytes read at a time; also the limit of a line's length."""

_ENOUGH = 1000
"""Lines after which a file without a valid one is rejected."""

_FORM = "'timestamp article click |user 2:... |article 2:... |article ...'"
_FEATURE = {str(i + 1).encode(): i for i in range(DIM)}
_NUMBER = re.compile(rb"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")
_LONGEST_ID = 18  # digits; more do not fit into 64 bits

NO_USER = "no user block"
NO_ARTICLES = "no article block"
FIELDS = "not three fields before the user block"
STAMP = "the timestamp is not a whole number"
CLICK = "the click is neither 0 nor 1"
NOT_IN_POOL = "the article shown is not in the pool"
ARTICLE_ID = "the article's id is not a whole number"
FEATURE_IDS = "its feature ids are not 1 to 6, each once"
FEATURE_VALUE = "a feature is not a number from 0 to 1"
REPEATED = "the article is in the pool already"

Tallies = dict[bytes, defaultdict[bytes, int]]


class YahooParser:
    """A streaming parser of Yahoo! R6A's daily files: counts shows and clicks per time stamp and article.

    A line is ``timestamp article click |user 2:0.1 ... 1:1 |109498 2:0.3 ... 1:1 |109509 ...``: the article shown,
    whether it was clicked, and every article of the pool with its features, identified by their ids. Malformed parts
    are skipped and counted by kind: a line, or a single article block (its article is then not in the pool). The
    features of the user are ignored. An article of the pool that is never shown in a stamp has no click-through rate
    there and is not among its articles (assumed). If features change within a stamp, the first count (assumed).

    A pool stays the same for thousands of lines, so lines are counted by their text (pool and the part before the
    user), and only distinct texts of a chunk are parsed.
    """

    def __init__(self) -> None:
        self.lines = 0
        self.skipped: Counter[str] = Counter()
        self.skipped_blocks: Counter[str] = Counter()
        self._sums = array("q")  # stamp, row, shows, clicks; and again
        self._rows: dict[tuple[int, tuple[float, ...]], int] = {}
        self._blocks: dict[bytes, tuple[int, int] | str] = {}

    def read(self, path: Path) -> None:
        """Read a file, plain or gzip.

        Raises DataError if it cannot be read, is empty, is a truncated or damaged gzip file, or is not R6A: a line is
        too long, or fewer than half of the lines are well-formed.
        """
        lines, skipped = self.lines, self.skipped.copy()
        rest = b""
        for chunk in _with_plain_line_ends(_chunks(path)):
            complete = (rest + chunk).split(b"\n")
            rest = complete.pop()
            if len(rest) >= CHUNK:
                raise DataError(f"{path}: found a line of more than {CHUNK:,} bytes, expected R6A: {_FORM}")
            self._add(complete)
            if self.lines - lines >= _ENOUGH:  # fail early
                self._refuse_foreign(path, lines, skipped, least=1)
        if rest:
            self._add([rest])
        if self.lines == lines:
            raise DataError(f"{path}: found an empty file, expected lines {_FORM}")
        self._refuse_foreign(path, lines, skipped, least=(self.lines - lines + 1) // 2)

    def _refuse_foreign(self, path: Path, lines: int, skipped: Counter[str], least: int) -> None:
        kinds = self.skipped - skipped
        n_lines = self.lines - lines
        if n_lines - kinds.total() < least:
            kind, count = kinds.most_common(1)[0]
            raise DataError(
                f"{path}: found {kinds.total():,} of {n_lines:,} lines malformed ({count:,}: {kind}), expected a daily "
                f"file of R6A with lines {_FORM}"
            )

    def _add(self, lines: list[bytes]) -> None:
        tallies: Tallies = {}
        tally: defaultdict[bytes, int] = defaultdict(int)
        last = b""
        for line in lines:
            head, user, tail = line.partition(b" |user")
            pool = tail.partition(b" |")[2]
            if pool != last or not pool:
                if not pool:
                    self.skipped[NO_ARTICLES if user else NO_USER] += 1
                    continue
                tally = tallies.setdefault(pool, defaultdict(int))
                last = pool
            tally[head] += 1
        self.lines += len(lines)
        for pool, tally in tallies.items():
            articles = self._parse_pool(pool, sum(tally.values()))
            for head, count in tally.items():
                self._add_event(head, articles, count)

    def _add_event(self, head: bytes, articles: dict[int, int], count: int) -> None:
        parts = head.split(b" ")
        if len(parts) != 3:
            self.skipped[FIELDS] += count
            return
        stamp, shown, click = parts
        if not _is_id(stamp):
            self.skipped[STAMP] += count
        elif click not in (b"0", b"1"):
            self.skipped[CLICK] += count
        elif not _is_id(shown) or int(shown) not in articles:
            self.skipped[NOT_IN_POOL] += count
        else:
            self._sums.extend((int(stamp), articles[int(shown)], count, count if click == b"1" else 0))

    def _parse_pool(self, pool: bytes, count: int) -> dict[int, int]:
        """Return the rows of the pool's articles by their id; ``count`` lines had this pool."""
        articles: dict[int, int] = {}
        for block in pool.split(b" |"):
            parsed = self._blocks.get(block)
            if parsed is None:
                if len(self._blocks) >= 100_000:  # the real log has some hundreds
                    self._blocks.clear()
                parsed = self._blocks[block] = self._parse_block(block)
            if isinstance(parsed, str):
                self.skipped_blocks[parsed] += count
            elif parsed[0] in articles:
                self.skipped_blocks[REPEATED] += count
            else:
                articles[parsed[0]] = parsed[1]
        return articles

    def _parse_block(self, block: bytes) -> tuple[int, int] | str:
        name, *pairs = block.split() or [b""]
        if not _is_id(name):
            return ARTICLE_ID
        found: dict[int, float] = {}
        for pair in pairs:
            key, _, text = pair.partition(b":")
            if key not in _FEATURE or _FEATURE[key] in found:
                return FEATURE_IDS
            value = float(text) if _NUMBER.fullmatch(text) else math.nan
            if not 0.0 <= value <= 1.0:
                return FEATURE_VALUE
            found[_FEATURE[key]] = value
        if len(found) != DIM:
            return FEATURE_IDS
        content = int(name), tuple(found[i] for i in range(DIM))
        return content[0], self._rows.setdefault(content, len(self._rows))

    def counts(self) -> dict[str, int]:
        """Return the number of lines read, and of lines and article blocks skipped by kind."""
        counts = {"lines": self.lines, "lines skipped": self.skipped.total()}
        counts |= {f"lines skipped: {kind}": count for kind, count in sorted(self.skipped.items())}
        counts["article blocks skipped"] = self.skipped_blocks.total()
        return counts | {f"article blocks skipped: {kind}": n for kind, n in sorted(self.skipped_blocks.items())}

    def log(self) -> ClickLog:
        stamp, row, shows, clicks = np.frombuffer(self._sums, dtype=np.int64).reshape(-1, 4).T
        ids = np.array([article for article, _ in self._rows], dtype=np.int64)
        features = np.array([values for _, values in self._rows])
        order = np.lexsort((row, ids[row], stamp))
        stamp, row = stamp[order], row[order]
        places = np.flatnonzero(np.append(True, (np.diff(stamp) != 0) | (np.diff(ids[row]) != 0)))
        stamps, starts = np.unique(stamp[places], return_index=True)
        used, article = np.unique(row[places], return_inverse=True)
        return ClickLog(
            stamps=stamps,
            starts=np.append(starts, len(places)).astype(np.int64),
            article=article.astype(np.int64),
            shows=np.add.reduceat(shows[order], places),
            clicks=np.add.reduceat(clicks[order], places),
            ids=ids[used],
            features=features[used],
            counts=self.counts(),
        )


def _is_id(text: bytes) -> bool:
    return text.isdigit() and len(text) <= _LONGEST_ID


def _with_plain_line_ends(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield chunks with LF for CR LF and CR, so that no line hides in another, and without a byte order mark."""
    held, mark = b"", b"\xef\xbb\xbf"
    for chunk in chunks:
        content = held + chunk.removeprefix(mark)
        held, mark = content[-1:] if content.endswith(b"\r") else b"", b""
        content = content[: len(content) - len(held)]
        yield content.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in content else content
    if held:
        yield b"\n"


def _chunks(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            with gzip.GzipFile(fileobj=raw) if packed else raw as file:
                while chunk := file.read(CHUNK):
                    yield chunk
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: found a truncated or damaged gzip file ({error}), expected a complete one") from None
    except OSError as error:
        raise unreadable(path, error, "a daily file of R6A") from None
