"""Pages of all results, to be opened in a browser: python -m runners.gallery

With ``serve=true`` they are served only on this machine, at ``port`` (default: 8765), and rebuilt when results
change.
"""

import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.errors import BenchError, ConfigError, one_line
from runners.command import plain_command, read_words
from runners.results.store import results_folder

HOST, PORT = "127.0.0.1", 8765
IDLE_SECONDS = 30.0
"""How long a client may keep a connection open and say nothing."""
_OF_PAGES = "default-src 'self' 'unsafe-inline' data:"
_OF_FILES = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""What a page, and what any other file may load and run in a browser."""
REFRESH_SECONDS = 5.0
"""How often to look whether a figure has been written."""


def main() -> int:
    """Write the gallery into the folder of results, and serve it if asked to; return the exit code."""
    return plain_command(__doc__, gallery)


def gallery(words: list[str]) -> bool:
    """Do what the command line asks for, until Ctrl-C where it serves."""
    given = read_words(words, {"serve": False, "port": PORT})
    if not 1024 <= given["port"] <= 65535:
        raise ConfigError(f"port: found '{given['port']}', expected a whole number from 1024 to 65535")
    first, count = write_gallery(results_folder())
    print(f"gallery, {count} pages written: {first}")
    if given["serve"]:
        try:
            serve(results_folder(), given["port"])
        except OSError as error:
            raise ConfigError(
                f"port: found {given['port']}, which cannot be used ({error}), expected another"
            ) from None
        except KeyboardInterrupt:
            pass
    return True


def write_gallery(folder: Path) -> tuple[Path, int]:
    """Write the pages; return the first, and how many are new."""
    from runners.results.pages import write_gallery as write  # slow to import

    return write(folder)


def serve(results: Path, port: int) -> None:
    """Serve the pages, and write them again whenever a figure or comparison is written."""
    with server(results, port) as httpd:
        print(f"gallery: http://{HOST}:{httpd.server_port}/; Ctrl-C ends it", flush=True)
        threading.Thread(target=_keep_up, args=(results,), daemon=True).start()
        httpd.serve_forever()


def server(results: Path, port: int) -> ThreadingHTTPServer:
    """Return a server of a folder of results on the loopback interface; port 0: any that is free."""
    return _Server((HOST, port), partial(_Handler, directory=str(results.resolve())))


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say in a line what went wrong with a request; a client that goes away is not an error."""
        error = sys.exception()
        if error and not isinstance(error, ConnectionError | TimeoutError):
            print(f"error: {type(error).__name__}: {one_line(error)}", file=sys.stderr)


class _Handler(SimpleHTTPRequestHandler):
    """Answers to GET and HEAD with files of the results that are not hidden; all else is refused."""

    server: ThreadingHTTPServer
    timeout = IDLE_SECONDS

    def send_head(self) -> Any:
        """Send what stands before a file, and return the file."""
        port = self.server.server_port
        if self.headers.get("Host") not in (f"{HOST}:{port}", f"localhost:{port}"):
            return self.send_error(421)  # a page elsewhere, by a name of its own for this machine, gets nothing
        root, path = Path(self.directory), Path(self.translate_path(self.path))
        try:
            file = (path / "index.html" if path.is_dir() else path).resolve()
            is_sent = file.is_file() and not any(part[0] == "." for part in file.relative_to(root).parts)
        except (ValueError, OSError, RuntimeError):  # outside the folder, no path, too long, or a loop of links
            is_sent = False
        return super().send_head() if is_sent else self.send_error(404)

    def guess_type(self, path: Any) -> str:
        """Return a file's type; all text here is UTF-8."""
        kind = super().guess_type(path)
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind

    def end_headers(self) -> None:
        """Have pages load nothing from elsewhere, and all else run nothing: a picture may hold scripts."""
        is_page = urlsplit(self.path).path.endswith(("/", ".html")) if hasattr(self, "path") else False
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Content-Security-Policy", _OF_PAGES if is_page else _OF_FILES)
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing: requests come every few seconds."""


def _keep_up(results: Path) -> None:
    """Write the pages again whenever the results have changed; what fails is tried again, and said once."""
    before, said = _written(results), ""
    while True:
        time.sleep(REFRESH_SECONDS)
        try:
            if (now := _written(results)) != before:
                write_gallery(results)
                before, said = now, ""
        except Exception as error:  # the pages that are there go on being served
            text = one_line(error) if isinstance(error, BenchError) else f"{type(error).__name__}: {one_line(error)}"
            if text != said:
                print(f"error: {text}", file=sys.stderr)
            said = text


def _written(results: Path) -> dict[Path, float]:
    """Return the last file of each result with its time."""
    paths = [*results.glob("*/*/*/environment.json"), *results.glob("compare/*/comparison.json")]
    return {path: path.stat().st_mtime for path in paths}


if __name__ == "__main__":
    sys.exit(main())
