"""The factors of MovieLens 100K that the authors of CDT published with their code."""

import warnings
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from bench.data.catalogue import CDT_FACTORS
from bench.data.factorisation import Factors
from bench.data.files import Stamp, data_in_use, reading, stamp_of
from bench.data.movielens import N_ITEMS, N_USERS
from bench.data_kind import DataKind
from bench.digest import digest
from bench.errors import DataError

RANK = 20
_ROWS = {"movie.csv": N_ITEMS, "user.csv": N_USERS}


def fingerprint() -> str:
    """Return the fingerprint of the data in use, a sha256 of both files, or ``surrogate`` without files.

    Raises DataError if there is only one of the two files, or a file cannot be read.
    """
    identities = [identity for _, identity in _files()]
    if not identities:
        return DataKind.SURROGATE.value
    altered = any(DataKind.of(identity) is DataKind.ALTERED for identity in identities)
    checksum = digest("".join(identity.rpartition("-")[2] for identity in identities).encode())
    return (DataKind.ALTERED if altered else DataKind.REAL).marked(checksum)


def cdt_factors() -> Factors | None:
    """Return the factors, shape (943, 20) and (1682, 20), or None without the files.

    Raises DataError if there is only one of the two files, or a file is damaged.
    """
    files = _files()
    return _read(*(stamp_of(path) for path, _ in files)) if files else None


def read_factors(path: Path, n_rows: int) -> np.ndarray:
    """Read a file with a line of column numbers, then lines of a row number from 0 and its 20 factors.

    Raises DataError if the file has another format.
    """
    expected = f"a line of column numbers, then {n_rows} lines of a row number and {RANK} finite factors"
    with reading(path, expected), warnings.catch_warnings():
        warnings.simplefilter("error")  # an empty file
        rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    if rows.shape != (n_rows, RANK + 1) or (rows[:, 0] != np.arange(n_rows)).any() or not np.isfinite(rows).all():
        raise DataError(f"{path}: found {len(rows)} rows of {rows.shape[1]} numbers, expected {expected}")
    factors = rows[:, 1:].copy()
    factors.flags.writeable = False
    return factors


def _files() -> list[tuple[Path, str]]:
    """Return the path and the sha256 of both files, or an empty list if they do not exist."""
    files = {name: data_in_use(replace(CDT_FACTORS, file=name)) for name in _ROWS}
    present = [(path, identity) for path, identity in files.values() if path is not None]
    if present and len(present) < len(files):
        missing = next(name for name, (path, _) in files.items() if path is None)
        raise DataError(f"{present[0][0].parent}: found no {missing}, expected both {' and '.join(files)}")
    return present


@lru_cache(maxsize=1)
def _read(*stamps: Stamp) -> Factors:
    films, users = (read_factors(path, n_rows) for (path, *_), n_rows in zip(stamps, _ROWS.values(), strict=True))
    return Factors(users, films)
