"""The server of docs/service.md: killed while it is asked, it learns nothing twice and loses nothing acknowledged."""

import http.client
import json
import multiprocessing
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from commands import PATIENCE

PAGE = Path(__file__).resolve().parents[1] / "docs" / "service.md"


def post(port, path, **message):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/{path}", json.dumps(message).encode())
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read())


def wait_for(reached, what):
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end, f"found no {what} in {PATIENCE} s"
        time.sleep(0.02)


def serve(folder, port):
    server = subprocess.Popen([sys.executable, folder / "server.py", folder / "state.json", str(port)])

    def listens():
        assert server.poll() is None, "the server ended"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return False
        return True

    try:
        wait_for(listens, "server")
    except BaseException:
        stop(server)
        raise
    return server


def stop(server):
    server.kill()
    server.wait()


def client(port, over, path):
    """Ask and tell until it is over; a line of the file for each told ticket and what became of it."""
    with path.open("w", buffering=1) as lines:
        while not over.is_set():
            ticket = None
            try:
                ticket = post(port, "ask")["ticket"]
                post(port, "tell", ticket=ticket, reward=0.5)
                answer = "200"
            except urllib.error.HTTPError as error:
                answer = str(error.code)
            except (OSError, ValueError, http.client.HTTPException):  # the server was killed
                answer = "none"
                time.sleep(0.02)
            if ticket is not None:
                lines.write(f"{ticket} {answer}\n")


def answers(files, kind):
    return [
        line.split()[0] for file in files if file.exists() for line in file.read_text().splitlines() if kind in line
    ]


@pytest.mark.parametrize("kills", [2, pytest.param(30, marks=pytest.mark.release)])
def test_killed_and_started_again_it_learns_what_it_acknowledged_once(tmp_path, kills):
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "server.py").write_text(code)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = multiprocessing.get_context("spawn")
    over = context.Event()
    files = [tmp_path / f"client_{number}.txt" for number in range(4)]
    clients = [context.Process(target=client, args=(port, over, file), daemon=True) for file in files]
    server = serve(tmp_path, port)
    try:
        for process in clients:
            process.start()
        for _ in range(kills):
            enough = len(answers(files, " 200")) + 10
            wait_for(lambda least=enough: len(answers(files, " 200")) >= least, "ten acknowledged rewards")
            stop(server)
            server = serve(tmp_path, port)
        enough = len(answers(files, " 200")) + 10
        wait_for(lambda: len(answers(files, " 200")) >= enough, "acknowledged rewards after the last kill")
        over.set()
        for process in clients:
            process.join(PATIENCE)
            assert process.exitcode == 0
    finally:
        over.set()
        stop(server)
        for process in clients:
            if process.is_alive():
                process.kill()
    learnt = json.loads((tmp_path / "state.json").read_text())["state"]["_arms"]["attributes"]["pulls"]
    acknowledged, unanswered, refused = (answers(files, f" {kind}") for kind in ("200", "none", "409"))
    everything = answers(files, " ")
    print(f"{kills} kills: {len(acknowledged)} told, {len(unanswered)} unanswered, {len(refused)} refused; {learnt=}")
    assert len(acknowledged) + len(unanswered) + len(refused) == len(everything)  # no other status
    assert len(set(acknowledged)) == len(acknowledged)
    assert len(acknowledged) <= learnt <= len(acknowledged) + len(unanswered)
