"""The pages on this machine alone, kept up to date while runs go on: python -m runners.gallery serve=true."""

import json
import mimetypes
import re
import sys
import threading
import time
from collections.abc import Iterator
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from bench.errors import BenchError, one_line
from bench.report.gallery.live import script
from runners.execute.live import running
from runners.live_page import Drawings, live_page, run_page

HOST = "127.0.0.1"
REFRESH_SECONDS = 5.0
"""How often to look whether a figure has been written."""

_SCRIPT = b'<script src="/live.js"></script></body>'
_POLICY = "default-src 'self' 'unsafe-inline' data:"


class Server(ThreadingHTTPServer):
    """A server of a folder of results; it listens on the loopback interface, and changes nothing.

    Parameters
    ----------
    results
        The folder.
    port
        The port; 0: any that is free.
    """

    daemon_threads = True
    request_queue_size = 128
    """Connections that wait while others are accepted: a browser opens many at a time."""

    def __init__(self, results: Path, port: int) -> None:
        self.results = results.resolve()
        self.drawings = Drawings(self.results)
        super().__init__((HOST, port), _Handler)

    @property
    def address(self) -> str:
        """The address of the first page."""
        return f"http://{HOST}:{self.server_port}/"

    @cached_property
    def names(self) -> set[str]:
        """What a request may call this machine: a page elsewhere, by a name of its own for it, gets nothing."""
        return {f"{name}:{self.server_port}" for name in (HOST, "localhost")}

    def file(self, path: str) -> Path | None:
        """Return the file that a path means; None if there is none, if it is hidden or outside the folder."""
        parts = [part for part in unquote(path).split("/") if part]
        if any(part.startswith(".") or "\0" in part or "\\" in part for part in parts):
            return None
        try:
            found = self.results.joinpath(*parts).resolve()
            found = found / "index.html" if found.is_dir() else found
            return found if found.is_relative_to(self.results) and found.is_file() else None
        except (OSError, ValueError):
            return None


class _Handler(BaseHTTPRequestHandler):
    """Answers to GET and HEAD; all else is refused by the standard library."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """Send a page or a file."""
        path = urlsplit(self.path).path
        made = {"/live.html": self._live, "/live.js": self._script, "/live.json": self._state}
        file = self.server.file(path)
        if self.headers.get("Host", "") not in self.server.names:
            self.send_error(421)
        elif path in made:
            self._send(*made[path]())
        elif page := self._run(path):
            self._send("text/html", page.encode())
        elif file is None:
            self.send_error(404)
        else:
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            content = file.read_bytes()
            self._send(kind, content.replace(b"</body>", _SCRIPT) if kind == "text/html" else content)

    do_HEAD = do_GET

    def _run(self, path: str) -> str | None:
        match = re.fullmatch(r"/run/([0-9a-f]{8,64})\.html", path)
        return run_page(self.server.drawings, match[1]) if match else None

    def _live(self) -> tuple[str, bytes]:
        return "text/html", live_page(self.server.drawings, running(self.server.results)).encode()

    def _script(self) -> tuple[str, bytes]:
        return "text/javascript", script("live.js").encode()

    def _state(self) -> tuple[str, bytes]:
        """Return what pages ask for again and again: how far all is, and when the page in `?page=` was written."""
        query = unquote(urlsplit(self.path).query).removeprefix("page=")
        file = self.server.file(query)
        known = running(self.server.results)
        state = {
            "written": file.stat().st_mtime if file else 0,
            "finished": sum(one.finished for one in known),
            "total": sum(one.total for one in known),
            "running": len(known),
        }
        return "application/json", json.dumps(state).encode()

    def _send(self, kind: str, content: bytes) -> None:
        is_text = kind.startswith("text/") or kind in ("application/json", "image/svg+xml")
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8" if is_text else kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", _POLICY)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing: requests come every few seconds."""


def serve(results: Path, port: int, write: Any) -> None:
    """Write the pages, and again whenever a figure is written; serve them until Ctrl-C.

    Parameters
    ----------
    results
        The folder of results.
    port
        The port.
    write
        What writes the pages.

    Raises
    ------
    OSError
        When the port is taken.
    """
    with Server(results, port) as server:
        write()
        print(f"gallery: {server.address}, live: {server.address}live.html; Ctrl-C ends it", flush=True)
        threading.Thread(target=_keep_up, args=(server.results, write), daemon=True).start()
        server.serve_forever()


def _keep_up(results: Path, write: Any) -> None:
    """Write the pages again whenever the results have changed."""
    before = set(_written(results))
    while True:
        time.sleep(REFRESH_SECONDS)
        now = set(_written(results))
        if now != before:
            before = now
            try:
                write()
            except (BenchError, OSError) as error:
                print(f"error: {one_line(error)}", file=sys.stderr)


def _written(results: Path) -> Iterator[tuple[Path, float]]:
    """Yield the last file of each result with its time."""
    for pattern in ("*/*/*/environment.json", "compare/*/comparison.json"):
        for path in results.glob(pattern):
            try:
                yield path, path.stat().st_mtime
            except FileNotFoundError:
                continue
