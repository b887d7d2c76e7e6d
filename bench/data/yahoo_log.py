"""A click log, aggregated by time stamp."""

import hashlib
from dataclasses import dataclass, field, fields

import numpy as np

DIM = 6
"""Features of an article; their ids in the files are 1 to 6, and feature 1 is the constant."""


@dataclass(frozen=True, eq=False)
class ClickLog:
    """Rounds in the order of time, each with the articles that were shown in it, by id.

    The articles of round r are at the places ``starts[r]`` to ``starts[r + 1] - 1`` of ``article``, ``shows`` and
    ``clicks``. All arrays are read-only.

    Parameters
    ----------
    stamps
        Time stamps, seconds since 1970, ascending, int64, shape (rounds,).
    starts
        First place of each round, and the number of places, int64, shape (rounds + 1,).
    article
        Row of the article in ``ids`` and ``features``, int64, shape (places,).
    shows, clicks
        How often it was shown and clicked in that round, shows > 0, int64, shape (places,).
    ids
        Ids of the articles, int64, shape (rows,); an article has several rows if its features changed.
    features
        Their features 1 to 6, float64, shape (rows, 6).
    counts
        What was read and what was skipped, by kind: words and numbers for people. They are no part of the content.
    """

    stamps: np.ndarray
    starts: np.ndarray
    article: np.ndarray
    shows: np.ndarray
    clicks: np.ndarray
    ids: np.ndarray
    features: np.ndarray
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.stamps)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays by name."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "counts"}

    def fingerprint(self) -> str:
        """Return the sha256 of the content, whatever files it came from."""
        digest = hashlib.sha256()
        for name, array in self.arrays().items():
            digest.update(f"{name} {array.shape} ".encode())
            digest.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes())
        return digest.hexdigest()
