"""A generated stand-in for Yahoo! R6A: same format, size and similar statistics, without any of the data."""

import numpy as np

from bench.data.yahoo_log import DIM, ClickLog
from bench.seeding import Seeds

STAMPS_PER_DAY = 288
SECONDS = 300
"""From one time stamp to the next."""
DAYS = 10
FIRST_STAMP = 1241160900
_SLOTS = 21
_LIFE = 200
_MILLION = 1_000_000


def surrogate_log(n_stamps: int = DAYS * STAMPS_PER_DAY, lines_per_stamp: int = 15_900) -> ClickLog:
    """Return a generated log, always the same one for the same sizes.

    About 20 articles are in the pool, each for some hours. They have a constant and five memberships that sum to one,
    in millionths. Each line shows one of them at random; the probability of a click is logistic in its features, an
    article bias, its age and the time of day, about 4 % on average.
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
    """Return the first round of each article and the one after its last; at any time nearly all slots are in use."""
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
    """Return features in millionths, shape (n, 6): the constant first, then five that sum to a million."""
    shares = np.floor(rng.dirichlet(np.full(DIM - 1, concentration), n) * _MILLION).astype(np.int64)
    shares[:, -1] += _MILLION - shares.sum(axis=1)
    return np.column_stack((np.full(n, _MILLION), shares))
