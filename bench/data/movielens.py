"""The ratings of MovieLens 100K, and their factors for the bandit environments."""

import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np

import bench.data.factorisation
import bench.seeding
from bench.data.cache import Cache
from bench.data.catalogue import MOVIELENS
from bench.data.factorisation import SWEEPS, Factors, Ratings, factorise
from bench.data.files import data_in_use, reading, refuse
from bench.errors import DataError
from bench.seeding import Seeds

N_USERS = 943
N_ITEMS = 1682

_LARGEST = {"user": N_USERS, "item": N_ITEMS, "rating": 5}
_LINES = "lines of user, item, rating and time, whole numbers with tabs between them"
_MIN_PER_USER = 20
_LATENT_RANK = 10


def read_ratings(path: Path) -> Ratings:
    """Read a file of lines ``user<TAB>item<TAB>rating<TAB>timestamp``, ids from 1 and ratings in whole stars.

    Raises DataError for any other file.
    """
    user, item, rating, _ = _columns(path)
    return Ratings(
        (user - 1).astype(np.int32), (item - 1).astype(np.int32), rating.astype(np.float64), N_USERS, N_ITEMS
    )


def _columns(path: Path) -> np.ndarray:
    with reading(path, _LINES), warnings.catch_warnings():
        warnings.simplefilter("error")  # an empty file
        columns = np.loadtxt(path, np.int64, comments=None, delimiter="\t", unpack=True, ndmin=2)
    if len(columns) != 4:
        raise DataError(f"{path}: found {len(columns)} column(s), expected {_LINES}")
    for (name, largest), values in zip(_LARGEST.items(), columns, strict=False):
        refuse(path, name, values, (values < 1) | (values > largest), f"one from 1 to {largest}", first_line=1)
    return columns


def fingerprint() -> str:
    """Return the fingerprint of the data in use, the sha256 of the data file, or ``surrogate`` without a file."""
    return data_in_use(MOVIELENS)[1]


def load_ratings() -> Ratings:
    """Return the ratings of the data file, or the surrogate's ratings without a file.

    Raises DataError if the file is damaged.
    """
    path = data_in_use(MOVIELENS)[0]
    return surrogate_ratings() if path is None else read_ratings(path)


def users_by_period(periods: int) -> list[np.ndarray]:
    """Return the sorted users, from 0, of each of ``periods`` parts of the log with equal numbers of ratings.

    The generated data has no times; its ratings are put in a random order.
    """
    path, user = data_in_use(MOVIELENS)[0], load_ratings().user
    random = Seeds(0, 0, ("data", "movielens")).generator("times")
    times = random.random(len(user)) if path is None else _columns(path)[3]
    return [np.unique(part) for part in np.array_split(user[np.argsort(times, kind="stable")], periods)]


def movielens_factors(rank: int = 20, regularisation: float = 0.05) -> Factors:
    """Return the factors of the MovieLens ratings, or of the surrogate's if the data is not available.

    The defaults are from Syndicated's MovieLens experiments (0.05 from the authors' code; a penalty weighted by the
    numbers of ratings is assumed). The result is cached, and the arrays are read-only. Factors are unique only up to a
    rotation. Raises DataError if the data file is damaged, ConfigError if a setting is out of range.
    """
    identity = data_in_use(MOVIELENS)[1]

    def compute() -> dict[str, np.ndarray]:
        rng = Seeds(0, 0, ("data", "movielens")).generator("factors")
        factors = factorise(load_ratings(), rank, float(regularisation), SWEEPS, rng=rng)
        return {"users": factors.users, "items": factors.items}

    def build(arrays: dict[str, np.ndarray]) -> Factors:
        factors = Factors(**arrays, fingerprint=identity)
        if (factors.users.shape, factors.items.shape) != ((N_USERS, rank), (N_ITEMS, rank)):
            raise ValueError("factors of another rank")
        for array in arrays.values():
            array.flags.writeable = False
        return factors

    return _cache.get(identity, rank, float(regularisation), SWEEPS, version("numba"), compute=compute, build=build)


_cache: Cache[Factors] = Cache(
    "factors", "movielens-", sys.modules[__name__], bench.data.factorisation, bench.seeding, n_in_memory=16
)


def surrogate_ratings(n_users: int = 943, n_items: int = 1682, n_ratings: int = 100_000) -> Ratings:
    """Return generated ratings, always the same, as a substitute for MovieLens 100K, sorted by user and item.

    A few users rate very often and a few items are rated very often; every user has at least 20 ratings and every item
    at least one, as in the original. A rating is a rounded sum of a mean, a user's and an item's bias, a product of
    latent factors, and noise, with variances chosen so that the stars are about as frequent as in the original.
    """
    rng = Seeds(0, 0, ("data", "movielens")).generator("surrogate")
    counts = _activity(n_users, n_ratings, rng)

    # A user's items have the largest keys: popularity with Gumbel noise samples without replacement
    keys = rng.normal(0.0, 1.45, n_items) + rng.gumbel(size=(n_users, n_items))
    keys[rng.choice(n_users, n_items, p=counts / n_ratings), np.arange(n_items)] = np.inf  # every item is rated
    ranks = np.argsort(np.argsort(-keys, axis=1), axis=1)
    user, item = np.nonzero(ranks < counts[:, None])

    latent_users = rng.standard_normal((n_users, _LATENT_RANK))
    latent_items = rng.standard_normal((n_items, _LATENT_RANK))
    interaction = 0.5 / np.sqrt(_LATENT_RANK) * np.sum(latent_users[user] * latent_items[item], axis=1)
    inclination = rng.normal(0.0, 0.42, n_users)[user] + rng.normal(0.0, 0.48, n_items)[item]
    score = 3.55 + inclination + interaction + rng.normal(0.0, 0.85, n_ratings)
    rating = np.clip(np.rint(score), 1.0, 5.0)
    return Ratings(user.astype(np.int32), item.astype(np.int32), rating, n_users, n_items)


def _activity(n_users: int, n_ratings: int, rng: np.random.Generator) -> np.ndarray:
    """Return each user's number of ratings, shape (n_users,), which are long-tailed with the sum ``n_ratings``."""
    weights = rng.gamma(0.7, size=n_users)
    shares = weights / weights.sum() * (n_ratings - _MIN_PER_USER * n_users)
    counts = np.floor(shares).astype(np.int64)
    left = n_ratings - _MIN_PER_USER * n_users - counts.sum()
    counts[np.argsort(counts - shares, kind="stable")[:left]] += 1  # the largest remainders
    return counts + _MIN_PER_USER
