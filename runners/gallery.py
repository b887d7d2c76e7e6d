"""Pages of all results, to be opened in a browser: python -m runners.gallery

With ``serve=true`` they are served on this machine alone, at ``port`` (default: 8765), and made again when results
change.
"""

import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.errors import BenchError, ConfigError, one_line
from runners.results.pages import write_gallery
from runners.results.store import results_folder

HOST, PORT = "127.0.0.1", 8765
REFRESH_SECONDS = 5.0
"""How often to look whether a figure has been written."""


def main() -> int:
    """Write the gallery into the folder of results, and serve it if asked to; return the exit code."""
    words = sys.argv[1:]
    if "--help" in words or "-h" in words:
        print(__doc__)
        return 0
    try:
        port = _port(words)
        first, count = write_gallery(results_folder())
        print(f"gallery, {count} pages written: {first}")
        if port is not None:
            serve(results_folder(), port)
    except (BenchError, OSError) as error:
        print(f"error: {one_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


def _port(words: list[str]) -> int | None:
    """Return the port to serve at; None if the pages are only to be written.

    Raises
    ------
    ConfigError
        When a word is none of those expected.
    """
    given = {"serve": "false", "port": str(PORT)}
    for word in words:
        key, _, value = word.partition("=")
        if key not in given:
            raise ConfigError(f"{key}: found an unknown key, expected one of: {', '.join(sorted(given))}")
        given[key] = value
    serve, port = given["serve"].lower(), given["port"]
    if serve not in ("true", "false"):
        raise ConfigError(f"serve: found '{given['serve']}', expected true or false")
    if not port.isdigit() or not 1024 <= int(port) <= 65535:
        raise ConfigError(f"port: found '{port}', expected a whole number from 1024 to 65535")
    return int(port) if serve == "true" else None


def serve(results: Path, port: int) -> None:
    """Serve the pages until Ctrl-C, and write them again whenever a figure or comparison is written.

    Raises
    ------
    OSError
        When the port is taken.
    """
    with server(results, port) as httpd:
        print(f"gallery: http://{HOST}:{httpd.server_port}/; Ctrl-C ends it", flush=True)
        threading.Thread(target=_keep_up, args=(results,), daemon=True).start()
        httpd.serve_forever()


def server(results: Path, port: int) -> ThreadingHTTPServer:
    """Return a server of a folder of results on the loopback interface; port 0: any that is free."""
    return ThreadingHTTPServer((HOST, port), partial(_Handler, directory=str(results.resolve())))


class _Handler(SimpleHTTPRequestHandler):
    """Answers to GET and HEAD with files of the results that are not hidden; all else is refused."""

    server: ThreadingHTTPServer

    def send_head(self) -> Any:
        """Send what stands before a file, and return the file."""
        port = self.server.server_port
        if self.headers.get("Host") not in (f"{HOST}:{port}", f"localhost:{port}"):
            return self.send_error(421)  # a page elsewhere, by a name of its own for this machine, gets nothing
        root, path = Path(self.directory), Path(self.translate_path(self.path))
        try:
            file = (path / "index.html" if path.is_dir() else path).resolve()
            is_sent = file.is_file() and not any(part[0] == "." for part in file.relative_to(root).parts)
        except ValueError:  # outside the folder, or not a path
            is_sent = False
        return super().send_head() if is_sent else self.send_error(404)

    def guess_type(self, path: Any) -> str:
        """Return a file's type; all text here is UTF-8."""
        kind = super().guess_type(path)
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind

    def end_headers(self) -> None:
        """Have pages load nothing from elsewhere."""
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Content-Security-Policy", "default-src 'self' 'unsafe-inline' data:")
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing: requests come every few seconds."""


def _keep_up(results: Path) -> None:
    """Write the pages again whenever the results have changed."""
    before = _written(results)
    while True:
        time.sleep(REFRESH_SECONDS)
        try:
            if (now := _written(results)) != before:
                before = now
                write_gallery(results)
        except (BenchError, OSError) as error:
            print(f"error: {one_line(error)}", file=sys.stderr)


def _written(results: Path) -> dict[Path, float]:
    """Return the last file of each result with its time."""
    paths = [*results.glob("*/*/*/environment.json"), *results.glob("compare/*/comparison.json")]
    return {path: path.stat().st_mtime for path in paths}


if __name__ == "__main__":
    sys.exit(main())
