"""MovieLens 100K: its ratings, and their factors as the bandit environments use them."""

import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

import bench.data.factorisation
import bench.data.movielens_surrogate
import bench.seeding
from bench.data.cache import Cache
from bench.data.catalogue import MOVIELENS
from bench.data.factorisation import SWEEPS, factorise
from bench.data.factors import Factors
from bench.data.files import data_in_use, unreadable
from bench.data.movielens_surrogate import surrogate_ratings
from bench.data.ratings import Ratings
from bench.errors import DataError
from bench.seeding import Seeds

N_USERS = 943
N_ITEMS = 1682

_COLUMNS = (("user id", N_USERS), ("item id", N_ITEMS), ("rating", 5))


def read_ratings(path: Path) -> Ratings:
    """Read a file of lines ``user<TAB>item<TAB>rating<TAB>timestamp``, ids from 1 and ratings in whole stars.

    Raises DataError, naming file and line, if the file cannot be read, is empty or is not text, or a line does not have
    four columns, has a field that is not a whole number in range, or repeats a user and item.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise unreadable(path, error, "a file of ratings") from None
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}, line {line}: found the byte 0x{content[error.start]:02x}, expected text") from None
    rows = [_parse(line, f"{path}, line {number}") for number, line in enumerate(content.splitlines(), start=1)]
    if not rows:
        raise DataError(f"{path}: found an empty file, expected lines of user, item, rating and timestamp")
    user, item, rating = np.array(rows, dtype=np.int32).T
    _refuse_duplicates(user, item, path)
    return Ratings(user - 1, item - 1, rating.astype(np.float64), N_USERS, N_ITEMS)


def _parse(line: bytes, where: str) -> tuple[int, ...]:
    fields = line.split(b"\t")
    if len(fields) != 4:
        raise DataError(f"{where}: found {len(fields)} column(s), expected 4: user, item, rating, timestamp")
    user, item, rating, timestamp = fields
    # One test for a valid line, the usual case; the details of an invalid one are worked out below
    if user.isdigit() and item.isdigit() and rating.isdigit() and timestamp.isdigit() and len(line) < 40:
        row = int(user), int(item), int(rating)
        if 1 <= row[0] <= N_USERS and 1 <= row[1] <= N_ITEMS and 1 <= row[2] <= 5:
            return row
    for (name, largest), field in zip(_COLUMNS, fields[:3], strict=True):
        found = field[:20].decode(errors="replace")
        if not field.isdigit():
            raise DataError(f"{where}: found the {name} '{found}', expected a whole number")
        if len(field) > 9 or not 1 <= int(field) <= largest:
            raise DataError(f"{where}: found the {name} {found}, expected one from 1 to {largest}")
    found = timestamp[:20].decode(errors="replace")
    raise DataError(f"{where}: found the timestamp '{found}', expected a whole number of seconds")


def _refuse_duplicates(user: np.ndarray, item: np.ndarray, path: Path) -> None:
    pair = user.astype(np.int64) * (N_ITEMS + 1) + item
    order = np.argsort(pair, kind="stable")
    repeated = np.flatnonzero(pair[order][1:] == pair[order][:-1])
    if len(repeated):
        first, second = min(((order[at], order[at + 1]) for at in repeated), key=lambda lines: int(lines[1]))
        raise DataError(
            f"{path}, line {second + 1}: found user {user[second]} and item {item[second]} again, "
            f"expected them once (first in line {first + 1})"
        )


def fingerprint() -> str:
    """Return which data is in use: the sha256 of the data file, or ``surrogate`` if there is none."""
    return data_in_use(MOVIELENS)[1]


def load_ratings() -> Ratings:
    """Return the ratings below ``BENCH_DATA_DIR`` or fetched, else the surrogate's; raises DataError if damaged."""
    path = data_in_use(MOVIELENS)[0]
    return surrogate_ratings() if path is None else read_ratings(path)


def movielens_factors(rank: int = 20, regularisation: float = 0.05) -> Factors:
    """Return the factors of the MovieLens ratings, or of the surrogate's if the data is not available.

    The defaults are those of Syndicated's MovieLens experiments (0.05 from the authors' code; that the penalty is
    weighted by the numbers of ratings is assumed). The result is cached; its arrays are read-only. Factors are unique
    only up to a rotation. Raises DataError if the data file is damaged, ConfigError if a setting is out of range.
    """
    identity = data_in_use(MOVIELENS)[1]

    def compute() -> dict[str, np.ndarray]:
        rng = Seeds(0, 0, ("data", "movielens")).generator("factors")
        factors = factorise(load_ratings(), rank, float(regularisation), SWEEPS, rng=rng)
        return {"users": factors.users, "items": factors.items, "objective": factors.objective}

    def build(arrays: dict[str, np.ndarray]) -> Factors:
        factors = Factors(**arrays, fingerprint=identity)
        if (factors.users.shape, factors.items.shape) != ((N_USERS, rank), (N_ITEMS, rank)):
            raise ValueError("factors of another rank")
        for array in arrays.values():
            array.flags.writeable = False
        return factors

    return _cache.get(*_key_parts(identity, rank, regularisation), compute=compute, build=build)


_cache: Cache[Factors] = Cache(
    "factors",
    "movielens-",
    sys.modules[__name__],
    bench.data.factorisation,
    bench.data.movielens_surrogate,
    bench.seeding,
    n_in_memory=16,
)


def _key_parts(identity: str, rank: int, regularisation: float) -> tuple[object, ...]:
    return identity, rank, float(regularisation), SWEEPS, version("numba")
