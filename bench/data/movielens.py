"""MovieLens 100K: its ratings, and their factors as the bandit environments use them."""

import hashlib
import io
import json
import warnings
from functools import lru_cache
from pathlib import Path

import numba
import numpy as np

import bench.data.factorisation
import bench.data.surrogate
import bench.seeding
from bench.data.catalogue import MOVIELENS
from bench.data.factorisation import SWEEPS, factorise
from bench.data.factors import Factors
from bench.data.files import cache_folder, data_in_use, read_arrays, write_whole
from bench.data.ratings import Ratings
from bench.data.surrogate import surrogate_ratings
from bench.errors import DataError
from bench.seeding import Seeds

N_USERS = 943
N_ITEMS = 1682

_COLUMNS = (("user id", N_USERS), ("item id", N_ITEMS), ("rating", 5))


def read_ratings(path: Path) -> Ratings:
    """Read a file of lines ``user<TAB>item<TAB>rating<TAB>timestamp``, ids from 1 and ratings in whole stars.

    Raises
    ------
    DataError
        If the file cannot be read, is empty or is not text, or a line has not four columns, a field that is no whole
        number or out of range, or a user and item that were there before. The message names file and line.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"{path}: found no way to read it ({error.strerror}), expected a file of ratings") from None
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
    # One test for the good case, since it is the case of nearly every line; what is wrong is looked for afterwards
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
    """Return which data is in use: the sha256 of the data file, or ``surrogate`` where there is none.

    Cheap to call often: a file is read again only if its path, size or time of change is a new one.
    """
    return data_in_use(MOVIELENS)[1]


def load_ratings() -> Ratings:
    """Return the real ratings if they are at hand (below ``BENCH_DATA_DIR``, or fetched), else the surrogate's.

    Raises
    ------
    DataError
        If the data file is there but damaged; the surrogate never hides that.
    """
    return _load(data_in_use(MOVIELENS)[0])


def movielens_factors(rank: int = 20, regularisation: float = 0.05) -> Factors:
    """Return the factors of the MovieLens ratings, or of the surrogate's where the data is not at hand.

    The defaults are those of Syndicated's MovieLens experiments (0.05 from the authors' code; that the penalty is
    weighted by the numbers of ratings is assumed). The result is kept in the cache folder under a hash of all it
    depends on, and in memory; its arrays are read-only. Factors are unique only up to a rotation.

    Parameters
    ----------
    rank
        Number of factors.
    regularisation
        Weight of the penalty.

    Raises
    ------
    DataError
        If the data file is damaged.
    ConfigError
        If a setting is out of range.
    """
    path, identity = data_in_use(MOVIELENS)
    return _factors(path, identity, rank, float(regularisation))


def _load(path: Path | None) -> Ratings:
    return surrogate_ratings() if path is None else read_ratings(path)


@lru_cache(maxsize=16)
def _factors(path: Path | None, identity: str, rank: int, regularisation: float) -> Factors:
    kept = factors_path(identity, rank, regularisation)
    factors = _read_factors(kept, identity, rank)
    if factors is None:
        rng = Seeds(0, 0, ("data", "movielens")).generator("factors")
        made = factorise(_load(path), rank, regularisation, SWEEPS, rng=rng)
        factors = Factors(made.users, made.items, made.objective, identity)
        content = io.BytesIO()
        np.savez(content, users=factors.users, items=factors.items, objective=factors.objective)
        try:
            write_whole(kept, content.getvalue())
        except OSError as error:
            warnings.warn(f"{kept}: could not be written ({error.strerror}); next time it is made anew", stacklevel=3)
    for array in (factors.users, factors.items, factors.objective):
        array.flags.writeable = False
    return factors


def factors_path(identity: str, rank: int, regularisation: float) -> Path:
    """Return where factors are kept: a name that changes with everything they depend on, the code included."""
    parts = [identity, rank, float(regularisation), SWEEPS, np.__version__, numba.__version__]
    for source in (__file__, *(m.__file__ for m in (bench.data.factorisation, bench.data.surrogate, bench.seeding))):
        parts.append(hashlib.sha256(Path(str(source)).read_bytes()).hexdigest())
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return cache_folder() / "factors" / f"movielens-{key[:32]}.npz"


def _read_factors(path: Path, identity: str, rank: int) -> Factors | None:
    """Return kept factors, or None where there are none or the file is not what was written."""
    if not path.is_file():
        return None
    try:
        factors = Factors(**read_arrays(path), fingerprint=identity)
        whole = (factors.users.shape, factors.items.shape) == ((N_USERS, rank), (N_ITEMS, rank))
    except Exception:  # whatever a damaged file leads to, the answer is the same: make it anew
        whole = False
    if not whole:
        warnings.warn(f"{path}: found a damaged cache file, which is made anew", stacklevel=4)
        return None
    return factors
