import io
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pooch

from bench.data.dataset import Dataset
from bench.data.download import Download
from bench.data.files import cached_path, checksum_of, write_whole
from bench.errors import DataError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

TIMEOUT = 30.0
"""Seconds without data after which a server is considered unreachable."""
MOST_BYTES = 50_000_000
"""Of a download; the largest known one has 5 million."""


class _Limited(io.FileIO):
    """A file that takes at most `MOST_BYTES`."""

    def write(self, content: "Buffer") -> int:
        if self.tell() + memoryview(content).nbytes > MOST_BYTES:
            raise DataError(
                f"found more than {MOST_BYTES:,} bytes, expected fewer; nothing was kept, is the address right?"
            )
        return super().write(content)


def fetch(dataset: Dataset, url: str | None = None) -> Path:
    """Return the path of the data set's file in the cache; download what is missing or not valid.

    ``url`` is a mirror of the archive, or what the addresses of plain files begin with; the same checksums apply.
    Raises DataError if the data set cannot be downloaded, the transfer fails or is incomplete, a checksum is wrong or
    the file cannot be written. Nothing is left behind, and an existing file is unchanged.
    """
    download = dataset.download
    if download is None:
        raise DataError(f"data set '{dataset.name}' cannot be downloaded by this project: {dataset.how_to_get}")
    target = cached_path(dataset)
    address = url or download.url
    try:
        targets = {target.parent / name: checksum for name, checksum in dataset.checksums.items()}
        missing = {
            path: checksum
            for path, checksum in targets.items()
            if not path.is_file() or checksum_of(path, checksum) != checksum
        }
        with tempfile.TemporaryDirectory(prefix="bandit-tuning-bench-") as folder:
            for number, (path, checksum) in enumerate(missing.items()):
                fetched = Path(folder) / str(number)
                if isinstance(download, Download):
                    _from_archive(download, address, fetched)
                else:
                    _transfer(f"{address.rstrip('/')}/{path.name}", fetched, "file")
                    _check(fetched, checksum, f"'{path.name}' from {address}")
            for number, path in enumerate(missing):
                write_whole(path, (Path(folder) / str(number)).read_bytes())
    except OSError as error:
        raise DataError(
            f"{target}: cannot be written ({error.strerror or error}), expected a writable folder with free space"
        ) from None
    return target


def _from_archive(download: Download, address: str, path: Path) -> None:
    archive = path.with_suffix(".zip")
    _transfer(address, archive)
    _check(archive, download.archive_checksum, f"the archive from {address}")
    _unpack(archive, download.member, path, address)
    _check(path, download.member_checksum, f"'{download.member}' in the archive from {address}")


def _transfer(url: str, path: Path, what: str = "archive") -> None:
    import requests  # used by pooch; slow to import

    try:
        with _Limited(path, "wb") as file:
            pooch.HTTPDownloader(chunk_size=1 << 16, timeout=TIMEOUT)(url, file, None)
    except DataError as error:
        raise DataError(f"{url}: {error}") from None
    except requests.HTTPError as error:
        answer = "an error" if error.response is None else error.response.status_code
        raise DataError(f"{url}: found the answer {answer}, expected the {what}") from None
    except requests.exceptions.ChunkedEncodingError:
        raise DataError(f"{url}: found an incomplete transfer, expected the whole {what}; try again") from None
    except (requests.ConnectionError, requests.Timeout):
        raise DataError(f"{url}: found no responding server; is there a network connection?") from None
    except (OSError, ValueError) as error:  # an invalid address, too many redirects, a full disk
        raise DataError(f"{url}: cannot be downloaded ({error})") from None


def _check(path: Path, checksum: str, what: str) -> None:
    found = checksum_of(path, checksum)
    if found != checksum:
        raise DataError(f"{what}: found the checksum {found}, expected {checksum}")


def _unpack(archive: Path, member: str, target: Path, url: str) -> None:
    try:
        with zipfile.ZipFile(archive) as opened:
            target.write_bytes(opened.read(member))
    except KeyError:
        raise DataError(f"the archive from {url}: found no '{member}' in it") from None
    except zipfile.BadZipFile:
        raise DataError(f"the archive from {url}: found an invalid zip archive") from None
