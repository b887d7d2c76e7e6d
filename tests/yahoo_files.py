"""Click logs as files in the format of R6A."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.data.yahoo_log import DIM, ClickLog
from bench.data.yahoo_surrogate import STAMPS_PER_DAY

_MILLION = 1_000_000


def write_files(log: ClickLog, folder: Path, *, packed: bool = False, seed: int = 0) -> list[Path]:
    """Write a log of at most ten days as daily files of 288 time stamps in the format of R6A; return them.

    Reading them returns the log. ``packed``: as gzip. ``seed`` decides the order of lines in a stamp, and the users.
    """
    rng = np.random.default_rng(seed)
    memberships = rng.multinomial(_MILLION, np.full(DIM - 1, 1 / (DIM - 1)), 1000)
    users = [b" |user" + _block(row) + b" " for row in np.insert(memberships, 0, _MILLION, axis=1)]
    millionths = np.rint(log.features * _MILLION).astype(np.int64)
    blocks = [b"|%d" % name + _block(row) for name, row in zip(log.ids.tolist(), millionths, strict=True)]
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for day, first in enumerate(range(0, len(log), STAMPS_PER_DAY), start=1):
        path = folder / f"ydata-fp-td-clicks-v1_0.200905{day:02d}{'.gz' if packed else ''}"
        with gzip.GzipFile(path, "wb", compresslevel=6, mtime=0) if packed else path.open("wb") as file:
            for r in range(first, min(first + STAMPS_PER_DAY, len(log))):
                file.writelines(_lines(log, r, blocks, users, rng))
        paths.append(path)
    return paths


def _block(millionths: np.ndarray) -> bytes:
    order = (*range(1, DIM), 0)  # the files have the constant last
    return b"".join(b" %d:%d.%06d" % (i + 1, *divmod(int(millionths[i]), _MILLION)) for i in order)


def _lines(
    log: ClickLog, round_: int, blocks: list[bytes], users: list[bytes], rng: np.random.Generator
) -> Iterator[bytes]:
    places = slice(log.starts[round_], log.starts[round_ + 1])
    rows, shows, clicks = log.article[places].tolist(), log.shows[places], log.clicks[places]
    pool = b" ".join(blocks[row] for row in rows) + b"\n"
    head = b"%d " % log.stamps[round_]
    clicked = [head + b"%d 1" % log.ids[row] for row in rows]
    ignored = [head + b"%d 0" % log.ids[row] for row in rows]
    heads = np.repeat(np.array(clicked + ignored, dtype=object), np.concatenate((clicks, shows - clicks)))
    rng.shuffle(heads)
    for line, user in zip(heads.tolist(), rng.integers(len(users), size=len(heads)).tolist(), strict=True):
        yield line + users[user] + pool
