"""The server of docs/service.md when it can no longer write."""

import http.client
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from commands import PATIENCE
from test_service import post, prepare

LIMITED = """
import resource, runpy, signal, sys

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


def test_a_server_that_cannot_write_ends_and_keeps_acknowledged_rewards(tmp_path: Path) -> None:
    port = prepare(tmp_path, "gaussian_ts")
    (tmp_path / "limited.py").write_text(LIMITED)
    command = [sys.executable, tmp_path / "limited.py", tmp_path / "server.py", tmp_path / "state.db", str(port)]
    with (
        (tmp_path / "errors.txt").open("w") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as server,
    ):
        assert server.stdout is not None
        assert "listening" in server.stdout.readline()
        acknowledged = []
        try:
            for _ in range(10_000):
                ticket = post(port, "ask")["ticket"]
                post(port, "tell", ticket=ticket, reward=0.5)
                acknowledged.append(ticket)
        except (OSError, http.client.HTTPException):
            pass
        assert server.wait(PATIENCE) == 1
    with closing(sqlite3.connect(tmp_path / "state.db")) as file:
        known = {ticket for (ticket,) in file.execute("SELECT ticket FROM asks WHERE reward = 0.5")}
    assert acknowledged
    assert known >= {*acknowledged}
    assert "state.db" in (tmp_path / "errors.txt").read_text()
