"""The factors of MovieLens 100K that the authors of CDT published with their code."""

import hashlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from bench.data.catalogue import CDT_FACTORS
from bench.data.factors import Factors
from bench.data.files import ALTERED, SURROGATE, Stamp, data_in_use, stamp_of, unreadable
from bench.data.movielens import N_ITEMS, N_USERS
from bench.errors import DataError

RANK = 20
_ROWS = {"movie.csv": N_ITEMS, "user.csv": N_USERS}


def fingerprint() -> str:
    """Return which data is in use: a sha256 of both files, or ``surrogate`` if there are none.

    Raises DataError if there is only one of the two files, or one cannot be read.
    """
    identities = [identity for _, identity in _files()]
    if not identities:
        return SURROGATE
    mark = ALTERED if any(identity.startswith(ALTERED) for identity in identities) else ""
    return mark + hashlib.sha256("".join(identities).replace(ALTERED, "").encode()).hexdigest()


def cdt_factors() -> Factors | None:
    """Return the factors, shape (943, 20) and (1682, 20), or None without the files.

    Raises DataError, naming file, line and column, if there is only one of the two files, or one is damaged.
    """
    found = _files()
    return _read(*(stamp_of(path, path.name) for path, _ in found)) if found else None


def read_factors(path: Path, n_rows: int) -> np.ndarray:
    """Read a file with a line of column numbers, then lines of a row number from 0 and its 20 factors.

    Raises DataError if the file cannot be read or is not text, or a line is not as expected.
    """
    try:
        lines = path.read_bytes().decode("ascii").splitlines()
    except OSError as error:
        raise unreadable(path, error, "a file of factors") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: found a file that is not text, expected a file of factors") from None
    if len(lines) != n_rows + 1:
        raise DataError(f"{path}: found {len(lines)} lines, expected {n_rows + 1}: column numbers, then {n_rows} rows")
    factors = np.empty((n_rows, RANK))
    for row, line in enumerate(lines[1:]):
        where = f"{path}, line {row + 2}"
        number, *values = line.split(",")
        if number != str(row) or len(values) != RANK:
            raise DataError(
                f"{where}: found row '{number[:20]}' with {len(values)} factors, expected row {row} with {RANK}"
            )
        for column, value in enumerate(values):
            factors[row, column] = _number(value, f"{where}, factor {column}")
    return factors


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise DataError(f"{where}: found '{text[:20]}', expected a finite number")
    return value


def _files() -> list[tuple[Path, str]]:
    """Return path and sha256 of both files, or nothing."""
    found = {name: data_in_use(replace(CDT_FACTORS, file=name)) for name in _ROWS}
    there = [(path, identity) for path, identity in found.values() if path is not None]
    if there and len(there) < len(found):
        missing = next(name for name, (path, _) in found.items() if path is None)
        raise DataError(f"{there[0][0].parent}: found no {missing}, expected both {' and '.join(found)}")
    return there


@lru_cache(maxsize=1)
def _read(*stamps: Stamp) -> Factors:
    films, users = (read_factors(path, n_rows) for (path, *_), n_rows in zip(stamps, _ROWS.values(), strict=True))
    for array in (films, users):
        array.flags.writeable = False
    return Factors(users, films, np.empty(0))
