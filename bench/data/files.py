"""Folders of the data sets, and files that are written whole or not at all."""

import hashlib
import os
import uuid
import zipfile
from functools import lru_cache
from pathlib import Path

import numpy as np
import pooch

from bench.data.dataset import Dataset
from bench.errors import DataError

SURROGATE = "surrogate"
"""The fingerprint where the real data is not at hand and something else stands in for it."""


def cache_folder() -> Path:
    """Return the folder for everything that can be fetched or computed again (it need not exist)."""
    return Path(pooch.os_cache("bandit-tuning-bench"))


def cached_path(dataset: Dataset) -> Path:
    """Return the path at which ``fetch`` puts the data set's file."""
    return cache_folder() / "data" / dataset.folder / dataset.file


def locate(dataset: Dataset) -> Path | None:
    """Return the data set's file: the one below ``BENCH_DATA_DIR``, else the fetched one, else None."""
    given = os.environ.get("BENCH_DATA_DIR")
    roots = [Path(given).expanduser()] if given else []
    for root in (*roots, cache_folder() / "data"):
        for path in sorted((root / dataset.folder).glob(dataset.file)):
            if path.is_file():
                return path
    return None


def data_in_use(dataset: Dataset) -> tuple[Path | None, str]:
    """Return the data set's file and its sha256, or None and ``surrogate`` where it is not at hand.

    Cheap to call often: a file is read again only if its path, size or time of change is a new one.

    Raises
    ------
    DataError
        If the file cannot be read.
    """
    path = locate(dataset)
    if path is None:
        return None, SURROGATE
    try:
        status = path.stat()
        return path, _sha256(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise DataError(f"{path}: found no way to read it ({error.strerror}), expected {dataset.file}") from None


@lru_cache(maxsize=16)
def _sha256(path: Path, size: int, mtime_ns: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def checksum_of(path: Path, like: str) -> str:
    """Return a file's checksum, written ``algorithm:digest``, with the algorithm of the checksum ``like``."""
    algorithm = like.partition(":")[0]
    return f"{algorithm}:{pooch.file_hash(str(path), alg=algorithm)}"


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of an ``.npz`` file of which every byte was verified.

    Reading an array alone verifies its checksum only if it is read to the end, which a damaged head may prevent.

    Raises
    ------
    Exception
        Of many kinds, if the file is not what was written.
    """
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise ValueError(damaged)
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name beside ``path``, then rename it: no reader ever sees half of it.

    Raises
    ------
    OSError
        If it cannot be written; nothing is left behind then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
