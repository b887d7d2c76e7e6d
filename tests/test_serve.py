"""The gallery served on this machine: nothing outside the results is sent, and the pages follow the results."""

import http.client
import socket
import struct
import threading
import urllib.request
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from commands import PATIENCE

from runners import gallery


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    (tmp_path / "secret.txt").write_text("secret")
    results = tmp_path / "results"
    (results / "raw" / ".hidden").mkdir(parents=True)
    (results / "raw" / ".hidden" / "x.json").write_text("secret")
    (results / "index.html").write_text("<body>front</body>")
    (results / "a b.csv").write_text("1,2\n")
    (results / "link.txt").symlink_to(tmp_path / "secret.txt")
    (results / "folder").symlink_to(tmp_path)
    (results / "loop").symlink_to("loop")
    (results / "picture.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    with gallery.server(results, 0) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
        thread.start()
        yield httpd
        httpd.shutdown()
        thread.join()


def ask(server: ThreadingHTTPServer, path: str, method: str = "GET", host: str = "") -> tuple[int, str]:
    """Return the status and the text of an answer; the path is sent as it stands."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=PATIENCE)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{server.server_port}")
    connection.endheaders()
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/raw/../../secret.txt",
        "/raw/%2e%2e/%2e%2e/secret.txt", "//etc/passwd", "/etc/passwd", "/..\\secret.txt", "/link.txt",
        "/folder/secret.txt", "/raw/.hidden/x.json", "/%00", "/raw", "/raw/", "/nothing.html",
        "/loop", "/loop/x.html", "/" + 5000 * "x", "/" + 900 * "x/",
    ],
)  # fmt: skip
def test_nothing_outside_the_results_is_sent(server: ThreadingHTTPServer, path: str) -> None:
    status, text = ask(server, path)
    assert status == 404
    assert "secret" not in text.partition("<body")[2].replace(path, "")


def test_files_of_the_results_are_sent_to_this_machine_alone(server: ThreadingHTTPServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert ask(server, "/a%20b.csv?x=1") == (200, "1,2\n")
    assert ask(server, "/a%20b.csv", "HEAD") == (200, "")
    for path in ("/", "/index.html"):
        assert ask(server, path) == (200, "<body>front</body>")
    assert ask(server, "/", host=f"localhost:{server.server_port}")[0] == 200
    assert ask(server, "/", host="elsewhere.example")[0] == 421  # a name that was made to lead here
    assert ask(server, "/", "POST")[0] == 501


@pytest.mark.parametrize(
    ("path", "runs"), [("/", True), ("/index.html", True), ("/picture.svg", False), ("/a%20b.csv", False)]
)
def test_only_pages_may_run_scripts(server: ThreadingHTTPServer, path: str, runs: bool) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}{path}") as answer:
        policy = dict(part.strip().partition(" ")[::2] for part in answer.headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == ("'self' 'unsafe-inline' data:" if runs else "'none'")
    assert ("sandbox" in policy) != runs
    assert "script-src" not in policy


def test_clients_that_go_away_or_say_nothing_are_no_matter(
    server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (Path(server.RequestHandlerClass.keywords["directory"]) / "large.csv").write_bytes(bytes(2**24))  # type: ignore[attr-defined]
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", server.server_port)) as client:
            client.sendall(f"GET /large.csv HTTP/1.0\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # reset at once
    with monkeypatch.context() as patch:
        patch.setattr(gallery._Handler, "timeout", 0.01)
        with socket.create_connection(("127.0.0.1", server.server_port)) as client:
            assert client.recv(1) == b""  # the server ends it
    assert ask(server, "/")[0] == 200
    assert capsys.readouterr() == ("", "")
    assert server.request_queue_size >= 100


def test_what_fails_is_said_once_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried, written = iter(range(10)), threading.Event()

    def write(_: Path) -> None:
        if (number := next(tried)) < 3:
            raise TypeError("a damaged manifest")
        if number == 3:
            written.set()

    monkeypatch.setattr(gallery, "REFRESH_SECONDS", 0.01)
    monkeypatch.setattr(gallery, "write_gallery", write)
    threading.Thread(target=gallery._keep_up, args=(tmp_path,), daemon=True).start()
    while not written.is_set():  # it may not have looked yet
        (tmp_path / "a/b/quick").mkdir(parents=True, exist_ok=True)
        (tmp_path / "a/b/quick/environment.json").write_text("{}")
        written.wait(0.1)
    assert set(capsys.readouterr().err.splitlines()) == {"error: TypeError: a damaged manifest"}


def test_pages_are_made_again_when_a_figure_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = threading.Event()
    monkeypatch.setattr(gallery, "REFRESH_SECONDS", 0.01)
    monkeypatch.setattr(gallery, "write_gallery", lambda folder: folder == tmp_path and written.set())
    threading.Thread(target=gallery._keep_up, args=(tmp_path,), daemon=True).start()
    assert not written.wait(0.1)
    looked = iter(range(PATIENCE))
    while not written.wait(1):  # it may not have looked yet when the first result came
        result = tmp_path / f"a/b{next(looked)}/quick"
        result.mkdir(parents=True)
        (result / "environment.json").write_text("{}")


@pytest.mark.parametrize(
    ("words", "expected"),
    [([], None), (["serve=true"], 8765), (["port=9000", "serve=true"], 9000), (["serve=false", "port=9000"], None)],
)
def test_the_command_writes_pages_and_serves_them_when_it_is_asked_to(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    expected: int | None,
) -> None:
    ports: list[int] = []
    monkeypatch.setenv("BENCH_RESULTS_DIR", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["gallery", *words])
    monkeypatch.setattr(gallery, "serve", lambda _results, port: ports.append(port))
    assert gallery.main() == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(str(tmp_path / "index.html"))
    assert (tmp_path / "syndicated/index.html").is_file()
    assert ports == ([] if expected is None else [expected])


@pytest.mark.parametrize("word", ["serve=yes", "port=80", "port=x", "foo=1", "serve"])
def test_a_wrong_word_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str) -> None:
    monkeypatch.setattr("sys.argv", ["gallery", word])
    assert gallery.main() == 1
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith(f"error: {word.partition('=')[0]}: found ")
