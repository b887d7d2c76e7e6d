"""The folders of the data sets, and functions to read and write files."""

import os
import uuid
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from platformdirs import user_cache_dir

from bench.data.catalogue import Dataset
from bench.data_kind import DataKind
from bench.digest import digest
from bench.errors import DataError, one_line

if TYPE_CHECKING:  # slow to import
    import pandas as pd

Stamp = tuple[Path, int, int]
"""Path, size and modification time of a file: if they are unchanged, so is the file."""


def cache_folder() -> Path:
    """Return the folder for downloads and caches; it may not exist yet."""
    return Path(user_cache_dir("bandit-tuning-bench"))


def data_roots() -> list[Path]:
    """Return the folders that hold data sets: ``BENCH_DATA_DIR`` if it is set, then the cache's ``data`` folder.

    Raises DataError if ``BENCH_DATA_DIR`` is not a folder.
    """
    given = os.environ.get("BENCH_DATA_DIR")
    if given and not Path(given).expanduser().is_dir():
        raise DataError(f"BENCH_DATA_DIR: found '{given}', expected an existing folder; correct or unset it")
    return [*([Path(given).expanduser()] if given else []), cache_folder() / "data"]


def cached_path(dataset: Dataset) -> Path:
    return cache_folder() / "data" / dataset.folder / dataset.file


def locate(dataset: Dataset) -> Path | None:
    """Return the data set's file below ``BENCH_DATA_DIR``, or else the fetched file, or else None.

    The folder of its unpacked archive is searched too.
    """
    folders = [dataset.folder, *([str(Path(dataset.member).parent)] if dataset.member else [])]
    for root in data_roots():
        for path in (path for folder in folders for path in sorted((root / folder).glob(dataset.file))):
            if path.is_file():
                return path
    return None


def data_in_use(dataset: Dataset) -> tuple[Path | None, str]:
    """Return the data set's file and its sha256, or None and ``surrogate`` if it is not available.

    A file is read again only if its path, size or modification time has changed. If the published checksum is known and
    differs, ``altered-`` precedes the sha256. Raises DataError if the file cannot be read, or differs from the
    published file without ``BENCH_DATA_ALTERED=1``.
    """
    path = locate(dataset)
    if path is None:
        return None, DataKind.SURROGATE.value
    identity, mismatch = compare(dataset, path)
    if not mismatch:
        return path, identity
    if os.environ.get("BENCH_DATA_ALTERED") != "1":
        raise DataError(
            f"{path}: {mismatch}; to use the file as it is, set BENCH_DATA_ALTERED=1: its results are then marked as "
            "altered and never compared with a paper's"
        )
    return path, DataKind.ALTERED.marked(identity)


def compare(dataset: Dataset, path: Path) -> tuple[str, str]:
    """Return a file's sha256, and a description of its difference from the published file.

    The description is "" if there is no difference, or no checksum is known. Raises DataError if the file cannot be
    read.
    """
    with reading(path, dataset.file):
        identity, of_text, n_lines = _digests(*stamp_of(path))
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
    return digest(content), f"sha256:{digest(text)}", text.count(b"\n") + 1


def stamp_of(path: Path) -> Stamp:
    status = path.stat()
    return path, status.st_size, status.st_mtime_ns


@contextmanager
def reading(path: Path, expected: str) -> Iterator[None]:
    """Convert errors of NumPy, pandas or Arrow while a file is read to DataError with the ``expected`` content."""
    try:
        yield
    except (ValueError, Warning, EOFError, zlib.error) as error:  # before OSError: an error of Arrow may be both
        reason = one_line(error)[:200].rstrip(".")
        raise DataError(f"{path}: found an invalid file ({reason}), expected {expected}") from None
    except OSError as error:
        raise DataError(f"{path}: found an unreadable file ({error.strerror or error}), expected {expected}") from None


def refuse(path: Path, column: str, values: Any, wrong: Any, expected: str, first_line: int = 2) -> None:
    """Raise DataError for the first of a column's ``values`` that is ``wrong``, if any; both have shape (rows,)."""
    wrong = np.asarray(wrong)
    if wrong.any():
        row = int(np.argmax(wrong))
        found = str(np.asarray(values)[row])[:40]
        raise DataError(f"{path}, line {first_line + row}, {column}: found {found!r}, expected {expected}")


def read_table(path: Path, names: Sequence[str], missing: Sequence[str], **options: Any) -> "pd.DataFrame":
    """Read a CSV file with pandas, with ``options`` passed to pandas.

    A field is a missing value only if its text is in ``missing``. Raises DataError if the file cannot be read, there
    are no rows, or one of the ``names`` is not among the columns.
    """
    import pandas as pd

    with reading(path, "a table of comma-separated values in UTF-8"):
        header = pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False).iloc[0].str.strip()
        table = pd.read_csv(path, keep_default_na=False, na_values=list(missing), **options)
    table = table.rename(columns=str.strip)
    if len(twice := header[header.duplicated() & (header != "")]):
        raise DataError(f"{path}, line 1: found more than one column '{twice.iloc[0]}', expected different names")
    for name in names:
        if name not in table:
            raise DataError(f"{path}, line 1: found no column '{name}', expected one")
    if table.empty:
        raise DataError(f"{path}: found no rows below the header, expected at least one")
    return table


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name in the same folder, and then rename it.

    After an OSError the temporary file is removed.
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
