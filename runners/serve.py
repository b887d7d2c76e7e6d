"""The pages on this machine alone, kept up to date while runs go on: python -m runners.gallery serve=true."""

import io
import json
import sys
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from bench.errors import BenchError, one_line
from runners.live_page import OVERVIEW, RUN, LivePages

HOST = "127.0.0.1"
REFRESH_SECONDS = 5.0
"""How often to look whether a figure has been written."""


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
        self.live = LivePages(self.results)
        super().__init__((HOST, port), _Handler)
        self.address = f"http://{HOST}:{self.server_port}/"
        """The address of the first page."""

    def file(self, path: str) -> Path | None:
        """Return the file that a path means; None if there is none, if it is hidden or outside the folder."""
        parts = [part for part in path.split("/") if part]
        if any(part.startswith(".") or "\0" in part or "\\" in part for part in parts):
            return None
        try:
            file = self.results.joinpath(*parts).resolve()
            file = file / "index.html" if file.is_dir() else file
            return file if file.is_relative_to(self.results) and file.is_file() else None
        except (OSError, ValueError):
            return None

    def state(self, path: str) -> dict[str, Any]:
        """Return how far all is, and what changes whenever the page of a path would say something else."""
        processes = self.live.running()
        shown = [
            group.finished
            for process in processes
            for group in process.groups
            if _name(path) in (OVERVIEW, group.name, *(f"{RUN}/{run.run_id}" for run in group.runs))
        ]
        file = self.file(path)
        return {
            "version": f"{shown} {file.stat().st_mtime if file else ''}",
            "finished": sum(process.finished for process in processes),
            "total": sum(process.total for process in processes),
            "running": len(processes),
        }


class _Handler(SimpleHTTPRequestHandler):
    """Answers to GET and HEAD; all else is refused by the standard library."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = 30

    def send_head(self) -> Any:
        """Send what stands before a page that is made now, how far all is, or a file; return what follows."""
        address = urlsplit(self.path)
        path = unquote(address.path)
        if self.headers.get("Host", "") not in (f"{name}:{self.server.server_port}" for name in (HOST, "localhost")):
            return self.send_error(421)  # a page elsewhere, by a name of its own for this machine, gets nothing
        if path == "/live.json":
            query = unquote(address.query).removeprefix("page=")
            return self._head("application/json", json.dumps(self.server.state(query)))
        if page := self.server.live.page(_name(path)):
            return self._head("text/html; charset=utf-8", page)
        return super().send_head() if self.server.file(path) else self.send_error(404)

    def translate_path(self, path: str) -> str:
        """Return the file that a path means."""
        return str(self.server.file(unquote(urlsplit(path).path)))

    def guess_type(self, path: Any) -> str:
        """Return a file's type; all text here is UTF-8."""
        kind = super().guess_type(path)
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind

    def end_headers(self) -> None:
        """Have pages load nothing from elsewhere."""
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", "default-src 'self' 'unsafe-inline' data:")
        super().end_headers()

    def _head(self, kind: str, text: str) -> io.BytesIO:
        content = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return io.BytesIO(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing: requests come every few seconds."""


def _name(path: str) -> str:
    """Return what a page is called: the folder that it is the index of, or its path."""
    return path.removesuffix("index.html").strip("/")


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
        print(f"gallery: {server.address}, live: {server.address}{OVERVIEW}; Ctrl-C ends it", flush=True)
        threading.Thread(target=_keep_up, args=(server, write), daemon=True).start()
        server.serve_forever()


def _keep_up(server: Server, write: Any) -> None:
    """Write the pages again whenever the results have changed."""
    before = _written(server.results)
    while True:
        time.sleep(REFRESH_SECONDS)
        try:
            if (now := _written(server.results)) != before:
                before = now
                with server.live.drawing:
                    write()
        except (BenchError, OSError) as error:
            print(f"error: {one_line(error)}", file=sys.stderr)


def _written(results: Path) -> dict[Path, float]:
    """Return the last file of each result with its time."""
    paths = [*results.glob("*/*/*/environment.json"), *results.glob("compare/*/comparison.json")]
    return {path: path.stat().st_mtime for path in paths}
