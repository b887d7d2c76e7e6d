from dataclasses import dataclass, field

import numpy as np

from bench.data.log import Log

DIM = 6
"""Features of an article; their ids in the files are 1 to 6, and feature 1 is the constant."""


@dataclass(frozen=True, eq=False)
class ClickLog(Log):
    """A click log aggregated by time stamp: chronological rounds, each with the articles shown in it, ordered by id.

    The articles of round r are at the places ``starts[r]`` to ``starts[r + 1] - 1`` of ``article``, ``shows`` and
    ``clicks``. ``counts`` says what was read and what was skipped, by kind; it is not part of the fingerprint.

    Parameters
    ----------
    stamps
        Seconds since 1970, ascending, int64, shape (rounds,).
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
    """

    stamps: np.ndarray
    starts: np.ndarray
    article: np.ndarray
    shows: np.ndarray
    clicks: np.ndarray
    ids: np.ndarray
    features: np.ndarray
    counts: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.stamps)
