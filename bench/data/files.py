"""Folders of the data sets, and atomic writing of files."""

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
"""The fingerprint of generated or substituted data, used where the real data is missing."""

ALTERED = "altered-"
"""What the fingerprint of data begins with that differs from the published data."""

Stamp = tuple[Path, int, int]
"""A file's path, size and modification time: when these are unchanged, so is the file."""


def cache_folder() -> Path:
    """Return the folder for everything that can be fetched or computed again; it may not exist yet."""
    return Path(pooch.os_cache("bandit-tuning-bench"))


def data_roots() -> list[Path]:
    """Return the folders that hold data sets: ``BENCH_DATA_DIR`` if it is set, then the cache's ``data`` folder.

    Raises DataError if ``BENCH_DATA_DIR`` is no folder.
    """
    given = os.environ.get("BENCH_DATA_DIR")
    if given and not Path(given).expanduser().is_dir():
        raise DataError(f"BENCH_DATA_DIR: found '{given}', expected an existing folder; correct or unset it")
    return [*([Path(given).expanduser()] if given else []), cache_folder() / "data"]


def cached_path(dataset: Dataset) -> Path:
    return cache_folder() / "data" / dataset.folder / dataset.file


def locate(dataset: Dataset) -> Path | None:
    """Return the data set's file: the one below ``BENCH_DATA_DIR``, else the fetched one, else None."""
    for root in data_roots():
        for path in sorted((root / dataset.folder).glob(dataset.file)):
            if path.is_file():
                return path
    return None


def data_in_use(dataset: Dataset) -> tuple[Path | None, str]:
    """Return the data set's file and its sha256, or None and ``surrogate`` if it is not available.

    A file is read again only if its path, size or modification time has changed. If the published checksum is known and
    differs, ``altered-`` precedes the sha256. Raises DataError if the file cannot be read, or differs from the
    published one without ``BENCH_DATA_ALTERED=1``.
    """
    path = locate(dataset)
    if path is None:
        return None, SURROGATE
    identity, mismatch = _checked(dataset, path)
    if not mismatch:
        return path, identity
    if os.environ.get("BENCH_DATA_ALTERED") != "1":
        raise DataError(
            f"{path}: {mismatch}; to use the file as it is, set BENCH_DATA_ALTERED=1: its results are then marked as "
            "altered and never compared with a paper's"
        )
    return path, f"{ALTERED}{identity}"


def mismatch_of(dataset: Dataset, path: Path) -> str:
    """Return how a file differs from the published one; "" if it does not, or no checksum is known.

    Raises DataError if it cannot be read.
    """
    return _checked(dataset, path)[1]


def _checked(dataset: Dataset, path: Path) -> tuple[str, str]:
    stamp = stamp_of(path, dataset.file)
    try:
        identity, of_text, n_lines = _digests(*stamp)
    except OSError as error:
        raise unreadable(path, error, dataset.file) from None
    found = of_text if dataset.text_checksum else f"sha256:{identity}"
    expected = dataset.text_checksum or dataset.checksums.get(path.name, found)
    if found == expected:
        return identity, ""
    return identity, f"found {n_lines:,} lines with the checksum {found}, expected {expected}, as published"


@lru_cache(maxsize=16)
def _digests(path: Path, size: int, mtime_ns: int) -> tuple[str, str, int]:
    """Return the sha256 of a file and of its text with plain line ends, and its number of lines."""
    content = path.read_bytes()
    text = content.replace(b"\r\n", b"\n").rstrip(b"\n")
    return hashlib.sha256(content).hexdigest(), f"sha256:{hashlib.sha256(text).hexdigest()}", text.count(b"\n") + 1


def stamp_of(path: Path, expected: str) -> Stamp:
    """Return a file's stamp. Raises DataError, with what is ``expected``, if it cannot be read."""
    try:
        status = path.stat()
    except OSError as error:
        raise unreadable(path, error, expected) from None
    return path, status.st_size, status.st_mtime_ns


def unreadable(path: Path, error: OSError, expected: str) -> DataError:
    return DataError(f"{path}: found an unreadable file ({error.strerror or error}), expected {expected}")


def checksum_of(path: Path, like: str) -> str:
    """Return a file's checksum, ``algorithm:digest``, by the algorithm of the checksum ``like``."""
    algorithm = like.partition(":")[0]
    return f"{algorithm}:{pooch.file_hash(str(path), alg=algorithm)}"


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of an ``.npz`` file after verifying all of it: a damaged header may hide the rest from NumPy.

    Raises an exception of any type if the file is damaged.
    """
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise ValueError(damaged)
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name beside ``path``, then rename it. Raises OSError, leaving nothing behind."""
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
