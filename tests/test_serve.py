"""The gallery served on this machine: nothing outside the results is sent, and what runs is shown."""

import http.client
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from gallery_site import CURVES

from runners import gallery
from runners.execute.live import Live, LiveRun, Status, folder_of, running
from runners.execute.progress import Progress, progress_bar
from runners.serve import Server


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("secret")
    results = tmp_path / "results"
    (results / "raw" / ".live").mkdir(parents=True)
    (results / "raw" / ".live" / "x.json").write_text("secret")
    (results / "index.html").write_text("<body>front</body>")
    (results / "a b.csv").write_text("1,2\n")
    (results / "link.txt").symlink_to(tmp_path / "secret.txt")
    (results / "folder").symlink_to(tmp_path)
    return results


@pytest.fixture
def server(root: Path) -> Iterator[Server]:
    with Server(root, 0) as one:
        thread = threading.Thread(target=one.serve_forever, args=(0.01,))
        thread.start()
        yield one
        one.shutdown()
        thread.join()


def ask(server: Server, path: str, method: str = "GET", host: str = "") -> tuple[int, str]:
    """Return the status and the text of an answer; the path is sent as it stands."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{server.server_port}")
    connection.endheaders()
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_it_listens_on_the_loopback_interface_alone(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.server_port}/"


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/raw/../../secret.txt",
        "/raw/%2e%2e/%2e%2e/secret.txt", "//etc/passwd", "/etc/passwd", "/..\\secret.txt", "/link.txt",
        "/folder/secret.txt", "/raw/.live/x.json", "/%00", "/run/../../secret.html", "/run/0123456789abcdef/",
        "/raw", "/nothing.html",
    ],
)  # fmt: skip
def test_nothing_outside_the_results_is_sent(server: Server, path: str) -> None:
    status, text = ask(server, path)
    assert status == 404
    assert "secret" not in text.partition("<body")[2].replace(path, "")


def test_files_of_the_results_are_sent(server: Server) -> None:
    assert ask(server, "/a%20b.csv?x=1") == (200, "1,2\n")
    assert ask(server, "/a%20b.csv", "HEAD") == (200, "")
    for path in ("/", "/index.html"):
        assert ask(server, path) == (200, "<body>front</body>")
    assert ask(server, "/", host=f"localhost:{server.server_port}")[0] == 200
    assert ask(server, "/", host="elsewhere.example")[0] == 421  # a name that was made to lead here
    assert ask(server, "/", "POST")[0] == 501


def test_a_run_in_progress_shows_with_its_curves_so_far(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = Commands(tmp_path)
    words = ("env=gaussian_arms", "algorithm=none", "tuner=random", "horizon=30", "output=json")
    report = commands.here(monkeypatch, capsys, "run", *words, "repetitions=3").report
    assert "Nothing is running" in ask(server, "/live.html")[1]
    run_id = report["run_id"]
    mean = f'<td class="number">{report["metrics"]["final_regret"]["mean"]:.4g}'
    figure = {**CURVES, "name": "figure9", "title": "A figure", "claims": [], "published": [], "bounds": []}
    page = "/cdt/figure9/index.html"
    assert ask(server, page)[0] == 404
    monkeypatch.setattr("runners.execute.live.SECONDS", 0.0)
    with progress_bar(False, results=server.results) as progress:
        progress.words = "cdt/figure9, 3 of 51 figures"
        runs = [LiveRun(run_id=run_id, labels={"panel": "LinUCB, simulation", "method": "TL"}, repetitions=8)]
        progress.announce("cdt/figure9", figure, runs)
        progress.expect("cdt/figure9", 30, 8)
        versions = []
        for _ in range(3):
            progress.advance("cdt/figure9", 30, 2.0)
            versions.append(json.loads(ask(server, f"/live.json?page={page}")[1]).pop("version"))
        assert len(set(versions)) == 3
        text = ask(server, "/live.html")[1]
        assert f'<a href="{page}">cdt/figure9</a>: 3 of 8 repetitions' in text
        assert "cdt/figure9, 3 of 51 figures" in text
        status, text = ask(server, page)
        assert status == 200
        assert "running: 3 of 8 repetitions" in text
        assert "is missing" not in text
        assert "runners.run" not in text
        assert "3 repetitions of 30 rounds" in text
        assert '"name": "TL"' in text
        assert mean in text
        assert "/live.json?page=" in text
        assert "running/" not in text
        state = json.loads(ask(server, "/live.json?page=%2Findex.html")[1])
        assert state == {"version": state["version"], "finished": 3, "total": 8, "running": 1}
    text = ask(server, "/live.html")[1]
    assert "Nothing is running" in text
    assert f'<a href="{page}">cdt/figure9</a>' in text.partition("Ended since")[2]
    assert ask(server, page)[0] == 404
    for address in (f"/run/{run_id}/", f"/run/{run_id}/index.html"):
        status, text = ask(server, address)
        assert status == 200
        assert "3 repetitions of 30 rounds" in text
        assert "GaussianArms" in text
        assert mean in text
    printed = commands.here(monkeypatch, capsys, "run", *words[:-1], "repetitions=3").out
    assert f"/run/{run_id}/ " in printed.splitlines()[-1]


def test_what_cannot_be_drawn_yet_is_said(server: Server) -> None:
    live = Live(server.results)
    live.announce("a/b", {"kind": "curves", "column": "regret", "foo": 1}, [])
    live.count("a/b", expected=2, finished=1)
    live.write("", 1, 2, None)
    assert "cannot be drawn yet: figure" in ask(server, "/a/b/index.html")[1]


def test_the_dead_are_not_running(tmp_path: Path) -> None:
    live = Live(tmp_path)
    live.write("", 0, 1, None)
    [known] = running(tmp_path)
    assert known.pid == os.getpid()
    (path,) = folder_of(tmp_path).iterdir()
    dead = Status(pid=2**22 + 1, host=known.host, command="")  # larger than any process's number
    (path.parent / "dead.json").write_text(dead.model_dump_json())
    (path.parent / "broken.json").write_text("{")
    assert running(tmp_path) == [known]
    live.remove()
    assert [left.name for left in folder_of(tmp_path).iterdir()] == ["broken.json"]


def test_nothing_runs_where_the_folder_vanishes_while_one_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last process removes it: between its being found and its being read it may go."""
    folder = folder_of(tmp_path)
    folder.mkdir(parents=True)
    scandir = os.scandir

    def remove_and_scan(path: Any) -> Any:
        if Path(path) == folder:
            folder.rmdir()
        return scandir(path)

    monkeypatch.setattr(os, "scandir", remove_and_scan)
    assert running(tmp_path) == []


def test_the_time_left_waits_for_evidence_and_counts_what_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("runners.execute.progress.time.monotonic", lambda: now)
    progress = Progress()
    assert progress.phase == "composing"
    progress.expect("a", 10, 14)
    progress.expect("b", 10, 5)
    assert (progress.phase, progress.seconds_left()) == ("compiling", None)
    progress.advance("a", 10, 50.0)
    for _ in range(3):
        now += 2.0
        progress.advance("a", 10, 2.0)
        assert (progress.phase, progress.seconds_left()) == ("running", None)
    now += 2.0
    progress.advance("a", 10, 2.0)
    assert progress.seconds_left() == pytest.approx(2.0 * 9 + (50.0 - 2.0) + 2.0 * 5)
    for group in 9 * "a" + 5 * "b":
        progress.advance(group, 10, 2.0)
    assert progress.phase == "drawing"


def test_progress_without_a_folder_writes_nothing() -> None:
    progress = Progress()
    progress.announce("a", {}, [])
    progress.expect("a", 10, 1)
    progress.advance("a", 10, 1.0)
    assert progress.live is None


@pytest.mark.parametrize(
    ("words", "expected"),
    [([], None), (["serve=true"], 8765), (["port=9000", "serve=true"], 9000), (["serve=false", "port=9000"], None)],
)
def test_the_command_serves_when_it_is_asked_to(
    monkeypatch: pytest.MonkeyPatch, words: list[str], expected: int | None
) -> None:
    ports: list[int] = []
    monkeypatch.setattr("sys.argv", ["gallery", *words])
    monkeypatch.setattr("runners.serve.serve", lambda _results, port, _write: ports.append(port))
    monkeypatch.setattr("runners.gallery.write_gallery", lambda folder: (folder, 0))
    assert gallery.main() == 0
    assert ports == ([] if expected is None else [expected])


@pytest.mark.parametrize("word", ["serve=yes", "port=80", "port=x", "foo=1", "serve"])
def test_a_wrong_word_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str) -> None:
    monkeypatch.setattr("sys.argv", ["gallery", word])
    assert gallery.main() == 1
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith(f"error: {word.partition('=')[0]}: found ")
